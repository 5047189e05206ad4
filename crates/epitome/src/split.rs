//! A cut inside a turn: what is history, what begins the turn that goes on, and what stays.

use std::ops::Range;

use crate::log::Log;
use crate::message::Role;

/// Three ranges, one behind the other. All their ends are legal cuts, or the ends of the log.
///
/// ```
/// use epitome::{Facts, Log, Message, Meter, Role, Split};
///
/// let messages = [
///     Message::text(Role::User, "Count to three."),
///     Message::text(Role::Assistant, "One. ".repeat(100)),
///     Message::text(Role::Assistant, "Two. ".repeat(100)),
///     Message::text(Role::Assistant, "Three. ".repeat(100)),
/// ];
/// let mut log = Log::new();
/// for message in &messages {
///     log.push(&Facts::of(message, Meter::Estimate));
/// }
/// let split = Split::keeping(&log, 0, 100).ok_or("nothing to remove")?;
/// assert!(split.is_split_turn());
/// assert_eq!((split.history, split.turn_prefix, split.kept), (0..0, 0..3, 3..4));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Whole turns, to be summarised.
    pub history: Range<usize>,
    /// The beginning of the turn that the cut splits, to be summarised by itself; empty where it splits none.
    pub turn_prefix: Range<usize>,
    /// What stays.
    pub kept: Range<usize>,
}

impl Split {
    /// Keeps about `keep_recent_tokens` of the newest entries.
    ///
    /// `from` is where the live history begins: behind the system prompt, or where the entries start that the last
    /// compaction kept. Counted from the end, the entry in which the size is reached is the wanted position; from
    /// there the cut moves forward to a legal one, or back to the last one where a step is in flight. `None` when
    /// nothing would go.
    #[must_use]
    pub fn keeping(log: &Log, from: usize, keep_recent_tokens: u64) -> Option<Self> {
        let wanted = newest_taking(log, from, keep_recent_tokens)?;
        let cut = log
            .cut_at_or_after(wanted)
            .or_else(|| log.last_cut())
            .map(|cut| before_notes(log, cut))
            .filter(|cut| *cut > from)?;
        let turn = turn_start(log, from, cut);
        Some(Self {
            history: from..turn,
            turn_prefix: turn..cut,
            kept: cut..log.len(),
        })
    }

    /// Whether the cut splits a turn.
    #[must_use]
    pub fn is_split_turn(&self) -> bool {
        !self.turn_prefix.is_empty()
    }
}

/// The last position from which at least `tokens` follow; `None` where all of the live history is less.
fn newest_taking(log: &Log, from: usize, tokens: u64) -> Option<usize> {
    let end = log.len();
    if from >= end || log.tokens(from..end) < tokens {
        return None;
    }
    // Sizes of suffixes only fall, so that halving finds the border.
    let (mut low, mut high) = (from, end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if log.tokens(middle..end) >= tokens {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// The client's own notes directly before a cut stay: they belong to what follows and feed no summary.
fn before_notes(log: &Log, cut: usize) -> usize {
    let mut at = cut;
    while at > 0 && log.role(at - 1) == Some(Role::System) && log.is_cut(at - 1) {
        at -= 1;
    }
    at
}

/// Where the turn begins that `cut` falls into; `cut` itself where a turn begins there, or where no turn begins
/// in the live history and there is nothing to tell apart.
pub(crate) fn turn_start(log: &Log, from: usize, cut: usize) -> usize {
    let first_kept = (cut..log.len())
        .find(|&at| log.role(at) != Some(Role::System))
        .unwrap_or(cut);
    if log.starts_turn(first_kept) {
        return cut;
    }
    let Some(typed) = (from..cut).rev().find(|&at| log.starts_turn(at)) else {
        return cut;
    };
    // Words typed together with results belong to the step they answer.
    let cuts = log.cuts();
    let after = cuts.partition_point(|&cut| cut as usize <= typed);
    let start = after.checked_sub(1).and_then(|at| cuts.get(at));
    start.map_or(from, |&start| (start as usize).max(from))
}
