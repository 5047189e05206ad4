//! A word without case and accents, as SQLite's index keeps it.

use unicode_normalization::UnicodeNormalization as _;

/// The word in small letters, and those of the Latin alphabet without their accents. Other scripts keep their marks: in them
/// another mark is another letter.
pub(crate) fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    word.chars()
        .flat_map(char::to_lowercase)
        .filter(|one| !super::is_accent(*one))
        .map(without_accents)
        .collect()
}

fn without_accents(character: char) -> char {
    let base = character.nfd().next();
    base.filter(char::is_ascii_alphabetic).unwrap_or(character)
}
