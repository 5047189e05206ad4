//! What the provider counted for the input of one request, read from a copy of its answer.
//!
//! A count is worth learning from only where the provider counted what was sent and nothing else: `rounds` tells where an
//! answer took more than one look at a prompt, `request` where a request holds more than its text says.

mod request;
mod rounds;

pub use request::is_plain_request;

use crate::items::AnswerItems;
use crate::json::{self, Value};
use crate::overflow::Overflow;
use crate::wire::Wire;

/// What a provider counted for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The whole input: fresh, read from cache and written to it, together.
    pub input_tokens: u64,
    /// The answer, as far as it was counted.
    pub output_tokens: Option<u64>,
    /// The part of the input that was read from the cache.
    pub cache_read_tokens: u64,
    /// The part of the input that was written to the cache.
    pub cache_write_tokens: u64,
    /// Whether the count is one of the request as it was sent. `false` where the answer shows tools that the provider runs
    /// itself, sound, several rounds, or a history that the provider keeps or edits.
    pub is_plain: bool,
}

/// What the provider counted, by a whole answer.
#[must_use]
pub fn counted(wire: Wire, answer: &[u8]) -> Option<Counted> {
    let mut tally = Tally::default();
    tally.see(wire, &json::read(answer).ok()?);
    tally.counted()
}

/// The size of the input as the provider counted it: fresh, read from cache and written to it, together.
#[must_use]
pub fn input_tokens(wire: Wire, answer: &[u8]) -> Option<u64> {
    counted(wire, answer).map(|counted| counted.input_tokens)
}

/// Counts as they come, in one answer or event by event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    input: Option<Input>,
    output_tokens: Option<u64>,
    has_rounds: bool,
}

#[derive(Clone, Copy, Debug)]
struct Input {
    tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
}

impl Tally {
    pub(crate) fn see(&mut self, wire: Wire, value: &Value<'_>) {
        self.has_rounds |= rounds::are_shown(wire, value);
        let Some(usage) = usage(wire, value) else {
            return;
        };
        let output = match wire {
            Wire::OpenAiChat => "completion_tokens",
            Wire::OpenAiResponses | Wire::Anthropic => "output_tokens",
        };
        self.output_tokens = usage.whole_number(output).or(self.output_tokens);
        let Some(input) = Input::read(wire, usage).filter(|input| input.tokens > 0) else {
            return;
        };
        match self.input {
            // Its streams count the request when they begin. What they say at the end adds up what every round read.
            Some(first) if wire == Wire::Anthropic => {
                self.has_rounds |= input.tokens > first.tokens;
            }
            _ => self.input = Some(input),
        }
    }

    pub(crate) fn counted(&self) -> Option<Counted> {
        let input = self.input?;
        Some(Counted {
            input_tokens: input.tokens,
            output_tokens: self.output_tokens,
            cache_read_tokens: input.cache_read_tokens,
            cache_write_tokens: input.cache_write_tokens,
            is_plain: !self.has_rounds,
        })
    }
}

impl Input {
    fn read(wire: Wire, usage: &Value<'_>) -> Option<Self> {
        let details = |name, part| usage.get(name)?.whole_number(part);
        Some(match wire {
            // What was read from cache is part of the input.
            Wire::OpenAiChat => Self {
                tokens: usage.whole_number("prompt_tokens")?,
                cache_read_tokens: details("prompt_tokens_details", "cached_tokens").unwrap_or(0),
                cache_write_tokens: details("prompt_tokens_details", "cache_write_tokens")
                    .unwrap_or(0),
            },
            Wire::OpenAiResponses => Self {
                tokens: usage.whole_number("input_tokens")?,
                cache_read_tokens: details("input_tokens_details", "cached_tokens").unwrap_or(0),
                cache_write_tokens: details("input_tokens_details", "cache_write_tokens")
                    .unwrap_or(0),
            },
            Wire::Anthropic => {
                let part = |name| usage.whole_number(name).unwrap_or(0);
                let cache_read_tokens = part("cache_read_input_tokens");
                let cache_write_tokens = part("cache_creation_input_tokens");
                let fresh = usage.whole_number("input_tokens")?;
                Self {
                    tokens: fresh
                        .saturating_add(cache_read_tokens)
                        .saturating_add(cache_write_tokens),
                    cache_read_tokens,
                    cache_write_tokens,
                }
            }
        })
    }
}

/// Where an answer or an event counts.
fn usage<'v, 'a>(wire: Wire, value: &'v Value<'a>) -> Option<&'v Value<'a>> {
    let usage = value.get("usage").filter(|usage| !usage.is_null());
    let inner = || match wire {
        Wire::OpenAiChat => None,
        Wire::OpenAiResponses => value.get("response")?.get("usage"),
        Wire::Anthropic => value.get("message")?.get("usage"),
    };
    usage.or_else(inner).filter(|usage| !usage.is_null())
}

/// Watches a stream go by and remembers what the provider counted, or that it gave up because the request was too
/// long. The stream itself is not touched.
#[derive(Debug)]
pub struct StreamWatch {
    wire: Wire,
    decoder: crate::sse::Decoder,
    tally: Tally,
    overflow: Option<Overflow>,
    items: Option<AnswerItems>,
}

impl StreamWatch {
    /// Starts watching.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            decoder: crate::sse::Decoder::new(),
            tally: Tally::default(),
            overflow: None,
            items: None,
        }
    }

    /// Keeps the items of the answer too, which a later request may only name.
    #[must_use]
    pub fn with_items(mut self) -> Self {
        self.items = (self.wire == Wire::OpenAiResponses).then(AnswerItems::default);
        self
    }

    /// The items of the answer that are done.
    #[must_use]
    pub fn take_items(&mut self) -> AnswerItems {
        self.items.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Looks at the next bytes of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self {
            wire,
            decoder,
            tally,
            overflow,
            items,
        } = self;
        decoder.feed(bytes, |event| {
            let data = event.data;
            // Deltas come by the thousand and say nothing about usage.
            let may_tell = |word: &[u8]| memchr::memmem::find(data, word).is_some();
            if (may_tell(b"\"usage\"") || rounds::marks(*wire).iter().any(|word| may_tell(word)))
                && let Ok(value) = json::read(data)
            {
                tally.see(*wire, &value);
            }
            if let Some(items) = items {
                items.see(data);
            }
            *overflow = overflow.take().or_else(|| Overflow::in_success(data));
        });
    }

    /// What the provider counted, as far as the stream went.
    #[must_use]
    pub fn counted(&self) -> Option<Counted> {
        self.tally.counted()
    }

    /// The size of the input as the provider counted it, as far as the stream went.
    #[must_use]
    pub fn input_tokens(&self) -> Option<u64> {
        self.counted().map(|counted| counted.input_tokens)
    }

    /// That the request is too long, if the stream says so by an error. A stop reason is none.
    #[must_use]
    pub const fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }
}
