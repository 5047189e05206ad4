//! What a sentence is about.

use super::denial::{NEGATION_SIGNS, is_negation, plain_answer};
use super::word::{Key, bare, key, words};
use crate::letters::is_letter;
use crate::pin;

/// Words before the first that matters among which a negation still belongs to it.
const BEFORE: usize = 3;

/// What a sentence is about, and whether it says so or denies it.
#[derive(Clone, Debug)]
pub(super) struct Gist {
    /// Its words: what each is about, if anything, and how often it denies.
    words: Vec<(Option<Key>, usize)>,
    /// What it is about, each once, sorted.
    stems: Vec<(Key, Box<str>)>,
    negations: usize,
    /// Of these, in scripts whose words are not told apart.
    signs: usize,
}

impl Gist {
    pub(super) fn of(sentence: &str) -> Self {
        let lower = plain_answer(sentence).to_lowercase().replace('’', "'");
        // Only scripts that do not separate words, and Korean, have such signs.
        let signs = match lower.chars().any(pin::is_unspaced) {
            true => NEGATION_SIGNS
                .iter()
                .map(|sign| lower.matches(sign).count())
                .sum(),
            false => 0,
        };
        let mut gist = Self {
            words: Vec::new(),
            stems: Vec::new(),
            negations: signs,
            signs,
        };
        for word in lower.split(|c: char| !is_letter(c) && c != '\'' && c != '_') {
            let word = bare(word, '\'');
            if is_negation(word) {
                gist.negations += 1;
                gist.words.push((None, 1));
            } else if pin::names_nothing(word) {
                gist.words.push((None, 0));
            } else {
                for word in words(word) {
                    let stem = pin::stem(word.text);
                    let stem_key = key(stem);
                    gist.words.push((Some(stem_key), 0));
                    gist.stems.push((stem_key, stem.into()));
                }
            }
        }
        gist.stems.sort_unstable_by_key(|(key, _)| *key);
        gist.stems.dedup_by_key(|(key, _)| *key);
        gist
    }

    /// What it is about.
    pub(super) fn stems(&self) -> impl ExactSizeIterator<Item = Key> {
        self.stems.iter().map(|(key, _)| *key)
    }

    const fn is_denial(&self) -> bool {
        self.negations % 2 == 1
    }

    fn is_about(&self, stem: Key) -> bool {
        self.stems
            .binary_search_by_key(&stem, |(key, _)| *key)
            .is_ok()
    }

    fn shared(&self, other: &Self) -> usize {
        self.stems().filter(|stem| other.is_about(*stem)).count()
    }

    /// The part of this one that is about all that `other` is about, if it is not much longer.
    fn part_about(&self, other: &Self) -> Option<Self> {
        let is_hit = |word: &(Option<Key>, usize)| word.0.is_some_and(|stem| other.is_about(stem));
        let first = self.words.iter().position(is_hit)?;
        let last = self.words.iter().rposition(is_hit)?;
        let from = first.saturating_sub(BEFORE);
        let words: Vec<_> = self.words.get(from..=last)?.to_vec();
        if words.len() > other.words.len() + 2 * BEFORE {
            return None;
        }
        let is_in_part = |stem: Key| words.iter().any(|(word, _)| *word == Some(stem));
        let stems = self.stems.iter().filter(|(stem, _)| is_in_part(*stem));
        Some(Self {
            stems: stems.cloned().collect(),
            negations: self.signs + words.iter().map(|(_, count)| count).sum::<usize>(),
            signs: self.signs,
            words,
        })
    }

    /// Whether this one says the opposite of `rule`.
    fn turns(&self, rule: &Self, shared: usize) -> bool {
        let is_same =
            shared * 5 >= rule.stems.len() * 4 && self.stems.len() * 5 <= rule.stems.len() * 8 + 10;
        is_same && self.is_denial() != rule.is_denial()
    }

    /// Whether this one denies what `rule` says, or the other way round, in words of its own, of which one is new.
    pub(super) fn alters(&self, rule: &Self, shared: usize, is_new: impl Fn(&str) -> bool) -> bool {
        self.is_denial() != rule.is_denial()
            && rule.stems.len() >= 3
            && shared < rule.stems.len()
            && shared * 5 >= rule.stems.len() * 3
            && self.stems.len() <= rule.stems.len() + 1
            && self
                .stems
                .iter()
                .any(|(stem, text)| !rule.is_about(*stem) && is_new(text))
    }

    /// Whether this one denies what `rule` says, or the other way round.
    pub(super) fn flips(&self, rule: &Self, shared: usize) -> bool {
        let is_whole = shared == rule.stems.len() && shared > 1;
        let part = is_whole.then(|| self.part_about(rule)).flatten();
        match part {
            Some(part) => part.turns(rule, part.shared(rule)),
            None => self.turns(rule, shared),
        }
    }

    /// Whether most of what this one is about stands in one of `lines`.
    pub(super) fn is_covered(&self, lines: &[Self]) -> bool {
        let needed = (self.stems.len() * 3).div_ceil(5).max(1);
        self.stems.is_empty() || lines.iter().any(|line| line.shared(self) >= needed)
    }
}
