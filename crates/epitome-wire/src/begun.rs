//! How a streamed answer begins: providers send a few events before they look at the size of a request.

use crate::json::{self, Value};
use crate::overflow::Overflow;
use crate::sse::Decoder;
use crate::wire::Wire;

/// What is known of an answer by its first events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Only what every answer begins with: nothing is said yet.
    NotYet,
    /// The model speaks, or something else is said that belongs to the client.
    Speaks,
    /// The request is too long. Nothing of an answer came.
    TooLong(Overflow),
}

/// Watches the first events of a stream.
///
/// ```
/// use epitome_wire::{Begun, StreamStart, Wire};
///
/// let mut start = StreamStart::new(Wire::OpenAiResponses);
/// assert_eq!(start.feed(b"data: {\"type\":\"response.created\"}\n\n"), Begun::NotYet);
/// assert_eq!(start.feed(b"data: {\"type\":\"response.output_item.added\"}\n\n"), Begun::Speaks);
/// ```
#[derive(Debug)]
pub struct StreamStart {
    wire: Wire,
    decoder: Decoder,
    begun: Begun,
}

impl StreamStart {
    /// Nothing was seen yet.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            decoder: Decoder::new(),
            begun: Begun::NotYet,
        }
    }

    /// Looks at the next bytes; what was found first stays.
    pub fn feed(&mut self, bytes: &[u8]) -> Begun {
        let Self {
            wire,
            decoder,
            begun,
        } = self;
        decoder.feed(bytes, |event| {
            if *begun == Begun::NotYet {
                *begun = of(*wire, event.data);
            }
        });
        *begun
    }
}

fn of(wire: Wire, data: &[u8]) -> Begun {
    let Ok(event) = json::read(data) else {
        return Begun::Speaks;
    };
    if let Some(overflow) = Overflow::in_success(data) {
        return Begun::TooLong(overflow);
    }
    let kind = event.string("type");
    let is_empty = match wire {
        Wire::OpenAiChat => says_nothing(&event),
        Wire::OpenAiResponses => matches!(
            kind.as_deref(),
            Some("response.created" | "response.in_progress" | "response.queued")
        ),
        Wire::Anthropic => matches!(kind.as_deref(), Some("message_start" | "ping")),
    };
    match is_empty {
        true => Begun::NotYet,
        false => Begun::Speaks,
    }
}

/// Whether a chunk of Chat only says who is going to speak.
fn says_nothing(chunk: &Value<'_>) -> bool {
    let is_blank = |value: &Value<'_>| {
        value.is_null() || value.as_text().is_some_and(|text| text.decode().is_empty())
    };
    let choices = chunk.get("choices").map(Value::items).unwrap_or_default();
    let is_silent = |choice: &Value<'_>| {
        let delta = choice.get("delta").map(Value::members).unwrap_or_default();
        choice.get("finish_reason").is_none_or(Value::is_null)
            && delta
                .iter()
                .all(|(name, value)| name.is("role") || is_blank(value))
    };
    chunk.get("choices").is_some() && chunk.get("error").is_none() && choices.iter().all(is_silent)
}

#[cfg(test)]
#[path = "begun_tests.rs"]
mod tests;
