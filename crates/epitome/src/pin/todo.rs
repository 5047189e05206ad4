//! What the user wants done later.

use super::class::Class;
use super::languages::lists_one;
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

/// Whether a sentence says itself that it is a to-do.
pub(super) fn is_marked(text: &str) -> bool {
    if text.ends_with(['?', '？']) || text.chars().count() < 8 && text.is_ascii() {
        return false;
    }
    let start: String = text
        .chars()
        .take(80)
        .filter(|c| *c != ',')
        .flat_map(char::to_lowercase)
        .map(|c| if c == '’' { '\'' } else { c })
        .collect();
    let begins = |opening: &str| {
        let rest = start.strip_prefix(opening);
        rest.is_some_and(|rest| !opening.is_ascii() || !rest.starts_with(char::is_alphanumeric))
    };
    // In small letters it is a word of Spanish.
    text.starts_with("TODO")
        || lists_one(Class::Todo, begins)
        || lists_one(Class::Inside, |inside| start.contains(inside))
}

fn lists_tasks(heading: &str) -> bool {
    let is_short = heading.chars().count() <= 80;
    let introduces = heading.ends_with([':', '：']) || heading.starts_with('#');
    let lower = heading.to_lowercase();
    is_short && introduces && lists_one(Class::Heading, |word| lower.contains(word))
}
