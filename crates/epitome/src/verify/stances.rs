//! What the user typed, sentence by sentence, to be compared with what a summary says that he wants.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use super::stance::{Compared, Side, Stance, WORD_WEIGHT};
use super::word::{Key, Spread};
use crate::pin::{self, Purpose};

/// Longer sentences are pasted material or stories: on which side they stand nobody can say.
const SENTENCE_BYTES: usize = 400;
/// The same for what is no rule.
const REQUEST_BYTES: usize = 160;
/// How alike a sentence must be to a rule of the user to be about the same, how alike to another sentence of his, and
/// how much less alike others may be that are about it too.
const ABOUT_A_RULE: f64 = 0.5;
const ABOUT_A_REQUEST: f64 = 0.65;
const NEARLY_AS_ALIKE: f64 = 0.12;
/// How alike sentences are of which most words are the same.
const CLOSE: f64 = 0.5;
/// What stands between clauses that say something of their own.
const BETWEEN_CLAUSES: [char; 6] = [';', '；', '.', '。', '!', '！'];
/// What the words weigh that both must have, unless they have no others.
const SHARED_WEIGHT: usize = 2 * WORD_WEIGHT;
const ALL_ALIKE: f64 = 0.99;
/// So many sentences are looked at closely, those that share most words; and so many places of words are gone through to
/// find them, the rarest words first. Who says the same a thousand times is understood all the same.
const CLOSELY: usize = 48;
const PLACES: usize = 4_000;

/// How a sentence stands to what the user typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// He said so, perhaps in other words.
    Agrees(Closeness),
    /// He said the opposite, and nothing else about it.
    Opposes,
    /// He spoke about it, and nobody can tell on which side.
    Unclear,
    /// He said nothing that is known to be about it.
    Unknown,
}

/// How close the words of two sentences are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closeness {
    /// Most of them are the same.
    Close,
    /// They are about the same.
    Loose,
}

impl Agreement {
    /// What follows from comparing a sentence with all that is about the same.
    fn of(about: &[Compared]) -> Self {
        let best = about.iter().map(|one| one.alike).fold(0.0, f64::max);
        let nearly = about
            .iter()
            .filter(|one| one.alike >= best - NEARLY_AS_ALIKE);
        let same = nearly.clone().filter(|one| one.side == Side::Same);
        let closest = same.map(|one| one.alike).reduce(f64::max);
        match closest {
            Some(alike) if alike >= CLOSE => Self::Agrees(Closeness::Close),
            Some(_) => Self::Agrees(Closeness::Loose),
            None if about.is_empty() => Self::Unknown,
            None if nearly.clone().all(|one| one.side == Side::Opposite) => Self::Opposes,
            None => Self::Unclear,
        }
    }
}

/// The sentences of the user. They are only read closely when somebody asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Stances {
    text: String,
    sentences: Vec<Range<usize>>,
    known: HashSet<Key, Spread>,
    read: OnceLock<Index>,
}

/// Sentences by what they are about.
#[derive(Clone, Debug, Default)]
struct Index {
    sentences: Vec<Typed>,
    by_key: HashMap<Key, Vec<usize>, Spread>,
}

/// A sentence that he typed.
#[derive(Clone, Debug)]
struct Typed {
    stance: Stance,
    /// How alike another must be to be about it.
    least_alike: f64,
    /// Where its words stand.
    place: Range<usize>,
}

impl Stances {
    /// Takes up a sentence that the user typed; `key` stands for its words.
    pub(super) fn add(&mut self, sentence: &str, key: Key) {
        let sentence = sentence.trim();
        let is_readable = !sentence.is_empty() && sentence.len() <= SENTENCE_BYTES;
        if is_readable && self.known.insert(key) {
            let start = self.text.len();
            self.text.push_str(sentence);
            self.sentences.push(start..self.text.len());
            self.read = OnceLock::new();
        }
    }

    /// How a sentence stands to what the user typed, without what `is_void` no longer counts.
    pub(super) fn agreement(&self, told: &str, is_void: &dyn Fn(&str) -> bool) -> Agreement {
        if told.len() > SENTENCE_BYTES {
            return Agreement::Unknown;
        }
        let index = self.read.get_or_init(|| self.index());
        let text = |typed: &Typed| self.text.get(typed.place.clone()).unwrap_or_default();
        let counts = |typed: &Typed| !is_void(text(typed));
        let agreement = |told: &str| Agreement::of(&index.about(&Stance::of(told), &counts));
        // What is turned round in one clause is turned round.
        let clauses = clauses(told);
        let opposes = |clause: &&str| agreement(clause) == Agreement::Opposes;
        if clauses.len() > 1 && clauses.iter().any(opposes) {
            return Agreement::Opposes;
        }
        agreement(told)
    }

    fn index(&self) -> Index {
        let mut index = Index::default();
        for place in &self.sentences {
            let sentence = self.text.get(place.clone()).unwrap_or_default();
            let least_alike = match pin::purpose(sentence) {
                Purpose::Rule => ABOUT_A_RULE,
                Purpose::Request if sentence.len() <= REQUEST_BYTES => ABOUT_A_REQUEST,
                // Who tells what is wrong does not want it.
                Purpose::Request | Purpose::Tale => continue,
            };
            let mut add = |stance: Stance| {
                index.add(Typed {
                    stance,
                    least_alike,
                    place: place.clone(),
                });
            };
            let clauses = clauses(sentence);
            if clauses.len() > 1 {
                let clauses = clauses.into_iter().map(Stance::of);
                let says_something = |clause: &Stance| clause.weight() >= SHARED_WEIGHT;
                clauses.filter(says_something).for_each(&mut add);
            }
            add(Stance::of(sentence));
        }
        index
    }
}

impl Index {
    fn add(&mut self, typed: Typed) {
        let at = self.sentences.len();
        for key in typed.stance.keys() {
            let places = self.by_key.entry(key).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
        self.sentences.push(typed);
    }

    /// How a sentence compares with what was typed about the same.
    fn about(&self, told: &Stance, counts: &dyn Fn(&Typed) -> bool) -> Vec<Compared> {
        let keys: HashSet<Key, Spread> = told.keys().collect();
        let found = keys.iter().filter_map(|key| self.by_key.get(key));
        let mut found: Vec<&Vec<usize>> = found.collect();
        found.sort_by_key(|places| places.len());
        let mut shared: HashMap<usize, usize, Spread> = HashMap::default();
        let mut left = PLACES;
        for places in found {
            // The newest count.
            for place in places.iter().rev().take(left) {
                *shared.entry(*place).or_default() += 1;
            }
            left = left.saturating_sub(places.len());
        }
        let mut places: Vec<(usize, usize)> = shared.into_iter().collect();
        places.sort_unstable_by_key(|(at, count)| (Reverse(*count), Reverse(*at)));
        let closely = places.into_iter().take(CLOSELY);
        let compared = closely.filter_map(|(at, _)| {
            let typed = self.sentences.get(at)?;
            let compared = told.beside(&typed.stance);
            let is_enough = compared.shared >= SHARED_WEIGHT || compared.alike >= ALL_ALIKE;
            let is_about_it = is_enough && compared.alike >= typed.least_alike;
            (is_about_it && counts(typed)).then_some(compared)
        });
        compared.collect()
    }
}

/// The clauses of a sentence that say something of their own.
fn clauses(sentence: &str) -> Vec<&str> {
    let parts = sentence.split_inclusive(char::is_whitespace);
    let mut clauses = Vec::new();
    let (mut start, mut end) = (0, 0);
    for part in parts {
        end += part.len();
        if part.trim_end().ends_with(BETWEEN_CLAUSES) {
            clauses.extend(sentence.get(start..end));
            start = end;
        }
    }
    clauses.extend(sentence.get(start..).filter(|rest| !rest.trim().is_empty()));
    clauses
}
