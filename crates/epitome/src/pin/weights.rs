//! What speaks for an English sentence being an instruction in force, and how much: phrases and what the grammar finds.
//!
//! `languages/english_weights.txt` has them, as `epitome-eval/labels/fit` wrote them. A line is `points: phrase, phrase, …`.
//! Behind `^` a phrase is one that the sentence begins with, behind "|" a later clause, behind `$` one that it ends with;
//! `#` stands for a number. `@` names what is no phrase: a reading (`@forbids`), a class and its place
//! (`@anywhere duty`), a length (`@words 8`), what counts before anything is said (`@start`).

use std::sync::LazyLock;

use super::class::Class;
use super::evidence::{LENGTH_STEP, LENGTHS, READINGS};
use crate::fast_hash::FastMap;

pub(super) const TABLE: &str = include_str!("languages/english_weights.txt");
/// The words of the longest phrases, and of those that a sentence begins with.
pub(super) const LONGEST: usize = 3;
pub(super) const LONGEST_FIRST: usize = 5;
/// Eight bits for a phrase.
const KNOWN_WORDS: usize = 1 << 11;
/// About so many phrases there are.
const PHRASES: usize = 10_000;

/// Every weight.
pub(super) static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::read(TABLE));

/// What stands for a phrase and where it stands: a hash of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(u64);

/// A hash of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordHash(u64);

impl WordHash {
    pub(super) const NUMBER: Self = Self::of("#");

    pub(super) const fn of(word: &str) -> Self {
        let (mut hash, mut rest) = (0, word.as_bytes());
        while let [byte, behind @ ..] = rest {
            hash = mixed(hash, *byte as u64);
            rest = behind;
        }
        Self(hash)
    }
}

const fn mixed(hash: u64, value: u64) -> u64 {
    const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;
    (hash ^ value).wrapping_mul(FACTOR).rotate_left(29)
}

impl Key {
    /// Of phrases wherever they stand, before any word.
    pub(super) const ANYWHERE: Self = Self(0);
    /// Of those that the sentence begins with.
    pub(super) const FIRST: Self = Self::ANYWHERE.and(WordHash::of("^"));
    /// Of those that a later clause begins with.
    pub(super) const LATER: Self = Self::ANYWHERE.and(WordHash::of("|"));
    /// Of those that the sentence ends with.
    pub(super) const LAST: Self = Self::ANYWHERE.and(WordHash::of("$"));

    /// The place of its bit among those that are known.
    const fn place(self) -> (usize, u64) {
        let spread = self.0 >> 40;
        ((spread >> 6) as usize % KNOWN_WORDS, 1 << (spread % 64))
    }

    /// The phrase with one word more.
    pub(super) const fn and(self, word: WordHash) -> Self {
        Self(mixed(self.0, word.0))
    }

    /// A phrase as the table has it, with single spaces. It goes by bytes in one pass: the table is read whenever a program
    /// begins.
    pub(super) fn of(phrase: &str) -> Self {
        let (mut key, mut word) = (Self::ANYWHERE, 0);
        for byte in phrase.bytes() {
            match byte {
                b' ' => key = key.and(WordHash(std::mem::take(&mut word))),
                byte => word = mixed(word, u64::from(byte)),
            }
        }
        key.and(WordHash(word))
    }
}

/// A reading that is asked for.
pub(super) struct Asked {
    /// Its place among `READINGS`.
    pub(super) reading: usize,
    pub(super) weight: i32,
    /// What it and those behind it can add at most, and at least.
    pub(super) most: i32,
    pub(super) least: i32,
}

/// What everything weighs, in tenths of a point.
pub(super) struct Weights {
    /// What counts before anything is said: most sentences are no rules.
    pub(super) start: i32,
    /// In the order of `READINGS`.
    pub(super) readings: [i16; READINGS.len()],
    /// The readings that weigh something, what weighs most first.
    pub(super) asked: Vec<Asked>,
    pub(super) lengths: [i16; LENGTHS],
    pub(super) classes: Places,
    pub(super) phrases: FastMap<Key, i16>,
    /// A bit for each phrase, by a part of its key: most phrases of a sentence weigh nothing, and this says so for less.
    known: [u64; KNOWN_WORDS],
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
    #[inline]
    pub(super) fn of(&self, key: Key) -> Option<i16> {
        let (at, bit) = key.place();
        let known = self.known.get(at).is_some_and(|known| known & bit != 0);
        known.then(|| self.phrases.get(&key).copied()).flatten()
    }

    fn insert(&mut self, key: Key, points: i16) {
        let (at, bit) = key.place();
        if let Some(known) = self.known.get_mut(at) {
            *known |= bit;
        }
        self.phrases.insert(key, points);
    }

    /// Reads a table. What it names and nobody knows is left out: a test sees to it that there is no such name.
    pub(super) fn read(table: &str) -> Self {
        let mut weights = Self {
            start: 0,
            readings: [0; READINGS.len()],
            asked: Vec::new(),
            lengths: [0; LENGTHS],
            classes: Places::default(),
            phrases: FastMap::with_capacity_and_hasher(PHRASES, Default::default()),
            known: [0; KNOWN_WORDS],
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
                    weights.insert(Key::of(name), points);
                }
            }
        }
        weights.put_in_order();
        weights
    }

    fn put_in_order(&mut self) {
        let readings = self.readings.iter().enumerate();
        let mut asked: Vec<(usize, i32)> = readings
            .map(|(reading, weight)| (reading, i32::from(*weight)))
            .filter(|(_, weight)| *weight != 0)
            .collect();
        asked.sort_by_key(|(_, weight)| weight.abs());
        let (mut most, mut least) = (0, 0);
        for (reading, weight) in asked {
            most += weight.max(0);
            least += weight.min(0);
            self.asked.push(Asked {
                reading,
                weight,
                most,
                least,
            });
        }
        self.asked.reverse();
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
    // By the comma alone: a search for two characters takes several times as long.
    lines.flat_map(|(points, names)| {
        let names = names.split(',');
        names.map(move |name| (points, name.strip_prefix(' ').unwrap_or(name)))
    })
}
