//! The strings in a call's arguments, with the names they stand under.

use std::iter::Peekable;
use std::str::Chars;

/// Every string value in `arguments`, in order, with the innermost name before it. Values in lists have the name of
/// the list. Reads JSON as far as it is JSON; text that is none has no strings.
pub(crate) fn strings(arguments: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if !arguments.trim_start().starts_with(['{', '[']) {
        return found;
    }
    let mut name = String::new();
    let mut rest = arguments.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '"' {
            continue;
        }
        let Some(text) = string(&mut rest) else {
            break;
        };
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.peek() == Some(&':') {
            name = text;
        } else {
            found.push((name.clone(), text));
        }
    }
    found
}

/// The string whose opening quote was just read; `None` where it does not end.
fn string(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => match rest.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'b' | 'f' => text.push(' '),
                'u' => text.push(unicode(rest)?),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

/// The character of a `\u` escape; half a pair is replaced.
fn unicode(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let high = unit(rest)?;
    if !(0xD800..0xDC00).contains(&high) {
        return Some(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let mut ahead = rest.clone();
    if ahead.next() == Some('\\') && ahead.next() == Some('u') {
        let low = unit(&mut ahead)?;
        if (0xDC00..0xE000).contains(&low) {
            *rest = ahead;
            let point = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return char::from_u32(point);
        }
    }
    Some(char::REPLACEMENT_CHARACTER)
}

fn unit(rest: &mut Peekable<Chars<'_>>) -> Option<u32> {
    (0..4).try_fold(0, |value, _| Some(value * 16 + rest.next()?.to_digit(16)?))
}
