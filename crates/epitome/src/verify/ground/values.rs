//! A call as one line, as people and summaries write it: what it is called and the values it is given.

/// Bytes of a call that are read as one line. What is longer is text that was written, and read line by line.
const HEAD_BYTES: usize = 600;

/// `Read src/main.rs 275 200`: the name of a tool and the values of its arguments, without their names.
pub(super) fn head(name: &str, arguments: &str) -> String {
    let mut line = name.to_owned();
    let mut rest = arguments;
    while line.len() < HEAD_BYTES {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "{}[],:".contains(c));
        let (value, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_at(string_bytes(quoted)),
            None => rest.split_at(rest.find([',', '}', ']']).unwrap_or(rest.len())),
        };
        if rest.is_empty() {
            break;
        }
        let behind = behind.strip_prefix('"').unwrap_or(behind);
        if !behind.trim_start().starts_with(':') {
            line.push(' ');
            plain(value, &mut line);
        }
        rest = behind;
    }
    line
}

/// Bytes before the quote that ends a string.
fn string_bytes(quoted: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return at,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    quoted.len()
}

/// A value without its escapes, on one line, as far as there is room.
fn plain(value: &str, line: &mut String) {
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if line.len() >= HEAD_BYTES {
            return;
        }
        match character {
            '\\' => match characters.next() {
                Some('n' | 't' | 'r' | 'b' | 'f') | None => line.push(' '),
                Some('u') => {
                    let digits = characters.as_str().get(..4).unwrap_or_default();
                    let unit = u32::from_str_radix(digits, 16).ok();
                    line.push(unit.and_then(char::from_u32).unwrap_or(' '));
                    characters = characters.as_str().get(4..).unwrap_or_default().chars();
                }
                Some(other) => line.push(other),
            },
            other => line.push(other),
        }
    }
}
