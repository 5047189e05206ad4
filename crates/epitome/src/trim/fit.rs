//! How a text is brought within a size.

use std::ops::Range;

use super::border::settled;
use super::{Kept, Trim, notable};
use crate::meter::Meter;

/// Of what stays, this part may be lines from the middle.
const BETWEEN_PART: u64 = 3;
/// Stretches closer than this are joined: a marker would take as much.
const BRIDGE_BYTES: usize = 40;

impl Kept {
    /// What stays of `text` in at most `tokens`: the beginning, the end, which says more and gets twice as much, and
    /// between them lines that report errors and totals, or the members of a JSON object that do.
    ///
    /// Something always goes, and at least its marker stays, even where that alone takes more than `tokens`.
    ///
    /// ```
    /// use epitome::{Kept, Meter};
    ///
    /// let mut log = "compiling one more file\n".repeat(200);
    /// log += "error: the lock file is stale\n";
    /// log += &"compiling one more file\n".repeat(200);
    /// let shown = Kept::within(&log, 150, Meter::Estimate).of(&log);
    /// assert!(Meter::Estimate.text(&shown) <= 150);
    /// assert!(shown.contains("error: the lock file is stale"));
    /// ```
    #[must_use]
    pub fn within(text: &str, tokens: u64, meter: Meter) -> Self {
        let chars = text.chars().count();
        let marker_tokens = meter.text(&Trim::marker(chars));
        let notable = notable::ranked(text);
        let mut room = tokens.saturating_sub(marker_tokens + 1);
        let mut step = 0;
        loop {
            let kept = shape(text, room, marker_tokens, &notable, meter);
            let gaps = kept.gaps(chars);
            let gone: usize = gaps.iter().map(Range::len).sum();
            let marked: usize = gaps
                .iter()
                .map(|gap| Trim::marker(gap.len()).chars().count())
                .sum();
            let size = if gone > marked {
                meter.text(&kept.of(text))
            } else {
                u64::MAX
            };
            if size <= tokens || room == 0 {
                return kept;
            }
            // Stretches may cost more beside a marker than they do alone.
            let excess = if size == u64::MAX { 0 } else { size - tokens };
            step = (2 * step).max(excess + 1);
            room = room.saturating_sub(step);
        }
    }
}

/// What stays when the stretches alone may take `room` tokens, the markers between them included.
fn shape(
    text: &str,
    room: u64,
    marker_tokens: u64,
    notable: &[Range<usize>],
    meter: Meter,
) -> Kept {
    let ends = |room: u64| {
        let head = meter.prefix(text, room / 3).len();
        let tail = text.len() - meter.suffix(text, room - room / 3).len();
        // Two halves of one encoded run are cheaper than the run, so both may fit and still must part.
        let after_head = text.get(head..).and_then(|rest| rest.chars().next());
        (
            head,
            tail.max(head + after_head.map_or(0, char::len_utf8))
                .min(text.len()),
        )
    };
    let (head, tail) = ends(room - room / BETWEEN_PART);
    let mut left = room / BETWEEN_PART;
    let mut stretches = Vec::new();
    let between = notable.iter().filter(|r| r.end > head && r.start < tail);
    for range in between {
        // One more gap, unless a neighbour is there already.
        let marker_tokens = if stretches.iter().any(|near| are_close(near, range)) {
            0
        } else {
            marker_tokens
        };
        let cost = meter.text(text.get(range.clone()).unwrap_or_default()) + marker_tokens;
        if cost <= left {
            left -= cost;
            stretches.push(range.clone());
        }
    }
    let (head, tail) = ends(room - room / BETWEEN_PART + left);
    stretches.push(0..head);
    stretches.push(tail..text.len());
    joined(text, stretches)
}

/// Whether a marker between two stretches would take as much as what lies between them.
const fn are_close(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end + BRIDGE_BYTES && other.start <= one.end + BRIDGE_BYTES
}

/// Puts the stretches in order, joins those that lie close, and counts in characters.
fn joined(text: &str, mut stretches: Vec<Range<usize>>) -> Kept {
    stretches.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in stretches {
        match apart.last_mut() {
            Some(last)
                if range.start <= last.end || are_close(last, &range) && !range.is_empty() =>
            {
                last.end = last.end.max(range.end);
            }
            _ => apart.push(range),
        }
    }
    let mut kept = Kept::default();
    let (mut bytes, mut chars) = (0, 0);
    let mut char_of = |at: usize| {
        chars += text.get(bytes..at).unwrap_or_default().chars().count();
        bytes = at;
        chars
    };
    for range in apart {
        let is_head = range.start == 0;
        let is_tail = range.end == text.len();
        let range = settled(text, range);
        let (start, end) = (char_of(range.start), char_of(range.end));
        match (is_head, is_tail) {
            (true, _) => kept.head_chars = end,
            (false, true) => kept.tail_chars = end - start,
            (false, false) if start < end => kept.between.push(start..end),
            (false, false) => {}
        }
    }
    kept
}
