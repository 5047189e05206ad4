//! Deterministic conversations: the same kind and seed give the same history, and a longer one extends it.
//!
//! A history is a user message followed by steps. A step is an assistant message with tool calls and their
//! results, or an assistant text and the next user message; so every prefix ends where a model is asked to go
//! on. All of them are valid under [`crate::strict`].

mod damage;
mod everything;
mod layout;
mod responses;
mod story;
pub(crate) mod text;
mod tools;
mod untidy;

use serde_json::Value;

use crate::Wire;
use story::Story;

pub use damage::{Damage, damage, damage_with};
pub use everything::Everything;
pub use untidy::untidy;

/// What kind of conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Several tool steps for each user message, with long results.
    ToolHeavy,
    /// Text on both sides, no tools used.
    Chat,
    /// One user message and then tool steps without end.
    Autonomous,
    /// Tool steps of two to five calls at once.
    Parallel,
    /// Tool steps that start with thinking blocks (Anthropic), reasoning text (Chat) or reasoning items (Responses).
    Thinking,
    /// User messages, and with Anthropic also results, that hold images.
    Images,
    /// A bit of everything, and with Anthropic a cache mark that moves along with the last message.
    Mixed,
}

impl Kind {
    /// All kinds, for loops in tests.
    pub const ALL: [Self; 7] = [
        Self::ToolHeavy,
        Self::Chat,
        Self::Autonomous,
        Self::Parallel,
        Self::Thinking,
        Self::Images,
        Self::Mixed,
    ];
}

/// An OpenAI Chat Completions request with at least `messages` messages, and at most a step more.
#[must_use]
pub fn openai_chat(kind: Kind, seed: u64, messages: usize) -> Value {
    request(Wire::OpenaiChat, kind, seed, messages)
}

/// An OpenAI Responses request with at least `items` items, and at most a step more.
#[must_use]
pub fn openai_responses(kind: Kind, seed: u64, items: usize) -> Value {
    request(Wire::OpenaiResponses, kind, seed, items)
}

/// An Anthropic Messages request with at least `messages` messages, and at most a step more.
#[must_use]
pub fn anthropic(kind: Kind, seed: u64, messages: usize) -> Value {
    request(Wire::Anthropic, kind, seed, messages)
}

/// A request in the given format with at least `messages` messages, and at most a step more.
#[must_use]
pub fn request(wire: Wire, kind: Kind, seed: u64, messages: usize) -> Value {
    let mut growth = Growth::new(wire, kind, seed);
    while growth.list.len() < messages {
        growth.advance();
    }
    growth.request()
}

/// `turns` requests, each of which extends the one before by one step.
///
/// Only the cache mark of [`Kind::Mixed`] moves; everything else of the earlier request stays as it was.
#[must_use]
pub fn grow(wire: Wire, kind: Kind, seed: u64, turns: usize) -> Vec<Value> {
    Growth::new(wire, kind, seed).take(turns).collect()
}

/// The same as [`grow`], one request at a time and without end, for histories too long to hold all at once.
#[derive(Debug)]
pub struct Growth {
    wire: Wire,
    kind: Kind,
    seed: u64,
    story: Story,
    list: Vec<Value>,
}

impl Growth {
    /// Starts with the first user message.
    #[must_use]
    pub fn new(wire: Wire, kind: Kind, seed: u64) -> Self {
        let mut story = Story::new(kind, seed);
        let mut list = layout::head(wire, seed);
        layout::append(wire, &story.opening(), &mut list);
        Self {
            wire,
            kind,
            seed,
            story,
            list,
        }
    }

    fn advance(&mut self) {
        for part in self.story.step() {
            layout::append(self.wire, &part, &mut self.list);
        }
    }

    fn request(&self) -> Value {
        layout::request(self.wire, self.kind, self.seed, &self.list)
    }
}

impl Iterator for Growth {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let request = self.request();
        self.advance();
        Some(request)
    }
}
