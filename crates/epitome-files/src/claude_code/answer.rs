//! Answers of the model, which are spread over lines.

use epitome::{Block, Message, Role};
use epitome_wire::json::Value;

use super::{Reader, aside, unreadable};
use crate::blocks::{arguments, call, medium, thinking, usage_of};
use crate::counts::fingerprint;
use crate::event::{CacheUsage, Event, Usage};
use crate::lines::Entry;
use crate::pi::{text_arguments, unwrapped};
use crate::time;

/// An answer of which at least one line was read. Every answer of a file is remembered, so it is small.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// Nothing of it can be seen yet; the thinking that came so far.
    Unseen { thinking_chars: Option<u32> },
    /// Which message it is.
    Seen { index: u32, has_text: bool },
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Reader {
    /// Remembers what an answer took and tells what the one before it did.
    fn used(
        &mut self,
        key: Option<u64>,
        said: &Value<'_>,
        entry: &Entry<'_>,
        emit: &mut dyn FnMut(Event),
    ) {
        if self.usage.is_none_or(|(of, _)| of != key || key.is_none()) {
            self.give_usage(emit);
        }
        let Some(usage) = said.get("usage").and_then(counted) else {
            return;
        };
        if let Some(model) = said.string("model") {
            self.model.named(&model, emit);
        }
        // Where an answer stands, and when it began, its first line knows.
        let (messages, at_ms) = match self.usage {
            Some((_, first)) => (first.messages, first.at_ms),
            None => (self.messages, time::of_entry(&entry.value)),
        };
        let usage = Usage {
            messages,
            at_ms,
            ..usage
        };
        self.usage = Some((key, usage));
    }

    pub(super) fn give_usage(&mut self, emit: &mut dyn FnMut(Event)) {
        if let Some((_, usage)) = self.usage.take() {
            emit(Event::Usage(usage));
        }
    }

    pub(super) fn assistant(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let Some(said) = entry.value.get("message") else {
            emit(unreadable(entry, "an assistant entry without a message"));
            return;
        };
        let key = said.string("id").map(|id| fingerprint(&id));
        let known = key.and_then(|key| self.answers.get(&key).copied());
        if known.is_none() {
            self.queue.answered();
            self.deliver_before(entry, emit);
        }
        self.used(key, said, entry, emit);
        let mut answer = known.unwrap_or(Answer::Unseen {
            thinking_chars: None,
        });
        let mut has_text = matches!(answer, Answer::Seen { has_text: true, .. });
        let mut blocks = answer_blocks(said, entry, &mut has_text);
        let is_seen = blocks
            .iter()
            .any(|block| matches!(block, Block::Text(_) | Block::Call(_)))
            || entry.is_exact();
        match &mut answer {
            Answer::Seen {
                index,
                has_text: had,
            } => {
                *had = has_text;
                let index = *index as usize;
                emit(Event::More { index, blocks });
            }
            Answer::Unseen { thinking_chars } if is_seen => {
                if let Some(chars) = *thinking_chars {
                    let chars = chars as usize;
                    blocks.insert(0, Block::Thinking { chars });
                }
                let index = small(self.messages);
                answer = Answer::Seen { index, has_text };
                let message = Message {
                    role: Role::Assistant,
                    blocks,
                };
                self.push(message, entry, emit);
            }
            // An answer may begin with thinking, or with an empty line, before it says something.
            Answer::Unseen { thinking_chars } => {
                let chars = |block: &Block| match block {
                    Block::Thinking { chars } | Block::Opaque { chars, .. } => *chars,
                    _ => 0,
                };
                if !blocks.is_empty() {
                    let chars = small(blocks.iter().map(chars).sum());
                    *thinking_chars = Some(thinking_chars.unwrap_or(0).saturating_add(chars));
                }
                emit(aside("unseen_answer"));
            }
        }
        if let Some(key) = key {
            self.answers.insert(key, answer);
        }
    }
}

/// What goes into a request, in parts.
const INPUT: &[&str] = &[
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
];

fn counted(usage: &Value<'_>) -> Option<Usage> {
    let number = |name| usage.whole_number(name);
    let cache = number("cache_read_input_tokens").map(|read_tokens| CacheUsage {
        read_tokens,
        write_tokens: number("cache_creation_input_tokens").unwrap_or_default(),
        write_1h_tokens: usage
            .get("cache_creation")
            .and_then(|written| written.whole_number("ephemeral_1h_input_tokens"))
            .unwrap_or_default(),
    });
    Some(Usage {
        cache,
        ..usage_of(usage, INPUT, "output_tokens")?
    })
}

/// The blocks of one line of an answer. White space around what an answer says is the client's, not the model's.
fn answer_blocks(said: &Value<'_>, entry: &Entry<'_>, has_text: &mut bool) -> Vec<Block> {
    let text_arguments = text_arguments(&entry.value);
    let mut blocks = Vec::new();
    let is_exact = entry.is_exact();
    let mut push_text = |text: &str, blocks: &mut Vec<Block>| {
        let text = match (is_exact, *has_text) {
            (true, _) => text,
            (false, true) => text.trim_end(),
            (false, false) => text.trim(),
        };
        if is_exact || !text.trim().is_empty() {
            *has_text = true;
            blocks.push(Block::Text(text.to_owned()));
        }
    };
    let Some(said) = said.get("content") else {
        return blocks;
    };
    if let Some(text) = said.as_text() {
        push_text(&text.decode(), &mut blocks);
    }
    for block in said.items() {
        let chars = block.range.len();
        match block.string("type").as_deref() {
            Some("text") => push_text(&block.string("text").unwrap_or_default(), &mut blocks),
            Some("tool_use") => {
                let id = block.string("id").unwrap_or_default();
                let name = block.string("name").unwrap_or_default();
                let given = block.get("input");
                let given = if text_arguments.contains(&id) {
                    given.map(unwrapped)
                } else {
                    given
                };
                blocks.push(call(&id, &name, arguments(given, entry.bytes)));
            }
            Some("thinking" | "redacted_thinking") => blocks.push(thinking(block)),
            _ => blocks.push(medium(block).map_or_else(|| Block::opaque(chars), Block::Media)),
        }
    }
    blocks
}
