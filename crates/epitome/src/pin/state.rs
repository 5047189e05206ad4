//! What later sentences do to a pin. When in doubt, nothing: two rules in view do less harm than one that is missing.

use std::cell::OnceCell;

use super::class::Class;
use super::languages::lists;
use super::{Pin, PinKind, PinState};
use crate::anchor::anchors;
use crate::fast_hash::hash_of;
use crate::letters::is_alphabetic;

/// Pins that a sentence is compared with, the newest first: what is further back is not taken back in passing.
const COMPARED: usize = 128;

/// What a sentence may do to earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It takes something back: "forget the rule about tabs", "you may push to main now".
    Revokes,
    /// It says how a thing is from now on: "the budget is 400 now", "actually use spaces, not tabs".
    Replaces,
    /// It says that something is done.
    Finishes,
}

/// The pins that a sentence about `topic` changes, and their new states. What a pin is about is worked out once, when
/// it is asked for.
pub(super) fn effects(
    pins: &[(Pin, OnceCell<Topic>)],
    change: Change,
    by: usize,
    topic: &Topic,
) -> Vec<(usize, PinState)> {
    let is_changed = |(pin, other): &(Pin, OnceCell<Topic>)| {
        let other = || other.get_or_init(|| Topic::of(&pin.text));
        match (change, pin.kind) {
            (_, PinKind::Host) => false,
            (Change::Revokes, _) | (Change::Finishes, PinKind::Todo) => topic.is_within(other()),
            (Change::Replaces, PinKind::Instruction | PinKind::Passage) => topic.replaces(other()),
            (Change::Replaces | Change::Finishes, _) => false,
        }
    };
    let found: Vec<usize> = pins
        .iter()
        .enumerate()
        .rev()
        .take(COMPARED)
        .filter(|(_, (pin, _))| pin.is_active())
        .filter(|(_, pin)| is_changed(pin))
        .map(|(at, _)| at)
        .collect();
    // One word that several pins share does not say which of them is meant, and a new rule takes one place.
    let is_vague = found.len() > 1 && (topic.words.len() < 2 || change == Change::Replaces);
    if is_vague {
        return Vec::new();
    }
    let state = |pin: &Pin| match pin.kind {
        PinKind::Todo => PinState::Done { by },
        PinKind::Passage | PinKind::Instruction | PinKind::Host => PinState::Superseded { by },
    };
    found
        .into_iter()
        .filter_map(|at| pins.get(at).map(|(pin, _)| (at, state(pin))))
        .collect()
}

/// What a sentence is about. Words are hashed: they are only compared.
#[derive(Default)]
pub(super) struct Topic {
    /// Its words that name something, stemmed, each once.
    words: Vec<u64>,
    /// Of these, the identifiers.
    identifiers: Vec<u64>,
    /// Its numbers.
    numbers: Vec<u64>,
    /// The words it sets aside: "not tabs", "instead of tabs".
    refused: Vec<u64>,
}

impl Topic {
    pub(super) fn of(sentence: &str) -> Self {
        let lower = sentence.to_lowercase().replace('’', "'");
        let mut topic = Self::default();
        let mut refuses = false;
        let mut previous = "";
        for word in lower.split(|c: char| c.is_whitespace() || ",;:!?()\"“”`".contains(c)) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if word.is_empty() {
                continue;
            }
            refuses |= matches!(
                (previous, word),
                ("instead", "of") | ("rather", "than") | ("au", "lieu") | ("en", "lugar" | "vez")
            ) || matches!(word, "not" | "nicht" | "statt" | "anstatt" | "anziché");
            previous = word;
            if lists(Class::Empty, word) {
                continue;
            }
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                topic.numbers.push(hash_of(word));
                continue;
            }
            let stem = hash_of(stem(word));
            if std::mem::take(&mut refuses) {
                topic.refused.push(stem);
            }
            if !topic.words.contains(&stem) {
                topic.words.push(stem);
                topic.identifiers.extend(anchors(word).next().map(|_| stem));
            }
        }
        topic
    }

    /// Whether everything this one names is named there; verbs may differ in form where both name the same thing by an
    /// identifier.
    fn is_within(&self, other: &Self) -> bool {
        let shared = || self.words.iter().filter(|word| other.words.contains(word));
        let names_same = || shared().any(|word| self.identifiers.contains(word));
        let count = shared().count();
        count > 0
            && (count == self.words.len() || count * 3 >= self.words.len() * 2 && names_same())
    }

    /// Whether this one says anew what `other` said: the same thing with another number, or instead of what it asked for.
    fn replaces(&self, other: &Self) -> bool {
        let other_number =
            !self.numbers.is_empty() && !other.numbers.is_empty() && self.numbers != other.numbers;
        let shared = self
            .words
            .iter()
            .filter(|word| other.words.contains(word))
            .count();
        let least = self.words.len().min(other.words.len());
        let same_thing = shared > 0 && shared == least;
        let refused = !self.refused.is_empty()
            && self.refused.iter().all(|word| other.words.contains(word))
            && self
                .refused
                .iter()
                .all(|word| !other.refused.contains(word));
        (other_number && same_thing) || refused
    }
}

/// A word without the endings that number and tense leave on it.
pub(crate) fn stem(word: &str) -> &str {
    let is_plain = word.chars().all(is_alphabetic) && word.chars().count() > 4;
    let ending = ["ing", "es", "en", "ed", "s", "e"]
        .into_iter()
        .find(|ending| is_plain && word.ends_with(ending));
    let bare = ending.and_then(|ending| word.strip_suffix(ending));
    bare.map_or(word, |bare| bare.strip_suffix('e').unwrap_or(bare))
}
