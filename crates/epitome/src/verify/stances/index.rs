//! Sentences by the words in them. What looking one up takes is bounded, however much was typed.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use super::clauses;
use crate::pin::{self, Purpose};
use crate::verify::stance::{Compared, Stance, WORD_WEIGHT, word_keys};
use crate::verify::word::{Key, Spread};

/// Longer sentences that are no rules ask for nothing.
const REQUEST_BYTES: usize = 160;
/// How alike a sentence must be to a rule of the user to be about the same, how alike to another sentence of his, and
/// how alike where it allows what he forbids.
const ABOUT_A_RULE: f64 = 0.5;
const ABOUT_A_REQUEST: f64 = 0.75;
const LIFTED: f64 = 0.3;
/// How alike it must be at least to be heard of, and to be about something that he spoke of.
const LOOSE: f64 = 0.28;
const TOUCHED: f64 = 0.25;
/// What the words weigh that both must have, unless they have no others.
const SHARED_WEIGHT: usize = 2 * WORD_WEIGHT;
const ALL_ALIKE: f64 = 0.99;
/// So many sentences are looked at closely, those that share most words; and so many places of words are gone through to
/// find them, the rarest words first. Who says the same a thousand times is understood all the same.
const CLOSELY: usize = 16;
const PLACES: usize = 1_000;

/// The sentences of the user by their words.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    sentences: Vec<Sentence>,
    by_key: HashMap<Key, Vec<usize>, Spread>,
}

#[derive(Clone, Debug)]
struct Sentence {
    /// Where it stands in the text of all.
    place: Range<usize>,
    /// What it says, once somebody asked.
    read: OnceLock<Vec<Typed>>,
}

/// What he typed in a sentence or a clause of it.
#[derive(Clone, Debug)]
struct Typed {
    stance: Stance,
    /// How alike another must be to be about it.
    least_alike: f64,
}

/// A sentence of the user beside another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) compared: Compared,
    least_alike: f64,
}

impl Found {
    /// Whether both are about the same.
    pub(super) fn is_about_it(&self) -> bool {
        self.compared.alike >= self.least_alike
    }
}

impl Index {
    pub(super) fn of(text: &str, places: &[Range<usize>]) -> Self {
        let mut index = Self::default();
        for (at, place) in places.iter().enumerate() {
            let sentence = text.get(place.clone()).unwrap_or_default();
            word_keys(sentence, |key| {
                let places = index.by_key.entry(key).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            });
            index.sentences.push(Sentence {
                place: place.clone(),
                read: OnceLock::new(),
            });
        }
        index
    }

    /// How a sentence compares with what was typed about the same in `text`, without what `is_void` no longer counts.
    pub(super) fn about(
        &self,
        told: &Stance,
        text: &str,
        is_void: &dyn Fn(&str) -> bool,
    ) -> Vec<Found> {
        let mut found = Vec::new();
        for at in self.sharing(told) {
            let Some(sentence) = self.sentences.get(at) else {
                continue;
            };
            let words = text.get(sentence.place.clone()).unwrap_or_default();
            let typed = sentence.read.get_or_init(|| read(words));
            let compared = typed.iter().filter_map(|typed| typed.beside(told));
            let compared: Vec<Found> = compared.collect();
            if !compared.is_empty() && !is_void(words) {
                found.extend(compared);
            }
        }
        found
    }

    /// Whether a sentence is about something that was asked for in `text`, however little they share.
    pub(super) fn touches(&self, told: &Stance, text: &str) -> bool {
        self.sharing(told).any(|at| {
            self.sentences.get(at).is_some_and(|sentence| {
                let words = text.get(sentence.place.clone()).unwrap_or_default();
                let typed = sentence.read.get_or_init(|| read(words));
                typed.iter().any(|typed| {
                    let compared = told.beside(&typed.stance);
                    let is_alike = compared.shared > 0 && compared.alike >= TOUCHED;
                    is_alike || told.shares_amount(&typed.stance)
                })
            })
        })
    }

    /// The sentence in `text` that is most like another, if any is about the same; of several the newest.
    pub(super) fn nearest<'t>(&self, told: &Stance, text: &'t str) -> Option<&'t str> {
        let mut nearest: Option<(f64, usize, &str)> = None;
        for at in self.sharing(told) {
            let Some(sentence) = self.sentences.get(at) else {
                continue;
            };
            let words = text.get(sentence.place.clone()).unwrap_or_default();
            let typed = sentence.read.get_or_init(|| read(words));
            let alike = typed.iter().filter_map(|typed| typed.told_by(told));
            let alike = alike.fold(0.0, f64::max);
            let is_nearer = nearest
                .is_none_or(|(most, newest, _)| alike > most || alike == most && at > newest);
            if alike > 0.0 && is_nearer {
                nearest = Some((alike, at, words));
            }
        }
        nearest.map(|(_, _, words)| words)
    }

    /// The sentences that share most words with another.
    fn sharing(&self, told: &Stance) -> impl Iterator<Item = usize> {
        let keys: HashSet<Key, Spread> = told.keys().collect();
        let found = keys.iter().filter_map(|key| self.by_key.get(key));
        let mut found: Vec<&Vec<usize>> = found.collect();
        found.sort_by_key(|places| places.len());
        let mut shared: HashMap<usize, usize, Spread> = HashMap::default();
        let mut left = PLACES;
        for places in found {
            // The newest count.
            for place in places.iter().rev().take(left) {
                *shared.entry(*place).or_default() += 1;
            }
            left = left.saturating_sub(places.len());
        }
        let mut places: Vec<(usize, usize)> = shared.into_iter().collect();
        places.sort_unstable_by_key(|(at, count)| (Reverse(*count), Reverse(*at)));
        places.into_iter().take(CLOSELY).map(|(at, _)| at)
    }
}

impl Typed {
    /// How alike a sentence is that may tell it in other words. What was only asked for once becomes no rule because a
    /// rule shares a few words with it.
    fn told_by(&self, told: &Stance) -> Option<f64> {
        let compared = told.beside(&self.stance);
        let least_alike = match self.least_alike > ABOUT_A_RULE {
            true => ABOUT_A_RULE,
            false => LOOSE,
        };
        (compared.shared > 0 && compared.alike >= least_alike).then_some(compared.alike)
    }

    /// How `told` compares with it, if it shares enough.
    fn beside(&self, told: &Stance) -> Option<Found> {
        let compared = told.beside(&self.stance);
        let is_enough = compared.shared >= SHARED_WEIGHT || compared.alike >= ALL_ALIKE;
        let least_alike = match compared {
            Compared { lifts: true, .. } => LIFTED,
            Compared {
                is_altered: true, ..
            } => ABOUT_A_RULE,
            _ => self.least_alike,
        };
        let is_heard = is_enough && compared.alike >= LOOSE;
        is_heard.then_some(Found {
            compared,
            least_alike,
        })
    }
}

/// What a sentence says that the user wants, as a whole and clause by clause.
fn read(sentence: &str) -> Vec<Typed> {
    let is_short = sentence.len() <= REQUEST_BYTES;
    let purpose = pin::purpose(sentence);
    // Who tells what is wrong does not want it.
    if purpose != Purpose::Rule && (!is_short || sentence.ends_with(['?', '？'])) {
        return Vec::new();
    }
    let whole = Stance::of(sentence);
    let least_alike = match purpose {
        Purpose::Rule => ABOUT_A_RULE,
        Purpose::Tale if !whole.may_be_wanted() => return Vec::new(),
        Purpose::Request | Purpose::Tale => ABOUT_A_REQUEST,
    };
    let clauses = clauses(sentence);
    let is_single = clauses.len() < 2;
    let clauses = clauses.into_iter().filter(|_| !is_single).map(Stance::of);
    let clauses = clauses.filter(|clause| clause.weight() >= SHARED_WEIGHT);
    let all = clauses.chain(std::iter::once(whole));
    all.map(|stance| Typed {
        stance,
        least_alike,
    })
    .collect()
}
