//! How large the context was, message by message: a saw-tooth where it was compacted.

use epitome::{Message, Meter, Role};
use epitome_files::{Kept, Recorded};

/// The size of the context after each message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    pub(super) sizes: Vec<u64>,
    /// Before which of the sizes a compaction stands.
    pub(super) compactions: Vec<usize>,
    /// Before which of the sizes a conversation begins.
    pub(super) conversations: Vec<usize>,
    /// The messages of this conversation, summed up: what stands before the message at a place.
    sums: Vec<u64>,
    sum: u64,
    size: u64,
}

/// The letters of a plot, from empty to full.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Timeline {
    /// One whose sizes are known, and before which of them a compaction stands.
    pub(crate) fn of(sizes: Vec<u64>, compactions: Vec<usize>) -> Self {
        Self {
            sizes,
            compactions,
            ..Self::default()
        }
    }

    pub(super) fn begin(&mut self) {
        self.conversations.push(self.sizes.len());
        self.sums.clear();
        (self.sum, self.size) = (0, 0);
    }

    pub(super) fn push(&mut self, tokens: u64) {
        self.sums.push(self.sum);
        self.sum += tokens;
        self.size += tokens;
        self.sizes.push(self.size);
    }

    /// A message that was pushed already turns out to be larger.
    pub(super) fn grow(&mut self, index: usize, tokens: u64) {
        for sum in self.sums.iter_mut().skip(index + 1) {
            *sum += tokens;
        }
        self.sum += tokens;
        self.size += tokens;
        if let Some(last) = self.sizes.last_mut() {
            *last += tokens;
        }
    }

    pub(super) fn compact(&mut self, recorded: &Recorded, meter: Meter) {
        let summary = match recorded.summary.as_str() {
            "" => 0,
            text => meter.message(&Message::text(Role::User, text)),
        };
        self.size = match &recorded.kept {
            Kept::Nothing => summary,
            Kept::From(index) => {
                let before = self.sums.get(*index).copied().unwrap_or(self.sum);
                summary + self.sum.saturating_sub(before)
            }
            Kept::Replaced(messages) => messages.iter().map(|m| meter.message(m)).sum(),
        };
        self.compactions.push(self.sizes.len());
    }

    pub(super) fn largest(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// At most `width` sizes: the largest of each stretch of messages, so that no peak is lost.
    pub(super) fn columns(&self, width: usize) -> Vec<u64> {
        let width = width.min(self.sizes.len()).max(1);
        (0..width)
            .map(|column| {
                let from = self.sizes.len() * column / width;
                let until = (self.sizes.len() * (column + 1) / width).max(from + 1);
                let stretch = self.sizes.get(from..until).unwrap_or_default();
                stretch.iter().copied().max().unwrap_or(0)
            })
            .collect()
    }

    /// The plot as rows of text, the top one first.
    pub(super) fn rows(&self, width: usize, height: usize) -> Vec<String> {
        let columns = self.columns(width);
        let top = self.largest().max(1);
        let full = height as u64 * 8;
        let row = |row: usize| -> String {
            let below = (height - 1 - row) as u64 * 8;
            columns
                .iter()
                .map(|size| {
                    let eighths = (u128::from(*size) * u128::from(full)).div_ceil(u128::from(top));
                    let here = (eighths as u64).saturating_sub(below).min(8);
                    LEVELS.get(here as usize).copied().unwrap_or(' ')
                })
                .collect()
        };
        (0..height).map(row).collect()
    }
}
