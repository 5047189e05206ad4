//! A keyword search over archived passages (BM25): what recall would bring back.

use std::collections::HashMap;

use crate::history::as_float;
use crate::words::{terms, visit_terms};

/// How soon more mentions of a word stop to matter.
const SATURATION: f64 = 1.2;
/// How much long documents are held back.
const LENGTH_SHARE: f64 = 0.75;

/// An index of documents.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// For each term the documents that have it, in order, and how often.
    postings: HashMap<String, Vec<(usize, u64)>>,
    lengths: Vec<u64>,
    mean_length: f64,
}

impl Index {
    /// Indexes documents.
    #[must_use]
    pub fn of<'a>(documents: impl IntoIterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        for (position, document) in documents.into_iter().enumerate() {
            let mut length = 0;
            let characters: Vec<char> = document.chars().collect();
            visit_terms(&characters, |term| {
                if let Some(term) = term {
                    length += 1;
                    index.count(term, position);
                }
            });
            index.lengths.push(length);
        }
        let total: u64 = index.lengths.iter().sum();
        index.mean_length = as_float(total) / as_float(index.lengths.len().max(1) as u64);
        index
    }

    fn count(&mut self, term: &str, position: usize) {
        let Some(found_in) = self.postings.get_mut(term) else {
            self.postings.insert(term.to_owned(), vec![(position, 1)]);
            return;
        };
        match found_in.last_mut() {
            Some((last, count)) if *last == position => *count += 1,
            _ => found_in.push((position, 1)),
        }
    }

    fn postings(&self, term: &str) -> &[(usize, u64)] {
        self.postings.get(term).map_or(&[], Vec::as_slice)
    }

    /// Whether a document has a term.
    #[must_use]
    pub fn has(&self, position: usize, term: &str) -> bool {
        self.postings(term)
            .binary_search_by_key(&position, |(at, _)| *at)
            .is_ok()
    }

    /// In how many documents a term occurs.
    #[must_use]
    pub fn spread(&self, term: &str) -> usize {
        self.postings(term).len()
    }

    /// How telling a term is: the logarithm of how rare.
    #[must_use]
    pub fn weight(&self, term: &str) -> f64 {
        let with = as_float(self.spread(term) as u64);
        let all = as_float(self.lengths.len() as u64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// The documents that have a term of the query, best first; of equal ones the earlier.
    #[must_use]
    pub fn rank(&self, query: &str) -> Vec<usize> {
        let mut query = terms(query);
        query.sort_unstable();
        query.dedup();
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for term in &query {
            let weight = self.weight(term);
            for (position, count) in self.postings(term) {
                *scores.entry(*position).or_default() += self.score(weight, *position, *count);
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        ranked.into_iter().map(|(position, _)| position).collect()
    }

    fn score(&self, weight: f64, position: usize, count: u64) -> f64 {
        let count = as_float(count);
        let length = as_float(self.lengths.get(position).copied().unwrap_or(0));
        let relative = 1.0 - LENGTH_SHARE + LENGTH_SHARE * length / self.mean_length;
        weight * count * (SATURATION + 1.0) / (count + SATURATION * relative)
    }
}
