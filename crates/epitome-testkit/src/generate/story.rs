use serde_json::Value;

use super::Kind;
use super::{text, tools};
use crate::random::Random;
use crate::signature;

/// One part of a conversation, before it is laid out as messages of a format.
#[derive(Clone, Debug)]
pub(super) enum Part {
    User { text: String, image: Option<String> },
    Assistant(Speech),
    Results(Vec<Outcome>),
}

/// What an assistant says and calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Speech {
    pub(super) thinking: Option<String>,
    pub(super) redacted: Option<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Request>,
}

/// One tool call.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The identifier without the prefix of a format.
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) arguments: Value,
}

/// What a tool call gave.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) image: Option<String>,
}

/// A conversation that can be continued for ever.
#[derive(Debug)]
pub(super) struct Story {
    kind: Kind,
    random: Random,
    steps_left_in_turn: usize,
    calls_made: u64,
    seed: u64,
}

impl Story {
    pub(super) fn new(kind: Kind, seed: u64) -> Self {
        // Kinds of one seed must not be word for word the same conversation.
        let mut random = Random::new(seed.wrapping_mul(31).wrapping_add(kind as u64));
        Self {
            kind,
            steps_left_in_turn: steps_of_turn(kind, &mut random),
            random,
            calls_made: 0,
            seed,
        }
    }

    /// The first user message.
    pub(super) fn opening(&mut self) -> Part {
        self.user()
    }

    /// The next step: calls and results, or a text and the next user message.
    pub(super) fn step(&mut self) -> Vec<Part> {
        if self.steps_left_in_turn == 0 {
            self.steps_left_in_turn = steps_of_turn(self.kind, &mut self.random);
            let words = self.random.between(60, 260);
            let speech = Speech {
                text: Some(text::report(&mut self.random, words)),
                ..self.thoughts()
            };
            vec![Part::Assistant(speech), self.user()]
        } else {
            self.steps_left_in_turn -= 1;
            self.tool_step()
        }
    }

    fn user(&mut self) -> Part {
        let has_image = match self.kind {
            Kind::Images => self.random.chance(60),
            Kind::Mixed => self.random.chance(15),
            _ => false,
        };
        Part::User {
            text: match self.kind {
                Kind::Chat => text::long_question(&mut self.random),
                _ => text::request(&mut self.random),
            },
            image: has_image.then(|| self.image()),
        }
    }

    fn tool_step(&mut self) -> Vec<Part> {
        let count = match self.kind {
            Kind::Parallel => self.random.between(2, 5),
            Kind::Mixed if self.random.chance(30) => self.random.between(2, 4),
            _ => 1,
        };
        let mut speech = self.thoughts();
        let mut outcomes = Vec::new();
        if self.random.chance(50) {
            let words = self.random.between(8, 30);
            speech.text = Some(text::prose(&mut self.random, words));
        }
        for _ in 0..count {
            let (name, arguments) = tools::call(&mut self.random);
            let id = self.call_id();
            let is_error = self.random.chance(8);
            let image_percent = match self.kind {
                Kind::Images => 25,
                Kind::Mixed => 4,
                _ => 0,
            };
            outcomes.push(Outcome {
                id: id.clone(),
                text: tools::result(name, is_error, &mut self.random),
                is_error,
                image: self.random.chance(image_percent).then(|| self.image()),
            });
            speech.calls.push(Request {
                id,
                name,
                arguments,
            });
        }
        vec![Part::Assistant(speech), Part::Results(outcomes)]
    }

    fn thoughts(&mut self) -> Speech {
        let percent = match self.kind {
            Kind::Thinking => 80,
            Kind::Mixed => 25,
            _ => 0,
        };
        let mut speech = Speech::default();
        if self.random.chance(percent) {
            let words = self.random.between(20, 120);
            speech.thinking = Some(text::prose(&mut self.random, words));
            speech.redacted = self
                .random
                .chance(8)
                .then(|| signature::redacted(&mut self.random));
        }
        speech
    }

    fn call_id(&mut self) -> String {
        self.calls_made += 1;
        let mut source = self.seed.to_le_bytes().to_vec();
        source.extend_from_slice(&self.calls_made.to_le_bytes());
        source.push(self.kind as u8);
        signature::identifier(&source, 24)
    }

    /// Base64 text that starts like a picture of 1,024 by 806 pixels; nothing decodes more than its header.
    fn image(&mut self) -> String {
        let length = self.random.between(100, 300) * 4;
        let body = signature::letters(&self.random.bits().to_le_bytes(), length);
        format!("iVBORw0KGgoAAAANSUhEUgAABAAAAAMmCAYA{body}")
    }
}

fn steps_of_turn(kind: Kind, random: &mut Random) -> usize {
    match kind {
        Kind::Chat => 0,
        Kind::Autonomous => usize::MAX,
        Kind::ToolHeavy => random.between(5, 12),
        Kind::Parallel | Kind::Thinking => random.between(2, 6),
        Kind::Images => random.between(0, 2),
        Kind::Mixed => random.between(0, 6),
    }
}
