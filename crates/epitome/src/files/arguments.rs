//! The strings in a call's arguments, with the names they stand under.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Room for the text of a string with escapes before it has to grow.
const ROOM_BYTES: usize = 1_024;
/// So many bytes are looked at one by one before many are compared at once.
const NEAR_BYTES: usize = 16;

/// Every string value in `arguments`, in order, with the innermost name before it. Values in lists have the name of
/// the list. Reads JSON as far as it is JSON; text that is none has no strings.
pub(crate) fn strings(arguments: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    strings_under(arguments, |_| true)
}

/// Those whose names are asked for. The others, which may be whole files, are only stepped over.
pub(crate) fn strings_under(
    arguments: &str,
    is_asked: impl Fn(&str) -> bool,
) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        return found;
    }
    let mut name = Cow::Borrowed("");
    let mut is_wanted = is_asked("");
    let mut rest = arguments;
    while let Some(quoted) = behind_quote(rest) {
        if !is_wanted && let Some(behind) = behind_string(quoted) {
            let behind = behind.trim_start();
            if !behind.starts_with(':') {
                rest = behind;
                continue;
            }
        }
        let Some((text, behind)) = string(quoted) else {
            break;
        };
        rest = behind.trim_start();
        if rest.starts_with(':') {
            name = text;
            is_wanted = is_asked(&name);
        } else {
            found.push((name.clone(), text));
        }
    }
    found
}

/// Every string value in `arguments` of fewer than so many bytes. The others are only stepped over.
pub(crate) fn short_strings(arguments: &str, limit_bytes: usize) -> Vec<Cow<'_, str>> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        return found;
    }
    let mut rest = arguments;
    while let Some(quoted) = behind_quote(rest)
        && let Some(behind) = behind_string(quoted)
    {
        let bytes = quoted.len() - behind.len() - 1;
        rest = behind.trim_start();
        if bytes < limit_bytes && !rest.starts_with(':') {
            found.extend(string(quoted).map(|(text, _)| text));
        }
    }
    found
}

/// What follows the closing quote of a JSON string, which is the first one without an escape. Code has many escapes and
/// few quotes.
pub(crate) fn behind_string(quoted: &str) -> Option<&str> {
    let bytes = quoted.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr(b'"', bytes.get(from..)?)?;
        let before = bytes.get(..at)?.iter().rev();
        let escapes = before.take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return quoted.get(at + 1..);
        }
        from = at + 1;
    }
}

fn behind_quote(text: &str) -> Option<&str> {
    text.get(memchr(b'"', text.as_bytes())? + 1..)
}

/// A JSON string behind its opening quote, and what follows its closing one; `None` where it does not end.
pub(crate) fn string(quoted: &str) -> Option<(Cow<'_, str>, &str)> {
    let (plain, mark, mut rest) = plain(quoted)?;
    if mark == Mark::Quote {
        return Some((Cow::Borrowed(plain), rest));
    }
    // Where one escape is there are more: code in a call has one in every line.
    let mut text = String::with_capacity(plain.len() + rest.len().min(ROOM_BYTES));
    text.push_str(plain);
    loop {
        let (character, behind) = escaped(rest)?;
        text.push(character);
        let (plain, mark, behind) = self::plain(behind)?;
        text.push_str(plain);
        if mark == Mark::Quote {
            return Some((Cow::Owned(text), behind));
        }
        rest = behind;
    }
}

/// What ends a run of plain characters in a JSON string.
#[derive(PartialEq, Eq)]
enum Mark {
    Quote,
    Escape,
}

/// The plain characters that a text begins with, what ends them, and what stands behind that.
fn plain(text: &str) -> Option<(&str, Mark, &str)> {
    let bytes = text.as_bytes();
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\');
    // The next line break of code is near.
    let near = bytes.iter().take(NEAR_BYTES).position(is_end);
    let far = || Some(NEAR_BYTES + memchr2(b'"', b'\\', bytes.get(NEAR_BYTES..)?)?);
    let at = near.or_else(far)?;
    let mark = match text.as_bytes().get(at)? {
        b'"' => Mark::Quote,
        _ => Mark::Escape,
    };
    Some((text.get(..at)?, mark, text.get(at + 1..)?))
}

/// The character that an escape stands for, and what follows it.
fn escaped(text: &str) -> Option<(char, &str)> {
    let mut characters = text.chars();
    let character = match characters.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'u' => return unicode(characters.as_str()),
        other => other,
    };
    Some((character, characters.as_str()))
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
