//! The values in a call's arguments.

use std::borrow::Cow;

/// The values in `arguments` without their names, in order. Text that is no JSON is one value.
pub(super) fn values(arguments: &str) -> Vec<Cow<'_, str>> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        found.push(Cow::Borrowed(arguments));
        return found;
    }
    let mut rest = arguments;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "{}[],:".contains(c));
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some((value, behind)) = string(quoted) else {
                break;
            };
            rest = behind;
            if !rest.trim_start().starts_with(':') {
                found.push(value);
            }
        } else if rest.is_empty() {
            break;
        } else {
            let (value, behind) = rest.split_at(rest.find([',', '}', ']']).unwrap_or(rest.len()));
            rest = behind;
            // Names without a value say nothing, and neither do switches.
            if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                found.push(Cow::Borrowed(value.trim_end()));
            }
        }
    }
    found
}

/// A JSON string behind its opening quote, and what follows its closing one.
fn string(quoted: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut text = Cow::Borrowed("");
    let mut rest = quoted;
    loop {
        let (plain, behind) = rest.split_at(rest.find(['"', '\\'])?);
        match text.is_empty() {
            true => text = Cow::Borrowed(plain),
            false => text.to_mut().push_str(plain),
        }
        if let Some(behind) = behind.strip_prefix('"') {
            return Some((text, behind));
        }
        let mut escaped = behind.chars();
        escaped.next();
        let character = match escaped.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => {
                let digits = escaped.as_str().get(..4)?;
                escaped = escaped.as_str().get(4..)?.chars();
                let unit = u32::from_str_radix(digits, 16).ok()?;
                // Half a pair is replaced: it is not worth more in a quotation.
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        };
        text.to_mut().push(character);
        rest = escaped.as_str();
    }
}
