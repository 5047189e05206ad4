//! The strings in a call's arguments, with the names they stand under.

use std::borrow::Cow;

/// Every string value in `arguments`, in order, with the innermost name before it. Values in lists have the name of
/// the list. Reads JSON as far as it is JSON; text that is none has no strings.
pub(crate) fn strings(arguments: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        return found;
    }
    let mut name = Cow::Borrowed("");
    let mut rest = arguments;
    while let Some((text, behind)) = behind(rest, |byte| byte == b'"').and_then(string) {
        rest = behind.trim_start();
        if rest.starts_with(':') {
            name = text;
        } else {
            found.push((name.clone(), text));
        }
    }
    found
}

/// A JSON string behind its opening quote, and what follows its closing one; `None` where it does not end.
pub(crate) fn string(quoted: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut text = Cow::Borrowed("");
    let mut rest = quoted;
    loop {
        let behind = behind(rest, |byte| matches!(byte, b'"' | b'\\'))?;
        let plain = rest.get(..rest.len() - behind.len() - 1)?;
        match text.is_empty() {
            true => text = Cow::Borrowed(plain),
            false => text.to_mut().push_str(plain),
        }
        if rest.as_bytes().get(plain.len()) == Some(&b'"') {
            return Some((text, behind));
        }
        let mut escaped = behind.chars();
        let character = match escaped.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => {
                let (character, behind) = unicode(escaped.as_str())?;
                escaped = behind.chars();
                character
            }
            other => other,
        };
        text.to_mut().push(character);
        rest = escaped.as_str();
    }
}

/// What stands behind the first byte of ASCII that `is` one of those looked for.
fn behind(text: &str, is: impl Fn(u8) -> bool) -> Option<&str> {
    let at = text.bytes().position(is)?;
    text.get(at + 1..)
}

/// The character of a `\u` escape, and what follows it; half a pair is replaced.
fn unicode(digits: &str) -> Option<(char, &str)> {
    let (high, rest) = unit(digits)?;
    if (0xD800..0xDC00).contains(&high)
        && let Some((low, behind)) = rest.strip_prefix("\\u").and_then(unit)
        && (0xDC00..0xE000).contains(&low)
    {
        let point = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return Some((char::from_u32(point)?, behind));
    }
    let character = char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((character, rest))
}

fn unit(digits: &str) -> Option<(u32, &str)> {
    let (digits, rest) = digits.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u32::from_str_radix(digits, 16).ok();
    Some((unit.filter(|_| is_hex)?, rest))
}
