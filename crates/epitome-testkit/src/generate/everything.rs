//! Conversations with everything that a format has, turn by turn: valid by the rules of [`crate::strict`], and of a size
//! that is chosen.
//!
//! [`super::Growth`] tells likely stories; this one leaves nothing out. Its requests end as those of clients do: in words of
//! the user, in results, in notes of the client behind either, in the beginning of an answer, in a turn that the provider
//! paused.

mod anthropic;
mod chat;
mod responses;

use serde_json::{Value, json};

use super::{text, tools};
use crate::random::Random;
use crate::{Wire, signature};

/// Characters to a token, about.
const CHARACTERS: usize = 4;

/// A conversation of everything that its format has.
#[derive(Clone, Debug)]
pub struct Everything {
    wire: Wire,
    random: Random,
    seed: u64,
    /// What one turn adds, about.
    turn_tokens: usize,
    /// Whether system prompt and tools take the room that they usually do.
    is_roomy: bool,
    list: Vec<Value>,
    /// The calls of the provider's own tools that it has not answered yet.
    owed: Vec<Owed>,
    made: u64,
    /// How long the conversation was before each turn.
    turns: Vec<(usize, Vec<Owed>)>,
}

/// A call of a tool that the provider runs, and the kind of block that will hold its result.
#[derive(Clone, Debug)]
struct Owed {
    id: String,
    result: &'static str,
}

impl Everything {
    /// A conversation whose turns add about `turn_tokens` each, for a window of `window_tokens`.
    #[must_use]
    pub fn new(wire: Wire, seed: u64, window_tokens: usize, turn_tokens: usize) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ wire as u64);
        // The first numbers of neighbouring seeds are alike.
        random.bits();
        let mut new = Self {
            wire,
            random,
            seed,
            turn_tokens,
            is_roomy: window_tokens > 6_000,
            list: Vec::new(),
            owed: Vec::new(),
            made: 0,
            turns: Vec::new(),
        };
        new.head();
        new.user();
        new
    }

    /// The request of the conversation as it stands.
    #[must_use]
    pub fn request(&mut self) -> Value {
        match self.wire {
            Wire::OpenaiChat => chat::request(self),
            Wire::OpenaiResponses => responses::request(self),
            Wire::Anthropic => anthropic::request(self),
        }
    }

    /// The model answers, and the client goes on.
    pub fn advance(&mut self) {
        self.turns.push((self.list.len(), self.owed.clone()));
        match self.wire {
            Wire::OpenaiChat => chat::advance(self),
            Wire::OpenaiResponses => responses::advance(self),
            Wire::Anthropic => anthropic::advance(self),
        }
    }

    /// The client takes back its last turns, as people do who try something else.
    pub fn rewind(&mut self, turns: usize) {
        for _ in 0..turns {
            if let Some((length, owed)) = self.turns.pop() {
                self.list.truncate(length);
                self.owed = owed;
            }
        }
    }

    fn head(&mut self) {
        match self.wire {
            Wire::OpenaiChat => chat::head(self),
            Wire::OpenaiResponses => responses::head(self),
            Wire::Anthropic => {}
        }
    }

    fn user(&mut self) {
        match self.wire {
            Wire::OpenaiChat => chat::user(self),
            Wire::OpenaiResponses => responses::user(self),
            Wire::Anthropic => anthropic::user(self),
        }
    }

    fn system(&mut self) -> String {
        match self.is_roomy {
            true => text::system(self.seed),
            false => "You are careful.".to_owned(),
        }
    }

    /// Words that take up to `percent` of a turn.
    fn words(&mut self, percent: usize) -> String {
        let most = (self.turn_tokens * percent / 100).max(2);
        let tokens = self.random.between(1, most);
        // About six letters to a word, with what stands between them.
        text::prose(&mut self.random, (tokens * CHARACTERS / 6).max(1))
    }

    /// What a tool gives back, of up to `percent` of a turn. Now and then it is far more than that.
    fn output(&mut self, percent: usize) -> String {
        let percent = match self.random.chance(4) {
            true => percent * 6,
            false => percent,
        };
        let most = (self.turn_tokens * percent / 100).max(2);
        let tokens = self.random.between(1, most);
        let lines = (tokens * CHARACTERS / 40).max(1);
        match self.random.below(4) {
            0 => text::code(&mut self.random, lines),
            1 => text::log(&mut self.random, lines),
            2 => text::matches(&mut self.random, lines),
            _ => text::prose(&mut self.random, lines * 7),
        }
    }

    fn question(&mut self) -> String {
        match self.random.below(4) {
            0 => text::request(&mut self.random),
            1 => format!("{} {}", text::request(&mut self.random), self.words(40)),
            _ => self.words(60),
        }
    }

    fn note(&mut self) -> String {
        let day = self.random.between(1, 28);
        match self.random.below(3) {
            0 => format!("It is day {day}. Answer in {} sentences.", day % 5 + 1),
            1 => format!(
                "The files {} changed on disk.",
                text::path(&mut self.random)
            ),
            _ => self.words(10),
        }
    }

    /// An identifier that nothing else in this conversation has, also after a rewind.
    fn id(&mut self) -> String {
        self.made += 1;
        let mut source = self.seed.to_le_bytes().to_vec();
        source.extend_from_slice(&self.made.to_le_bytes());
        signature::identifier(&source, 24)
    }

    fn call(&mut self) -> (&'static str, Value) {
        match self.turn_tokens < 200 {
            true => ("read_file", json!({"path": text::path(&mut self.random)})),
            false => tools::call(&mut self.random),
        }
    }

    /// How many calls are made at once.
    fn calls(&mut self) -> usize {
        match self.random.below(10) {
            0..4 => 0,
            4..8 => 1,
            _ => self.random.between(2, 4),
        }
    }

    /// Base64 text that starts like a picture of 64 by 64 pixels.
    fn image(&mut self) -> String {
        let body = signature::letters(&self.random.bits().to_le_bytes(), 120);
        format!("iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYA{body}")
    }

    fn data(&mut self, length: usize) -> String {
        signature::letters(&self.random.bits().to_le_bytes(), length)
    }
}
