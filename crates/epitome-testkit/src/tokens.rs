//! The scripted model's own token count.
//!
//! It is deliberately not the usual four characters per token: a client that guesses must cope with a provider
//! that counts otherwise. Visible text, tool names, arguments, system prompt and tool definitions cost one token
//! per 3.6 bytes, a message costs four more, an image 1,100, a document 2,000, and the request three.

use std::io;

use serde_json::Value;

use crate::Wire;
use crate::wire::{array, block_type, messages, text};

/// What providers charge for the pictures of the generator, 1,024 by 806 pixels.
const ANTHROPIC_IMAGE_TOKENS: u64 = 1_100;
const OPENAI_IMAGE_TOKENS: u64 = 765;
const DOCUMENT_TOKENS: u64 = 2_000;

/// Input tokens of a request in the given format.
#[must_use]
pub fn count(wire: Wire, request: &Value) -> u64 {
    let mut total = Tally::default();
    match wire {
        Wire::Anthropic => total.content(request.get("system")),
        Wire::OpenaiResponses => total.content(request.get("instructions")),
        Wire::OpenaiChat => {}
    }
    if let Some(tools) = request.get("tools") {
        total.json(tools);
    }
    let messages = messages(request);
    for message in messages {
        if wire == Wire::OpenaiResponses {
            total.item(message);
        }
        total.content(message.get("content"));
        total.bytes += text(message, "reasoning_content").len() as u64;
        for call in array(message, "tool_calls") {
            total.openai_call(call);
        }
    }
    of_bytes(total.bytes) + total.extra_tokens + 4 * messages.len() as u64 + 3
}

/// Tokens of a text of this many bytes.
#[must_use]
pub const fn of_bytes(bytes: u64) -> u64 {
    (bytes * 5).div_ceil(18)
}

#[derive(Default)]
struct Tally {
    bytes: u64,
    extra_tokens: u64,
}

impl Tally {
    fn content(&mut self, content: Option<&Value>) {
        match content {
            Some(Value::String(text)) => self.bytes += text.len() as u64,
            Some(Value::Array(blocks)) => blocks.iter().for_each(|block| self.block(block)),
            _ => {}
        }
    }

    fn block(&mut self, block: &Value) {
        match block_type(block) {
            "image" => self.extra_tokens += ANTHROPIC_IMAGE_TOKENS,
            "image_url" | "input_image" => self.extra_tokens += OPENAI_IMAGE_TOKENS,
            "document" | "file" | "input_file" => self.extra_tokens += DOCUMENT_TOKENS,
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                self.bytes += text(block, "name").len() as u64;
                if let Some(input) = block.get("input") {
                    self.json(input);
                }
            }
            "thinking" => self.bytes += text(block, "thinking").len() as u64,
            "redacted_thinking" => self.bytes += text(block, "data").len() as u64,
            _ => {
                self.bytes += text(block, "text").len() as u64;
                self.content(block.get("content"));
            }
        }
    }

    /// What an item of Responses holds apart from content.
    fn item(&mut self, item: &Value) {
        for name in ["name", "arguments", "input", "encrypted_content"] {
            self.bytes += text(item, name).len() as u64;
        }
        self.content(item.get("output"));
        self.content(item.get("summary"));
    }

    fn openai_call(&mut self, call: &Value) {
        for (kind, arguments) in [("function", "arguments"), ("custom", "input")] {
            if let Some(called) = call.get(kind) {
                self.bytes += text(called, "name").len() as u64;
                self.bytes += text(called, arguments).len() as u64;
            }
        }
    }

    fn json(&mut self, value: &Value) {
        // Writing into a counter cannot fail, so there is no error to look at.
        let _ = serde_json::to_writer(ByteCounter(&mut self.bytes), value);
    }
}

/// Counts what is written to it, so that a large tool list is measured without building its text.
struct ByteCounter<'a>(&'a mut u64);

impl io::Write for ByteCounter<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        *self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
