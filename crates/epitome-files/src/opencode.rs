//! OpenCode's session exports: one document, a call and its result in one part.
//!
//! One message of the model is one request. Ids are not to be relied on: where an export was cleaned of secrets, many
//! calls and messages share one. What was pruned is still in the file, but the model got a line in its place.

mod parts;

use std::collections::HashMap;
use std::io::{BufRead, Seek};

use epitome::{FileOperations, Message, Role};
use epitome_wire::json::{Kind, Value};

use self::parts::Parts;
use crate::counts::fingerprint;
use crate::document::{Part, Wanted, items_of};
use crate::error::ReadError;
use crate::event::{CacheUsage, Event, Kept, NamedModel, Origin, Recorded, RecordedKind, Usage};
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

const WANTED: Wanted = Wanted {
    lists: &["messages"],
    members: &["info"],
};

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    emit(Event::Conversation);
    let mut reader = Reader::default();
    items_of(
        source,
        &WANTED,
        emit,
        |part, value, position, emit| match part {
            Part::Member { .. } => session(value, emit),
            Part::Item { value: bytes, .. } => reader.message(value, bytes, position, emit),
        },
    )
}

fn session(info: &Value<'_>, emit: &mut dyn FnMut(Event)) {
    if let Some(id) = info.string("id") {
        emit(Event::Id(id.into_owned()));
    }
    if let Some(folder) = info.string("directory") {
        emit(Event::Folder(folder.into_owned()));
    }
}

#[derive(Default)]
struct Reader {
    messages: usize,
    /// How many messages stand before each one, by its id.
    before: HashMap<u64, usize>,
    /// How often each id of a call was given.
    calls: HashMap<u64, usize>,
    /// A compaction whose summary has not come yet.
    marker: Option<Marker>,
    model: NamedModel,
}

/// What asks for a compaction.
struct Marker {
    trigger: &'static str,
    /// The first message that stays.
    tail: Option<String>,
}

impl Reader {
    fn message(
        &mut self,
        value: &Value<'_>,
        bytes: &[u8],
        position: Position,
        emit: &mut dyn FnMut(Event),
    ) {
        let info = value.get("info");
        let origin = Origin {
            id: info.and_then(|info| info.string("id")).map(|id| id.into()),
            position,
            at_ms: info
                .and_then(|info| info.get("time"))
                .and_then(|time| time.whole_number("created")),
            ..Origin::default()
        };
        let parts = value.get("parts").map_or(&[][..], Value::items);
        let role = info.and_then(|info| info.string("role"));
        match (info, role.as_deref()) {
            (Some(info), Some("user")) => self.user(info, parts, &origin, emit),
            (Some(info), Some("assistant")) => self.assistant(info, parts, bytes, origin, emit),
            (_, role) => {
                let role = role.unwrap_or_default();
                emit(Event::Problem(Problem::new(
                    ProblemCode::UnreadableEntry,
                    position,
                    format!("a message of the unknown role {role:?} is left out"),
                )));
            }
        }
    }

    fn push(&mut self, message: Message, origin: &Origin, emit: &mut dyn FnMut(Event)) {
        self.messages += 1;
        emit(Event::Message {
            message,
            origin: origin.clone(),
        });
    }

    fn begin(&mut self, origin: &Origin) {
        if let Some(id) = &origin.id {
            self.before.insert(fingerprint(id), self.messages);
        }
    }

    fn user(
        &mut self,
        info: &Value<'_>,
        parts: &[Value<'_>],
        origin: &Origin,
        emit: &mut dyn FnMut(Event),
    ) {
        self.begin(origin);
        if info.string("system").is_some() {
            emit(unshown("system"));
        }
        let marker = parts
            .iter()
            .find(|part| part.string("type").as_deref() == Some("compaction"));
        if let Some(marker) = marker {
            self.marker = Some(Marker {
                trigger: match is_true(marker, "auto") {
                    true => "auto",
                    false => "manual",
                },
                tail: marker.string("tail_start_id").map(|id| id.into_owned()),
            });
            return;
        }
        let blocks = Parts::of_user(parts, emit);
        if blocks.is_empty() {
            emit(aside("empty_message"));
            return;
        }
        let role = Role::User;
        self.push(Message { role, blocks }, origin, emit);
    }

    fn assistant(
        &mut self,
        info: &Value<'_>,
        parts: &[Value<'_>],
        bytes: &[u8],
        origin: Origin,
        emit: &mut dyn FnMut(Event),
    ) {
        if let Some(usage) = info.get("tokens").and_then(used) {
            if let Some(model) = info.string("modelID") {
                self.model.named(&model, emit);
            }
            emit(Event::Usage(Usage {
                messages: self.messages,
                at_ms: origin.at_ms,
                ..usage
            }));
        }
        let mut found = Parts::default();
        for part in parts {
            found.add(part, bytes, |id| self.fresh(id), emit);
        }
        if is_true(info, "summary") {
            let is_whole = info.string("finish").is_some() && info.get("error").is_none();
            match self.marker.take() {
                Some(marker) if is_whole => {
                    let recorded = self.recorded(marker, found.text(), origin, emit);
                    emit(Event::Compaction(recorded));
                }
                _ => emit(aside("unfinished_summary")),
            }
            return;
        }
        self.begin(&origin);
        if !found.is_seen() {
            emit(aside("empty_answer"));
            return;
        }
        let role = Role::Assistant;
        let blocks = found.blocks;
        self.push(Message { role, blocks }, &origin, emit);
        for result in found.results {
            self.push(result, &origin, emit);
        }
    }

    /// An id that no other call of the file has.
    fn fresh(&mut self, id: &str) -> String {
        let given = self.calls.entry(fingerprint(id)).or_default();
        *given += 1;
        match (id, *given) {
            ("", number) => format!("call-{number}"),
            (id, 1) => id.to_owned(),
            (id, number) => format!("{id}-{number}"),
        }
    }

    fn recorded(
        &self,
        marker: Marker,
        summary: String,
        origin: Origin,
        emit: &mut dyn FnMut(Event),
    ) -> Recorded {
        let kept = match marker.tail {
            None => Kept::Nothing,
            Some(tail) => match self.before.get(&fingerprint(&tail)) {
                Some(first) if *first < self.messages => Kept::From(*first),
                Some(_) => Kept::Nothing,
                None => {
                    emit(Event::Problem(Problem::new(
                        ProblemCode::FirstKeptMissing,
                        origin.position,
                        format!("the first kept message {tail} is not in the file"),
                    )));
                    Kept::Nothing
                }
            },
        };
        Recorded {
            kind: RecordedKind::Summary,
            at: self.messages,
            summary,
            kept,
            tokens_before: None,
            trigger: Some(marker.trigger.to_owned()),
            files: FileOperations::default(),
            origin,
        }
    }
}

/// What a request and its answer took; an aborted one says nothing.
fn used(tokens: &Value<'_>) -> Option<Usage> {
    let number = |value: &Value<'_>, name: &str| value.whole_number(name).unwrap_or_default();
    let cache = tokens.get("cache");
    let cached = |name| cache.map_or(0, |cache| number(cache, name));
    let usage = Usage {
        input_tokens: number(tokens, "input")
            .saturating_add(cached("read"))
            .saturating_add(cached("write")),
        output_tokens: number(tokens, "output"),
        reasoning_tokens: number(tokens, "reasoning"),
        cache: cache.map(|_| CacheUsage {
            read_tokens: cached("read"),
            write_tokens: cached("write"),
            write_1h_tokens: 0,
        }),
        ..Usage::default()
    };
    usage.says_something().then_some(usage)
}

fn is_true(value: &Value<'_>, name: &str) -> bool {
    matches!(value.get(name), Some(flag) if flag.kind == Kind::Bool(true))
}

fn aside(kind: &str) -> Event {
    Event::Aside {
        kind: kind.to_owned(),
    }
}

fn unshown(kind: &str) -> Event {
    Event::Unshown {
        kind: kind.to_owned(),
    }
}
