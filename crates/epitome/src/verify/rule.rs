//! The user's instructions in force: which are missing, which are turned round.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::denial::{self, Wording};
use super::gist::Gist;
use super::item;
use super::word::{Key, Spread, is_unspaced};
use crate::haystack::Haystack;
use crate::message::{Message, Role};
use crate::pin::{self, Pin, PinKind, PinState};

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
    spaced: OnceLock<String>,
}

impl Rule {
    /// Its text whatever its line breaks.
    fn spaced(&self) -> &str {
        self.spaced.get_or_init(|| single_spaced(&self.pin.text))
    }

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
    /// The texts of pins that are not in force, single-spaced.
    void: HashSet<String>,
    /// Of these, those that something else took the place of: what did, as far as it is an instruction itself.
    superseded: HashMap<String, Vec<String>>,
    /// All pins that are no longer in force.
    past: Vec<Pin>,
    /// The texts of those in force, single-spaced, and their lines without the marks of lists: each line of a summary is asked
    /// whether it is one.
    texts: OnceLock<HashSet<String>>,
    lines: OnceLock<HashSet<String>>,
}

/// How a sentence contradicts a pin, the plainest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Contradiction {
    /// It has the words of the pin, with a denial more or less or another word.
    Worded,
    /// It is about the same, and denies it or does not, or elsewhere.
    Meant,
}

impl Rules {
    pub(super) fn of(pins: Vec<Pin>) -> Self {
        Self::up_to(usize::MAX, pins)
    }

    /// Those of the pins that were said up to entry `last`, with what all of them say of each other.
    fn up_to(last: usize, pins: Vec<Pin>) -> Self {
        let mut rules = Self {
            superseded: superseded(&pins),
            ..Self::default()
        };
        for pin in pins.into_iter().filter(|pin| pin.position <= last) {
            if !pin.is_active() {
                rules.void.insert(single_spaced(&pin.text));
                rules.past.push(pin);
                continue;
            }
            let gist = Gist::of(&pin.text);
            for stem in gist.stems() {
                let at = rules.rules.len();
                rules.by_stem.entry(stem).or_default().push(at);
            }
            rules.rules.push(Rule {
                has_clauses: denial::has_clauses(&pin.text),
                wordings: OnceLock::new(),
                spaced: OnceLock::new(),
                gist,
                pin,
            });
        }
        rules
    }

    /// All pins, those that are no longer in force first.
    fn into_pins(self) -> impl Iterator<Item = Pin> {
        let active = self.rules.into_iter().map(|rule| rule.pin);
        self.past.into_iter().chain(active)
    }

    /// The same with what the entries behind `last` make of them. What is first said there is not among them.
    pub(super) fn changed_by<'a>(
        self,
        later: impl Iterator<Item = (usize, &'a Message)>,
        last: usize,
    ) -> Self {
        let mut later = later
            .filter(|(_, message)| message.role == Role::User)
            .peekable();
        if self.rules.is_empty() || later.peek().is_none() {
            return self;
        }
        let pins = pin::carry(self.into_pins().collect(), later);
        Self::up_to(last, pins)
    }

    /// The same without those whose text is dropped.
    pub(super) fn without(self, is_dropped: impl Fn(&str) -> bool) -> Self {
        let pins = self
            .into_pins()
            .map(|pin| match pin.is_active() && is_dropped(&pin.text) {
                true => Pin {
                    state: PinState::Dropped,
                    ..pin
                },
                false => pin,
            });
        Self::of(pins.collect())
    }

    /// Whether a sentence is an instruction that was taken back, of which a text, single-spaced, does not tell what took
    /// its place.
    pub(super) fn is_superseded(&self, sentence: &str, told: &dyn Fn() -> String) -> bool {
        let newer = match self.superseded.is_empty() {
            true => None,
            false => self.superseded.get(&single_spaced(sentence.trim())),
        };
        newer.is_some_and(|newer| {
            let told = told();
            !newer.iter().any(|newer| told.contains(newer))
        })
    }

    /// Whether a sentence is a pin that is not in force.
    pub(super) fn is_void(&self, sentence: &str) -> bool {
        !self.void.is_empty() && self.void.contains(&single_spaced(sentence))
    }

    /// Whether a text is an instruction in force, or a line of one, word for word.
    pub(super) fn is_pin(&self, text: &str) -> bool {
        let rules = || self.rules.iter();
        let texts = || rules().map(|rule| rule.spaced().to_owned()).collect();
        let without_mark = |line: &str| line.split_at(item::lead(line)).1.trim().to_owned();
        let lines = || {
            let lines = rules().flat_map(|rule| rule.pin.text.lines());
            lines.map(without_mark).collect()
        };
        self.texts.get_or_init(texts).contains(&single_spaced(text))
            || self.lines.get_or_init(lines).contains(text.trim())
    }

    /// The instruction in force that stands in a sentence of the user, if one does; the longest of several.
    pub(super) fn pinned_in(&self, sentence: &str) -> Option<&str> {
        let spaced = single_spaced(sentence);
        let rules = self.rules.iter();
        let rules = rules.filter(|rule| rule.pin.kind == PinKind::Instruction);
        let inside = rules.filter(|rule| spaced.contains(rule.spaced()));
        let longest = inside.max_by_key(|rule| rule.pin.text.len());
        longest.map(|rule| rule.pin.text.as_str())
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
        let is_missing = |rule: &&Rule| {
            let text = rule.spaced();
            !summary.contains(text) && !view.contains(text)
        };
        let rules = self.rules.iter();
        rules
            .filter(|rule| rule.pin.kind != PinKind::Passage)
            .filter(is_missing)
            .map(|rule| &rule.pin)
            .collect()
    }

    /// Whether a sentence turns a pin round, or makes another of it.
    pub(super) fn contradicted(&self, sentence: &str, told: &Told<'_>) -> Option<Contradiction> {
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
        // Most sentences share a word with a rule, and hardly any so many that more is asked of them.
        let is_binding = LazyCell::new(|| (told.is_binding)());
        let spaced = LazyCell::new(|| single_spaced(sentence));
        let wording = LazyCell::new(|| Wording::of(sentence));
        let contradiction = |(rule, shared): (&Rule, usize)| {
            let is_meant = || {
                *is_binding
                    && (said.flips(&rule.gist, shared)
                        || said.alters(&rule.gist, shared, told.is_new))
            };
            let worded = rule.wordings(shared).iter().filter_map(|rule| {
                let fewest = if *is_binding { FEW_WORDS } else { MANY_WORDS };
                let turns = wording.turns(rule, fewest);
                let is_plain = turns && wording.differs_plainly(rule);
                if is_plain || wording.replaces_in(rule, told.is_new) {
                    Some(Contradiction::Worded)
                } else {
                    turns.then_some(Contradiction::Meant)
                }
            });
            let meant = || is_meant().then_some(Contradiction::Meant);
            let found = worded.min().or_else(meant)?;
            let is_it = || spaced.contains(rule.spaced());
            (!is_it()).then_some(found)
        };
        let candidates = self.rules.iter().zip(shared);
        let candidates = candidates.filter(|(_, shared)| *shared > 0);
        let found = candidates.filter_map(contradiction);
        found.min()
    }
}

/// The texts of the instructions that were taken back, with those that were said in the entries that did it. What was
/// said again later is in force again.
fn superseded(pins: &[Pin]) -> HashMap<String, Vec<String>> {
    let mut superseded: HashMap<String, Vec<String>> = HashMap::new();
    let is_past = |pin: &&Pin| matches!(pin.state, PinState::Superseded { .. });
    if !pins.iter().any(|pin| is_past(&pin)) {
        return superseded;
    }
    let mut said: HashMap<usize, Vec<&Pin>> = HashMap::new();
    for pin in pins {
        said.entry(pin.position).or_default().push(pin);
    }
    let active = pins.iter().filter(|pin| pin.is_active());
    let active: HashSet<&str> = active.map(|pin| pin.text.as_str()).collect();
    for pin in pins.iter().filter(is_past) {
        let PinState::Superseded { by } = pin.state else {
            continue;
        };
        if pin.kind == PinKind::Todo || active.contains(pin.text.as_str()) {
            continue;
        }
        let newer = said.get(&by).into_iter().flatten();
        let newer = newer.map(|newer| single_spaced(&newer.text));
        let texts = superseded.entry(single_spaced(&pin.text)).or_default();
        texts.extend(newer);
    }
    superseded
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
