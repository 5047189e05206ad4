//! The place of a number between the words beside it.

use super::word::{Key, Word, pair};

/// What the source says about the places beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slots {
    /// It has none of them.
    Unknown,
    /// It has this number there.
    Same,
    /// It has other numbers there, and not this one.
    Other,
}

/// Two words beside a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    number: Key,
    pub(super) beside: [Key; 2],
    /// How many of the two stand before it.
    before: usize,
}

impl Slot {
    /// The places around the number at `at`: two words before it, one on either side, two behind it.
    pub(super) fn around(words: &[Word<'_>], at: usize) -> impl Iterator<Item = Self> {
        let word = |place: Option<usize>| {
            place
                .and_then(|place| words.get(place))
                .map(|word| word.key)
        };
        let number = word(Some(at));
        let places = [
            (word(at.checked_sub(2)), word(at.checked_sub(1)), 2),
            (word(at.checked_sub(1)), word(Some(at + 1)), 1),
            (word(Some(at + 1)), word(Some(at + 2)), 0),
        ];
        places
            .into_iter()
            .filter_map(move |(first, second, before)| {
                Some(Self {
                    number: number?,
                    beside: [first?, second?],
                    before,
                })
            })
    }

    /// The place, whatever number stands there.
    pub(super) fn place(self) -> Key {
        let [first, second] = self.beside;
        pair(pair(first, second), self.before as Key)
    }

    /// The three words in a row.
    pub(super) fn run(self) -> Key {
        let [first, second] = self.beside;
        match self.before {
            0 => pair(self.number, pair(first, second)),
            1 => pair(first, pair(self.number, second)),
            _ => pair(first, pair(second, self.number)),
        }
    }
}
