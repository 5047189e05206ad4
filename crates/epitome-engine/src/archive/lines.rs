//! From a line of a summary to the messages that it stands for.
//!
//! A summary says in few words what many messages said, and mostly in theirs. So a line leads to the fewest messages that
//! have its words, rare words first: of a quotation that is the one it was taken from.

use std::collections::{HashMap, HashSet};

use epitome_store::EntryRow;
use epitome_wire::searchable_entry;

use super::span::span;
use epitome_store::CompactionRow;

/// So many messages are named for a line at most.
const MOST_SOURCES: usize = 5;
/// What part of a line's weight is found before it is enough.
const ENOUGH: f64 = 0.85;
/// A line of which less than this is found is no account of the conversation, such as a heading.
const LEAST: f64 = 0.4;
/// A further message is named only if it adds at least this part of the line.
const WORTH: f64 = 0.08;

/// A line of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryLine {
    /// What it says.
    pub text: String,
    /// The messages that said it, from 1 in the conversation; those that say most of it first. Empty for headings.
    pub entries: Vec<u64>,
}

/// A message among others: which of the words it has.
struct Words {
    position: u64,
    has: HashSet<usize>,
    length: usize,
}

/// The lines of a compaction's summary, each with the messages it stands for. `entries` is the history up to the compaction or
/// further.
#[must_use]
pub fn summary_lines(row: &CompactionRow, entries: &[EntryRow]) -> Vec<SummaryLine> {
    let lines: Vec<&str> = row.summary.lines().collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let spelled: Vec<Vec<usize>> = lines
        .iter()
        .map(|line| {
            let mut seen = HashSet::new();
            words(line)
                .map(|word| {
                    let next = numbers.len();
                    *numbers.entry(word).or_insert(next)
                })
                .filter(|number| seen.insert(*number))
                .collect()
        })
        .collect();
    let within = span(row);
    let covered = (0_u32..).zip(entries).filter(|(at, _)| within.contains(at));
    let messages: Vec<Words> = covered
        .map(|(at, entry)| of_entry(u64::from(at) + 1, entry, &numbers))
        .collect();
    let mut found_in = vec![0_usize; numbers.len()];
    for message in &messages {
        for word in &message.has {
            if let Some(count) = found_in.get_mut(*word) {
                *count += 1;
            }
        }
    }
    let all = messages.len() as f64;
    let weights: Vec<f64> = found_in
        .iter()
        // A word that nobody used weighs as if half a message had it.
        .map(|count| (1.0 + all / (*count as f64).max(0.5)).ln())
        .collect();
    let lines = lines.into_iter().zip(spelled);
    lines
        .map(|(line, spelled)| SummaryLine {
            text: line.to_owned(),
            entries: match line.starts_with(['#', '[']) {
                true => Vec::new(),
                false => sources(&spelled, &messages, &weights),
            },
        })
        .collect()
}

fn of_entry(position: u64, entry: &EntryRow, numbers: &HashMap<String, usize>) -> Words {
    let text = searchable_entry(&entry.wire, &entry.raw).unwrap_or_default();
    let mut has = HashSet::new();
    let mut length = 0;
    for word in words(&text) {
        length += 1;
        if let Some(number) = numbers.get(&word) {
            has.insert(*number);
        }
    }
    Words {
        position,
        has,
        length,
    }
}

/// The fewest messages that have most of these words, the best first.
fn sources(line: &[usize], messages: &[Words], weights: &[f64]) -> Vec<u64> {
    let weight = |word: &usize| weights.get(*word).copied().unwrap_or(0.0);
    let whole: f64 = line.iter().map(weight).sum();
    let mut rest: Vec<usize> = line.to_vec();
    let mut found = 0.0;
    let mut taken = Vec::new();
    while taken.len() < MOST_SOURCES && found < whole * ENOUGH {
        let gain = |message: &Words| -> f64 {
            let has = rest.iter().filter(|word| message.has.contains(word));
            has.map(weight).sum()
        };
        let best = messages
            .iter()
            .map(|message| (gain(message), message))
            // Of equals the shorter one says it more plainly, and the earlier one said it first.
            .max_by(|(one, shorter), (other, longer)| {
                let by_length = longer.length.cmp(&shorter.length);
                one.total_cmp(other)
                    .then(by_length)
                    .then(longer.position.cmp(&shorter.position))
            });
        let Some((gained, best)) = best.filter(|(gained, _)| *gained > whole * WORTH) else {
            break;
        };
        found += gained;
        taken.push(best.position);
        rest.retain(|word| !best.has.contains(word));
    }
    match found >= whole * LEAST {
        true => taken,
        false => Vec::new(),
    }
}

/// The words of a text, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
