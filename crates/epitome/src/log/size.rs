//! What entries take, summed up as they come.

use std::ops::Range;

/// What an entry takes, or all entries up to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// A host may say of a picture whatever it likes, so that few entries may take more than fits in half as much.
    pub(super) tokens: u64,
    // Counted from texts, which are never so long: beyond it less can be shortened than there is.
    pub(super) trimmable: u32,
    pub(super) arguments: u32,
    pub(super) wordy: u32,
    pub(super) pins: u32,
}

impl Size {
    const fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            trimmable: self.trimmable.saturating_add(other.trimmable),
            arguments: self.arguments.saturating_add(other.arguments),
            wordy: self.wordy.saturating_add(other.wordy),
            pins: self.pins.saturating_add(other.pins),
        }
    }

    const fn less(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            trimmable: self.trimmable.saturating_sub(other.trimmable),
            arguments: self.arguments.saturating_sub(other.arguments),
            wordy: self.wordy.saturating_sub(other.wordy),
            pins: self.pins.saturating_sub(other.pins),
        }
    }
}

/// The sizes of all entries: those before each, and all.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    before: Vec<Size>,
    all: Size,
}

impl Sizes {
    pub(super) fn reserve(&mut self, entries: usize) {
        self.before.reserve(entries);
    }

    pub(super) fn push(&mut self, size: Size) {
        self.before.push(self.all);
        self.all = self.all.plus(size);
    }

    pub(super) const fn all(&self) -> Size {
        self.all
    }

    /// What the entries in `range` take.
    pub(super) fn of(&self, range: Range<usize>) -> Size {
        let before = |at: usize| self.before.get(at).copied().unwrap_or(self.all);
        before(range.end).less(before(range.start))
    }

    /// The first entry before which at least so many tokens stand.
    pub(super) fn at_tokens(&self, least: u64) -> usize {
        self.before.partition_point(|size| size.tokens < least)
    }
}
