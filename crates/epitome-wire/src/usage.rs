//! What the provider counted, read from a copy of its answer.

use crate::json::{self, Value};
use crate::overflow::Overflow;
use crate::wire::Wire;

/// The size of the input as the provider counted it: fresh, read from cache and written to it, together.
#[must_use]
pub fn input_tokens(wire: Wire, answer: &[u8]) -> Option<u64> {
    let value = json::read(answer).ok()?;
    from_value(wire, &value)
}

fn from_value(wire: Wire, value: &Value<'_>) -> Option<u64> {
    let usage = value.get("usage").filter(|usage| !usage.is_null());
    match wire {
        Wire::OpenAiChat => usage?.whole_number("prompt_tokens"),
        // What was read from cache is part of it. Events hold the whole response.
        Wire::OpenAiResponses => usage
            .or_else(|| value.get("response")?.get("usage"))?
            .whole_number("input_tokens"),
        Wire::Anthropic => {
            let usage = usage.or_else(|| value.get("message")?.get("usage"))?;
            let part = |name| usage.whole_number(name).unwrap_or(0);
            let input = usage.whole_number("input_tokens")?;
            Some(input + part("cache_read_input_tokens") + part("cache_creation_input_tokens"))
        }
    }
}

/// Watches a stream go by and remembers what the provider counted, or that it gave up because the request was too
/// long. The stream itself is not touched.
#[derive(Debug)]
pub struct StreamWatch {
    wire: Wire,
    decoder: crate::sse::Decoder,
    input_tokens: Option<u64>,
    overflow: Option<Overflow>,
}

impl StreamWatch {
    /// Starts watching.
    #[must_use]
    pub const fn new(wire: Wire) -> Self {
        Self {
            wire,
            decoder: crate::sse::Decoder::new(),
            input_tokens: None,
            overflow: None,
        }
    }

    /// Looks at the next bytes of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self {
            wire,
            decoder,
            input_tokens,
            overflow,
        } = self;
        decoder.feed(bytes, |event| {
            let data = event.data;
            // Deltas come by the thousand and say nothing about usage.
            if memchr::memmem::find(data, b"\"usage\"").is_some()
                && let Some(found) = self::input_tokens(*wire, data)
                && found > 0
            {
                *input_tokens = Some(found);
            }
            *overflow = overflow.take().or_else(|| Overflow::in_success(data));
        });
    }

    /// What the provider counted, as far as the stream went.
    #[must_use]
    pub const fn input_tokens(&self) -> Option<u64> {
        self.input_tokens
    }

    /// That the request is too long, if the stream says so.
    #[must_use]
    pub const fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }
}
