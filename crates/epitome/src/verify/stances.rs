//! What the user typed, sentence by sentence, to be compared with what a summary says that he wants.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use super::stance::{Stance, is_same};
use super::word::{Key, Spread};

/// Letters by which words are looked up.
const LOOKED_UP_CHARS: usize = 3;
/// Longer sentences are pasted material or stories: on which side they stand nobody can say.
const SENTENCE_BYTES: usize = 400;
/// How alike a sentence must be to one that the user typed to be about the same, and how much less alike others may be
/// that are about it too.
const ABOUT_THE_SAME: f64 = 0.5;
const AGREEING: f64 = 0.3;
const NEARLY_AS_ALIKE: f64 = 0.12;
/// Words that both must have.
const SHARED_WORDS: usize = 2;
/// So many sentences are looked at closely, those that share most words; and so many places of words are gone through to
/// find them, the rarest words first. Who says the same thousand times is understood all the same.
const CLOSELY: usize = 48;
const PLACES: usize = 4_000;

/// How a sentence stands to what the user typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// He said so, perhaps in other words.
    Agrees,
    /// He said the opposite, and nothing else about it.
    Opposes,
    /// He said nothing that is known to be about it.
    Unknown,
}

/// The sentences of the user. They are only read closely when somebody asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Stances {
    text: String,
    sentences: Vec<Range<usize>>,
    known: HashSet<Key, Spread>,
    read: OnceLock<Index>,
}

/// Sentences and clauses, by the beginnings of their words.
#[derive(Clone, Debug, Default)]
struct Index {
    stances: Vec<(Stance, bool)>,
    by_start: HashMap<Box<str>, Vec<(Box<str>, Vec<usize>)>, Spread>,
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

    /// How a sentence stands to what the user typed.
    pub(super) fn agreement(&self, told: &str) -> Agreement {
        let index = self.read.get_or_init(|| self.index());
        let stance = Stance::of(told);
        let compared = index.about(&stance);
        let best = compared.iter().map(|one| one.1).fold(0.0, f64::max);
        let nearly: Vec<bool> = compared
            .iter()
            .filter(|one| one.1 >= (best - NEARLY_AS_ALIKE).max(AGREEING))
            .map(|(is_opposite, _)| *is_opposite)
            .collect();
        match nearly.as_slice() {
            [] => Agreement::Unknown,
            all if all.iter().any(|is_opposite| !is_opposite) => Agreement::Agrees,
            _ if best >= ABOUT_THE_SAME => Agreement::Opposes,
            _ => Agreement::Unknown,
        }
    }

    fn index(&self) -> Index {
        let mut index = Index::default();
        for range in &self.sentences {
            let sentence = self.text.get(range.clone()).unwrap_or_default();
            // Who asks takes no side.
            let is_question = sentence.ends_with(['?', '？']);
            for part in Stance::parts(sentence) {
                index.add(part, is_question);
            }
        }
        index
    }
}

impl Index {
    fn add(&mut self, stance: Stance, is_question: bool) {
        let at = self.stances.len();
        for word in stance.lookups() {
            let words = self.by_start.entry(start(word).into()).or_default();
            match words.iter_mut().find(|(known, _)| **known == *word) {
                Some((_, places)) => places.push(at),
                None => words.push((word.into(), vec![at])),
            }
        }
        self.stances.push((stance, is_question));
    }

    /// What was typed that may be about the same: whether it opposes, and how alike it is.
    fn about(&self, told: &Stance) -> Vec<(bool, f64)> {
        let mut found: Vec<&Vec<usize>> = Vec::new();
        for word in told.lookups() {
            let known = self.by_start.get(start(word)).into_iter().flatten();
            let same = known.filter(|(known, _)| is_same(known, word));
            found.extend(same.map(|(_, places)| places));
        }
        found.sort_by_key(|places| places.len());
        let mut shared: HashMap<usize, usize, Spread> = HashMap::default();
        let mut gone_through = 0;
        for places in found {
            gone_through += places.len();
            if gone_through > PLACES && !shared.is_empty() {
                break;
            }
            for place in places {
                *shared.entry(*place).or_default() += 1;
            }
        }
        let mut places: Vec<(usize, usize)> = shared.into_iter().collect();
        places.sort_unstable_by_key(|(at, count)| (Reverse(*count), Reverse(*at)));
        let places = places.into_iter().take(CLOSELY).map(|(at, _)| at);
        let typed = places.filter_map(|at| self.stances.get(at));
        let compared = typed.filter_map(|(typed, is_question)| {
            let compared = told.beside(typed);
            let fewest = SHARED_WORDS.min(typed.words.len()).max(1);
            (compared.shared >= fewest)
                .then_some((compared.is_opposite && !is_question, compared.alike))
        });
        compared.collect()
    }
}

fn start(word: &str) -> &str {
    let end = word.char_indices().nth(LOOKED_UP_CHARS);
    end.map_or(word, |(at, _)| word.get(..at).unwrap_or(word))
}
