//! On which side a sentence stands of what it is about: "at most ten" and "no more than ten" stand on the same,
//! "at least ten" on the other.
//!
//! Whatever turns a sentence round is counted, whether it denies ("never", "without") or names the other end ("after",
//! "more", "disable"): two of them cancel out. So a rule in other words keeps its side, and one that was turned does not.

mod list;

use super::denial::{is_negation, plain_answer};
use super::word::words;
use crate::pin;

/// What a word begins with at least that is the same word in another form.
const SAME_CHARS: usize = 3;
/// What two forms of a word may differ in at their ends.
const ENDING_CHARS: usize = 4;
/// Letters of a word in front of which a syllable turns it round.
const BARE_CHARS: usize = 5;

/// A sentence, or a clause of it: what it is about, and on which side it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Stance {
    /// Its words that tell something, in small letters, each once.
    pub(super) words: Vec<Box<str>>,
    /// Words that it sets something against: "tabs, not spaces".
    against: Vec<Box<str>>,
    /// Whether it is turned round an odd number of times.
    is_turned: bool,
}

/// How two sentences stand to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compared {
    /// How much of both is the same, from 0 to 1.
    pub(super) alike: f64,
    /// Words that both have.
    pub(super) shared: usize,
    /// Whether they are on opposite sides.
    pub(super) is_opposite: bool,
}

impl Stance {
    pub(super) fn of(sentence: &str) -> Self {
        let lower = plain_answer(sentence).to_lowercase().replace('’', "'");
        let lower = list::spelled_out(&lower);
        let mut stance = Self::default();
        let mut turns = list::unspaced_turns(&lower);
        let mut has_denied = false;
        let mut is_contrast = false;
        let mut before = "";
        let mut end = 0;
        for word in words(&lower) {
            let text = word.text;
            let between = lower.get(end..word.start).unwrap_or_default();
            end = word.start + text.len();
            if list::is_contrast(before, text) || is_negation(text) && between.contains([',', '，'])
            {
                is_contrast = true;
            } else if list::is_pair_that_turns(before, text) {
                turns += 1;
            } else if list::is_pair_that_does_not(before, text) {
                // Its first word was taken for one that turns.
                turns += usize::from(list::turns(before) || is_negation(before));
            } else if list::echoes(text) && has_denied {
                // "No toques nada", "никогда не": one denial in two words.
            } else if is_negation(text) || list::echoes(text) {
                turns += 1;
                has_denied = true;
            } else if list::turns(text) {
                turns += 1;
                stance.add(text, false);
            } else if list::tells(text) {
                stance.add(text, std::mem::take(&mut is_contrast));
            }
            before = text;
        }
        stance.is_turned = turns % 2 == 1;
        stance
    }

    fn add(&mut self, word: &str, is_against: bool) {
        let list = if is_against {
            &mut self.against
        } else {
            &mut self.words
        };
        if !list.iter().any(|known| **known == *word) {
            list.push(word.into());
        }
    }

    /// The whole of a sentence, and its clauses.
    pub(super) fn parts(sentence: &str) -> Vec<Self> {
        let mut parts = vec![Self::of(sentence)];
        let clauses: Vec<&str> = list::clauses(sentence);
        if clauses.len() > 1 {
            let clauses = clauses.into_iter().map(Self::of);
            parts.extend(clauses.filter(|clause| clause.words.len() > 1));
        }
        parts
    }

    /// This one beside what the user typed.
    pub(super) fn beside(&self, typed: &Self) -> Compared {
        let (mut shared, mut flips) = (0, 0);
        for word in &self.words {
            match typed.has(word) {
                Some(is_turned) => {
                    shared += 1;
                    flips += usize::from(is_turned);
                }
                None => {
                    shared += usize::from(typed.against.iter().any(|other| is_same(word, other)))
                }
            }
        }
        let all = self.words.len() + typed.words.len();
        let is_opposite = (self.is_turned != typed.is_turned) != (flips % 2 == 1);
        Compared {
            alike: 2.0 * shared as f64 / all.max(1) as f64,
            shared,
            is_opposite: is_opposite || self.swaps(typed),
        }
    }

    /// Whether this one wants what the other sets something against, or sets itself against what that one wants.
    fn swaps(&self, typed: &Self) -> bool {
        let wants = |one: &Self, other: &Self| {
            other.against.iter().any(|against| {
                one.words.iter().any(|word| is_same(word, against))
                    && !one.against.iter().any(|own| is_same(own, against))
            })
        };
        wants(self, typed) || wants(typed, self)
    }

    /// Its words as they are looked up: as they stand, and without the syllable that turns them round.
    pub(super) fn lookups(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(AsRef::as_ref);
        words.flat_map(|word: &str| std::iter::once(word).chain(list::bare(word)))
    }

    /// Whether it has a word, and whether in a form that is turned round: "formal", "informal".
    fn has(&self, word: &str) -> Option<bool> {
        if self.words.iter().any(|own| is_same(own, word)) {
            return Some(false);
        }
        let is_turned = |own: &str| {
            list::bare(own).is_some_and(|bare| is_same(bare, word))
                || list::bare(word).is_some_and(|bare| is_same(own, bare))
        };
        self.words.iter().any(|own| is_turned(own)).then_some(true)
    }
}

/// Whether two words are forms of one.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (pin::stem(one), pin::stem(other));
    let mut same = 0;
    let mut bytes = 0;
    for (own, its) in one.chars().zip(other.chars()) {
        if own != its {
            break;
        }
        same += 1;
        bytes += own.len_utf8();
    }
    let rest = |word: &str| word.get(bytes..).unwrap_or_default().chars().count();
    let (rest_of_one, rest_of_other) = (rest(one), rest(other));
    let longest = same + rest_of_one.max(rest_of_other);
    same >= SAME_CHARS && rest_of_one.max(rest_of_other) <= ENDING_CHARS && same * 5 >= longest * 3
}
