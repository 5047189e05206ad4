//! Claude Code's project logs.
//!
//! One answer of the model is spread over lines that share `message.id`, with results of parallel calls between
//! them. Lines are read in the order they were written; sub-agents (`isSidechain`) have contexts of their own and
//! are left aside, and so is what the user took back: see `branches`. What was typed while an answer was being worked on is in no entry of the conversation: see `queue`.

mod answer;
mod branches;
mod queue;

use std::collections::HashMap;
use std::io::{BufRead, Seek};

use epitome::{Block, FileOperations, Message, Role};
use epitome_wire::json::{Kind, Value};

use self::answer::Answer;
use self::branches::Rewound;
pub(crate) use self::branches::said_since;
use self::queue::{Delivery, Queue};
use crate::blocks::{content, parts, result};
use crate::counts::fingerprint;
use crate::error::ReadError;
use crate::event::{Event, Kept, NamedModel, Origin, Recorded, RecordedKind, Tip, Usage};
use crate::lines::{Entry, OWN, entries, rewind};
use crate::problem::{Problem, ProblemCode};
use crate::time;

/// Members that every entry repeats.
const REPEATED: &[&str] = &["userType", "cwd", "version", "gitBranch"];
/// The system entry that carries a system prompt, which the format itself has no place for.
pub(crate) const SYSTEM_SUBTYPE: &str = "epitome_system";
/// How many messages before a boundary stay, where the first of them has no entry with an id.
pub(crate) const KEPT_MESSAGES: &str = "keptMessages";

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    let rewound = Rewound::of(source)?;
    rewind(source)?;
    emit(Event::Conversation);
    let mut reader = Reader {
        rewound,
        ..Reader::default()
    };
    entries(source, emit, |entry, emit| reader.entry(entry, emit))?;
    reader.deliver(emit);
    reader.give_boundary(emit);
    reader.give_usage(emit);
    emit(Event::Tip(reader.tip));
    Ok(())
}

#[derive(Default)]
struct Reader {
    has_id: bool,
    has_folder: bool,
    messages: usize,
    /// Every entry so far: how many messages stand before it.
    entries: HashMap<u64, u32>,
    /// Answers that may go on, by their ids.
    answers: HashMap<u64, Answer>,
    /// A boundary whose summary has not come yet.
    boundary: Option<Recorded>,
    /// What the user took back by going on from an earlier place.
    rewound: Rewound,
    queue: Queue,
    /// What the newest answer took: every line of an answer says it, the last one in full.
    usage: Option<(Option<u64>, Usage)>,
    model: NamedModel,
    tip: Tip,
}

impl Reader {
    fn entry(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let value = &entry.value;
        if !self.has_id
            && let Some(id) = value.string("sessionId")
        {
            self.has_id = true;
            emit(Event::Id(id.into_owned()));
        }
        if !self.has_folder
            && let Some(folder) = value.string("cwd")
        {
            self.has_folder = true;
            emit(Event::Folder(folder.into_owned()));
        }
        self.link(entry, emit);
        let kind = value.string("type").unwrap_or_default();
        if is_true(value, "isSidechain") {
            emit(aside("sidechain"));
            return;
        }
        if self.rewound.has(entry) {
            emit(aside("rewound"));
            return;
        }
        self.move_tip(entry);
        match &*kind {
            "system" => self.system(entry, emit),
            "user" if is_true(value, "isCompactSummary") => self.summary(entry, emit),
            "user" => self.user(entry, emit),
            "assistant" => self.assistant(entry, emit),
            "queue-operation" => {
                self.queue.follow(entry);
                emit(aside(&kind));
            }
            "" => emit(unreadable(entry, "an entry without a kind")),
            "attachment" => {
                let attachment = value.get("attachment");
                let kind = attachment.and_then(|attachment| attachment.string("type"));
                match (attachment, kind.as_deref()) {
                    (Some(attachment), Some("queued_command")) => {
                        self.attached(attachment, entry, emit);
                    }
                    (_, kind) => {
                        let kind = format!("attachment/{}", kind.unwrap_or_default());
                        emit(Event::Unshown { kind });
                    }
                }
            }
            // Every version has kinds of its own; none of them but those above is a message.
            other => emit(aside(other)),
        }
    }

    /// The next entry follows this one and says the same of where it was written.
    fn move_tip(&mut self, entry: &Entry<'_>) {
        self.tip.entries = entry.number + 1;
        let Some(id) = entry.value.string("uuid") else {
            return;
        };
        self.tip.parent = Some(id.into());
        self.tip.members.clear();
        for name in REPEATED {
            if let Some(value) = entry.value.get(name) {
                let value = crate::blocks::raw(value, entry.bytes);
                self.tip.members.push_str(&format!("\"{name}\":{value},"));
            }
        }
    }

    /// Remembers the entry's id and looks for its parent.
    fn link(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let value = &entry.value;
        if let Some(parent) = value.string("parentUuid")
            && !self.entries.contains_key(&fingerprint(&parent))
        {
            let message = format!("the parent {parent} is not in the file before this entry");
            emit(problem(ProblemCode::BrokenParent, entry, message));
        }
        if let Some(id) = value.string("uuid") {
            let before = u32::try_from(self.messages).unwrap_or(u32::MAX);
            if self.entries.insert(fingerprint(&id), before).is_some() {
                let message = format!("another entry has the id {id}");
                emit(problem(ProblemCode::RepeatedId, entry, message));
            }
        }
    }

    fn system(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let value = &entry.value;
        match value.string("subtype").as_deref() {
            Some("compact_boundary") => {
                self.deliver(emit);
                self.give_boundary(emit);
                self.answers.clear();
                let metadata = value.get("compactMetadata");
                let field = |name| metadata.and_then(|metadata| metadata.get(name));
                self.boundary = Some(Recorded {
                    kind: RecordedKind::Summary,
                    at: self.messages,
                    summary: String::new(),
                    kept: match field(OWN).and_then(|own| own.whole_number(KEPT_MESSAGES)) {
                        Some(kept) => {
                            let kept = usize::try_from(kept).unwrap_or(usize::MAX);
                            Kept::From(self.messages.saturating_sub(kept))
                        }
                        None => self.kept(field("preservedSegment"), entry, emit),
                    },
                    tokens_before: metadata.and_then(|found| found.whole_number("preTokens")),
                    trigger: metadata
                        .and_then(|found| found.string("trigger"))
                        .map(|text| text.into_owned()),
                    files: FileOperations::default(),
                    origin: origin(entry),
                });
            }
            Some(SYSTEM_SUBTYPE) => {
                let text = value.string("content").unwrap_or_default();
                self.push(Message::text(Role::System, text), entry, emit);
            }
            subtype => emit(aside(&format!("system/{}", subtype.unwrap_or_default()))),
        }
    }

    /// Newer versions keep the end of the history: from a head to a tail, which is the last entry.
    fn kept(
        &self,
        segment: Option<&Value<'_>>,
        entry: &Entry<'_>,
        emit: &mut dyn FnMut(Event),
    ) -> Kept {
        let Some(head) = segment.and_then(|segment| segment.string("headUuid")) else {
            return Kept::Nothing;
        };
        match self.entries.get(&fingerprint(&head)) {
            Some(before) => Kept::From(*before as usize),
            None => {
                let message = format!("the first kept entry {head} is not in the file");
                emit(problem(ProblemCode::FirstKeptMissing, entry, message));
                Kept::Nothing
            }
        }
    }

    fn summary(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let said = entry.value.get("message");
        let blocks = content(
            said.and_then(|said| said.get("content")),
            Role::System,
            entry.bytes,
        );
        let summary = crate::blocks::flat_text(&Message {
            role: Role::User,
            blocks,
        });
        match self.boundary.take() {
            Some(mut boundary) => {
                boundary.summary = summary;
                emit(Event::Compaction(boundary));
            }
            None => {
                self.deliver(emit);
                emit(Event::Compaction(Recorded {
                    kind: RecordedKind::Summary,
                    at: self.messages,
                    summary,
                    kept: Kept::Nothing,
                    tokens_before: None,
                    trigger: None,
                    files: FileOperations::default(),
                    origin: origin(entry),
                }));
            }
        }
    }

    /// The boundary without a summary, if none came.
    fn give_boundary(&mut self, emit: &mut dyn FnMut(Event)) {
        if let Some(boundary) = self.boundary.take() {
            emit(Event::Compaction(boundary));
        }
    }

    fn push(&mut self, message: Message, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        self.push_from(message, origin(entry), emit);
    }

    fn push_from(&mut self, message: Message, origin: Origin, emit: &mut dyn FnMut(Event)) {
        // A summary may come one message late, never two.
        if self
            .boundary
            .as_ref()
            .is_some_and(|boundary| boundary.at < self.messages)
        {
            self.give_boundary(emit);
        }
        self.messages += 1;
        emit(Event::Message { message, origin });
    }

    /// What was typed meanwhile and handed to the model stands behind the results it came with.
    fn deliver(&mut self, emit: &mut dyn FnMut(Event)) {
        while let Some(queued) = self.queue.next_delivered() {
            self.push_from(queued.message, queued.origin, emit);
        }
    }

    /// Newer versions hand over what was typed meanwhile in an entry of its own, where it was delivered.
    fn attached(&mut self, attachment: &Value<'_>, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let message = Message {
            role: Role::User,
            blocks: content(attachment.get("prompt"), Role::User, entry.bytes),
        };
        match self.queue.attached(&message) {
            Delivery::New => self.push(message, entry, emit),
            Delivery::Told => emit(aside("queued_command")),
        }
    }

    /// The same in front of the first message of an entry, whose place moves on.
    fn deliver_before(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        self.deliver(emit);
        if let Some(id) = entry.value.string("uuid") {
            let before = u32::try_from(self.messages).unwrap_or(u32::MAX);
            self.entries.insert(fingerprint(&id), before);
        }
    }

    fn user(&mut self, entry: &Entry<'_>, emit: &mut dyn FnMut(Event)) {
        let Some(said) = entry
            .value
            .get("message")
            .and_then(|said| said.get("content"))
        else {
            emit(unreadable(entry, "a user entry without content"));
            return;
        };
        let mut blocks = Vec::new();
        if said.as_text().is_some() {
            blocks = content(Some(said), Role::User, entry.bytes);
        }
        for block in said.items() {
            if block.string("type").as_deref() == Some("tool_result") {
                let id = block.string("tool_use_id").unwrap_or_default();
                let parts = parts(block.get("content"), entry.bytes);
                let message = result(&id, parts, is_true(block, "is_error"));
                self.push(message, entry, emit);
            } else {
                let one = Value {
                    range: block.range.clone(),
                    kind: Kind::Array(vec![block.clone()]),
                };
                blocks.extend(content(Some(&one), Role::User, entry.bytes));
            }
        }
        if !entry.is_exact() {
            blocks.retain(|block| !is_empty(block));
        }
        let is_said = blocks.iter().any(|block| match block {
            Block::Text(text) | Block::Injected(text) => !text.trim().is_empty(),
            Block::Media(_) => true,
            _ => false,
        });
        let is_result = said.items().iter().any(|block| {
            let kind = block.string("type");
            kind.as_deref() == Some("tool_result")
        });
        if !is_said && (is_result || !entry.is_exact()) {
            return;
        }
        if is_true(&entry.value, "isMeta") {
            emit(Event::Unshown {
                kind: "meta".to_owned(),
            });
            return;
        }
        self.queue.said(&blocks);
        if is_result {
            self.deliver(emit);
        } else {
            self.deliver_before(entry, emit);
        }
        let message = Message {
            role: Role::User,
            blocks,
        };
        self.push(message, entry, emit);
    }
}

fn is_empty(block: &Block) -> bool {
    matches!(block, Block::Text(text) if text.is_empty())
}

fn is_true(value: &Value<'_>, name: &str) -> bool {
    matches!(value.get(name), Some(flag) if flag.kind == Kind::Bool(true))
}

fn origin(entry: &Entry<'_>) -> Origin {
    Origin {
        id: entry.value.string("uuid").map(|id| id.into()),
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

fn problem(code: ProblemCode, entry: &Entry<'_>, message: String) -> Event {
    Event::Problem(Problem::new(code, entry.position, message))
}

fn unreadable(entry: &Entry<'_>, what: &str) -> Event {
    problem(
        ProblemCode::UnreadableEntry,
        entry,
        format!("{what} is left out"),
    )
}
