//! Spelling Claude Code's entries.

use epitome::{Block, Message, ResultPart, Role};

use super::Stamp;
use super::spell::{Ids, is_object, iso_time, list, optional, quoted, session_id};
use crate::claude_code::{KEPT_MESSAGES, SYSTEM_SUBTYPE};
use crate::event::{Kept, Recorded};
use crate::lines::OWN;
use crate::transcript::Conversation;

pub(super) fn write(conversation: &Conversation, stamp: Stamp<'_>) -> String {
    let session = &session_id(conversation, stamp);
    let folder = quoted(conversation.folder.as_deref().unwrap_or(stamp.folder));
    let mut writer = Writer::new(
        session,
        stamp,
        &format!(
            "\"userType\":\"external\",\"cwd\":{folder},\"version\":\"2.0.0\",\"gitBranch\":\"\","
        ),
    );
    let mut message_ids = Vec::new();
    let mut compactions = conversation.compactions.iter().peekable();
    for (at, message) in conversation.messages.iter().enumerate() {
        while let Some(recorded) = compactions.next_if(|recorded| recorded.at <= at) {
            writer.compaction(recorded, &kept(recorded, &message_ids));
        }
        message_ids.push(writer.message(message));
    }
    for recorded in compactions {
        writer.compaction(recorded, &kept(recorded, &message_ids));
    }
    writer.out
}

fn kept(recorded: &Recorded, message_ids: &[String]) -> KeptEntries {
    let ids = match recorded.kept {
        Kept::From(first) => message_ids.get(first..).unwrap_or_default(),
        _ => &[],
    };
    KeptEntries {
        ids: ids.to_vec(),
        messages: None,
    }
}

/// The entries that stay before a boundary.
#[derive(Default)]
pub(super) struct KeptEntries {
    pub(super) ids: Vec<String>,
    /// How many messages stay, where the first entry does not tell.
    pub(super) messages: Option<usize>,
}

/// Writes entries that follow each other.
pub(super) struct Writer {
    pub(super) out: String,
    ids: Ids,
    /// The entry that the next one follows.
    pub(super) parent: Option<String>,
    session: String,
    /// Members that every entry repeats, each with a comma behind it.
    members: String,
    time: String,
}

impl Writer {
    pub(super) fn new(session: &str, stamp: Stamp<'_>, members: &str) -> Self {
        Self {
            out: String::new(),
            ids: Ids::new(stamp.session_id),
            parent: None,
            session: quoted(session),
            members: members.to_owned(),
            time: iso_time(stamp.time_ms),
        }
    }

    fn entry(&mut self, kind: &str, members: &str) -> String {
        let id = self.ids.long();
        self.entry_with_id(kind, &id, members);
        id
    }

    fn entry_with_id(&mut self, kind: &str, id: &str, members: &str) {
        let parent = self
            .parent
            .as_deref()
            .map_or_else(|| "null".to_owned(), quoted);
        self.out.push_str(&format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,{}\"sessionId\":{},\"type\":\"{kind}\",\
             {members},\"uuid\":\"{id}\",\"timestamp\":\"{}\"}}\n",
            self.members, self.session, self.time
        ));
        self.parent = Some(id.to_owned());
    }

    fn message(&mut self, message: &Message) -> String {
        const EXACT: &str = ",\"epitome\":{\"exact\":true}";
        match message.role {
            Role::System => {
                let text = quoted(&message.spoken().collect::<Vec<_>>().join("\n"));
                let members = format!(
                    "\"subtype\":\"{SYSTEM_SUBTYPE}\",\"content\":{text},\"isMeta\":true,\"level\":\"info\""
                );
                self.entry("system", &members)
            }
            Role::User => {
                let content = blocks(message, &mut Vec::new());
                let members =
                    format!("\"message\":{{\"role\":\"user\",\"content\":[{content}]}}{EXACT}");
                self.entry("user", &members)
            }
            Role::Assistant => {
                let mut text_arguments = Vec::new();
                let content = blocks(message, &mut text_arguments);
                let stop = match message.calls().next() {
                    Some(_) => "tool_use",
                    None => "end_turn",
                };
                let own = match text_arguments.is_empty() {
                    true => String::new(),
                    false => format!(",\"textArguments\":{}", list(text_arguments)),
                };
                let id = self.ids.short();
                let members = format!(
                    "\"message\":{{\"model\":\"unknown\",\"id\":\"msg_{id}\",\"type\":\"message\",\
                     \"role\":\"assistant\",\"content\":[{content}],\"stop_reason\":\"{stop}\",\
                     \"stop_sequence\":null,\"usage\":{{\"input_tokens\":0,\"output_tokens\":0}}}},\
                     \"epitome\":{{\"exact\":true{own}}}"
                );
                self.entry("assistant", &members)
            }
            Role::Tool => {
                let content = results(message);
                let members =
                    format!("\"message\":{{\"role\":\"user\",\"content\":[{content}]}}{EXACT}");
                self.entry("user", &members)
            }
        }
    }

    /// A boundary and the summary behind it. What stays is told twice: older versions walk from the last entry to the
    /// first and lose what parallel calls hang beside the way, newer ones take the list.
    pub(super) fn compaction(&mut self, recorded: &Recorded, kept: &KeptEntries) {
        let tail = self.parent.take();
        let (boundary, summary) = (self.ids.long(), self.ids.long());
        let has_summary = !recorded.summary.is_empty();
        let anchor = if has_summary { &summary } else { &boundary };
        let segment = kept.ids.first().zip(kept.ids.last()).map(|(head, tail)| {
            let ids = list(kept.ids.iter().map(String::as_str));
            format!(
                "\"preservedSegment\":{{\"headUuid\":{},\"anchorUuid\":\"{anchor}\",\"tailUuid\":{}}},\
                 \"preservedMessages\":{{\"anchorUuid\":\"{anchor}\",\"uuids\":{ids},\"allUuids\":{ids}}}",
                quoted(head),
                quoted(tail)
            )
        });
        let facts = [
            recorded
                .trigger
                .as_deref()
                .map(|trigger| format!("\"trigger\":{}", quoted(trigger))),
            recorded
                .tokens_before
                .map(|tokens| format!("\"preTokens\":{tokens}")),
            segment,
            kept.messages
                .map(|kept| format!("\"{OWN}\":{{\"{KEPT_MESSAGES}\":{kept}}}")),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let logical = optional("logicalParentUuid", tail.as_deref().map(quoted));
        let members = format!(
            "\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"isMeta\":false,\
             \"level\":\"info\",\"compactMetadata\":{{{}}}{logical}",
            facts.join(",")
        );
        self.entry_with_id("system", &boundary, &members);
        if has_summary {
            let members = format!(
                "\"message\":{{\"role\":\"user\",\"content\":{}}},\"isVisibleInTranscriptOnly\":true,\
                 \"isCompactSummary\":true",
                quoted(&recorded.summary)
            );
            self.entry_with_id("user", &summary, &members);
        }
    }
}

/// The blocks of a message; ids of calls whose arguments had to be wrapped in an object are put aside.
fn blocks<'a>(message: &'a Message, text_arguments: &mut Vec<&'a str>) -> String {
    let blocks: Vec<String> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Injected(text) => Some(text_block(text)),
            Block::Call(call) => {
                let input = if is_object(&call.arguments) {
                    call.arguments.to_string()
                } else {
                    text_arguments.push(&call.id);
                    format!("{{\"input\":{}}}", quoted(&call.arguments))
                };
                Some(format!(
                    "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{input}}}",
                    quoted(&call.id),
                    quoted(&call.name)
                ))
            }
            _ => None,
        })
        .collect();
    blocks.join(",")
}

fn results(message: &Message) -> String {
    let results: Vec<String> = message
        .results()
        .map(|result| {
            let parts: Vec<String> = result
                .parts
                .iter()
                .filter_map(|part| match part {
                    ResultPart::Text(text) => Some(text_block(text)),
                    _ => None,
                })
                .collect();
            let error = if result.is_error {
                ",\"is_error\":true"
            } else {
                ""
            };
            format!(
                "{{\"tool_use_id\":{},\"type\":\"tool_result\",\"content\":[{}]{error}}}",
                quoted(&result.call_id),
                parts.join(",")
            )
        })
        .collect();
    results.join(",")
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}
