//! Whether a search finds the messages that hold an answer.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::chat::Question;
use crate::history::as_float;
use crate::mersenne::Mersenne;
use crate::questions::Archive;
use crate::search::Index;
use crate::text::is_space;

const PASSAGE_WORDS: usize = 120;
const PASSAGE_STEP: usize = 90;
/// More neighbours than this nobody reads.
const NEIGHBOURS: usize = 60;

/// How many hits are looked at.
pub(crate) const DEPTHS: [usize; 4] = [1, 5, 10, 20];

/// A way to look for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Keywords over whole messages.
    Messages,
    /// Keywords over passages; a message is found by its best one.
    Passages,
    /// The newest message first.
    MostRecent,
    /// Any order.
    Random,
    /// Keywords over messages; each hit brings the message behind it and the one before.
    Neighbours,
}

impl Search {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Messages,
        Self::Passages,
        Self::MostRecent,
        Self::Random,
        Self::Neighbours,
    ];
}

/// Passages of a chat, with the message each is from.
#[derive(Debug)]
pub struct Passages {
    index: Index,
    owners: Vec<usize>,
}

impl Passages {
    /// Cuts the messages of a chat into passages.
    #[must_use]
    pub fn of(archive: &Archive) -> Self {
        let mut texts = Vec::new();
        let mut owners = Vec::new();
        for (position, text) in archive.history.texts.iter().enumerate() {
            let words: Vec<&str> = text.split(is_space).filter(|w| !w.is_empty()).collect();
            for start in (0..words.len().max(1)).step_by(PASSAGE_STEP) {
                let end = words.len().min(start + PASSAGE_WORDS);
                texts.push(words.get(start..end).unwrap_or_default().join(" "));
                owners.push(position);
            }
        }
        Self {
            index: Index::of(texts.iter().map(String::as_str)),
            owners,
        }
    }
}

/// What a search finds for a question, best first.
#[must_use]
pub fn ranked(
    search: Search,
    archive: &Archive,
    passages: &Passages,
    question: &Question,
) -> Vec<usize> {
    let count = archive.history.len();
    match search {
        Search::Messages => archive.messages.rank(&question.text),
        Search::Passages => {
            let ranked = passages.index.rank(&question.text);
            let owners = ranked.iter().filter_map(|at| passages.owners.get(*at));
            distinct(owners.copied())
        }
        Search::MostRecent => (0..count).rev().collect(),
        Search::Random => {
            let mut order: Vec<usize> = (0..count).collect();
            Mersenne::from_text(&question.text).shuffle(&mut order);
            order
        }
        Search::Neighbours => {
            let mut found: Vec<usize> = Vec::new();
            for hit in archive.messages.rank(&question.text) {
                let around = [Some(hit), hit.checked_add(1), hit.checked_sub(1)];
                for position in around.into_iter().flatten() {
                    if position < count && !found.contains(&position) {
                        found.push(position);
                    }
                }
                if found.len() > NEIGHBOURS {
                    break;
                }
            }
            found
        }
    }
}

fn distinct(items: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut known = BTreeSet::new();
    items.filter(|item| known.insert(*item)).collect()
}

/// How well a search did, for one question or on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Hits {
    /// Whether any evidence is among the first 1, 5, 10, 20.
    pub any: [f64; DEPTHS.len()],
    /// How much of the evidence is.
    pub recall: [f64; DEPTHS.len()],
    /// One over the rank of the first evidence.
    pub reciprocal_rank: f64,
}

impl Hits {
    /// Judges a ranking.
    #[must_use]
    pub fn of(ranked: &[usize], evidence: &BTreeSet<usize>) -> Self {
        let mut hits = Self::default();
        let depths = DEPTHS.iter().zip(&mut hits.any).zip(&mut hits.recall);
        for ((depth, any), recall) in depths {
            let found: BTreeSet<&usize> = ranked
                .iter()
                .take(*depth)
                .filter(|position| evidence.contains(position))
                .collect();
            *any = f64::from(u8::from(!found.is_empty()));
            *recall = as_float(found.len() as u64) / as_float(evidence.len().max(1) as u64);
        }
        let first = ranked.iter().position(|found| evidence.contains(found));
        hits.reciprocal_rank = first.map_or(0.0, |first| 1.0 / as_float(first as u64 + 1));
        hits
    }

    /// The mean of many.
    #[must_use]
    pub fn mean(all: &[Self]) -> Self {
        let count = as_float(all.len().max(1) as u64);
        let mut sum = Self::default();
        for hits in all {
            let add = |sum: &mut [f64], more: &[f64]| {
                for (sum, more) in sum.iter_mut().zip(more) {
                    *sum += more;
                }
            };
            add(&mut sum.any, &hits.any);
            add(&mut sum.recall, &hits.recall);
            sum.reciprocal_rank += hits.reciprocal_rank;
        }
        let shares = sum.any.iter_mut().chain(&mut sum.recall);
        for share in shares.chain([&mut sum.reciprocal_rank]) {
            *share /= count;
        }
        sum
    }
}
