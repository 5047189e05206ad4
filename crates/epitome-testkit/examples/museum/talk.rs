//! The conversations: small, always the same, in every wire format.

use epitome_testkit::{Random, Wire};
use serde_json::{Value, json};

/// A rule of the user, for every conversation.
pub(crate) const RULE: &str = "Never touch the files under vendor/.";

/// Part of a conversation, in the format of one API.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) wire: Wire,
    pub(crate) messages: Vec<Value>,
    seed: u64,
}

impl Talk {
    /// A task and its rule. `topic` is a word that only this conversation has.
    pub(crate) fn new(wire: Wire, topic: &str, seed: u64) -> Self {
        let task = format!("Port the {topic} module from src/{topic}.py to Rust. {RULE}");
        Self {
            wire,
            messages: vec![user(task)],
            seed,
        }
    }

    /// Adds steps: by turns a file that is read, and an exchange with the user; each of about `tokens` tokens.
    pub(crate) fn grow(mut self, steps: u64, tokens: usize) -> Self {
        for _ in 0..steps {
            self.seed += 1;
            if self.seed.is_multiple_of(3) {
                let said = format!("Step {} is done. {}", self.seed, prose(self.seed, tokens));
                self.messages.push(assistant(said));
                let next = format!("Good. Go on with part {} and run the tests.", self.seed);
                self.messages.push(user(next));
            } else {
                let text = prose(self.seed, tokens);
                self.read(&text);
            }
        }
        if self.ends_with_assistant() {
            self.messages.push(user("Go on."));
        }
        self
    }

    /// Adds a call and its result.
    pub(crate) fn with_result(mut self, text: &str) -> Self {
        self.seed += 1;
        self.read(text);
        self
    }

    /// Adds what the user says, after a short answer.
    pub(crate) fn with_question(mut self, text: &str) -> Self {
        self.messages.push(assistant("Done."));
        self.messages.push(user(text));
        self
    }

    fn read(&mut self, text: &str) {
        let seed = self.seed;
        let id = format!("call_{seed}");
        let path = format!("src/part_{seed}.py");
        let said = format!("Reading {path} next.");
        match self.wire {
            Wire::OpenaiChat => {
                let arguments = json!({"path": path}).to_string();
                let call = json!({"id": id, "type": "function",
                    "function": {"name": "read_file", "arguments": arguments}});
                self.messages
                    .push(json!({"role": "assistant", "content": said, "tool_calls": [call]}));
                self.messages
                    .push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
            Wire::OpenaiResponses => {
                let arguments = json!({"path": path}).to_string();
                self.messages
                    .push(json!({"type": "function_call", "call_id": id,
                    "name": "read_file", "arguments": arguments}));
                self.messages
                    .push(json!({"type": "function_call_output", "call_id": id, "output": text}));
            }
            Wire::Anthropic => {
                self.messages.push(json!({"role": "assistant", "content": [
                    {"type": "text", "text": said},
                    {"type": "tool_use", "id": id, "name": "read_file", "input": {"path": path}}]}));
                self.messages.push(json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": text}]}));
            }
        }
    }

    fn ends_with_assistant(&self) -> bool {
        self.messages
            .last()
            .is_some_and(|message| message["role"] == "assistant")
    }

    /// A whole request.
    pub(crate) fn request(&self, model: &str) -> String {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        let system = "You port Python to Rust.";
        let request = match self.wire {
            Wire::OpenaiChat => {
                let mut messages = vec![json!({"role": "system", "content": system})];
                messages.extend(self.messages.iter().cloned());
                json!({"model": model, "messages": messages, "tools": [{"type": "function",
                    "function": {"name": "read_file", "parameters": schema}}]})
            }
            Wire::OpenaiResponses => json!({"model": model, "instructions": system,
                "input": self.messages, "tools": [{"type": "function", "name": "read_file",
                "parameters": schema}]}),
            Wire::Anthropic => json!({"model": model, "max_tokens": 256, "system": system,
                "messages": self.messages, "tools": [{"name": "read_file",
                "input_schema": schema}]}),
        };
        request.to_string()
    }
}

pub(crate) fn user(text: impl Into<String>) -> Value {
    json!({"role": "user", "content": text.into()})
}

fn assistant(text: impl Into<String>) -> Value {
    json!({"role": "assistant", "content": text.into()})
}

/// About `tokens` tokens of lines that depend on `seed`.
pub(crate) fn prose(seed: u64, tokens: usize) -> String {
    const WORDS: [&str; 12] = [
        "buffer", "cursor", "decoder", "encoder", "field", "guard", "header", "index", "journal",
        "kernel", "ledger", "marker",
    ];
    let mut random = Random::new(seed);
    let mut word = || {
        WORDS
            .get(random.between(0, WORDS.len() - 1))
            .copied()
            .unwrap_or_default()
    };
    let mut text = String::new();
    let mut line = 0;
    while text.len() < tokens * 4 {
        line += 1;
        let (one, other, third) = (word(), word(), word());
        text.push_str(&format!(
            "{line}: def {one}_{seed}({other}): return {third}[{line}]\n"
        ));
    }
    text
}
