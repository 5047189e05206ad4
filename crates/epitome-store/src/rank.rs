//! How well what was found fits a query: BM25, with the constants and the formula of SQLite's `bm25`, so that both databases
//! answer alike.

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;

use crate::words::Expression;

/// How soon more of the same word stops counting.
const SATURATION: f64 = 1.2;

/// How much long texts are held to be long because they say much, rather than because they say one thing.
const LENGTH_SHARE: f64 = 0.75;

/// What a word is worth that more than half of all texts have.
const LEAST_WORTH: f64 = 1e-6;

/// All texts that were searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Searched {
    pub(crate) texts: i64,
    pub(crate) words: i64,
}

/// A text that has at least one of the terms.
#[derive(Debug)]
pub(crate) struct Candidate<T> {
    pub(crate) item: T,
    pub(crate) words: i64,
    /// How often it has each term of the query.
    pub(crate) counts: Vec<i64>,
}

/// What meets the query, with how well it fits; in the order in which it came.
pub(crate) fn scored<T>(
    expression: &Expression,
    searched: Searched,
    candidates: Vec<Candidate<T>>,
) -> Vec<(T, f64)> {
    let having = |term: usize| {
        let having = candidates.iter();
        let having = having.filter(|one| one.counts.get(term).is_some_and(|count| *count > 0));
        having.count()
    };
    let having: Vec<usize> = (0..expression.terms().len()).map(having).collect();
    scored_by(expression, searched, &having, candidates)
}

/// The same where not all texts are candidates that have a term: `having` says for each how many there are.
pub(crate) fn scored_by<T>(
    expression: &Expression,
    searched: Searched,
    having: &[usize],
    candidates: Vec<Candidate<T>>,
) -> Vec<(T, f64)> {
    let worths = having.iter().map(|having| worth(searched.texts, *having));
    let worths: Vec<f64> = worths.collect();
    let usual = searched.words as f64 / searched.texts.max(1) as f64;
    candidates
        .into_iter()
        .filter(|one| expression.is_met(one.counts.iter().map(|count| *count > 0)))
        .map(|one| {
            let share = LENGTH_SHARE * one.words as f64 / usual;
            let damping = SATURATION * (1.0 - LENGTH_SHARE + share);
            let terms = one.counts.iter().zip(&worths).map(|(count, worth)| {
                let count = *count as f64;
                worth * (count * (SATURATION + 1.0)) / (count + damping)
            });
            let score = terms.sum();
            (one.item, score)
        })
        .collect()
}

/// Rare words tell more.
fn worth(texts: i64, having: usize) -> f64 {
    let (texts, having) = (texts as f64, having as f64);
    let worth = ((texts - having + 0.5) / (having + 0.5)).ln();
    if worth > 0.0 { worth } else { LEAST_WORTH }
}
