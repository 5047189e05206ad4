//! Ways in which a summary goes wrong, applied at places that a seed chooses.
//!
//! An operator leaves out only what is no corruption: where the changed text is true of the source as well. It looks
//! at the plain text of the source for that, not at what verification finds in it.

#[path = "corrupt/claims.rs"]
mod claims;
#[path = "corrupt/names.rs"]
mod names;
#[path = "corrupt/text.rs"]
pub(crate) mod text;

use epitome::Message;

use super::samples::Sample;
use text::SourceText;

/// What is done to a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    ChangedNumber,
    RenamedFile,
    InventedFile,
    FlippedNegation,
    DroppedTodo,
    SmuggledOrder,
    SwappedSpeaker,
}

/// A corrupted summary, and by what it is known that it was caught.
#[derive(Clone, Debug)]
pub(crate) struct Corruption {
    pub(crate) text: String,
    /// Must not be in what comes out; empty if nothing was put in.
    pub(crate) bad: String,
    /// Must be in what comes out.
    pub(crate) wanted: Option<String>,
}

impl Corruption {
    fn new(text: String, bad: impl Into<String>) -> Self {
        Self {
            text,
            bad: bad.into(),
            wanted: None,
        }
    }
}

impl Operator {
    pub(crate) const ALL: [Self; 7] = [
        Self::ChangedNumber,
        Self::RenamedFile,
        Self::InventedFile,
        Self::FlippedNegation,
        Self::DroppedTodo,
        Self::SmuggledOrder,
        Self::SwappedSpeaker,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ChangedNumber => "changed number",
            Self::RenamedFile => "renamed file",
            Self::InventedFile => "invented file",
            Self::FlippedNegation => "flipped negation",
            Self::DroppedTodo => "dropped to-do",
            Self::SmuggledOrder => "smuggled order",
            Self::SwappedSpeaker => "swapped speaker",
        }
    }

    /// What an operator needs in the source besides what is there: a page with orders, a to-do that can be dropped.
    pub(crate) fn planted(self) -> Option<Message> {
        match self {
            Self::DroppedTodo => Some(claims::message_with_todos()),
            Self::SmuggledOrder => Some(claims::result_with_orders()),
            _ => None,
        }
    }

    /// Up to `tries` corruptions of a sample, each of the untouched summary.
    pub(crate) fn corrupt(
        self,
        sample: &Sample,
        source: &SourceText,
        tries: usize,
        random: &mut Random,
    ) -> Vec<Corruption> {
        let mut found = match self {
            Self::ChangedNumber => names::changed_numbers(sample, source, random),
            Self::RenamedFile => names::renamed_files(sample, source, random),
            Self::InventedFile => names::invented_files(sample, source, tries, random),
            Self::FlippedNegation => claims::flipped_negations(sample),
            Self::DroppedTodo => claims::dropped_todos(sample),
            Self::SmuggledOrder => claims::smuggled_orders(sample, tries, random),
            Self::SwappedSpeaker => claims::swapped_speakers(sample, source),
        };
        random.shuffle(&mut found);
        found.truncate(tries);
        found
    }
}

/// Chance with a seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
