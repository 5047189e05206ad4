//! What the user wants done later.

use super::class::Class;
use super::languages::{contains_listed, may_begin_listed, starts_with_listed};
use super::reading::is_standing;
use super::sentences::{Item, Piece, Register};

/// Whether a sentence is something to be done later.
pub(super) fn is_todo(piece: &Piece<'_>) -> bool {
    match piece.item {
        Item::Open => true,
        Item::Ticked => false,
        Item::Under(heading) if piece.register == Register::Typed && lists_tasks(heading) => {
            !is_standing(piece.text)
        }
        Item::Under(_) | Item::No => is_marked(piece.text),
    }
}

/// The longest opening of a to-do, in characters.
const OPENING_CHARS: usize = 40;

/// Whether a sentence says itself that it is a to-do.
pub(super) fn is_marked(text: &str) -> bool {
    if text.ends_with(['?', '？']) || text.len() < 8 {
        return false;
    }
    // In small letters it is a word of Spanish.
    if text.starts_with("TODO") || contains_listed(Class::Inside, text) {
        return true;
    }
    if !may_begin_listed(Class::Todo, text) {
        return false;
    }
    let start: String = text
        .chars()
        .take(OPENING_CHARS)
        .filter(|c| *c != ',')
        .flat_map(char::to_lowercase)
        .map(|c| if c == '’' { '\'' } else { c })
        .collect();
    let ends_a_word =
        |rest: &str, opening: &str| !opening.is_ascii() || !rest.starts_with(char::is_alphanumeric);
    starts_with_listed(Class::Todo, &start, ends_a_word)
}

fn lists_tasks(heading: &str) -> bool {
    let is_short = heading.chars().count() <= 80;
    let introduces = heading.ends_with([':', '：']) || heading.starts_with('#');
    let lower = heading.to_lowercase();
    is_short && introduces && contains_listed(Class::Heading, &lower)
}
