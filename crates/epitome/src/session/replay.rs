//! A conversation put together again from what was written down about it.

use std::sync::Arc;

use super::shown::Shown;
use super::{CommitError, Prepared, Record, Session};
use crate::compaction::Compaction;
use crate::course::Course;
use crate::digest::Digest;
use crate::log::Log;
use crate::message::Message;
use crate::meter::Meter;
use crate::view::View;

/// A conversation as somebody else keeps it.
#[derive(Clone, Debug)]
pub struct KeptElsewhere<'a> {
    /// Every message.
    pub entries: Vec<Arc<Message>>,
    /// Their sizes and cuts.
    pub log: &'a Log,
    /// What is shown of them.
    pub view: View,
    /// The text of the newest summary among that.
    pub summary: &'a str,
    /// The chain of the entries, where all of them are shown and conversations branch.
    pub links: &'a [(usize, Digest)],
    /// The first entry that is counted: what stands before it, such as a system prompt, comes with every request and is not
    /// kept.
    pub counted_from: usize,
    /// What goes out takes this by the meter, where that is less than what is shown here: a compaction is made from the
    /// originals while an earlier one is in force.
    pub sent_tokens: Option<u64>,
}

impl Prepared {
    /// How many messages it was made from. [`Session::replay`] needs it.
    #[must_use]
    pub const fn from_messages(&self) -> usize {
        self.from_messages
    }
}

impl Session {
    /// Goes on with a conversation that somebody else keeps. What it was told and what was tried is its `course`.
    #[must_use]
    pub fn resumed(course: Course, meter: Meter, kept: KeptElsewhere<'_>) -> Self {
        let mut session = Self::new(course.window(), meter);
        let preset = *course.preset();
        let entries = kept.entries;
        session.shown = Shown::resumed(kept.view, kept.summary, &entries, kept.log, meter);
        session.links = kept.links.to_vec();
        session.counted_from = kept.counted_from;
        session.sent_tokens = kept.sent_tokens;
        session.entries = entries;
        session.resumed_summary = kept.summary.to_owned();
        session.course = course;
        session.with_preset(preset)
    }

    /// What it was told, and what was tried.
    #[must_use]
    pub const fn course(&self) -> &Course {
        &self.course
    }

    /// Puts a compaction in force again, as [`Session::commit`] did when the conversation had the same entries and the
    /// same changes. `from_messages` is [`Record::from_messages`]. No events are told.
    ///
    /// # Errors
    /// When it does not fit: there are fewer messages than when it was made, or it would not help.
    pub fn replay(
        &mut self,
        compaction: Compaction,
        from_messages: usize,
    ) -> Result<&Record, CommitError> {
        if compaction.plan.span.end > from_messages {
            return Err(CommitError::Superseded);
        }
        let prepared = Prepared {
            compaction,
            changes: self.changes.len(),
            from_messages,
            shown: self.shown.log.len(),
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
