//! The parts of a sentence between two commas, and on which side each of them stands.

use super::Sign;
use super::lexicon::End;
use crate::verify::word::is_unspaced;

/// Words of a name, and characters where words are not separated.
const NAME_WORDS: usize = 2;
pub(super) const NAME_CHARS: usize = 4;

/// What a word or a choice of a part is.
pub(super) struct Item {
    pub(super) text: Box<str>,
    pub(super) end: Option<End>,
    /// Whether it is what is not wanted: "instead of".
    pub(super) is_unwanted: bool,
    /// Whether it stands behind such a word, and may belong to it.
    pub(super) follows_unwanted: bool,
    /// Whether a denial stands right before it.
    pub(super) is_denied: bool,
}

impl Item {
    pub(super) fn undoes(&self) -> bool {
        self.end.is_some_and(End::undoes)
    }

    /// Whether it is part of a word in a script that does not separate them.
    pub(super) fn is_character(&self) -> bool {
        self.end.is_none() && self.text.contains(is_unspaced)
    }
}

/// The words between two commas.
#[derive(Default)]
pub(super) struct Part {
    /// Whether it says something of its own: behind "but" or a semicolon.
    pub(super) is_clause: bool,
    pub(super) items: Vec<Item>,
    pub(super) denials: usize,
    /// Whether one of these makes an exception or a condition: "without".
    pub(super) is_condition: bool,
    /// Behind how many items such a denial stands, if it is the only one.
    pub(super) without: Option<usize>,
    /// Whether it says that something is not changed.
    pub(super) is_unchanged: bool,
    /// Whether it tells why or what for.
    pub(super) is_reason: bool,
    /// Units since the last denial.
    pub(super) since: usize,
    /// Whether it speaks of all that was not named.
    pub(super) has_else: bool,
    /// Whether it says of itself that something is to be done, or may be.
    pub(super) asserts: bool,
    /// Whether it says that something must be done, or may be.
    pub(super) has_manner: bool,
}

impl Part {
    pub(super) const fn denies(&self) -> bool {
        self.denials % 2 == 1
    }

    /// Whether it tells of one thing only: ", not spaces".
    pub(super) fn is_one_name(&self) -> bool {
        let characters = self.items.iter().filter(|item| item.is_character()).count();
        let words = self.items.len() - characters;
        match characters {
            0 => (1..=NAME_WORDS).contains(&words),
            _ => characters <= NAME_CHARS && words == 0,
        }
    }

    /// Whether it only sets one thing against what stands before it.
    pub(super) fn is_aside(&self) -> bool {
        !self.is_clause && self.denies() && self.is_one_name() && !self.has_manner
    }

    /// Whether it says that something stays.
    pub(super) fn has_stayed(&self) -> bool {
        let mut ends = self.items.iter().filter_map(|item| item.end);
        ends.any(|end| end.stays)
    }

    pub(super) fn says_something(&self) -> bool {
        !self.items.is_empty()
    }
}

/// On which side each part of a clause stands.
pub(super) fn signs(clause: &[Part]) -> Vec<Sign> {
    let is_aside = |at: usize, part: &Part| at > 0 && part.is_aside();
    let own: Vec<&Part> = clause
        .iter()
        .enumerate()
        .filter(|(at, part)| !is_aside(*at, part))
        .map(|(_, part)| part)
        .collect();
    let denials: usize = own.iter().map(|part| part.denials).sum();
    // "Without asking, nothing is installed" says the same in two parts.
    let is_one = own.iter().any(|part| part.is_condition && part.denies())
        && (own.len() == 1 || own.iter().filter(|part| part.denials > 0).count() > 1);
    let mut before = Sign::Plus;
    let mut signs = Vec::with_capacity(clause.len());
    for (at, part) in clause.iter().enumerate() {
        let sign = if part.is_reason {
            Sign::Open
        } else if is_aside(at, part) {
            match before {
                // "No tabs, no spaces" sets nothing against anything.
                Sign::Minus if !part.is_condition => Sign::Open,
                _ => before.other(),
            }
        } else if is_one {
            Sign::of(denials)
        } else if part.denials > 0 || part.asserts {
            Sign::of(part.denials)
        } else if at == 0 {
            // What only sets the scene for what is denied later is on no side.
            if denials == 0 { Sign::Plus } else { Sign::Open }
        } else if before == Sign::Minus && part.items.len() > 1 {
            // A list goes on word by word.
            Sign::Open
        } else {
            before
        };
        let is_case = part.is_condition && at == 0;
        if !is_aside(at, part) && !part.is_reason && !is_case {
            before = sign;
        }
        signs.push(sign);
    }
    signs
}
