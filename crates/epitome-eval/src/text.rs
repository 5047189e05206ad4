//! Characters and sizes as the measures count them: by code point, four to a token.

/// The first of ten decimal digits in a row, for every script of the basic plane.
const ZEROS: [u32; 37] = [
    0x0030, 0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6,
    0x0d66, 0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80,
    0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0,
    0xff10,
];

/// A quarter of the characters, rounded up.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    length(text).div_ceil(4) as u64
}

pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// At most the first `chars` characters.
pub(crate) fn prefix(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// At most the last `chars` characters.
pub(crate) fn suffix(text: &str, chars: usize) -> &str {
    let Some(last) = chars.checked_sub(1) else {
        return "";
    };
    match text.char_indices().nth_back(last) {
        Some((start, _)) => text.get(start..).unwrap_or(text),
        None => text,
    }
}

/// At most `tokens` tokens from the front.
pub(crate) fn fit(text: &str, tokens: u64) -> &str {
    prefix(text, usize::try_from(tokens * 4).unwrap_or(usize::MAX))
}

/// Whether a character belongs to a word. A few marks of Indic scripts count as letters here that other
/// readings of Unicode leave out.
pub(crate) fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// White space, with the four separators of ASCII.
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// The value of a decimal digit of any script.
pub(crate) fn digit(character: char) -> Option<u32> {
    if character.is_ascii() {
        return character.to_digit(10);
    }
    let code = u32::from(character);
    let at = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    let value = code - ZEROS.get(at)?;
    (value < 10).then_some(value)
}

pub(crate) fn is_digit(character: char) -> bool {
    digit(character).is_some()
}

pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Every run of white space becomes one blank.
#[must_use]
pub fn on_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_space = false;
    for character in text.chars() {
        if !is_space(character) {
            out.push(character);
        } else if !in_space {
            out.push(' ');
        }
        in_space = is_space(character);
    }
    out
}

/// The end of the run of characters of one kind that begins at `from`.
pub(crate) fn run_end(text: &[char], from: usize, is_in: impl Fn(char) -> bool) -> usize {
    let run = text.iter().skip(from).take_while(|c| is_in(**c)).count();
    from + run
}

/// Whether one side of a position belongs to a word and the other does not.
pub(crate) fn is_boundary(text: &[char], at: usize) -> bool {
    let word_at = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|character| is_word(*character))
    };
    word_at(at.checked_sub(1)) != word_at(Some(at))
}
