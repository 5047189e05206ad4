//! pi's session files, versions 1 to 3, and OpenClaw's dialect of them.
//!
//! Entries are a tree: the conversation is the way from the leaf to the root. The file is read twice: once for ids
//! and parents, which tell the way, and once for what the entries on it say.

mod tree;

use std::io::{BufRead, Seek};

use epitome::{Block, FileOperations, Message, Role, ToolFailure};
use epitome_wire::json::{Kind, Value};

use crate::blocks::{arguments, call, content, medium, parts, result, thinking, usage_of};
use crate::error::ReadError;
use crate::event::{
    CacheUsage, Event, Kept, NamedModel, Origin, Recorded, RecordedKind, Tip, Usage,
};
use crate::lines::{Entry, entries, outlines, rewind};
use crate::problem::{Problem, ProblemCode};
use crate::time;
use tree::{Node, Tree};

/// What goes into a request, in parts.
const INPUT: &[&str] = &["input", "cacheRead", "cacheWrite"];
/// What a custom entry is called that carries a system prompt, which the format itself has no place for.
pub(crate) const SYSTEM_ENTRY: &str = "epitome.system";

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    let mut tree = Tree::default();
    outlines(source, |entry| tree.add(entry))?;
    let path = tree.path();
    rewind(source)?;
    emit(Event::Conversation);
    let mut reader = Reader {
        path,
        next: 0,
        messages: 0,
        before: Vec::new(),
        tip: Tip::default(),
        model: NamedModel::default(),
    };
    entries(source, emit, |entry, emit| reader.entry(entry, emit))?;
    if reader.next != reader.path.len() {
        return Err(ReadError::Changed {
            position: crate::position::Position::default(),
        });
    }
    emit(Event::Tip(reader.tip));
    Ok(())
}

/// The second pass.
struct Reader {
    path: tree::Path,
    /// Which entry comes next, from 0.
    next: usize,
    /// Messages so far.
    messages: usize,
    /// For each entry so far, how many messages stand before it.
    before: Vec<u32>,
    tip: Tip,
    model: NamedModel,
}

impl Reader {
    fn entry(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let index = self.next;
        self.next += 1;
        self.tip.entries = self.next;
        // Where entries are known by their numbers, an id says nothing.
        if self.path.leaf() == Some(index) && !self.path.is_linear() {
            self.tip.parent = entry.value.string("id").map(|id| id.into());
        }
        self.before
            .push(u32::try_from(self.messages).unwrap_or(u32::MAX));
        for (code, message) in self.path.wrong(index) {
            emit(Event::Problem(Problem::new(code, entry.position, message)));
        }
        let value = &entry.value;
        let kind = value.string("type").unwrap_or_default();
        if kind == "session" {
            if let Some(id) = value.string("id") {
                emit(Event::Id(id.into_owned()));
            }
            if let Some(folder) = value.string("cwd") {
                emit(Event::Folder(folder.into_owned()));
            }
            return;
        }
        if kind.is_empty() {
            emit(Event::Problem(Problem::new(
                ProblemCode::UnreadableEntry,
                entry.position,
                "an entry without a kind is left out",
            )));
            return;
        }
        if !self.path.contains(index) {
            emit(aside("other_branch"));
            return;
        }
        match &*kind {
            "message" => self.message(entry, emit),
            "compaction" | "reset" => {
                let recorded = self.recorded(index, entry, emit);
                emit(Event::Compaction(recorded));
            }
            "branch_summary" => {
                let text = value.string("summary").unwrap_or_default().into_owned();
                self.push(Message::text(Role::User, text), entry, emit);
            }
            "custom_message" => self.injected(value.get("content"), entry, emit),
            "custom" if value.string("customType").as_deref() == Some(SYSTEM_ENTRY) => {
                let data = value.get("data");
                let text = data
                    .and_then(|data| data.string("text"))
                    .unwrap_or_default();
                self.push(Message::text(Role::System, text), entry, emit);
            }
            _ => emit(aside(&kind)),
        }
    }

    fn push(&mut self, message: Message, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        self.messages += 1;
        emit(Event::Message {
            message,
            origin: origin(entry),
        });
    }

    /// What an extension put in: it takes room, but nobody said it.
    fn injected(
        &mut self,
        said: Option<&Value<'_>>,
        entry: &Entry<'_>,
        emit: &mut dyn FnMut(Event),
    ) {
        let blocks = content(said, Role::User, entry.bytes)
            .into_iter()
            .map(|block| match block {
                Block::Text(text) => Block::Injected(text),
                other => other,
            })
            .collect();
        let message = Message {
            role: Role::User,
            blocks,
        };
        self.push(message, entry, emit);
    }

    fn message(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let Some(said) = entry.value.get("message") else {
            emit(unreadable(entry, "a message entry without a message"));
            return;
        };
        if matches!(said.get("excludeFromContext"), Some(flag) if flag.kind == Kind::Bool(true)) {
            emit(aside("excluded_from_context"));
            return;
        }
        let role = said.string("role").unwrap_or_default();
        match &*role {
            "user" => {
                let blocks = content(said.get("content"), Role::User, entry.bytes);
                let message = Message {
                    role: Role::User,
                    blocks,
                };
                self.push(message, entry, emit);
            }
            "assistant" => {
                let counted = said.get("usage");
                let usage = counted.and_then(|counted| self.used(counted, entry));
                if let (Some(_), Some(model)) = (&usage, said.string("model")) {
                    self.model.named(&model, emit);
                }
                usage
                    .into_iter()
                    .for_each(|usage| emit(Event::Usage(usage)));
                match assistant(said, entry) {
                    Some(message) => self.push(message, entry, emit),
                    None => emit(aside("empty_answer")),
                }
            }
            "toolResult" => {
                let id = said.string("toolCallId").unwrap_or_default();
                let is_error =
                    matches!(said.get("isError"), Some(flag) if flag.kind == Kind::Bool(true));
                let message = result(&id, parts(said.get("content"), entry.bytes), is_error);
                self.push(message, entry, emit);
            }
            "bashExecution" => {
                let command = said.string("command").unwrap_or_default();
                let output = said.string("output").unwrap_or_default();
                let text = format!("[user ran: {command}]\n{output}");
                self.push(Message::text(Role::User, text), entry, emit);
            }
            "custom" | "hookMessage" => self.injected(said.get("content"), entry, emit),
            "branchSummary" | "compactionSummary" => {
                let text = said.string("summary").unwrap_or_default().into_owned();
                self.push(Message::text(Role::User, text), entry, emit);
            }
            other => {
                let what = format!("a message of the unknown role {other:?}");
                emit(unreadable(entry, &what));
            }
        }
    }

    fn used(&self, counted: &Value<'_>, entry: &Entry<'_>) -> Option<Usage> {
        let number = |name| counted.whole_number(name).unwrap_or_default();
        Some(Usage {
            cache: Some(CacheUsage {
                read_tokens: number("cacheRead"),
                write_tokens: number("cacheWrite"),
                write_1h_tokens: 0,
            }),
            messages: self.messages,
            at_ms: time::of_entry(&entry.value),
            ..usage_of(counted, INPUT, "output")?
        })
    }

    fn recorded(&self, index: usize, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) -> Recorded {
        let value = &entry.value;
        let kept = match self.path.first_kept(index) {
            Node::None => Kept::Nothing,
            Node::Missing => {
                emit(Event::Problem(Problem::new(
                    ProblemCode::FirstKeptMissing,
                    entry.position,
                    "the first kept entry is not on the way to this compaction; nothing before it is kept",
                )));
                Kept::Nothing
            }
            Node::At(first) => {
                Kept::From(self.before.get(first).map_or(0, |count| *count as usize))
            }
        };
        let kind = if value.string("type").as_deref() == Some("reset") {
            RecordedKind::Reset
        } else {
            RecordedKind::Summary
        };
        Recorded {
            kind,
            at: self.messages,
            summary: value.string("summary").unwrap_or_default().into_owned(),
            kept,
            tokens_before: value.whole_number("tokensBefore"),
            trigger: value.string("reason").map(|text| text.into_owned()),
            files: files(value.get("details")),
            origin: origin(entry),
        }
    }
}

/// What a compaction says was done to files.
fn files(details: Option<&Value<'_>>) -> FileOperations {
    let list = |name: &str| {
        details
            .and_then(|details| details.get(name))
            .map_or(&[][..], Value::items)
    };
    let texts = |name: &str| -> Vec<String> {
        let texts = list(name).iter().filter_map(Value::as_text);
        texts.map(|text| text.decode().into_owned()).collect()
    };
    let failure = |failure: &Value<'_>| ToolFailure {
        tool_name: failure.string("toolName").unwrap_or_default().into_owned(),
        summary: failure.string("summary").unwrap_or_default().into_owned(),
    };
    FileOperations {
        read_files: texts("readFiles"),
        modified_files: texts("modifiedFiles"),
        tool_failures: list("toolFailures").iter().map(failure).collect(),
    }
}

/// An answer; `None` when it says nothing that can be seen.
fn assistant(said: &Value<'_>, entry: &Entry<'_>) -> Option<Message> {
    let text_arguments = text_arguments(&entry.value);
    let mut blocks = Vec::new();
    if let Some(text) = said.get("content").and_then(Value::as_text) {
        blocks.push(Block::Text(text.decode().into_owned()));
    }
    for block in said.get("content").map_or(&[][..], Value::items) {
        let chars = block.range.len();
        blocks.push(match block.string("type").as_deref() {
            Some("text") => Block::Text(block.string("text").unwrap_or_default().into_owned()),
            Some("thinking") => thinking(block),
            Some("toolCall") => {
                let id = block.string("id").unwrap_or_default();
                let name = block.string("name").unwrap_or_default();
                let given = block.get("arguments");
                let given = if text_arguments.contains(&id) {
                    given.map(unwrapped)
                } else {
                    given
                };
                call(&id, &name, arguments(given, entry.bytes))
            }
            _ => match medium(block) {
                Some(media) => Block::Media(media),
                None => Block::opaque(chars),
            },
        });
    }
    let is_seen = blocks
        .iter()
        .any(|block| matches!(block, Block::Text(_) | Block::Call(_)));
    (is_seen || entry.is_exact()).then_some(Message {
        role: Role::Assistant,
        blocks,
    })
}

/// The calls of an entry whose arguments were text and had to be wrapped in an object.
pub(crate) fn text_arguments<'a>(entry: &Value<'a>) -> Vec<std::borrow::Cow<'a, str>> {
    entry
        .get(crate::lines::OWN)
        .and_then(|own| own.get("textArguments"))
        .map_or(&[][..], Value::items)
        .iter()
        .filter_map(|id| Some(id.as_text()?.decode()))
        .collect()
}

/// The text inside the object that was put around arguments that are none. Where two calls share an id, the other one
/// may be an object of its own.
pub(crate) fn unwrapped<'v, 'a>(given: &'v Value<'a>) -> &'v Value<'a> {
    match given.members() {
        [(name, text)] if name.is("input") => text,
        _ => given,
    }
}

fn origin(entry: &Entry<'_>) -> Origin {
    Origin {
        id: entry.value.string("id").map(|id| id.into()),
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
