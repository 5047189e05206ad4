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

/// All lines of a history that are worth choosing, each text once.
#[derive(Debug, Default)]
pub(crate) struct PlainLines {
    /// The text of each line, with its content words by number.
    distinct: Vec<(String, Vec<usize>)>,
    /// Every line: its message, and which text it is.
    all: Vec<(usize, usize)>,
    words: usize,
}

impl PlainLines {
    pub(crate) fn of(history: &History) -> Self {
        let mut lines = Self::default();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (position, entry) in history.entries.iter().enumerate() {
            if entry.role == Speaker::System {
                continue;
            }
            for line in history.text(position).split('\n').map(trim) {
                if length(line) < *LINE_CHARS.start() {
                    continue;
                }
                let line = prefix(line, *LINE_CHARS.end());
                let number = *known.entry(line).or_insert_with(|| {
                    let words = words(line).into_iter().map(|word| {
                        let next = numbers.len();
                        *numbers.entry(word).or_insert(next)
                    });
                    lines.distinct.push((line.to_owned(), words.collect()));
                    lines.distinct.len() - 1
                });
                lines.all.push((position, number));
            }
        }
        lines.words = numbers.len();
        lines
    }

    /// The different lines of the messages before `end`, in order.
    fn before(&self, end: usize) -> Vec<&(String, Vec<usize>)> {
        let mut is_known = vec![false; self.distinct.len()];
        self.all
            .iter()
            .take_while(|(position, _)| *position < end)
            .filter(|(_, number)| {
                let is_new = is_known.get(*number) == Some(&false);
                if let Some(known) = is_known.get_mut(*number) {
                    *known = true;
                }
                is_new
            })
            .filter_map(|(_, number)| self.distinct.get(*number))
            .collect()
    }
}

fn texts<'a>(lines: &[&'a (String, Vec<usize>)]) -> Vec<&'a str> {
    lines.iter().map(|(text, _)| text.as_str()).collect()
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
    let lines = texts(&history.plain_lines().before(tail.start));
    let mut order: Vec<usize> = (0..lines.len()).collect();
    Mersenne::from_number(SEED).shuffle(&mut order);
    let room = signed(budget) - signed(tail.tokens);
    let taken = take_fitting(&lines, order.into_iter(), room);
    joined(&lines, &taken, &tail.text)
}

/// Half the budget for the newest messages, half for the lines whose words are the most telling on average.
pub(in super::super) fn tfidf_lines(history: &History, at: usize, budget: u64) -> String {
    let tail = Tail::of(history, at, budget / 2);
    let lines = history.plain_lines().before(tail.start);
    if lines.is_empty() {
        return tail.text;
    }
    let scores = tfidf(&lines, history.plain_lines().words);
    let lines = texts(&lines);
    let mut order: Vec<usize> = (0..lines.len()).collect();
    let score = |at: usize| scores.get(at).copied().unwrap_or(0.0);
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    let room = signed(budget) - signed(tail.tokens);
    let mut taken = take_fitting(&lines, order.into_iter(), room);
    taken.sort_unstable();
    joined(&lines, &taken, &tail.text)
}

fn tfidf(lines: &[&(String, Vec<usize>)], words: usize) -> Vec<f64> {
    let mut everywhere = vec![0_u64; words];
    let mut in_lines = vec![0_u64; words];
    let add = |counts: &mut Vec<u64>, word: usize| {
        if let Some(count) = counts.get_mut(word) {
            *count += 1;
        }
    };
    let sets: Vec<BTreeSet<usize>> = lines
        .iter()
        .map(|(_, words)| words.iter().copied().collect())
        .collect();
    for (_, words) in lines {
        words.iter().for_each(|word| add(&mut everywhere, *word));
    }
    for word in sets.iter().flatten() {
        add(&mut in_lines, *word);
    }
    let count =
        |counts: &[u64], word: usize| as_float(counts.get(word).copied().unwrap_or(0).max(1));
    let all = as_float(lines.len() as u64);
    let weight = |word: &usize| {
        (1.0 + count(&everywhere, *word).ln()) * (all / count(&in_lines, *word)).ln()
    };
    sets.iter()
        .map(|set| {
            // Added up by size, so that lines of equal weight are equal to the last bit.
            let mut weights: Vec<f64> = set.iter().map(weight).collect();
            weights.sort_by(f64::total_cmp);
            weights.iter().sum::<f64>() / as_float(SHORT_LINE_PENALTY + set.len() as u64)
        })
        .collect()
}
