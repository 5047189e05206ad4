//! How large the context really is after a compaction: asked of the provider where it can be asked.

use bytes::Bytes;
use epitome_wire::{Body, Wire};
use serde_json::Value;

use crate::model::{Asked, Caller};

/// The tokens of a probe's answer: as few as providers allow.
const PROBE_TOKENS: u64 = 16;

/// How a count was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedBy {
    /// The provider's place for counting.
    Endpoint,
    /// A real request with a tiny answer.
    Probe,
    /// The meter, because nobody else could be asked.
    Meter,
}

/// How large a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recount {
    /// Tokens of the whole input.
    pub tokens: u64,
    /// Who says so.
    pub by: CountedBy,
}

/// Counts a request: by the provider's place for counting, by a request for an answer of 16 tokens, or else by
/// `estimated_tokens`, which the meter gave. May be dropped at any time.
pub async fn recount(
    caller: &Caller,
    request: &Bytes,
    estimated_tokens: u64,
    asked: &Asked,
) -> Recount {
    let wire = caller.endpoint().wire();
    let countable = without(
        request,
        &["max_tokens", "max_output_tokens", "stream", "store"],
    );
    if let Some(countable) = countable
        && let Some(tokens) = caller.count(&countable, asked).await
    {
        return Recount {
            tokens,
            by: CountedBy::Endpoint,
        };
    }
    if let Some(probe) = probe(wire, request)
        && let Some(usage) = caller.probe(&probe, asked).await
        && usage.input_tokens() > 0
    {
        return Recount {
            tokens: usage.input_tokens(),
            by: CountedBy::Probe,
        };
    }
    Recount {
        tokens: estimated_tokens,
        by: CountedBy::Meter,
    }
}

fn without(request: &Bytes, names: &[&str]) -> Option<Bytes> {
    let mut value: Value = serde_json::from_slice(request).ok()?;
    let members = value.as_object_mut()?;
    for name in names {
        members.remove(*name);
    }
    Some(Bytes::from(value.to_string()))
}

/// The same request for a tiny answer in one piece.
fn probe(wire: Wire, request: &Bytes) -> Option<Bytes> {
    let is_readable = Body::scan(request.clone(), wire).is_ok();
    let bare = without(
        request,
        &[
            "stream",
            "stream_options",
            "max_tokens",
            "max_completion_tokens",
            "max_output_tokens",
            "thinking",
        ],
    )?;
    let mut value: Value = serde_json::from_slice(&bare).ok()?;
    let name = match wire {
        Wire::OpenAiChat | Wire::Anthropic => "max_tokens",
        Wire::OpenAiResponses => "max_output_tokens",
    };
    value
        .as_object_mut()?
        .insert(name.to_owned(), Value::from(PROBE_TOKENS));
    is_readable.then(|| Bytes::from(value.to_string()))
}
