//! Anchors: identifiers, paths, URLs and numbers worth keeping.

/// The longest anchor; longer runs are encoded data.
const LONGEST: usize = 160;

/// The anchors in a text, in order, with repetitions.
pub fn anchors(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;|=、。「」".contains(c))
        .map(|word| word.trim_matches(|c: char| ".:!?*#…\\".contains(c)))
        .filter(|word| is_anchor(word))
}

fn is_anchor(word: &str) -> bool {
    if word.len() < 3 || word.len() > LONGEST || !word.chars().any(char::is_alphanumeric) {
        return false;
    }
    let mut previous = ' ';
    let mut letters = 0;
    for character in word.chars() {
        let joins = matches!(character, '/' | '_' | '.' | ':' | '@' | '-' | '#');
        if character.is_ascii_digit() || (joins && character != '-' && letters > 0) {
            return true;
        }
        if previous.is_lowercase() && character.is_uppercase() {
            return true;
        }
        letters += usize::from(character.is_alphabetic());
        previous = character;
    }
    word.len() > 3 && letters == word.len() && word.chars().all(|c| c.is_ascii_uppercase())
}
