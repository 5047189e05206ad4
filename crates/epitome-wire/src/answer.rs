//! What a model answered: from a body, or put together from the events of a stream.

mod anthropic;
mod chat;
mod draft;
mod responses;

use epitome::{Block, Message, Role, Usage};

use crate::decode::decode;
use crate::json::{self, Value};
use crate::overflow::Overflow;
use crate::usage::{Counted, Tally};
use crate::wire::Wire;
use draft::Drafts;

/// An answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it said and called.
    pub message: Message,
    /// Why it ended, in the provider's word; `None` for a stream that was cut off.
    pub stop: Option<String>,
    /// What the provider counted, all rounds of it: what is paid for.
    pub usage: Usage,
    /// What it counted for the request that was sent: what its size is known by.
    pub counted: Option<Counted>,
    /// What the provider says went wrong.
    pub error: Option<String>,
    /// That the request was too long, if it says so.
    pub overflow: Option<Overflow>,
}

impl Answer {
    /// Reads a whole answer; `None` for what is none.
    ///
    /// ```
    /// use epitome_wire::{Answer, Wire};
    ///
    /// let body = br#"{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],
    ///     "usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
    /// let answer = Answer::read(Wire::OpenAiChat, body).unwrap();
    /// assert_eq!(answer.text(), "Hello");
    /// assert_eq!(answer.usage.input_tokens(), 9);
    /// ```
    #[must_use]
    pub fn read(wire: Wire, body: &[u8]) -> Option<Self> {
        let value = json::read(body).ok()?;
        let blocks = match wire {
            Wire::OpenAiChat => chat::blocks(&value),
            Wire::OpenAiResponses => responses::blocks(&value),
            Wire::Anthropic => anthropic::blocks(&value),
        };
        let error = error_text(&value);
        if blocks.is_none() && error.is_none() {
            return None;
        }
        let mut usage = Usage::default();
        read_usage(wire, &value, &mut usage);
        let mut tally = Tally::default();
        tally.see(wire, &value);
        Some(Self {
            message: Message {
                role: Role::Assistant,
                blocks: blocks.unwrap_or_default(),
            },
            stop: stop(wire, &value),
            usage,
            counted: tally.counted(),
            error,
            overflow: Overflow::in_success(body),
        })
    }

    /// What it said, without thinking and calls.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.spoken().collect::<Vec<_>>().join("\n")
    }
}

/// Puts an answer together from the data of its events, in order. Events of unknown kinds are passed over.
///
/// ```
/// use epitome_wire::{Accumulator, Wire};
///
/// let mut answer = Accumulator::new(Wire::OpenAiChat);
/// for word in ["Good ", "morning"] {
///     let event = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{word}"}}}}]}}"#);
///     answer.event(event.as_bytes());
/// }
/// answer.event(b"[DONE]");
/// assert_eq!(answer.finish().text(), "Good morning");
/// ```
#[derive(Debug)]
pub struct Accumulator {
    wire: Wire,
    drafts: Drafts,
    stop: Option<String>,
    usage: Usage,
    tally: Tally,
    error: Option<String>,
    overflow: Option<Overflow>,
}

impl Accumulator {
    /// An accumulator at the beginning of a stream.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            drafts: Drafts::default(),
            stop: None,
            usage: Usage::default(),
            tally: Tally::default(),
            error: None,
            overflow: None,
        }
    }

    /// Takes the data of the next event.
    pub fn event(&mut self, data: &[u8]) {
        let Ok(value) = json::read(data) else {
            return;
        };
        match self.wire {
            Wire::OpenAiChat => chat::event(&value, &mut self.drafts),
            Wire::OpenAiResponses => responses::event(&value, &mut self.drafts),
            Wire::Anthropic => anthropic::event(&value, &mut self.drafts),
        }
        self.stop = stop(self.wire, &value).or_else(|| self.stop.take());
        read_usage(self.wire, &value, &mut self.usage);
        self.tally.see(self.wire, &value);
        self.error = self.error.take().or_else(|| error_text(&value));
        self.overflow = self.overflow.or_else(|| Overflow::in_success(data));
    }

    /// The answer, as far as the stream went.
    #[must_use]
    pub fn finish(self) -> Answer {
        Answer {
            message: Message {
                role: Role::Assistant,
                blocks: self.drafts.into_blocks(),
            },
            stop: self.stop,
            usage: self.usage,
            counted: self.tally.counted(),
            error: self.error,
            overflow: self.overflow,
        }
    }
}

/// The blocks of one message or item, in the words of its format.
fn blocks_of(wire: Wire, value: &Value<'_>) -> Vec<Block> {
    decode(wire, value).map_or_else(|_| Vec::new(), |decoded| decoded.message.blocks)
}

/// The response inside an event, or the answer itself.
fn body<'v, 'a>(wire: Wire, value: &'v Value<'a>) -> &'v Value<'a> {
    let inner = match wire {
        Wire::OpenAiChat => None,
        Wire::OpenAiResponses => value.get("response"),
        Wire::Anthropic => value.get("message"),
    };
    inner.unwrap_or(value)
}

fn stop(wire: Wire, value: &Value<'_>) -> Option<String> {
    let text = |holder: &Value<'_>, name| holder.string(name).map(|text| text.into_owned());
    match wire {
        Wire::OpenAiChat => text(value.get("choices")?.items().first()?, "finish_reason"),
        Wire::OpenAiResponses => {
            let response = body(wire, value);
            let status = text(response, "status")?;
            let why = response
                .get("incomplete_details")
                .and_then(|details| text(details, "reason"));
            // A response that goes on has not stopped.
            (status != "in_progress" && status != "queued").then(|| why.unwrap_or(status))
        }
        Wire::Anthropic => {
            let holder = value.get("delta").unwrap_or(value);
            text(holder, "stop_reason")
        }
    }
}

/// Takes over what an answer or an event counts; later counts replace earlier ones.
fn read_usage(wire: Wire, value: &Value<'_>, out: &mut Usage) {
    let usage = value
        .get("usage")
        .or_else(|| body(wire, value).get("usage"));
    let Some(usage) = usage.filter(|usage| !usage.is_null()) else {
        return;
    };
    let set = |place: &mut u64, name| {
        if let Some(count) = usage.whole_number(name) {
            *place = count;
        }
    };
    let cached = |details| usage.get(details)?.whole_number("cached_tokens");
    match wire {
        Wire::OpenAiChat => {
            set(&mut out.fresh_tokens, "prompt_tokens");
            set(&mut out.output_tokens, "completion_tokens");
            out.cache_read_tokens = cached("prompt_tokens_details").unwrap_or(0);
            out.fresh_tokens = out.fresh_tokens.saturating_sub(out.cache_read_tokens);
        }
        Wire::OpenAiResponses => {
            set(&mut out.fresh_tokens, "input_tokens");
            set(&mut out.output_tokens, "output_tokens");
            out.cache_read_tokens = cached("input_tokens_details").unwrap_or(0);
            out.fresh_tokens = out.fresh_tokens.saturating_sub(out.cache_read_tokens);
        }
        Wire::Anthropic => {
            set(&mut out.fresh_tokens, "input_tokens");
            set(&mut out.cache_read_tokens, "cache_read_input_tokens");
            set(&mut out.cache_write_tokens, "cache_creation_input_tokens");
            set(&mut out.output_tokens, "output_tokens");
        }
    }
}

/// What an error object says.
fn error_text(value: &Value<'_>) -> Option<String> {
    let holders = [Some(value), value.get("response")];
    let error = holders
        .into_iter()
        .flatten()
        .filter_map(|holder| holder.get("error"))
        .find(|error| !error.is_null())?;
    let text = error.as_text().map(|text| text.decode().into_owned());
    let member = |name| error.string(name).map(|text| text.into_owned());
    text.or_else(|| member("message"))
        .or_else(|| member("code"))
        .or_else(|| member("type"))
        .or_else(|| Some("unnamed error".to_owned()))
}
