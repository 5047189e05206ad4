//! What the messages of a view are called where people count them.

use std::ops::Range;
use std::sync::Arc;

use super::Session;
use super::shown::Shown;
use crate::view::ViewItem;

impl Session {
    /// The entries that each message of a view is or stands for, counted as whoever keeps them does.
    pub(super) fn numbers(&self, shown: &Shown) -> Arc<[Range<usize>]> {
        let entry = |position: usize| position.saturating_sub(self.counted_from);
        let mut numbers: Vec<(usize, Option<usize>)> = Vec::with_capacity(shown.log.len());
        let mut next = 0;
        for item in &shown.view.items {
            match item {
                ViewItem::Entries(range) => {
                    let each = range.clone().map(|at| (entry(at), Some(entry(at + 1))));
                    numbers.extend(each);
                    next = range.end;
                }
                ViewItem::Trimmed(at, _) => {
                    numbers.push((entry(*at), Some(entry(at + 1))));
                    next = at + 1;
                }
                // It stands for what is not shown before the next entry.
                made => {
                    if let ViewItem::Merged(at) = made {
                        next = *at;
                    }
                    numbers.extend((0..made.len()).map(|_| (entry(next), None)));
                }
            }
        }
        let mut end = entry(self.entries.len());
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(numbers.len());
        for (start, known) in numbers.into_iter().rev() {
            ranges.push(start..known.unwrap_or(end).max(start));
            end = start;
        }
        ranges.reverse();
        ranges.into()
    }
}
