//! What the user typed, sentence by sentence, to be compared with what a summary says that he wants.

mod index;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use super::quantity;
use super::stance::{Compared, Side, Stance};
use super::word::{Key, Spread};
use index::{Found, Index};

/// Longer sentences are pasted material or stories: on which side they stand nobody can say.
const SENTENCE_BYTES: usize = 400;
/// How much less alike than the one that is most alike others may be that are about the same too.
const NEARLY_AS_ALIKE: f64 = 0.12;
/// How alike two sentences are that differ in little more than what turns one of them round.
const SURELY_ALIKE: f64 = 0.85;
/// What stands between clauses that say something of their own.
const BETWEEN_CLAUSES: [char; 6] = [';', '；', '.', '。', '!', '！'];

/// How a sentence stands to what the user typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// He said so, perhaps in other words.
    Agrees,
    /// He said the opposite in nearly the same words, and nothing else about it.
    Opposes,
    /// The same, in words that are less alike.
    SeemsToOppose,
    /// He spoke about it, and nobody can tell on which side.
    Unclear,
    /// He said nothing that is known to be about it.
    Unknown,
}

impl Agreement {
    /// What follows from comparing a sentence with all that it shares words with.
    fn of(found: &[Found]) -> Self {
        let about = found.iter().filter(|found| found.is_about_it());
        let about: Vec<Compared> = about.map(|found| found.compared).collect();
        if about.is_empty() {
            let has = |side| found.iter().any(|found| found.compared.side == side);
            return match () {
                () if has(Side::Same) => Self::Agrees,
                () if has(Side::Unclear) => Self::Unclear,
                () => Self::Unknown,
            };
        }
        let best = about.iter().map(|one| one.alike).fold(0.0, f64::max);
        let mut nearly = about
            .iter()
            .filter(|one| one.alike >= best - NEARLY_AS_ALIKE);
        if nearly.clone().any(|one| one.side == Side::Same) {
            Self::Agrees
        } else if nearly.all(Compared::is_opposite) {
            match best >= SURELY_ALIKE {
                true => Self::Opposes,
                false => Self::SeemsToOppose,
            }
        } else {
            Self::Unclear
        }
    }
}

/// The sentences of the user. They are only read when somebody asks, and closely only those that share words with what
/// he asks about.
#[derive(Clone, Debug, Default)]
pub(super) struct Stances {
    text: String,
    sentences: Vec<Range<usize>>,
    known: HashSet<Key, Spread>,
    index: OnceLock<Index>,
    /// What the numbers in them come to.
    amounts: OnceLock<Vec<u64>>,
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
            self.index = OnceLock::new();
            self.amounts = OnceLock::new();
        }
    }

    /// Whether a sentence that sets nothing free is about something that the user asked for.
    pub(super) fn is_touched(&self, told: &str) -> bool {
        if !self.may_know(told) {
            return false;
        }
        let told = Stance::of(told);
        !told.frees() && self.index().touches(&told, &self.text)
    }

    /// Whether a sentence says something that he may have said something about.
    fn may_know(&self, told: &str) -> bool {
        told.len() <= SENTENCE_BYTES
            && !self.sentences.is_empty()
            && told.contains(char::is_alphanumeric)
    }

    /// What the numbers that the user typed come to, however they were written.
    pub(super) fn amounts(&self) -> &[u64] {
        self.amounts.get_or_init(|| {
            let typed = self.sentences.iter();
            let typed = typed.filter_map(|place| self.text.get(place.clone()));
            let mut amounts: Vec<u64> = typed.flat_map(quantity::values).collect();
            amounts.sort_unstable();
            amounts.dedup();
            amounts
        })
    }

    fn index(&self) -> &Index {
        self.index
            .get_or_init(|| Index::of(&self.text, &self.sentences))
    }

    /// What the user typed that a sentence tells in other words, as far as the words can show it.
    pub(super) fn his_words(&self, told: &str) -> Option<&str> {
        if !self.may_know(told) {
            return None;
        }
        self.index().nearest(&Stance::of(told), &self.text)
    }

    /// How a sentence stands to what the user typed, without what `is_void` no longer counts.
    pub(super) fn agreement(&self, told: &str, is_void: &dyn Fn(&str) -> bool) -> Agreement {
        if !self.may_know(told) {
            return Agreement::Unknown;
        }
        let index = self.index();
        let about = |told: &str| index.about(&Stance::of(told), &self.text, is_void);
        let whole = about(told);
        let clauses = clauses(told);
        if clauses.len() > 1 {
            // What is turned round in one clause is turned round; what agrees clause by clause agrees.
            let is_exchanged = |found: &Found| found.compared.side == Side::Exchanged;
            if whole.iter().any(is_exchanged) {
                return Agreement::Opposes;
            }
            let clauses = clauses.into_iter();
            let clauses: Vec<Agreement> = clauses
                .map(|clause| Agreement::of(&about(clause)))
                .collect();
            for one in [
                Agreement::Opposes,
                Agreement::SeemsToOppose,
                Agreement::Agrees,
            ] {
                if clauses.contains(&one) {
                    return one;
                }
            }
        }
        Agreement::of(&whole)
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
