//! How often each word stands in a text, as bytes: a text is searched by them alone.

use std::cmp::Reverse;
use std::fmt::Write as _;

use crate::rank::{self, Candidate, Searched};
use crate::words::{Counted, Expression, Need, Term, folded};
use crate::{Error, MemoryRow, Result, SearchHit};

impl Counted {
    /// A line for each word, in order: how often, and the word.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut lines = String::new();
        for (word, count) in &self.counts {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{count} {word}");
        }
        lines.into_bytes()
    }
}

/// The terms of a query, as they are compared.
#[derive(Debug)]
struct Terms(Vec<(String, bool)>);

impl Terms {
    fn of(expression: &Expression) -> Self {
        let term = |term: &Term| (folded(&term.word), term.is_prefix);
        Self(expression.terms().into_iter().map(term).collect())
    }

    /// How often a text has each term, by the lines of its words.
    fn matched<T>(&self, lines: &[u8], item: T) -> Result<Candidate<T>> {
        let mut candidate = Candidate {
            item,
            words: 0,
            counts: vec![0; self.0.len()],
        };
        for line in std::str::from_utf8(lines).map_err(Error::corrupt)?.lines() {
            let (count, word) = line
                .split_once(' ')
                .ok_or_else(|| Error::corrupt("a line of words has no count"))?;
            let count: i64 = count.parse().map_err(Error::corrupt)?;
            candidate.words += count;
            for ((term, is_prefix), slot) in self.0.iter().zip(&mut candidate.counts) {
                if word == term || *is_prefix && word.starts_with(term.as_str()) {
                    *slot += count;
                }
            }
        }
        Ok(candidate)
    }
}

/// What is found among texts that are looked through one after the other.
#[derive(Debug)]
pub(crate) struct Found<'e, T> {
    expression: &'e Expression,
    terms: Terms,
    searched: Searched,
    candidates: Vec<Candidate<T>>,
}

impl<'e, T> Found<'e, T> {
    pub(crate) fn new(expression: &'e Expression) -> Self {
        Self {
            expression,
            terms: Terms::of(expression),
            searched: Searched::default(),
            candidates: Vec::new(),
        }
    }

    /// One more text, by the lines of its words.
    pub(crate) fn add(&mut self, lines: &[u8], item: T) -> Result<()> {
        let candidate = self.terms.matched(lines, item)?;
        self.searched.texts += 1;
        self.searched.words += candidate.words;
        if candidate.counts.iter().any(|count| *count > 0) {
            self.candidates.push(candidate);
        }
        Ok(())
    }

    /// What meets the query, with how well it fits, in the order in which it came.
    pub(crate) fn scored(self) -> Vec<(T, f64)> {
        rank::scored(self.expression, self.searched, self.candidates)
    }
}

impl Found<'_, SearchHit> {
    /// The best, and of those that are equally good the last ones.
    pub(crate) fn best(self, limit: u32) -> Vec<SearchHit> {
        best(self.scored(), limit)
    }
}

/// The best, and of those that are equally good the last ones.
pub(crate) fn best(scored: Vec<(SearchHit, f64)>, limit: u32) -> Vec<SearchHit> {
    let scored = scored.into_iter();
    let mut hits: Vec<SearchHit> = scored
        .map(|(hit, score)| SearchHit { score, ..hit })
        .collect();
    hits.sort_by(|left, right| {
        let best = right.score.total_cmp(&left.score);
        best.then_with(|| {
            let order = |hit: &SearchHit| (Reverse(hit.position), hit.entry);
            order(left).cmp(&order(right))
        })
    });
    hits.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    hits
}

/// Those of `memories` that have the words of `query`, the best first. They come in the order in which equally good ones are to stand.
pub(crate) fn by_words(memories: &[MemoryRow], query: &str, limit: u32) -> Result<Vec<MemoryRow>> {
    for need in [Need::All, Need::Any] {
        let Some(expression) = Expression::of(query, need) else {
            break;
        };
        let mut found = Found::new(&expression);
        for memory in memories {
            found.add(&Counted::of(&memory.text).to_bytes(), memory)?;
        }
        let mut best = found.scored();
        best.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        best.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        if !best.is_empty() {
            return Ok(best.into_iter().map(|(memory, _)| memory.clone()).collect());
        }
    }
    Ok(Vec::new())
}
