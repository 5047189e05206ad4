//! The strings in a call's arguments, with the names they stand under.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Room for the text of a string with escapes before it has to grow.
const ROOM_BYTES: usize = 1_024;

/// Every string value in `arguments`, in order, with the innermost name before it. Values in lists have the name of
/// the list. Reads JSON as far as it is JSON; text that is none has no strings.
pub(crate) fn strings(arguments: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        return found;
    }
    let mut name = Cow::Borrowed("");
    let mut rest = arguments;
    while let Some((text, behind)) = behind_quote(rest).and_then(string) {
        rest = behind.trim_start();
        if rest.starts_with(':') {
            name = text;
        } else {
            found.push((name.clone(), text));
        }
    }
    found
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
    let at = memchr2(b'"', b'\\', text.as_bytes())?;
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
