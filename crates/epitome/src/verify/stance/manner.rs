//! How binding a sentence is, and for whom.

/// What a sentence says about that.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a sentence has any of them, by itself"
)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// It says that something is to be done.
    pub(super) must: bool,
    /// It says that something may be done.
    pub(super) may: bool,
    /// It says that it is not always done.
    pub(super) is_weak: bool,
    /// It leaves out all others.
    pub(super) only: bool,
    /// It leaves out nobody.
    pub(super) everyone: bool,
    /// It adds something to what was named before.
    pub(super) also: bool,
    /// It speaks of all of them.
    pub(super) all: bool,
    /// It speaks of some of them.
    pub(super) some: bool,
    /// It says what is preferred, and leaves the rest possible.
    pub(super) prefers: bool,
    /// It does so by a verb that needs no word between the two.
    pub(super) prefers_by_case: bool,
}

impl Manner {
    /// Whether this one makes less of a duty than the other, that neither denies.
    pub(super) const fn weakens(self, other: Self) -> bool {
        let is_free = self.may && !self.must && !self.only && other.must && !other.may;
        let is_partial = self.some && !self.all && other.all && !other.some;
        self.is_weak && !other.is_weak && !other.prefers || is_free || is_partial
    }

    /// Whether it says that something may be done, and leaves out nothing.
    pub(super) const fn is_free(self) -> bool {
        self.may && !self.only
    }

    /// Whether one of the two leaves out whom the other lets in.
    pub(super) const fn opens(self, other: Self) -> bool {
        self.also && !self.only && other.only && !other.also
            || self.everyone && !self.only && other.only && !other.everyone
            || other.everyone && !other.only && self.only && !self.everyone
    }
}
