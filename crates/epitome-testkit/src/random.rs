//! A small deterministic source of numbers, so that a seed means the same conversation everywhere.

/// A splitmix64 generator: tiny, fast and the same on every platform.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that gives the same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or zero when `end` is zero.
    pub const fn below(&mut self, end: usize) -> usize {
        let bits = self.bits();
        if end == 0 {
            0
        } else {
            (bits % end as u64) as usize
        }
    }

    /// A number from `low` to `high`, both included.
    pub const fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in about `percent` of the calls.
    pub const fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items.
    ///
    /// # Panics
    ///
    /// When there are no items.
    #[expect(
        clippy::indexing_slicing,
        reason = "an empty list is a mistake in the test"
    )]
    pub const fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
