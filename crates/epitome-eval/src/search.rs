//! A keyword search over archived passages (BM25): what recall would bring back.

use std::collections::HashMap;

use crate::history::as_float;
use crate::words::terms;

/// How soon more mentions of a word stop to matter.
const SATURATION: f64 = 1.2;
/// How much long documents are held back.
const LENGTH_SHARE: f64 = 0.75;

/// An index of documents.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// How often each term occurs in each document.
    pub documents: Vec<HashMap<String, u64>>,
    lengths: Vec<u64>,
    mean_length: f64,
    postings: HashMap<String, Vec<usize>>,
}

impl Index {
    /// Indexes documents.
    #[must_use]
    pub fn of<'a>(documents: impl IntoIterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        for (position, document) in documents.into_iter().enumerate() {
            let mut counts: HashMap<String, u64> = HashMap::new();
            for term in terms(document) {
                *counts.entry(term).or_default() += 1;
            }
            for term in counts.keys() {
                match index.postings.get_mut(term) {
                    Some(found_in) => found_in.push(position),
                    None => drop(index.postings.insert(term.clone(), vec![position])),
                }
            }
            index.lengths.push(counts.values().sum());
            index.documents.push(counts);
        }
        let total: u64 = index.lengths.iter().sum();
        index.mean_length = as_float(total) / as_float(index.documents.len().max(1) as u64);
        index
    }

    /// In how many documents a term occurs.
    #[must_use]
    pub fn spread(&self, term: &str) -> usize {
        self.postings.get(term).map_or(0, Vec::len)
    }

    /// How telling a term is: the logarithm of how rare.
    #[must_use]
    pub fn weight(&self, term: &str) -> f64 {
        let with = as_float(self.spread(term) as u64);
        let all = as_float(self.documents.len() as u64);
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
            for position in self.postings.get(term).into_iter().flatten() {
                *scores.entry(*position).or_default() += self.score(term, weight, *position);
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        ranked.into_iter().map(|(position, _)| position).collect()
    }

    fn score(&self, term: &str, weight: f64, position: usize) -> f64 {
        let count = self
            .documents
            .get(position)
            .and_then(|document| document.get(term))
            .map_or(0.0, |count| as_float(*count));
        let length = as_float(self.lengths.get(position).copied().unwrap_or(0));
        let relative = 1.0 - LENGTH_SHARE + LENGTH_SHARE * length / self.mean_length;
        weight * count * (SATURATION + 1.0) / (count + SATURATION * relative)
    }
}
