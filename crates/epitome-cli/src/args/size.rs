//! Numbers of tokens and bytes as people write them: `8000`, `10k`, `1M`, `2G`.

/// Reads a size.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let units = [('k', 1_000), ('m', 1_000_000), ('g', 1_000_000_000)];
    let last = text.chars().last().map(|last| last.to_ascii_lowercase());
    let unit = units.into_iter().find(|(letter, _)| Some(*letter) == last);
    let (digits, factor) = match unit {
        // Letters of units are one byte long.
        Some((_, factor)) => (text.get(..text.len() - 1).unwrap_or_default(), factor),
        None => (text, 1),
    };
    let number = digits.parse::<u64>().ok();
    let number = number.and_then(|number| number.checked_mul(factor));
    number.ok_or_else(|| {
        "a size is a whole number that fits 64 bits, such as 8000, 10k or 1M".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("8000", 8_000),
            ("10k", 10_000),
            ("200K", 200_000),
            ("1M", 1_000_000),
            ("2g", 2_000_000_000),
        ] {
            assert_eq!(size(text), Ok(expected));
        }
        for text in [
            "",
            "k",
            "-1",
            "1.5k",
            "10kk",
            "10ü",
            "99999999999999999999",
            "99999999999999999k",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
