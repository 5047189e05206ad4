//! The choices that a design is made of.

use super::Design;
use crate::meter::ReferenceMeter;
use crate::reference::{layer, spacebot};

/// The choices of a design as a conversation runs by them: its own, or as its settings say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Whose they are.
    pub design: &'static Design,
    /// When a conversation is due.
    pub trigger: Trigger,
    /// What stays.
    pub keep: Keep,
    /// Where the summary goes.
    pub place: SummaryPlace,
    /// What the summary may take when no budget says otherwise.
    pub summary_tokens: u64,
    /// The share of the window that the history to be summarised may take. What is above it goes first, in chunks, and
    /// is summarised by itself.
    pub history_share: Option<f64>,
    /// Messages that a view shows at most, whatever they take. The oldest behind the first leave it without a word.
    pub most_messages: Option<usize>,
    /// How it counts a conversation.
    pub counts: DueCount,
    /// Whether it refuses to work in very small windows.
    pub guards: bool,
    /// Whether what was written is shown as soon as it is there, instead of when it must be or pays.
    pub shows_at_once: bool,
    /// Whether its host waits for the summary where nothing else is said.
    pub waits: bool,
}

/// How a design counts a conversation when it asks whether it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueCount {
    /// As well as it is known: anchored and calibrated.
    Known,
    /// What the provider reported last, answer included.
    Reported,
    /// In a way of its own.
    Reference(ReferenceMeter),
}

/// When a conversation is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// Never: it is switched off.
    Never,
    /// The hard line of the window.
    HardLine,
    /// A fixed number of tokens, reached or passed.
    AtLeast(i64),
    /// A fixed number of tokens, passed.
    Above(u64),
    /// The window less a reserve, passed.
    WindowLess(u64),
    /// The lowest tier of usage, reached or passed.
    Tiers(spacebot::Thresholds),
    /// A share of the window after reserves, reached or passed.
    Share(layer::Settings),
}

/// What stays of a conversation besides its system prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// The task and as many of the newest tokens as the budget allows.
    Budget,
    /// Nothing.
    Nothing,
    /// The newest entries of about so many tokens.
    RecentTokens(u64),
    /// The first message and the newest `n`.
    FirstAndLast(usize),
    /// The newest `n` messages.
    Last(usize),
    /// All but the oldest share.
    AllButOldest(f64),
}

/// Where the summary goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPlace {
    /// A user message after what stays in front.
    UserMessage,
    /// Into the first message, between marks.
    FirstMessage,
    /// A user message behind the earlier summaries.
    Stack,
    /// An assistant message after the system prompt.
    AssistantMessage,
    /// No summary at all: a marker behind the earlier summaries, which counts what went.
    Marker,
}
