//! The objects of `replay --json`. Their names are public surface.

use epitome_cost::{Made, Side, Step, Turn};
use serde::Serialize;

use crate::play::Input;

#[derive(Serialize)]
pub(super) struct Object {
    conversation: usize,
    /// Which request, from 1.
    turn: usize,
    /// How many messages stand before the answer.
    messages: usize,
    at_ms: u64,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    context_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    fresh_tokens: u64,
    output_tokens: u64,
    nanodollars: Option<u64>,
    /// The built-in summariser asks nobody.
    own_nanodollars: u64,
    too_long: bool,
    /// The same request as the recording has it.
    without: Without,
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<Compaction>,
}

#[derive(Serialize)]
struct Without {
    context_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    fresh_tokens: u64,
    nanodollars: Option<u64>,
    too_long: bool,
}

#[derive(Serialize)]
struct Compaction {
    tokens_before: u64,
    tokens_after: u64,
    messages_before: usize,
    messages_after: usize,
    summary_tokens: u64,
    pins: usize,
    anchors: usize,
    anchors_in_view: usize,
}

impl Object {
    pub(super) fn of(at: usize, turn: &Turn, input: &Input) -> Self {
        let Side {
            spent,
            nanodollars,
            is_too_long,
        } = turn.sent;
        let (action, reason, made) = match &turn.step {
            Step::Sent => ("sent", None, None),
            Step::Prepared => ("prepared", None, None),
            Step::Compacted(made) => ("compacted", Some(made.why.as_str()), Some(made)),
            Step::Unchanged(reason) => ("unchanged", Some(reason.as_str()), None),
        };
        Self {
            conversation: input.number,
            turn: at + 1,
            messages: turn.messages,
            at_ms: turn.at_ms,
            action,
            reason,
            context_tokens: spent.input_tokens(),
            cache_read_tokens: spent.read_tokens,
            cache_write_tokens: spent.written_tokens(),
            fresh_tokens: spent.fresh_tokens,
            output_tokens: spent.output_tokens,
            nanodollars,
            own_nanodollars: 0,
            too_long: is_too_long,
            without: Without::of(&turn.bare),
            compaction: made.map(Compaction::of),
        }
    }
}

impl Without {
    const fn of(side: &Side) -> Self {
        Self {
            context_tokens: side.spent.input_tokens(),
            cache_read_tokens: side.spent.read_tokens,
            cache_write_tokens: side.spent.written_tokens(),
            fresh_tokens: side.spent.fresh_tokens,
            nanodollars: side.nanodollars,
            too_long: side.is_too_long,
        }
    }
}

impl Compaction {
    const fn of(made: &Made) -> Self {
        Self {
            tokens_before: made.tokens.0,
            tokens_after: made.tokens.1,
            messages_before: made.messages.0,
            messages_after: made.messages.1,
            summary_tokens: made.summary_tokens,
            pins: made.pins,
            anchors: made.anchors,
            anchors_in_view: made.anchors_in_view,
        }
    }
}
