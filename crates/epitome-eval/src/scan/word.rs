//! Identifiers that are one whole word.

use super::spans::is_hex;
use crate::ident::Kind;
use crate::text::{is_digit, is_word};

/// A kind and the test of a word for it.
pub(super) type Rule = (Kind, fn(&[char]) -> bool);

/// Looked for before versions are blanked.
pub(super) const NAMES: &[Rule] = &[
    (Kind::Hex, is_hex_id),
    (Kind::Env, is_env),
    (Kind::Error, is_error),
    (Kind::Id, is_id),
    (Kind::Code, is_code),
];

/// Looked for afterwards.
pub(super) const NUMBERS_AND_SYMBOLS: &[Rule] =
    &[(Kind::Number, is_number), (Kind::Symbol, is_symbol)];

fn all(word: &[char], test: impl Fn(char) -> bool) -> bool {
    word.iter().all(|character| test(*character))
}

fn any(word: &[char], test: impl Fn(char) -> bool) -> bool {
    word.iter().any(|character| test(*character))
}

const fn is_capital_or_digit(character: char) -> bool {
    character.is_ascii_uppercase() || character.is_ascii_digit()
}

const fn is_small_or_digit(character: char) -> bool {
    character.is_ascii_lowercase() || character.is_ascii_digit()
}

/// The parts of a word between underscores, when none of them is empty.
fn parts(word: &[char]) -> Option<Vec<&[char]>> {
    let parts: Vec<&[char]> = word.split(|character| *character == '_').collect();
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

fn is_hex_id(word: &[char]) -> bool {
    (7..=40).contains(&word.len())
        && all(word, is_hex)
        && any(word, |c| c.is_ascii_digit())
        && any(word, |c| c.is_ascii_lowercase())
}

fn is_env(word: &[char]) -> bool {
    word.first().is_some_and(char::is_ascii_uppercase)
        && all(word, |c| c == '_' || is_capital_or_digit(c))
        && parts(word).is_some_and(|parts| {
            parts.len() >= 2 && parts.first().is_some_and(|first| first.len() >= 2)
        })
}

fn is_error(word: &[char]) -> bool {
    const ERROR: [char; 5] = ['E', 'r', 'r', 'o', 'r'];
    const EXCEPTION: [char; 9] = ['E', 'x', 'c', 'e', 'p', 't', 'i', 'o', 'n'];
    let Some((first, rest)) = word.split_first() else {
        return false;
    };
    let is_name = first.is_ascii_uppercase()
        && (rest.ends_with(&ERROR) || rest.ends_with(&EXCEPTION))
        && all(rest, is_word);
    let is_errno = *first == 'E' && rest.len() >= 4 && all(rest, |c| c.is_ascii_uppercase());
    let is_number = *first == 'E' && (3..=5).contains(&rest.len()) && all(rest, is_digit);
    is_name || is_errno || is_number
}

fn is_id(word: &[char]) -> bool {
    if !word.first().is_some_and(char::is_ascii_lowercase) {
        return false;
    }
    let Some(parts) = parts(word) else {
        return false;
    };
    let [first, middle @ .., last] = parts.as_slice() else {
        return false;
    };
    all(first, |c| c.is_ascii_lowercase())
        && middle.iter().all(|part| all(part, is_small_or_digit))
        && last.len() >= 2
        && all(last, is_digit)
}

fn is_code(word: &[char]) -> bool {
    (5..=20).contains(&word.len())
        && all(word, is_capital_or_digit)
        && any(word, |c| c.is_ascii_digit())
        && any(word, |c| c.is_ascii_uppercase())
}

fn is_number(word: &[char]) -> bool {
    (4..=14).contains(&word.len()) && all(word, is_digit)
}

fn is_symbol(word: &[char]) -> bool {
    is_snake(word) || is_camel(word)
}

fn is_snake(word: &[char]) -> bool {
    word.first().is_some_and(char::is_ascii_lowercase)
        && word.contains(&'_')
        && all(word, |c| c == '_' || is_small_or_digit(c))
        && parts(word).is_some()
}

fn is_camel(word: &[char]) -> bool {
    let [first, second, rest @ ..] = word else {
        return false;
    };
    first.is_ascii_alphabetic()
        && is_small_or_digit(*second)
        && all(rest, |c| c.is_ascii_alphanumeric())
        && any(rest, |c| c.is_ascii_uppercase())
}
