//! Lines of the dropped part: any of them, or those with the most telling words.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Tail;
use crate::history::{History, as_float, idents};
use crate::ident::Ident;
use crate::mersenne::Mersenne;
use crate::session::Speaker;
use crate::text::{length, prefix, tokens, trim};
use crate::words::content_words;

/// Shorter lines are not worth choosing, longer ones are cut.
const LINE_CHARS: std::ops::RangeInclusive<usize> = 20..=400;
/// Room that is not worth another line.
const LITTLE_TOKENS: i64 = 8;
/// The longest line that is chosen for what it names.
const NAMING_LINE_CHARS: usize = 200;
const SEED: u64 = 7;
/// Added to the number of words of a line, so that short lines do not win by being short.
const SHORT_LINE_PENALTY: u64 = 8;

/// A line that names something.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) chars: usize,
    pub(crate) content_words: usize,
    pub(crate) idents: HashSet<Ident>,
}

impl Line {
    /// The lines of a message that name something, clipped.
    pub(crate) fn all(text: &str) -> Vec<Self> {
        text.split('\n')
            .map(|line| prefix(trim(line), NAMING_LINE_CHARS))
            .filter(|line| length(line) >= 8)
            .filter_map(|line| {
                let idents = idents(line);
                let is_telling = !idents.is_empty();
                is_telling.then(|| Self {
                    text: line.to_owned(),
                    chars: length(line),
                    content_words: words(line).len(),
                    idents,
                })
            })
            .collect()
    }
}

fn words(line: &str) -> Vec<String> {
    content_words(&line.chars().collect::<Vec<_>>())
}

/// The different lines of the messages before `end`, in order.
fn lines(history: &History, end: usize) -> Vec<&str> {
    let mut known = HashSet::new();
    history
        .before(end)
        .filter(|(_, entry)| entry.role != Speaker::System)
        .flat_map(|(position, _)| history.text(position).split('\n'))
        .map(trim)
        .filter(|line| length(line) >= *LINE_CHARS.start())
        .map(|line| prefix(line, *LINE_CHARS.end()))
        .filter(|line| known.insert(*line))
        .collect()
}

/// Takes lines in the order given while they fit.
fn take_fitting(lines: &[&str], order: impl Iterator<Item = usize>, room: i64) -> Vec<usize> {
    let mut used = 0;
    let mut taken = Vec::new();
    for at in order {
        let Some(line) = lines.get(at) else { continue };
        let cost = signed(tokens(line) + 1);
        if used + cost > room {
            continue;
        }
        taken.push(at);
        used += cost;
        if used > room - LITTLE_TOKENS {
            break;
        }
    }
    taken
}

pub(super) fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

fn joined(lines: &[&str], taken: &[usize], tail: &str) -> String {
    let taken: Vec<&str> = taken
        .iter()
        .filter_map(|at| lines.get(*at).copied())
        .collect();
    format!("{}\n{tail}", taken.join("\n"))
}

/// Half the budget for the newest messages, half for lines picked blindly.
pub(in super::super) fn random_lines(history: &History, at: usize, budget: u64) -> String {
    let tail = Tail::of(history, at, budget / 2);
    let lines = lines(history, tail.start);
    let mut order: Vec<usize> = (0..lines.len()).collect();
    Mersenne::from_number(SEED).shuffle(&mut order);
    let room = signed(budget) - signed(tail.tokens);
    let taken = take_fitting(&lines, order.into_iter(), room);
    joined(&lines, &taken, &tail.text)
}

/// Half the budget for the newest messages, half for the lines whose words are the most telling on average.
pub(in super::super) fn tfidf_lines(history: &History, at: usize, budget: u64) -> String {
    let tail = Tail::of(history, at, budget / 2);
    let lines = lines(history, tail.start);
    if lines.is_empty() {
        return tail.text;
    }
    let scores = tfidf(&lines);
    let mut order: Vec<usize> = (0..lines.len()).collect();
    let score = |at: usize| scores.get(at).copied().unwrap_or(0.0);
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    let room = signed(budget) - signed(tail.tokens);
    let mut taken = take_fitting(&lines, order.into_iter(), room);
    taken.sort_unstable();
    joined(&lines, &taken, &tail.text)
}

fn tfidf(lines: &[&str]) -> Vec<f64> {
    let words: Vec<Vec<String>> = lines.iter().map(|line| words(line)).collect();
    let mut everywhere: HashMap<&str, u64> = HashMap::new();
    let mut in_lines: HashMap<&str, u64> = HashMap::new();
    let sets: Vec<BTreeSet<&str>> = words
        .iter()
        .map(|words| words.iter().map(String::as_str).collect())
        .collect();
    for word in words.iter().flatten() {
        *everywhere.entry(word).or_default() += 1;
    }
    for word in sets.iter().flatten() {
        *in_lines.entry(word).or_default() += 1;
    }
    let count =
        |counts: &HashMap<&str, u64>, word: &str| as_float(counts.get(word).copied().unwrap_or(1));
    let all = as_float(lines.len() as u64);
    sets.iter()
        .map(|set| {
            let sum: f64 = set
                .iter()
                .map(|word| {
                    (1.0 + count(&everywhere, word).ln()) * (all / count(&in_lines, word)).ln()
                })
                .sum();
            sum / as_float(SHORT_LINE_PENALTY + set.len() as u64)
        })
        .collect()
}
