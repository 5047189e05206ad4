//! What speaks for an English sentence being an instruction in force, and how much: phrases and what the grammar finds.
//!
//! `languages/english_weights.txt` has them, as `epitome-eval/labels/fit` wrote them. A line is `points: phrase, phrase, …`.
//! Behind `^` a phrase is one that the sentence begins with, behind "|" a later clause, behind `$` one that it ends with;
//! `#` stands for a number. `@` names what is no phrase: a reading (`@forbids`), a class and its place
//! (`@anywhere duty`), a length (`@words 8`), what counts before anything is said (`@start`).

use std::hash::Hasher as _;
use std::sync::LazyLock;

use super::class::Class;
use super::evidence::{LENGTH_STEP, LENGTHS, READINGS};
use crate::fast_hash::{FastHasher, FastMap};

pub(super) const TABLE: &str = include_str!("languages/english_weights.txt");
/// The words of the longest phrases, and of those that a sentence begins with.
pub(super) const LONGEST: usize = 3;
pub(super) const LONGEST_FIRST: usize = 5;
/// About so many phrases there are.
const PHRASES: usize = 8_000;

/// Every weight.
pub(super) static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(TABLE));

/// What stands for a phrase and where it stands: a hash of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    /// Of phrases wherever they stand, before any word.
    pub(super) const ANYWHERE: Self = Self(0);
    /// Of those that the sentence begins with.
    pub(super) const FIRST: Self = Self(1);
    /// Of those that a later clause begins with.
    pub(super) const LATER: Self = Self(2);
    /// Of those that the sentence ends with.
    pub(super) const LAST: Self = Self(3);

    /// The phrase with one more word.
    pub(super) fn and(self, word: &str) -> Self {
        let mut hasher = FastHasher::default();
        hasher.write_u64(self.0);
        hasher.write(word.as_bytes());
        hasher.write_usize(word.len());
        Self(hasher.finish())
    }

    pub(super) fn of(phrase: &str) -> Self {
        let (start, words) = match phrase.split_once(' ') {
            Some(("^", words)) => (Self::FIRST, words),
            Some(("|", words)) => (Self::LATER, words),
            Some(("$", words)) => (Self::LAST, words),
            _ => (Self::ANYWHERE, phrase),
        };
        words.split(' ').fold(start, Self::and)
    }
}

/// What everything weighs, in tenths of a point.
pub(super) struct Weights {
    /// What counts before anything is said: most sentences are no rules.
    pub(super) start: i32,
    /// In the order of `READINGS`.
    pub(super) readings: [i16; READINGS.len()],
    pub(super) lengths: [i16; LENGTHS],
    pub(super) classes: Places,
    pub(super) phrases: FastMap<Key, i16>,
}

/// What classes weigh, by where a phrase of them stands.
#[derive(Default)]
pub(super) struct Places {
    pub(super) anywhere: Classes,
    /// At the beginning of the sentence, behind what may stand before a rule.
    pub(super) first: Classes,
    /// What the first clause is.
    pub(super) head: Classes,
    /// What a later clause is.
    pub(super) later: Classes,
}

/// What each class weighs.
pub(super) struct Classes([i16; 64]);

impl Default for Classes {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Classes {
    /// What a set of them comes to.
    pub(super) fn of(&self, mut classes: u64) -> i32 {
        let mut sum = 0;
        while classes != 0 {
            let place = classes.trailing_zeros() as usize;
            sum += self.0.get(place).map_or(0, |weight| i32::from(*weight));
            classes &= classes - 1;
        }
        sum
    }
}

impl Weights {
    pub(super) fn of(&self, key: Key) -> Option<i16> {
        self.phrases.get(&key).copied()
    }

    /// Reads a table. What it names and nobody knows is left out: a test sees to it that there is no such name.
    pub(super) fn read(table: &str) -> Self {
        let mut weights = Self {
            start: 0,
            readings: [0; READINGS.len()],
            lengths: [0; LENGTHS],
            classes: Places::default(),
            phrases: FastMap::with_capacity_and_hasher(PHRASES, Default::default()),
        };
        for (points, name) in entries(table) {
            match name.strip_prefix('@') {
                Some("start") => weights.start = i32::from(points),
                Some(name) => {
                    if let Some(weight) = weights.named(name) {
                        *weight = points;
                    }
                }
                None => {
                    weights.phrases.insert(Key::of(name), points);
                }
            }
        }
        weights
    }

    /// The weight of what is no phrase.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut i16> {
        let Some((kind, name)) = name.split_once(' ') else {
            let at = READINGS.iter().position(|(reading, _)| *reading == name)?;
            return self.readings.get_mut(at);
        };
        let classes = match kind {
            "words" => {
                let length = name.parse::<usize>().ok()? / LENGTH_STEP;
                return self.lengths.get_mut(length);
            }
            "anywhere" => &mut self.classes.anywhere,
            "first" => &mut self.classes.first,
            "head" => &mut self.classes.head,
            "later" => &mut self.classes.later,
            _ => return None,
        };
        classes.0.get_mut(Class::named(name)?.place())
    }
}

/// The names of a table with their points.
pub(super) fn entries(table: &str) -> impl Iterator<Item = (i16, &str)> {
    let lines = table.lines().filter_map(|line| {
        let (points, names) = line.split_once(": ")?;
        Some((points.parse::<i16>().ok()?, names))
    });
    lines.flat_map(|(points, names)| names.split(", ").map(move |name| (points, name)))
}
