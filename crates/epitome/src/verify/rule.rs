//! The user's instructions in force: which are missing, which are turned round.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::denial::{self, Wording};
use super::gist::Gist;
use super::word::{Key, Spread, is_unspaced};
use crate::haystack::Haystack;
use crate::pin::{Pin, PinKind};

/// Fewer words in a row may be said about anything.
const FEW_WORDS: usize = 3;
/// The same for a sentence that does not claim to say what the user wants.
const MANY_WORDS: usize = 5;

#[derive(Clone, Debug)]
struct Rule {
    pin: Pin,
    gist: Gist,
    /// Whether it has clauses that may be told without the rest.
    has_clauses: bool,
    /// As a whole and in clauses. Most rules are compared with nothing.
    wordings: OnceLock<Vec<Wording>>,
}

impl Rule {
    /// The wordings that a sentence may hold that shares so much with the rule: all of it, or all but for one word.
    fn wordings(&self, shared: usize) -> &[Wording] {
        if !self.has_clauses && shared + 1 < self.gist.stems().len() {
            return &[];
        }
        self.wordings
            .get_or_init(|| Wording::of_rule(&self.pin.text))
    }
}

/// The pins in force, ready to be compared with sentences.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    by_stem: HashMap<Key, Vec<usize>, Spread>,
}

impl Rules {
    pub(super) fn of(pins: Vec<Pin>) -> Self {
        let mut rules = Self::default();
        for pin in pins.into_iter().filter(Pin::is_active) {
            let gist = Gist::of(&pin.text);
            for stem in gist.stems() {
                let at = rules.rules.len();
                rules.by_stem.entry(stem).or_default().push(at);
            }
            rules.rules.push(Rule {
                has_clauses: denial::has_clauses(&pin.text),
                wordings: OnceLock::new(),
                gist,
                pin,
            });
        }
        rules
    }

    /// The same without those whose text is dropped.
    pub(super) fn without(self, is_dropped: impl Fn(&str) -> bool) -> Self {
        let pins = self.rules.into_iter().map(|rule| rule.pin);
        Self::of(pins.filter(|pin| !is_dropped(&pin.text)).collect())
    }

    /// The pins that a summary and the rest of the view, single-spaced, lack. A rule inside a long document need not
    /// be in it.
    pub(super) fn missing(&self, summary: &str, view: &str) -> Vec<&Pin> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let spaced = single_spaced(summary);
        let summary = Haystack::new(&spaced);
        // Where the summary has all of them, nobody looks at the view.
        let view = LazyCell::new(|| Haystack::new(view));
        let is_missing = |pin: &&Pin| {
            let text = single_spaced(&pin.text);
            !summary.contains(&text) && !view.contains(&text)
        };
        let pins = self.rules.iter().map(|rule| &rule.pin);
        pins.filter(|pin| pin.kind != PinKind::Passage)
            .filter(is_missing)
            .collect()
    }

    /// The pin that a sentence turns round, or of which it makes another.
    pub(super) fn contradicted(&self, sentence: &str, told: &Told<'_>) -> Option<&Pin> {
        if self.rules.is_empty() {
            return None;
        }
        let said = Gist::of(sentence);
        let mut shared = vec![0; self.rules.len()];
        let mut has_candidates = false;
        for at in said.stems().filter_map(|stem| self.by_stem.get(&stem)) {
            for at in at {
                if let Some(count) = shared.get_mut(*at) {
                    *count += 1;
                    has_candidates = true;
                }
            }
        }
        if !has_candidates {
            return None;
        }
        let is_binding = (told.is_binding)();
        let spaced = single_spaced(sentence);
        let wording = Wording::of(sentence);
        let candidates = self.rules.iter().zip(shared);
        let mut candidates = candidates.filter(|(_, shared)| *shared > 0);
        candidates.find_map(|(rule, shared)| {
            let fewest = if is_binding { FEW_WORDS } else { MANY_WORDS };
            let denies =
                || said.flips(&rule.gist, shared) || said.alters(&rule.gist, shared, told.is_new);
            let is_turned = is_binding && denies()
                || rule.wordings(shared).iter().any(|rule| {
                    wording.turns(rule, fewest) || wording.replaces_in(rule, told.is_new)
                });
            let is_it = || spaced.contains(&single_spaced(&rule.pin.text));
            (is_turned && !is_it()).then_some(&rule.pin)
        })
    }
}

/// How a sentence is told.
pub(super) struct Told<'a> {
    /// Whether it is said to be what the user wants.
    pub(super) is_binding: &'a dyn Fn() -> bool,
    /// Whether a word, in a list of the user's instructions, is none that he used.
    pub(super) is_new: &'a dyn Fn(&str) -> bool,
}

/// The same text whatever its line breaks.
pub(super) fn single_spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(word);
    }
    spaced
}

/// Whether a text has words at all.
pub(super) fn says_something(text: &str) -> bool {
    text.contains(|c: char| c.is_alphanumeric() || is_unspaced(c))
}
