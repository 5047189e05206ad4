//! Numbers compared by value, however they are spelled and however long they are.

/// A key that two number spellings share exactly when they mean the same number: sign, digits without
/// zeros at either end, and the exponent of the last digit.
pub(crate) fn same_number_key(number: &str) -> String {
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let zeros_behind = digits.len() - digits.trim_end_matches('0').len();
    // An exponent beyond what a machine number holds is compared by its spelling.
    let Ok(exponent) = exponent.parse::<i64>() else {
        return number.to_owned();
    };
    let power = exponent
        .saturating_sub(fraction.len() as i64)
        .saturating_add(zeros_behind as i64);
    format!("{sign}{significant}e{power}")
}
