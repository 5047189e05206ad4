//! Which lines of the work are worth their room: weighted coverage of anchors.

use std::collections::{BinaryHeap, HashMap, HashSet};

use super::{Source, first_words, one_line};
use crate::anchor::anchors;
use crate::message::{Block, Message, Role};
use crate::summary::{Earlier, Line, Parts};

/// Lines outside these lengths say too little or are data.
const LENGTHS: std::ops::RangeInclusive<usize> = 12..=240;
/// Of a long tool result, this many lines from either end are looked at, and every line that reports
/// a failure.
const RESULT_EDGE_LINES: usize = 40;
const FAILURE_WORDS: &[&str] = &[
    "error",
    "failed",
    "exception",
    "panic",
    "denied",
    "not found",
];
/// A thing named more often than this is not more important for it.
const FREQUENCY_CAP: u32 = 6;

struct Candidate {
    line: Line,
    tokens: u64,
    anchors: Vec<u32>,
    factor: f64,
}

#[derive(PartialEq)]
struct Scored {
    score: f64,
    index: usize,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.index.cmp(&self.index))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Picks verbatim lines, best value for their tokens first, and returns them in order of the log.
pub(super) fn choose(
    source: &Source<'_>,
    earlier: &Earlier,
    parts: &Parts,
    budget_tokens: u64,
) -> Vec<Line> {
    let mut index = Index::default();
    let mut candidates = Vec::new();
    let first = source.first_position();
    for text in &earlier.record {
        index.add(source, &mut candidates, first, text.clone(), 2.0);
    }
    for (position, message) in source.entries() {
        for (text, factor) in lines(message) {
            index.add(source, &mut candidates, position, text, factor);
        }
    }
    for text in source.focus.iter().flat_map(|focus| anchors(focus)) {
        index.boost(text);
    }
    for line in parts.said.iter().chain(&parts.last_words) {
        index.cover(&line.text);
    }

    let value = |candidate: &Candidate, covered: &[bool]| -> f64 {
        let worth: f64 = candidate
            .anchors
            .iter()
            .filter(|&&id| !covered.get(id as usize).copied().unwrap_or(true))
            .map(|&id| index.weight(id))
            .sum();
        worth * candidate.factor / (candidate.tokens as f64 + 3.0)
    };
    let mut covered = index.covered.clone();
    let mut heap: BinaryHeap<Scored> = candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| Scored {
            score: value(candidate, &covered),
            index: at,
        })
        .collect();
    let mut left = budget_tokens;
    let mut chosen: Vec<usize> = Vec::new();
    // Values only fall as anchors are covered, so a stale score at the top is put back, corrected.
    while let Some(top) = heap.pop() {
        let Some(candidate) = candidates.get(top.index) else {
            continue;
        };
        let score = value(candidate, &covered);
        if score <= 0.0 || candidate.tokens > left {
            continue;
        }
        if score < top.score {
            heap.push(Scored { score, ..top });
            continue;
        }
        left -= candidate.tokens;
        for &id in &candidate.anchors {
            if let Some(flag) = covered.get_mut(id as usize) {
                *flag = true;
            }
        }
        chosen.push(top.index);
    }
    chosen.sort_unstable();
    let chosen: HashSet<usize> = chosen.into_iter().collect();
    candidates
        .into_iter()
        .enumerate()
        .filter(|(at, _)| chosen.contains(at))
        .map(|(_, candidate)| candidate.line)
        .collect()
}

/// Numbers anchors as they are met, and counts them.
#[derive(Default)]
struct Index {
    ids: HashMap<String, u32>,
    counts: Vec<u32>,
    covered: Vec<bool>,
    seen: HashSet<String>,
}

impl Index {
    fn add(
        &mut self,
        source: &Source<'_>,
        candidates: &mut Vec<Candidate>,
        position: usize,
        text: String,
        factor: f64,
    ) {
        if !LENGTHS.contains(&text.chars().count()) || !self.seen.insert(text.clone()) {
            return;
        }
        let mut found: Vec<u32> = anchors(&text).map(|anchor| self.id(anchor)).collect();
        found.sort_unstable();
        found.dedup();
        if !found.is_empty() {
            candidates.push(Candidate {
                tokens: source.cost(&text),
                line: Line { position, text },
                anchors: found,
                factor,
            });
        }
    }

    fn id(&mut self, anchor: &str) -> u32 {
        let next = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        let id = match self.ids.get(anchor) {
            Some(&id) => id,
            None => {
                self.ids.insert(anchor.to_owned(), next);
                self.counts.push(0);
                self.covered.push(false);
                next
            }
        };
        if let Some(count) = self.counts.get_mut(id as usize) {
            *count += 1;
        }
        id
    }

    fn boost(&mut self, anchor: &str) {
        let id = self.id(anchor);
        if let Some(count) = self.counts.get_mut(id as usize) {
            *count = FREQUENCY_CAP;
        }
    }

    fn cover(&mut self, text: &str) {
        for anchor in anchors(text) {
            if let Some(&id) = self.ids.get(anchor)
                && let Some(flag) = self.covered.get_mut(id as usize)
            {
                *flag = true;
            }
        }
    }

    fn weight(&self, id: u32) -> f64 {
        let count = self.counts.get(id as usize).copied().unwrap_or(0);
        f64::from(count.min(FREQUENCY_CAP)).sqrt()
    }
}

/// The lines of a message that may be quoted, each with how much its kind is worth.
fn lines(message: &Message) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) if message.role == Role::Assistant => {
                out.extend(text.lines().map(|line| (line.trim().to_owned(), 1.5)));
            }
            Block::Call(call) => {
                let arguments = one_line(&call.arguments);
                let arguments = first_words(&arguments, 200);
                out.push((format!("{} {arguments}", call.name), 1.3));
            }
            Block::Result(result) => {
                let factor = if result.is_error { 1.4 } else { 1.0 };
                for text in result.texts() {
                    out.extend(result_lines(text).map(|line| (line.to_owned(), factor)));
                }
            }
            _ => {}
        }
    }
    out
}

fn result_lines(text: &str) -> impl Iterator<Item = &str> {
    let count = text.lines().count();
    text.lines()
        .enumerate()
        .filter(move |(at, line)| {
            *at < RESULT_EDGE_LINES || at + RESULT_EDGE_LINES >= count || reports_failure(line)
        })
        .map(|(_, line)| line.trim())
}

fn reports_failure(line: &str) -> bool {
    let lower = line
        .get(..line.len().min(400))
        .unwrap_or(line)
        .to_lowercase();
    FAILURE_WORDS.iter().any(|word| lower.contains(word))
}
