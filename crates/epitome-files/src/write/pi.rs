//! Spelling pi's entries, version 3.

use std::collections::HashMap;

use epitome::{Block, FileOperations, Message, ResultPart, Role};

use super::Stamp;
use super::spell::{Ids, is_object, iso_time, list, optional, quoted};
use crate::event::{Kept, Recorded, RecordedKind};
use crate::pi::SYSTEM_ENTRY;
use crate::transcript::Conversation;

pub(super) fn write(conversation: &Conversation, stamp: Stamp<'_>) -> String {
    let mut writer = Writer {
        out: String::new(),
        ids: Ids::new(stamp.session_id),
        time: iso_time(stamp.time_ms),
        time_ms: stamp.time_ms,
        parent: None,
        message_ids: Vec::new(),
        tools: HashMap::new(),
    };
    writer.out = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":{},\"timestamp\":\"{}\",\"cwd\":{}}}\n",
        quoted(conversation.id.as_deref().unwrap_or(stamp.session_id)),
        writer.time,
        quoted(conversation.folder.as_deref().unwrap_or(stamp.folder))
    );
    let mut compactions = conversation.compactions.iter().peekable();
    for (at, message) in conversation.messages.iter().enumerate() {
        while let Some(recorded) = compactions.next_if(|recorded| recorded.at <= at) {
            writer.compaction(recorded);
        }
        writer.message(message);
    }
    compactions.for_each(|recorded| writer.compaction(recorded));
    writer.out
}

struct Writer {
    out: String,
    ids: Ids,
    time: String,
    time_ms: u64,
    parent: Option<String>,
    message_ids: Vec<String>,
    tools: HashMap<String, String>,
}

impl Writer {
    /// Writes an entry; `members` stand behind the ones that every entry has.
    fn entry(&mut self, kind: &str, members: &str) -> String {
        let id = self.ids.short();
        self.entry_with_id(kind, &id, members);
        id
    }

    fn entry_with_id(&mut self, kind: &str, id: &str, members: &str) {
        let parent = self
            .parent
            .as_deref()
            .map_or_else(|| "null".to_owned(), quoted);
        self.out.push_str(&format!(
            "{{\"type\":\"{kind}\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{}\",{members}}}\n",
            self.time
        ));
        self.parent = Some(id.to_owned());
    }

    fn message(&mut self, message: &Message) {
        let is_injected = !message.blocks.is_empty()
            && message
                .blocks
                .iter()
                .all(|block| matches!(block, Block::Injected(_)));
        let id = match message.role {
            Role::System => {
                let text = quoted(&message.spoken().collect::<Vec<_>>().join("\n"));
                let members =
                    format!("\"customType\":\"{SYSTEM_ENTRY}\",\"data\":{{\"text\":{text}}}");
                self.entry("custom", &members)
            }
            Role::User if is_injected => {
                let content = texts(message);
                let members = format!(
                    "\"customType\":\"epitome.injected\",\"content\":{content},\"display\":false"
                );
                self.entry("custom_message", &members)
            }
            Role::User => {
                let content = texts(message);
                let members = format!(
                    "\"message\":{{\"role\":\"user\",\"content\":{content},\"timestamp\":{}}}",
                    self.time_ms
                );
                self.entry("message", &members)
            }
            Role::Assistant => {
                let members = self.answer(message);
                self.entry("message", &members)
            }
            Role::Tool => {
                let members = self.result(message);
                self.entry("message", &members)
            }
        };
        self.message_ids.push(id);
    }

    fn answer(&mut self, message: &Message) -> String {
        let mut blocks = Vec::new();
        let mut text_arguments = Vec::new();
        for block in &message.blocks {
            match block {
                Block::Text(text) | Block::Injected(text) => blocks.push(text_block(text)),
                Block::Call(call) => {
                    self.tools
                        .insert(call.id.to_string(), call.name.to_string());
                    let arguments = if is_object(&call.arguments) {
                        call.arguments.to_string()
                    } else {
                        text_arguments.push(&*call.id);
                        format!("{{\"input\":{}}}", quoted(&call.arguments))
                    };
                    blocks.push(format!(
                        "{{\"type\":\"toolCall\",\"id\":{},\"name\":{},\"arguments\":{arguments}}}",
                        quoted(&call.id),
                        quoted(&call.name)
                    ));
                }
                _ => {}
            }
        }
        let stop = match message.calls().next() {
            Some(_) => "toolUse",
            None => "stop",
        };
        let own = match text_arguments.is_empty() {
            true => String::new(),
            false => format!(",\"textArguments\":{}", list(text_arguments)),
        };
        format!(
            "\"message\":{{\"role\":\"assistant\",\"content\":[{}],\"api\":\"openai-completions\",\
             \"provider\":\"unknown\",\"model\":\"unknown\",\"usage\":{{\"input\":0,\"output\":0,\
             \"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,\"cost\":{{\"input\":0,\"output\":0,\
             \"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}}},\"stopReason\":\"{stop}\",\
             \"timestamp\":{}}},\"epitome\":{{\"exact\":true{own}}}",
            blocks.join(","),
            self.time_ms
        )
    }

    fn result(&self, message: &Message) -> String {
        let Some(result) = message.results().next() else {
            return String::new();
        };
        let parts: Vec<String> = result
            .parts
            .iter()
            .filter_map(|part| match part {
                ResultPart::Text(text) => Some(text_block(text)),
                _ => None,
            })
            .collect();
        let tool = self.tools.get(&*result.call_id).map_or("", String::as_str);
        format!(
            "\"message\":{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{},\"content\":[{}],\
             \"isError\":{},\"timestamp\":{}}}",
            quoted(&result.call_id),
            quoted(tool),
            parts.join(","),
            result.is_error,
            self.time_ms
        )
    }

    fn compaction(&mut self, recorded: &Recorded) {
        let id = self.ids.short();
        let first = match recorded.kept {
            Kept::From(first) => self.message_ids.get(first).unwrap_or(&id),
            // One that names itself keeps nothing.
            _ => &id,
        };
        let first = quoted(first);
        let reason = optional("reason", recorded.trigger.as_deref().map(quoted));
        let tokens = recorded.tokens_before.map(|tokens| tokens.to_string());
        let tokens = optional("tokensBefore", tokens);
        match recorded.kind {
            RecordedKind::Summary => {
                let summary = quoted(&recorded.summary);
                let files = (!recorded.files.is_empty()).then(|| details(&recorded.files));
                let files = optional("details", files);
                let members = format!(
                    "\"summary\":{summary},\"firstKeptEntryId\":{first}{tokens}{reason}{files}"
                );
                self.entry_with_id("compaction", &id, &members);
            }
            RecordedKind::Reset => {
                let members = format!("\"firstKeptEntryId\":{first}{tokens}{reason}");
                self.entry_with_id("reset", &id, &members);
            }
        }
    }
}

/// What was done to files, as a compaction tells it.
pub(super) fn details(files: &FileOperations) -> String {
    let failures: Vec<String> = files
        .tool_failures
        .iter()
        .map(|failure| {
            format!(
                "{{\"toolName\":{},\"summary\":{}}}",
                quoted(&failure.tool_name),
                quoted(&failure.summary)
            )
        })
        .collect();
    format!(
        "{{\"readFiles\":{},\"modifiedFiles\":{},\"toolFailures\":[{}]}}",
        list(files.read_files.iter().map(String::as_str)),
        list(files.modified_files.iter().map(String::as_str)),
        failures.join(",")
    )
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}

fn texts(message: &Message) -> String {
    let texts: Vec<String> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Injected(text) => Some(text_block(text)),
            _ => None,
        })
        .collect();
    format!("[{}]", texts.join(","))
}
