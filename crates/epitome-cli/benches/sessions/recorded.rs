//! Recorded sessions as the requests that their agents sent.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Error, Result};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use epitome::Message;
use epitome_files::{FileFormat, Transcript};
use epitome_testkit::Wire;
use epitome_wire::{Body, encode, repair};
use serde_json::{Value, json};

/// The longest answer that Claude Code asks for.
const OUTPUT_TOKENS: u64 = 32_000;
/// In a small window it would ask for less.
const OUTPUT_DIVISOR: u64 = 4;
/// No table of models knows it, so that the configured window counts in every version.
const MODEL: &str = "recorded";

/// A session as one request for each answer of the model, each with the whole history before it.
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) wire: Wire,
    tools: Vec<Value>,
    messages: Vec<Bytes>,
    /// How many messages stand before each answer.
    turns: Vec<usize>,
}

/// Where recorded sessions are.
pub(crate) fn folder() -> PathBuf {
    let data = match std::env::var_os("EPITOME_DATA") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    data.join("unified")
}

/// Every session of a folder, in order of their names.
pub(crate) fn sessions(folder: &Path) -> Result<Vec<Session>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| Session::read(path)).collect()
}

impl Session {
    fn read(path: &Path) -> Result<Self> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut file = BufReader::new(File::open(path)?);
        let transcript =
            Transcript::collect(&mut file, FileFormat::Unified).map_err(Error::other)?;
        let messages: Vec<Message> = transcript
            .conversations
            .into_iter()
            .flat_map(|conversation| conversation.messages)
            .collect();
        Self::of(&name, &messages)
    }

    fn of(name: &str, messages: &[Message]) -> Result<Self> {
        // What each agent speaks; pi, OpenHands and Copilot speak several.
        let wire = match name.split('-').next() {
            Some("cc") => Wire::Anthropic,
            Some("codex") => Wire::OpenaiResponses,
            _ => Wire::OpenaiChat,
        };
        let calls: BTreeSet<&str> = messages
            .iter()
            .flat_map(Message::calls)
            .map(|call| &*call.name)
            .collect();
        let tools = calls.into_iter().map(|name| tool(wire, name)).collect();
        let mut session = Self {
            name: name.to_owned(),
            wire,
            tools,
            // No session of Claude Code has a system prompt, the one that would stand elsewhere.
            messages: messages
                .iter()
                .flat_map(|message| encode(ours(wire), message))
                .map(Bytes::from)
                .collect(),
            turns: Vec::new(),
        };
        session.put_right()?;
        session.find_turns()?;
        Ok(session)
    }

    /// Results move to their calls and interrupted calls get one, as agents do before they send a history.
    fn put_right(&mut self) -> Result<()> {
        let whole = self.history(self.messages.len(), 0);
        let body = Body::scan(whole, ours(self.wire)).map_err(Error::other)?;
        let bytes = repair(&body).splice.into_bytes();
        let body = Body::scan(bytes, ours(self.wire)).map_err(Error::other)?;
        let ranges = body.messages().iter();
        self.messages = ranges
            .map(|range| body.bytes().slice(range.clone()))
            .collect();
        Ok(())
    }

    fn find_turns(&mut self) -> Result<()> {
        let mut was_answer = true;
        for (index, message) in self.messages.iter().enumerate() {
            let message: Value = serde_json::from_slice(message)?;
            let is_answer = message["role"] == "assistant" || message["type"] == "function_call";
            if is_answer && !was_answer {
                self.turns.push(index);
            }
            was_answer = is_answer;
        }
        Ok(())
    }

    /// The longest answer that its requests ask for.
    pub(crate) fn output_tokens(&self, window_tokens: u64) -> Option<u64> {
        let usual = OUTPUT_TOKENS.min(window_tokens / OUTPUT_DIVISOR);
        (self.wire == Wire::Anthropic).then_some(usual)
    }

    /// Its requests, in order.
    pub(crate) fn requests(&self, window_tokens: u64) -> impl Iterator<Item = Bytes> {
        let output_tokens = self.output_tokens(window_tokens).unwrap_or_default();
        self.turns
            .iter()
            .map(move |messages| self.history(*messages, output_tokens))
    }

    fn history(&self, messages: usize, output_tokens: u64) -> Bytes {
        let mut head = json!({"model": MODEL, "tools": self.tools});
        if self.wire == Wire::Anthropic {
            head["max_tokens"] = output_tokens.into();
        }
        let mut bytes = head.to_string().into_bytes();
        bytes.pop();
        bytes.extend_from_slice(format!(r#","{}":["#, self.wire.list_name()).as_bytes());
        for (index, message) in self.messages.iter().take(messages).enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(message);
        }
        bytes.extend_from_slice(b"]}");
        bytes.into()
    }
}

/// The product's word for a format of the testkit.
pub(crate) const fn ours(wire: Wire) -> epitome_wire::Wire {
    match wire {
        Wire::OpenaiChat => epitome_wire::Wire::OpenAiChat,
        Wire::OpenaiResponses => epitome_wire::Wire::OpenAiResponses,
        Wire::Anthropic => epitome_wire::Wire::Anthropic,
    }
}

/// What a tool was like is not recorded, only its name.
fn tool(wire: Wire, name: &str) -> Value {
    let parameters = json!({"type": "object"});
    match wire {
        Wire::Anthropic => json!({"name": name, "input_schema": parameters}),
        Wire::OpenaiResponses => {
            json!({"type": "function", "name": name, "parameters": parameters})
        }
        Wire::OpenaiChat => {
            json!({"type": "function", "function": {"name": name, "parameters": parameters}})
        }
    }
}
