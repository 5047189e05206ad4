//! What later sentences do to a pin. When in doubt, nothing: two rules in view do less harm than one that is missing.

use super::class::Class;
use super::languages::lists;
use super::{Pin, PinKind, PinState};

/// Pins that a sentence is compared with, the newest first: what is further back is not taken back in passing.
const COMPARED: usize = 256;

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

/// The pins that `sentence` changes, and their new states.
pub(super) fn effects(
    pins: &[Pin],
    change: Change,
    by: usize,
    sentence: &str,
) -> Vec<(usize, PinState)> {
    let topic = Topic::of(sentence);
    let found: Vec<usize> = pins
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, pin)| pin.is_active() && pin.kind != PinKind::Host)
        .take(COMPARED)
        .filter(|(_, pin)| match (change, pin.kind) {
            (Change::Revokes, PinKind::Instruction | PinKind::Passage) => {
                topic.is_within(&Topic::of(&pin.text))
            }
            (Change::Revokes | Change::Finishes, PinKind::Todo) => {
                topic.is_within(&Topic::of(&pin.text))
            }
            (Change::Replaces, PinKind::Instruction | PinKind::Passage) => {
                topic.replaces(&Topic::of(&pin.text))
            }
            _ => false,
        })
        .map(|(at, _)| at)
        .collect();
    // One word that several pins share does not say which of them is meant.
    let is_vague = topic.words.len() < 2 && found.len() > 1;
    if is_vague {
        return Vec::new();
    }
    let state = |pin: &Pin| match pin.kind {
        PinKind::Todo => PinState::Done { by },
        PinKind::Passage | PinKind::Instruction | PinKind::Host => PinState::Superseded { by },
    };
    found
        .into_iter()
        .filter_map(|at| pins.get(at).map(|pin| (at, state(pin))))
        .collect()
}

/// What a sentence is about.
struct Topic {
    /// Its words that name something, stemmed, each once.
    words: Vec<String>,
    /// Its numbers.
    numbers: Vec<String>,
    /// The words it sets aside: "not tabs", "instead of tabs".
    refused: Vec<String>,
}

impl Topic {
    fn of(sentence: &str) -> Self {
        let lower = lowered(sentence);
        let mut topic = Self {
            words: Vec::new(),
            numbers: Vec::new(),
            refused: Vec::new(),
        };
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
                topic.numbers.push(word.to_owned());
                continue;
            }
            let stem = stem(word);
            if std::mem::take(&mut refuses) && !topic.refused.contains(&stem) {
                topic.refused.push(stem.clone());
            }
            if !topic.words.contains(&stem) {
                topic.words.push(stem);
            }
        }
        topic
    }

    /// Whether everything this one names is named there.
    fn is_within(&self, other: &Self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| other.words.contains(word))
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
pub(crate) fn stem(word: &str) -> String {
    let is_plain = word.chars().all(char::is_alphabetic) && word.chars().count() > 4;
    let ending = ["ing", "es", "en", "ed", "s"]
        .into_iter()
        .find(|ending| is_plain && word.ends_with(ending));
    let bare = ending
        .and_then(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    bare.to_owned()
}

fn lowered(sentence: &str) -> String {
    sentence.to_lowercase().replace('’', "'")
}
