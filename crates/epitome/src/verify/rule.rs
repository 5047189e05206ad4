//! The user's instructions in force: which are missing, which are turned round.

use std::collections::{HashMap, HashSet};

use super::word::{is_unspaced, words};
use crate::pin::{self, Pin, PinKind};

/// Words that turn a sentence round.
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "cannot",
    "without",
    "nothing",
    "none",
    "avoid",
    "forbidden",
    "prohibited",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "nie",
    "niemals",
    "ohne",
    "verboten",
    "vermeide",
    "pas",
    "jamais",
    "aucun",
    "aucune",
    "sans",
    "interdit",
    "évite",
    "nunca",
    "jamás",
    "sin",
    "ningún",
    "ninguna",
    "prohibido",
    "evita",
    "não",
    "nem",
    "sem",
    "proibido",
    "non",
    "mai",
    "senza",
    "vietato",
    "niet",
    "geen",
    "nooit",
    "zonder",
    "verboden",
    "не",
    "нет",
    "нельзя",
    "никогда",
    "без",
    "запрещено",
];
/// The same inside words and in scripts that do not separate them.
const NEGATION_SIGNS: &[&str] = &[
    "不",
    "别",
    "別",
    "勿",
    "没有",
    "禁止",
    "ない",
    "ません",
    "なく",
    "않",
    "지 마",
    "지 말",
    "금지",
    "없",
];

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
        let lower = sentence.to_lowercase().replace('’', "'");
        let signs = NEGATION_SIGNS
            .iter()
            .map(|sign| lower.matches(sign).count())
            .sum();
        let mut gist = Self {
            words: Vec::new(),
            stems: HashSet::new(),
            negations: signs,
            signs,
        };
        for word in lower.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_') {
            let word = word.trim_matches('\'');
            let is_negation = NEGATIONS.contains(&word) || word.ends_with("n't") || word == "dont";
            if is_negation {
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
    fn turns(&self, rule: &Self) -> bool {
        let shared = self.shared(rule);
        let is_same =
            shared * 5 >= rule.stems.len() * 4 && self.stems.len() * 5 <= rule.stems.len() * 8 + 10;
        is_same && self.is_denial() != rule.is_denial()
    }
}

/// Words before the first that matters among which a negation still belongs to it.
const BEFORE: usize = 3;

/// The pins in force, ready to be compared with sentences.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    rules: Vec<(Pin, Gist)>,
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
            rules.rules.push((pin, gist));
        }
        rules
    }

    /// The pins that a summary and the rest of the view, single-spaced, lack. A rule inside a long document need not
    /// be in it.
    pub(super) fn missing<'a>(
        &'a self,
        summary: &str,
        view: &'a str,
    ) -> impl Iterator<Item = &'a Pin> {
        let spaced = single_spaced(summary);
        self.rules
            .iter()
            .map(|(pin, _)| pin)
            .filter(|pin| pin.kind != PinKind::Passage)
            .filter(move |pin| {
                let text = single_spaced(&pin.text);
                !spaced.contains(&text) && !view.contains(&text)
            })
    }

    /// The pin that a sentence turns round, or of which it makes another. `is_new` tells whether the user never used
    /// a word.
    pub(super) fn contradicted(
        &self,
        sentence: &str,
        is_new: impl Fn(&str) -> bool,
    ) -> Option<&Pin> {
        let said = Gist::of(sentence);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for at in said.stems.iter().filter_map(|stem| self.by_stem.get(stem)) {
            for at in at {
                *shared.entry(*at).or_default() += 1;
            }
        }
        let mut candidates: Vec<(usize, usize)> = shared.into_iter().collect();
        candidates.sort_unstable();
        let spaced = single_spaced(sentence);
        candidates.into_iter().find_map(|(at, shared)| {
            let (pin, gist) = self.rules.get(at)?;
            let is_whole = shared == gist.stems.len() && shared > 1;
            let part = said.part_about(gist).filter(|_| is_whole);
            let is_flipped = match part {
                Some(part) => part.turns(gist),
                None => said.turns(gist),
            };
            let is_other = gist.stems.len() >= 3
                && shared < gist.stems.len()
                && shared * 5 >= gist.stems.len() * 3
                && said.stems.len() <= gist.stems.len() + 1
                && said.stems.difference(&gist.stems).any(|stem| is_new(stem));
            let is_it = || spaced.contains(&single_spaced(&pin.text));
            ((is_flipped || is_other) && !is_it()).then_some(pin)
        })
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
