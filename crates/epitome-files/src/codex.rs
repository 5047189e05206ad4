//! Codex's rollout files.
//!
//! What counts are the `response_item`s; `event_msg`s tell the same once more for the screen. Items of the model
//! that follow each other are one message. A `compacted` entry holds the whole history that replaces the earlier one.

mod verbatim;

use std::io::{BufRead, Seek};

use epitome::{Block, FileOperations, Message, Role};
use epitome_wire::json::Value;

pub(crate) use self::verbatim::{Item, Items, is_repeated_text};

use crate::blocks::{arguments, call, content, flat_text, parts, result, usage_of};
use crate::error::ReadError;
use crate::event::{
    CacheUsage, Event, Kept, NamedModel, Origin, Recorded, RecordedKind, Tip, Usage,
};
use crate::lines::{Entry, OWN, entries};
use crate::problem::{Problem, ProblemCode};
use crate::time;

/// Items that say nothing to the model.
const ASIDES: &[&str] = &["ghost_snapshot", "other"];

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    emit(Event::Conversation);
    let mut reader = Reader::default();
    entries(source, emit, |entry, emit| reader.entry(entry, emit))?;
    emit(Event::Tip(Tip {
        entries: reader.entries,
        ordinal: reader.ordinal,
        ..Tip::default()
    }));
    Ok(())
}

#[derive(Default)]
struct Reader {
    has_id: bool,
    messages: usize,
    /// Whether the last message is an answer that may go on, and whether it says something already.
    answer: Option<HasText>,
    thinking_chars: usize,
    entries: usize,
    /// The sum of all requests that was told last: a sum that stands twice is one request.
    used: Option<Usage>,
    /// How many messages stand before the newest answer.
    asked: usize,
    model: NamedModel,
    /// The number that the next entry has, where entries are numbered.
    ordinal: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HasText {
    Yes,
    No,
}

impl Reader {
    fn entry(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        self.entries = entry.number + 1;
        if let Some(ordinal) = entry.value.whole_number("ordinal") {
            self.ordinal = Some(ordinal.saturating_add(1));
        }
        if entry.own("first") {
            self.answer = None;
        }
        let value = &entry.value;
        let kind = value.string("type").unwrap_or_default();
        let payload = value.get("payload");
        match (&*kind, payload) {
            ("session_meta", Some(meta)) => self.meta(meta, entry, emit),
            ("compacted", Some(payload)) => self.compacted(payload, entry, emit),
            ("response_item", Some(item)) => self.item(item, entry, emit),
            // The oldest rollouts have bare items, after a line with the id and the instructions.
            ("", None) if value.get("instructions").is_some() => self.meta(value, entry, emit),
            ("", None) if value.get("record_type").is_some() => emit(aside("record")),
            ("message" | "reasoning" | "function_call" | "function_call_output", None) => {
                self.item(value, entry, emit);
            }
            ("", _) => emit(unreadable(entry, "an entry without a kind")),
            ("event_msg", Some(event))
                if event.string("type").as_deref() == Some("token_count") =>
            {
                self.used(event, entry, emit);
                emit(aside(&kind));
            }
            ("turn_context", Some(context)) => {
                if let Some(model) = context.string("model") {
                    self.model.named(&model, emit);
                }
                emit(aside(&kind));
            }
            // Every version has kinds of its own; none of them but those above is a message.
            (other, _) => emit(aside(other)),
        }
    }

    fn used(&mut self, event: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let counted = |name| {
            let counted = event.get("info").and_then(|info| info.get(name))?;
            let number = |name| counted.whole_number(name);
            let cache = number("cached_input_tokens").map(|read_tokens| CacheUsage {
                read_tokens,
                ..CacheUsage::default()
            });
            Some(Usage {
                reasoning_tokens: number("reasoning_output_tokens").unwrap_or_default(),
                cache,
                ..usage_of(counted, &["input_tokens"], "output_tokens")?
            })
        };
        let total = counted("total_token_usage");
        if total.is_some() && total == self.used {
            return;
        }
        self.used = total;
        if let Some(usage) = counted("last_token_usage") {
            emit(Event::Usage(Usage {
                messages: self.asked,
                at_ms: time::of_entry(&entry.value),
                ..usage
            }));
        }
    }

    fn meta(&mut self, meta: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        if self.has_id {
            // A resumed session repeats where it comes from.
            emit(aside("session_meta"));
            return;
        }
        if let Some(id) = meta.string("id") {
            self.has_id = true;
            emit(Event::Id(id.into_owned()));
        }
        if let Some(folder) = meta.string("cwd") {
            emit(Event::Folder(folder.into_owned()));
        }
        if let Some(provider) = meta.string("model_provider") {
            emit(Event::Provider(provider.into_owned()));
        }
        let instructions = meta
            .get("base_instructions")
            .or_else(|| meta.get("instructions"));
        let blocks = content(instructions, Role::System, entry.bytes);
        if !blocks.is_empty() {
            self.push(Role::System, blocks, entry, emit);
        }
    }

    fn push(
        &mut self,
        role: Role,
        blocks: Vec<Block>,
        entry: &Entry<'_>,
        emit: &mut dyn FnMut(Event),
    ) {
        self.answer = None;
        self.messages += 1;
        emit(Event::Message {
            message: Message { role, blocks },
            origin: origin(entry),
        });
    }

    /// Adds to the answer that the last message is, or begins one.
    fn answer(&mut self, block: Option<Block>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let chars = std::mem::take(&mut self.thinking_chars);
        let thinking = (chars > 0).then_some(Block::Thinking { chars });
        let says = matches!(block, Some(Block::Text(_)));
        let blocks: Vec<Block> = thinking.into_iter().chain(block).collect();
        let had_text = self.answer;
        match self.messages.checked_sub(1) {
            Some(index) if had_text.is_some() => emit(Event::More { index, blocks }),
            _ => {
                self.asked = self.messages;
                self.push(Role::Assistant, blocks, entry, emit);
            }
        }
        let has_text = says || had_text == Some(HasText::Yes);
        self.answer = Some(if has_text { HasText::Yes } else { HasText::No });
    }

    fn item(&mut self, item: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let kind = item.string("type").unwrap_or_default();
        match &*kind {
            "message" => self.message(item, entry, emit),
            "reasoning" => self.thinking_chars += item.range.len(),
            "function_call" | "custom_tool_call" => {
                let id = item.string("call_id").unwrap_or_default();
                let name = item.string("name").unwrap_or_default();
                let given = item.get("arguments").or_else(|| item.get("input"));
                let block = call(&id, &name, arguments(given, entry.bytes));
                self.answer(Some(block), entry, emit);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let message = output(item, entry);
                self.push(message.role, message.blocks, entry, emit);
            }
            other if ASIDES.contains(&other) => emit(aside(other)),
            // Searches, pictures, what only the provider can read.
            other => emit(Event::Unshown {
                kind: other.to_owned(),
            }),
        }
    }

    /// An item of a history that replaces an earlier one.
    fn replacement(&mut self, item: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        match item.string("type").as_deref() {
            Some("message") | None if plain_message(item, entry).is_some() => {
                self.message(item, entry, emit);
            }
            Some(
                "reasoning"
                | "function_call"
                | "custom_tool_call"
                | "function_call_output"
                | "custom_tool_call_output",
            ) => self.item(item, entry, emit),
            // What only the provider can read stands for what it replaced.
            _ => {
                let chars = item.range.len();
                self.push(Role::User, vec![Block::opaque(chars)], entry, emit);
            }
        }
    }

    fn message(&mut self, item: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let Some(message) = plain_message(item, entry) else {
            let role = item.string("role").unwrap_or_default();
            emit(unreadable(
                entry,
                &format!("a message of the unknown role {role:?}"),
            ));
            return;
        };
        if message.role != Role::Assistant {
            self.push(message.role, message.blocks, entry, emit);
            return;
        }
        if entry.is_exact() {
            let mut blocks = message.blocks.into_iter();
            self.answer(blocks.next(), entry, emit);
            for block in blocks {
                self.answer(Some(block), entry, emit);
            }
            return;
        }
        let text = flat_text(&message);
        let text = match self.answer {
            Some(HasText::Yes) => text.trim_end(),
            _ => text.trim(),
        };
        let block = (!text.is_empty()).then(|| Block::Text(text.to_owned()));
        self.answer(block, entry, emit);
    }

    fn compacted(&mut self, payload: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let kept = match payload.get("replacement_history") {
            Some(history) if !history.is_null() => Kept::Replaced(replaced(history, entry)),
            _ => Kept::Nothing,
        };
        self.answer = None;
        let own = entry.value.get(OWN);
        emit(Event::Compaction(Recorded {
            kind: RecordedKind::Summary,
            at: self.messages,
            summary: payload.string("message").unwrap_or_default().into_owned(),
            kept,
            tokens_before: own.and_then(|own| own.whole_number("tokensBefore")),
            trigger: own
                .and_then(|own| own.string("trigger"))
                .map(|text| text.into_owned()),
            files: FileOperations::default(),
            origin: origin(entry),
        }));
    }
}

/// A message item; `None` when its role is not known.
fn plain_message(item: &Value<'_>, entry: &Entry<'_>) -> Option<Message> {
    let role = match item.string("role")?.as_ref() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    Some(Message {
        role,
        blocks: content(item.get("content"), role, entry.bytes),
    })
}

fn output(item: &Value<'_>, entry: &Entry<'_>) -> Message {
    let id = item.string("call_id").unwrap_or_default();
    let parts = parts(item.get("output"), entry.bytes);
    result(&id, parts, entry.own("isError"))
}

/// The messages of a history that replaces an earlier one, read like any other items.
fn replaced(history: &Value<'_>, entry: &Entry<'_>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut reader = Reader::default();
    for item in history.items() {
        reader.replacement(item, entry, &mut |event| match event {
            Event::Message { message, .. } => messages.push(message),
            Event::More { index, blocks } => {
                if let Some(message) = messages.get_mut(index) {
                    message.blocks.extend(blocks);
                }
            }
            _ => {}
        });
    }
    messages
}

fn origin(entry: &Entry<'_>) -> Origin {
    Origin {
        id: None,
        entry: entry.number,
        position: entry.position,
        at_ms: time::of_entry(&entry.value),
    }
}

fn aside(kind: &str) -> Event {
    Event::Aside {
        kind: kind.to_owned(),
    }
}

fn unreadable(entry: &Entry<'_>, what: &str) -> Event {
    Event::Problem(Problem::new(
        ProblemCode::UnreadableEntry,
        entry.position,
        format!("{what} is left out"),
    ))
}
