//! Lines of the dropped part: any of them, or those with the most telling words.

use std::collections::BTreeSet;

use super::Tail;
use crate::history::{History, as_float};
use crate::mersenne::Mersenne;
use crate::text::tokens;

/// Room that is not worth another line.
const LITTLE_TOKENS: i64 = 8;
const SEED: u64 = 7;
/// Added to the number of words of a line, so that short lines do not win by being short.
const SHORT_LINE_PENALTY: u64 = 8;

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
