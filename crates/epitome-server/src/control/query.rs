//! What stands behind the question mark of a path.

/// The value of a member, decoded; the first where there are several.
pub(super) fn member(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = query?
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(found, _)| decoded(found) == name)?;
    Some(decoded(value))
}

/// A number, where there is one.
pub(super) fn number(query: Option<&str>, name: &str) -> Option<u32> {
    member(query, name)?.parse().ok()
}

/// Percent signs and plus signs put back. Bytes that are no text are replaced.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind
            .first_chunk::<2>()
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{member, number};

    #[test]
    fn members_are_found_and_decoded() {
        let query = Some("q=tide+gauge%20%22x%22&k=5&q=second&%6Eame=1");
        assert_eq!(member(query, "q").as_deref(), Some("tide gauge \"x\""));
        assert_eq!(number(query, "k"), Some(5));
        assert_eq!(member(query, "name").as_deref(), Some("1"));
        assert_eq!(member(query, "none"), None);
        assert_eq!(member(Some("q=100%"), "q").as_deref(), Some("100%"));
        assert_eq!(
            member(Some("q=%zz%c3"), "q").as_deref(),
            Some("%zz\u{fffd}")
        );
        assert_eq!(member(None, "q"), None);
    }
}
