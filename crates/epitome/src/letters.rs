//! Letters, told without tables where most of them are: the standard library searches for every character outside ASCII.

/// Whether a character is a letter or a digit of any script.
#[inline]
pub(crate) fn is_letter(c: char) -> bool {
    match c {
        '\0'..='\u{7f}' => c.is_ascii_alphanumeric(),
        // Latin with accents, Greek, Cyrillic.
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2af}' => true,
        '\u{3b1}'..='\u{3f5}' | '\u{400}'..='\u{481}' => true,
        // Kana, Chinese characters, Hangul.
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' => true,
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
        // Arrows, signs, what tables are drawn with.
        '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2775}' => false,
        // Punctuation.
        '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' => false,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => false,
        _ => c.is_alphanumeric(),
    }
}

/// Whether a text begins with a mark, which is not empty. Most texts begin with another byte, and telling that takes no call.
#[inline]
pub(crate) fn begins(text: &str, mark: &str) -> bool {
    text.as_bytes().first() == mark.as_bytes().first() && text.starts_with(mark)
}

/// Whether a character is a letter, and no digit.
#[inline]
pub(crate) fn is_alphabetic(c: char) -> bool {
    match c {
        '\0'..='\u{7f}' => c.is_ascii_alphabetic(),
        _ if is_surely_small(c) => c != '÷',
        _ => c.is_alphabetic(),
    }
}

/// Whether a character outside ASCII is known to have no other small form than itself. `false` may also mean that
/// nobody knows.
#[inline]
pub(crate) const fn is_surely_small(c: char) -> bool {
    matches!(
        c,
        '\u{df}'..='\u{ff}' | '\u{430}'..='\u{45f}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
    )
}

/// Hands over a character in small letters.
#[inline]
pub(crate) fn small(c: char, mut each: impl FnMut(char)) {
    if c.is_ascii() {
        each(c.to_ascii_lowercase());
    } else if is_surely_small(c) {
        each(c);
    } else {
        c.to_lowercase().for_each(each);
    }
}

/// Characters in small letters, each by itself.
pub(crate) fn lower(characters: impl Iterator<Item = char>) -> String {
    let mut lower = String::with_capacity(characters.size_hint().0);
    characters.for_each(|c| small(c, |c| lower.push(c)));
    lower
}

/// A text in small letters, character by character.
pub(crate) fn lower_text(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => lower(text.chars()),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_alphabetic, is_letter, is_surely_small, small};

    #[test]
    fn they_are_what_the_standard_library_says() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_letter(c), c.is_alphanumeric(), "{c:?}");
            assert_eq!(is_alphabetic(c), c.is_alphabetic(), "{c:?}");
            let mut lower = String::new();
            small(c, |c| lower.push(c));
            assert_eq!(lower, c.to_lowercase().to_string(), "{c:?}");
            assert!(!is_surely_small(c) || !c.is_uppercase(), "{c:?}");
        }
    }
}
