//! What comes first, as far as a sentence says: "ask before you install", "install only after you asked".

use super::lexicon::Class;
use super::unit::{Begins, Unit};

/// When that happens which a word speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Early,
    Late,
}

impl When {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Early => Self::Late,
            Self::Late => Self::Early,
        }
    }
}

/// The order that a sentence gives.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Of each word that tells something.
    pub(super) when: Vec<When>,
    /// Whether it only says until when.
    pub(super) is_until: bool,
}

/// The order of the units of a sentence, by the first word that gives one.
pub(super) fn order(units: &[Unit<'_>]) -> Option<Order> {
    let (at, class, when) = units.iter().enumerate().find_map(|(at, unit)| {
        let is_first = !units.get(..at)?.iter().any(Unit::tells);
        let when = match unit.class? {
            Class::Then if is_first => return None,
            Class::Before | Class::Then | Class::Until | Class::Earlier => When::Late,
            Class::After | Class::Later => When::Early,
            _ => return None,
        };
        Some((at, unit.class?, when))
    })?;
    let spoken_of = match class {
        Class::Earlier | Class::Later => before(units, at),
        _ => behind(units, at),
    };
    let inside = |at: usize| spoken_of.contains(&at);
    let all = units.iter().enumerate();
    let words = all.clone().filter(|(_, unit)| unit.tells());
    let whens: Vec<bool> = words.map(|(at, _)| inside(at)).collect();
    // Where all or nothing is spoken of, nothing comes before anything.
    let mut told = all.filter(|(_, unit)| unit.tells());
    let is_order = told.clone().any(|(at, _)| inside(at)) && told.any(|(at, _)| !inside(at));
    is_order.then(|| Order {
        when: whens
            .into_iter()
            .map(|inside| if inside { when } else { when.other() })
            .collect(),
        is_until: class == Class::Until,
    })
}

/// What a word like "before" speaks of: what follows, up to the next comma. At the beginning of a sentence without one
/// it is the next word that tells something.
fn behind(units: &[Unit<'_>], at: usize) -> std::ops::Range<usize> {
    let start = at + 1;
    let rest = units.get(start..).unwrap_or_default();
    let edge = rest.iter().position(|unit| unit.begins != Begins::Nothing);
    let is_first = !units.iter().take(at).any(Unit::tells);
    let first_word = || rest.iter().position(Unit::tells).map(|word| word + 1);
    let length = match edge {
        Some(edge) => edge,
        None if is_first => first_word().unwrap_or_default(),
        None => rest.len(),
    };
    start..start + length
}

/// What a word like 之前 speaks of: what stands before it, back to 在 or the last comma.
fn before(units: &[Unit<'_>], at: usize) -> std::ops::Range<usize> {
    let front = units.get(..at).unwrap_or_default();
    let start = front
        .iter()
        .rposition(|unit| unit.class == Some(Class::Within) || unit.begins != Begins::Nothing);
    start.unwrap_or_default()..at
}
