//! Does the request itself have these words? A provider that quotes it back says nothing by them.

use memchr::memmem;

use crate::json::escape;

/// Words of this length are rare enough to be looked for first, in bytes.
const RARE_BYTES: usize = 5;

/// Whether the strings of the request `sent` have these words, which stand apart by single spaces.
///
/// Mostly one search through the bytes. Only where the request has the rarest of the words, but not all of them as they
/// are spelled usually, its escapes are undone and its spaces made single.
pub(super) fn is_in(words: &str, sent: &[u8]) -> bool {
    if words.is_empty() || sent.is_empty() {
        return false;
    }
    let mut spelled = Vec::new();
    escape(words, &mut spelled);
    if memmem::find(sent, &spelled).is_some() {
        return true;
    }
    let letters = words.split(|c: char| !c.is_ascii_alphanumeric());
    let rare = letters.max_by_key(|word| word.len()).unwrap_or_default();
    let may_be = rare.len() < RARE_BYTES
        || memmem::find(sent, rare.as_bytes()).is_some()
        || memmem::find(sent, b"\\u00").is_some();
    may_be && memmem::find(&plain(sent), words.as_bytes()).is_some()
}

/// The request with its escapes undone and its spaces made single. It is not cut into strings: nothing of this is read
/// but whether words stand in it.
fn plain(sent: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(sent.len());
    let mut rest = sent;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            push(byte, &mut out);
            continue;
        }
        let Some((&escape, after)) = rest.split_first() else {
            break;
        };
        rest = after;
        match escape {
            b'n' | b'r' | b't' | b'b' | b'f' => push(b' ', &mut out),
            b'u' => {
                let digits = rest
                    .get(..4)
                    .and_then(|digits| std::str::from_utf8(digits).ok());
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                match code.and_then(char::from_u32) {
                    Some(character) if character.is_whitespace() => push(b' ', &mut out),
                    Some(character) => {
                        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => {}
                }
                rest = rest.get(4..).unwrap_or_default();
            }
            other => push(other, &mut out),
        }
    }
    out
}

fn push(byte: u8, out: &mut Vec<u8>) {
    if !byte.is_ascii_whitespace() {
        out.push(byte);
    } else if out.last() != Some(&b' ') {
        out.push(b' ');
    }
}
