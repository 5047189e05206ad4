//! Byte-pair encoding of one word: of all neighbours that together are a token, those of the lowest rank are joined
//! first, until none are left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Two neighbours that together are a token; ordered by rank, then from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u32,
    start: usize,
    middle: usize,
    end: usize,
}

/// A word while its bytes grow together.
///
/// Each part is known by where it starts and by where it ends, so that a pair that waits in the queue can be seen to be
/// out of date. Every join takes a part away, so a word of `n` bytes takes `n log n` steps, however hostile.
#[derive(Debug)]
struct Parts<'a, R> {
    word: &'a [u8],
    rank: R,
    /// Where the part that starts here ends; 0 where none starts.
    ends: Vec<usize>,
    /// Where the part that ends here starts; its own place where none ends.
    starts: Vec<usize>,
    pairs: BinaryHeap<Reverse<Pair>>,
}

/// Where each token of a word ends, in order. `rank` knows the tokens.
pub(super) fn token_ends(word: &[u8], rank: impl Fn(&[u8]) -> Option<u32>) -> Vec<usize> {
    let mut parts = Parts {
        word,
        rank,
        ends: (1..=word.len()).collect(),
        starts: (0..=word.len()).map(|end| end.saturating_sub(1)).collect(),
        pairs: BinaryHeap::new(),
    };
    for start in 0..word.len().saturating_sub(1) {
        parts.consider(start, start + 1, start + 2);
    }
    while let Some(Reverse(pair)) = parts.pairs.pop() {
        parts.join(pair);
    }
    let mut ends = parts.ends;
    ends.retain(|end| *end != 0);
    ends
}

impl<R: Fn(&[u8]) -> Option<u32>> Parts<'_, R> {
    fn end_of(&self, start: usize) -> usize {
        self.ends.get(start).copied().unwrap_or(0)
    }

    fn consider(&mut self, start: usize, middle: usize, end: usize) {
        let both = self.word.get(start..end).unwrap_or_default();
        if let Some(rank) = (self.rank)(both) {
            self.pairs.push(Reverse(Pair {
                rank,
                start,
                middle,
                end,
            }));
        }
    }

    fn join(&mut self, pair: Pair) {
        let Pair {
            start, middle, end, ..
        } = pair;
        if self.end_of(start) != middle || self.end_of(middle) != end {
            return;
        }
        if let Some(place) = self.ends.get_mut(start) {
            *place = end;
        }
        if let Some(place) = self.ends.get_mut(middle) {
            *place = 0;
        }
        if let Some(place) = self.starts.get_mut(end) {
            *place = start;
        }
        if start > 0 {
            let before = self.starts.get(start).copied().unwrap_or(start);
            self.consider(before, start, end);
        }
        let behind = self.end_of(end);
        if behind > end {
            self.consider(start, end, behind);
        }
    }
}
