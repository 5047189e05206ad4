//! A conversation put together again from what was written down about it.

use super::{CommitError, Prepared, Record, Session};
use crate::compaction::Compaction;

impl Prepared {
    /// How many messages were shown when the work on it began. [`Session::replay`] needs it.
    #[must_use]
    pub const fn shown(&self) -> usize {
        self.shown
    }
}

impl Session {
    /// Puts a compaction in force again, as [`Session::commit`] did when the conversation had the same entries and the
    /// same changes. `shown` is [`Prepared::shown`]. No events are told.
    ///
    /// # Errors
    /// When it does not fit: fewer messages are shown than when it was made, or it would not help.
    pub fn replay(&mut self, compaction: Compaction, shown: usize) -> Result<&Record, CommitError> {
        if shown > self.shown.log.len() || compaction.plan.span.end > shown {
            return Err(CommitError::Superseded);
        }
        let prepared = Prepared {
            compaction,
            changes: self.changes.len(),
            shown,
        };
        let told = self.events.len();
        self.commit(prepared)?;
        self.events.truncate(told);
        self.newest()
            .map(|(_, record)| record)
            .ok_or(CommitError::Superseded)
    }

    /// Takes the newest compaction back again, as [`Session::undo`] did: whether the view fits its window was asked
    /// then.
    ///
    /// # Errors
    /// When there is none.
    pub fn replay_undo(&mut self) -> Result<&Record, CommitError> {
        let before = self.before.last().ok_or(CommitError::NothingToUndo)?;
        let mut shown = before.shown.clone();
        shown.extend_from(&self.shown, before.since, &self.entries);
        self.take_back(shown)
    }
}
