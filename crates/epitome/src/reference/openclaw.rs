//! `openclaw`: window minus reserve; chunks, shares and merged parts; a memory flush before.

use std::ops::Range;

/// The window assumed where the model does not say.
pub const DEFAULT_WINDOW_TOKENS: u64 = 200_000;
/// The reserve never falls below this unless the floor is switched off.
pub const RESERVE_FLOOR_TOKENS: u64 = 20_000;
/// Recent tokens that stay.
pub const KEEP_RECENT_TOKENS: u64 = 20_000;
/// How far before the compaction line a memory flush runs.
pub const FLUSH_SOFT_TOKENS: u64 = 4_000;
/// The share of the window that history may take.
pub const HISTORY_SHARE: f64 = 0.5;
/// How many parts a history is split into.
pub const PARTS: usize = 2;
/// Stands where no summary could be written.
pub const FALLBACK_SUMMARY: &str =
    "Summary unavailable due to context limits. Older messages were truncated.";

const BASE_CHUNK_RATIO: f64 = 0.4;
const MIN_CHUNK_RATIO: f64 = 0.15;
const SAFETY_MARGIN: f64 = 1.2;
const LARGE_MESSAGE_RATIO: f64 = 0.1;

/// The window in whole tokens, at least one.
#[must_use]
pub fn window(configured: Option<f64>) -> u64 {
    configured.map_or(DEFAULT_WINDOW_TOKENS, |tokens| {
        tokens.floor().max(1.0) as u64
    })
}

/// The reserve raised to the floor, and whether it had to be.
#[must_use]
pub const fn reserve(current: u64, floor: u64) -> (u64, bool) {
    if current >= floor {
        (current, false)
    } else {
        (floor, true)
    }
}

/// Whether a conversation has to be compacted.
#[must_use]
pub const fn is_due(tokens: u64, window: u64, reserve: u64) -> bool {
    match window.checked_sub(reserve) {
        None | Some(0) => false,
        Some(line) => tokens > line,
    }
}

/// Whether a memory flush has to run: near the line, and not yet in this cycle.
#[must_use]
pub fn is_flush_due(
    tokens: u64,
    window: u64,
    reserve: u64,
    soft: u64,
    compactions: u64,
    last_flush: Option<u64>,
) -> bool {
    let line = window.saturating_sub(reserve).saturating_sub(soft);
    tokens > 0 && line > 0 && tokens >= line && last_flush != Some(compactions)
}

/// The share of the window one chunk may take: less when messages are large.
#[must_use]
pub fn chunk_ratio(tokens: &[u64], window: u64) -> f64 {
    if tokens.is_empty() {
        return BASE_CHUNK_RATIO;
    }
    let average = tokens.iter().sum::<u64>() as f64 / tokens.len() as f64;
    let ratio = average * SAFETY_MARGIN / window as f64;
    if ratio <= LARGE_MESSAGE_RATIO {
        return BASE_CHUNK_RATIO;
    }
    let reduction = (ratio * 2.0).min(BASE_CHUNK_RATIO - MIN_CHUNK_RATIO);
    (BASE_CHUNK_RATIO - reduction).max(MIN_CHUNK_RATIO)
}

/// Contiguous chunks of at most `max` tokens; a message over it stands alone.
#[must_use]
pub fn chunks_by_max(tokens: &[u64], max: u64) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut held = 0_u64;
    for (at, &size) in tokens.iter().enumerate() {
        if at > start && held.saturating_add(size) > max {
            chunks.push(start..at);
            start = at;
            held = 0;
        }
        held = held.saturating_add(size);
        if size > max {
            chunks.push(start..at + 1);
            start = at + 1;
            held = 0;
        }
    }
    if start < tokens.len() {
        chunks.push(start..tokens.len());
    }
    chunks
}

/// At most `parts` contiguous chunks of about equal tokens.
#[must_use]
pub fn chunks_by_share(tokens: &[u64], parts: usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, tokens.len().max(1));
    let share = tokens.iter().sum::<u64>() as f64 / parts as f64;
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut held = 0_u64;
    for (at, &size) in tokens.iter().enumerate() {
        let is_full = (held + size) as f64 > share;
        if at > start && is_full && chunks.len() + 1 < parts {
            chunks.push(start..at);
            start = at;
            held = 0;
        }
        held += size;
    }
    if start < tokens.len() {
        chunks.push(start..tokens.len());
    }
    chunks
}

/// What share pruning keeps and drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The first message that stays.
    pub kept_from: usize,
    /// How many chunks went.
    pub dropped_chunks: usize,
    /// Tokens that went.
    pub dropped_tokens: u64,
    /// Tokens that stay.
    pub kept_tokens: u64,
    /// Tokens that may stay.
    pub budget_tokens: u64,
}

/// Drops the oldest of `parts` shares until the rest fits its share of the window.
#[must_use]
pub fn prune(tokens: &[u64], max_context: u64, share: f64, parts: usize) -> Pruned {
    let budget_tokens = ((max_context as f64 * share).floor() as u64).max(1);
    let total: u64 = tokens.iter().sum();
    let mut pruned = Pruned {
        budget_tokens,
        kept_tokens: total,
        ..Pruned::default()
    };
    while pruned.kept_tokens > budget_tokens {
        let rest = tokens.get(pruned.kept_from..).unwrap_or_default();
        let chunks = chunks_by_share(rest, parts);
        let Some(first) = chunks.first().filter(|_| chunks.len() > 1) else {
            break;
        };
        let size: u64 = rest.iter().take(first.end).sum();
        pruned.kept_from += first.end;
        pruned.dropped_chunks += 1;
        pruned.dropped_tokens += size;
        pruned.kept_tokens -= size;
    }
    pruned
}

/// The token counters of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tokens of the context.
    pub total_tokens: Option<u64>,
    /// Of these, input.
    pub input_tokens: Option<u64>,
    /// Of these, output.
    pub output_tokens: Option<u64>,
    /// How many compactions there were.
    pub compactions: u64,
}

impl Counters {
    /// The counters after a compaction that left `tokens_after`, if that is known.
    #[must_use]
    pub const fn after_compaction(self, tokens_after: Option<u64>) -> Self {
        let compactions = self.compactions + 1;
        match tokens_after {
            Some(tokens) if tokens > 0 => Self {
                total_tokens: Some(tokens),
                input_tokens: None,
                output_tokens: None,
                compactions,
            },
            _ => Self {
                compactions,
                ..self
            },
        }
    }
}
