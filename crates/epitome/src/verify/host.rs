//! How a host has summaries verified.

use std::ops::Range;

use super::{Checked, Verdict, Verification, VerifyLimits, item};
use crate::message::Message;
use crate::reason::Reason;
use crate::signature::is_own;

/// The entries that a summary of this crate stands for, counted from 0. None for any other text, and for one of this
/// crate that was altered.
#[must_use]
pub fn covered(summary: &str) -> Option<Range<usize>> {
    let is_ours = is_own(summary);
    summary
        .lines()
        .take(3)
        .find_map(item::covers)
        .filter(|_| is_ours)
}

/// Checks a text that somebody wrote as the summary of `source`, and repairs it.
///
/// # Errors
/// [`Reason::SummaryEmpty`] or [`Reason::SummaryRejected`] when it cannot stand.
pub fn repaired(
    source: &[(usize, &Message)],
    previous: Option<&str>,
    text: &str,
    limits: VerifyLimits,
) -> Result<Checked, Reason> {
    let checked = Verification::of_one(source, previous, text, None)
        .with_limits(limits)
        .check(text);
    match checked.verdict {
        Verdict::Rejected(reason) => Err(reason),
        Verdict::Accepted | Verdict::Repaired => Ok(checked),
    }
}
