//! The user's instructions in force: which are missing, which are turned round.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::denial::{NEGATION_SIGNS, Wording, is_negation, plain_answer};
use super::word::{is_unspaced, words};
use crate::haystack::Haystack;
use crate::pin::{self, Pin, PinKind};

/// What a sentence is about, and whether it says so or denies it.
#[derive(Clone, Debug)]
pub(super) struct Gist {
    /// Its words: what each is about, if anything, and how often it denies.
    words: Vec<(Option<String>, usize)>,
    stems: HashSet<String>,
    negations: usize,
    /// Of these, in scripts whose words are not told apart.
    signs: usize,
}

impl Gist {
    pub(super) fn of(sentence: &str) -> Self {
        let lower = plain_answer(sentence).to_lowercase().replace('’', "'");
        // All of the signs are outside ASCII.
        let signs = match lower.is_ascii() {
            true => 0,
            false => NEGATION_SIGNS
                .iter()
                .map(|sign| lower.matches(sign).count())
                .sum(),
        };
        let mut gist = Self {
            words: Vec::new(),
            stems: HashSet::new(),
            negations: signs,
            signs,
        };
        for word in lower.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_') {
            let word = word.trim_matches('\'');
            if is_negation(word) {
                gist.negations += 1;
                gist.words.push((None, 1));
            } else if pin::names_nothing(word) {
                gist.words.push((None, 0));
            } else {
                for word in words(word) {
                    let stem = pin::stem(word.text).to_owned();
                    gist.words.push((Some(stem.clone()), 0));
                    gist.stems.insert(stem);
                }
            }
        }
        gist
    }

    const fn is_denial(&self) -> bool {
        self.negations % 2 == 1
    }

    fn shared(&self, other: &Self) -> usize {
        self.stems.intersection(&other.stems).count()
    }

    /// The part of this one that is about all that `other` is about, if it is not much longer.
    fn part_about(&self, other: &Self) -> Option<Self> {
        let is_hit = |word: &(Option<String>, usize)| {
            word.0
                .as_ref()
                .is_some_and(|stem| other.stems.contains(stem))
        };
        let first = self.words.iter().position(is_hit)?;
        let last = self.words.iter().rposition(is_hit)?;
        let from = first.saturating_sub(BEFORE);
        let words: Vec<_> = self.words.get(from..=last)?.to_vec();
        if words.len() > other.words.len() + 2 * BEFORE {
            return None;
        }
        Some(Self {
            stems: words.iter().filter_map(|(stem, _)| stem.clone()).collect(),
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
}

/// Fewer words in a row may be said about anything.
const FEW_WORDS: usize = 3;
/// The same for a sentence that does not claim to say what the user wants.
const MANY_WORDS: usize = 5;
/// Words before the first that matters among which a negation still belongs to it.
const BEFORE: usize = 3;

#[derive(Clone, Debug)]
struct Rule {
    pin: Pin,
    gist: Gist,
    /// Most rules are never compared word by word.
    wordings: OnceLock<Vec<Wording>>,
}

impl Rule {
    fn wordings(&self) -> &[Wording] {
        self.wordings
            .get_or_init(|| Wording::of_rule(&self.pin.text))
    }
}

/// The pins in force, ready to be compared with sentences.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    by_stem: HashMap<String, Vec<usize>>,
}

impl Rules {
    pub(super) fn of(pins: Vec<Pin>) -> Self {
        let mut rules = Self::default();
        for pin in pins.into_iter().filter(Pin::is_active) {
            let gist = Gist::of(&pin.text);
            for stem in &gist.stems {
                let at = rules.rules.len();
                rules.by_stem.entry(stem.clone()).or_default().push(at);
            }
            rules.rules.push(Rule {
                wordings: OnceLock::new(),
                gist,
                pin,
            });
        }
        rules
    }

    /// The pins that a summary and the rest of the view, single-spaced, lack. A rule inside a long document need not
    /// be in it.
    pub(super) fn missing(&self, summary: &str, view: &str) -> Vec<&Pin> {
        let spaced = single_spaced(summary);
        let (summary, view) = (Haystack::new(&spaced), Haystack::new(view));
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
        for at in said.stems.iter().filter_map(|stem| self.by_stem.get(stem)) {
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
            let wordings = rule.wordings();
            let is_turned = wordings.iter().any(|rule| wording.turns(rule, fewest))
                || is_binding && said.flips(&rule.gist, shared)
                || is_binding && said.alters(&rule.gist, shared, told)
                || wordings
                    .iter()
                    .any(|rule| wording.replaces_in(rule, told.is_new));
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

impl Gist {
    /// Whether this one denies what `rule` says, or the other way round, in words of its own.
    fn alters(&self, rule: &Self, shared: usize, told: &Told<'_>) -> bool {
        self.is_denial() != rule.is_denial()
            && rule.stems.len() >= 3
            && shared < rule.stems.len()
            && shared * 5 >= rule.stems.len() * 3
            && self.stems.len() <= rule.stems.len() + 1
            && self
                .stems
                .difference(&rule.stems)
                .any(|stem| (told.is_new)(stem))
    }

    /// Whether this one denies what `rule` says, or the other way round.
    fn flips(&self, rule: &Self, shared: usize) -> bool {
        let is_whole = shared == rule.stems.len() && shared > 1;
        let part = is_whole.then(|| self.part_about(rule)).flatten();
        match part {
            Some(part) => part.turns(rule, part.shared(rule)),
            None => self.turns(rule, shared),
        }
    }
}

/// Whether most of what `wanted` is about stands in one line of `lines`.
pub(super) fn is_covered(wanted: &str, lines: &[Gist]) -> bool {
    let wanted = Gist::of(wanted);
    let needed = (wanted.stems.len() * 3).div_ceil(5).max(1);
    wanted.stems.is_empty() || lines.iter().any(|line| line.shared(&wanted) >= needed)
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
