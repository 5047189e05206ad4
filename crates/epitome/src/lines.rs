//! The lines of a text. Texts of tools have many, most of them short, and each is asked for several times.

use memchr::memchr;

/// The lines of a text as [`str::lines`] tells them, for fewer instructions.
pub(crate) fn lines(text: &str) -> Lines<'_> {
    Lines { rest: text }
}

#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest;
        if text.is_empty() {
            return None;
        }
        let Some(end) = memchr(b'\n', text.as_bytes()) else {
            self.rest = "";
            return Some(text);
        };
        self.rest = text.get(end + 1..).unwrap_or_default();
        let line = text.get(..end)?;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::lines;

    proptest! {
        #[test]
        fn they_are_those_of_the_standard_library(text in "[ab\r\n\u{2500}é]{0,24}") {
            prop_assert_eq!(lines(&text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>());
        }
    }
}
