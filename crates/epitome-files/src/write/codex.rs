//! Spelling Codex's rollout entries.

mod history;

use std::collections::HashSet;

use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};

use super::Stamp;
use super::spell::{is_object, iso_time, optional, quoted, session_id};
use crate::event::{Kept, Recorded};
use crate::transcript::Conversation;

pub(super) use self::history::History;

pub(super) fn write(conversation: &Conversation, stamp: Stamp<'_>) -> String {
    let mut writer = Writer::new(stamp.time_ms);
    let instructions = conversation
        .messages
        .first()
        .filter(|message| message.role == Role::System)
        .filter(|_| {
            conversation
                .compactions
                .iter()
                .all(|recorded| recorded.at > 0)
        });
    let instructions = instructions.map(|message| {
        let text = quoted(&message.spoken().collect::<Vec<_>>().join("\n"));
        format!("{{\"text\":{text}}}")
    });
    let id = quoted(&session_id(conversation, stamp));
    let meta = format!(
        "{{\"id\":{id},\"timestamp\":\"{}\",\"cwd\":{},\"originator\":\"epitome\",\"cli_version\":\"0.0.0\",\
         \"source\":\"cli\"{}{}}}",
        writer.time,
        quoted(conversation.folder.as_deref().unwrap_or(stamp.folder)),
        // Nobody's name is better than a wrong one: Codex then takes the provider of its configuration.
        optional(
            "model_provider",
            conversation.provider.as_deref().map(quoted)
        ),
        optional("base_instructions", instructions.clone())
    );
    writer.line("session_meta", &meta, "");
    let mut compactions = conversation.compactions.iter().peekable();
    for (at, message) in conversation.messages.iter().enumerate() {
        while let Some(recorded) = compactions.next_if(|recorded| recorded.at <= at) {
            writer.recorded(recorded);
        }
        if at > 0 || instructions.is_none() {
            writer.message(message);
        }
    }
    compactions.for_each(|recorded| writer.recorded(recorded));
    writer.out
}

/// Writes entries.
pub(super) struct Writer {
    pub(super) out: String,
    time: String,
    /// The number of the next entry, where entries are numbered.
    pub(super) ordinal: Option<u64>,
    /// Calls whose arguments are text: their results have a kind of their own.
    text_calls: HashSet<String>,
}

/// One item and the flags that stand beside it.
struct Item {
    json: String,
    is_error: bool,
}

impl Writer {
    pub(super) fn new(time_ms: u64) -> Self {
        Self {
            out: String::new(),
            time: iso_time(time_ms),
            ordinal: None,
            text_calls: HashSet::new(),
        }
    }

    fn line(&mut self, kind: &str, payload: &str, own: &str) {
        let ordinal = optional("ordinal", self.ordinal.map(|number| number.to_string()));
        self.out.push_str(&format!(
            "{{\"timestamp\":\"{}\"{ordinal},\"type\":\"{kind}\",\"payload\":{payload}{own}}}\n",
            self.time
        ));
        self.ordinal = self.ordinal.map(|number| number.saturating_add(1));
    }

    fn message(&mut self, message: &Message) {
        for (at, item) in self.items(message).into_iter().enumerate() {
            let first = if at == 0 { ",\"first\":true" } else { "" };
            let error = if item.is_error {
                ",\"isError\":true"
            } else {
                ""
            };
            let own = format!(",\"epitome\":{{\"exact\":true{first}{error}}}");
            self.line("response_item", &item.json, &own);
        }
    }

    /// The items of a message: an answer is one for each text and call.
    fn items(&mut self, message: &Message) -> Vec<Item> {
        let plain = |json| Item {
            json,
            is_error: false,
        };
        if message.role == Role::Assistant {
            return message
                .blocks
                .iter()
                .filter_map(|block| match block {
                    Block::Text(text) | Block::Injected(text) => {
                        let part = text_part("output_text", text);
                        Some(plain(message_item("assistant", &part)))
                    }
                    Block::Call(call) => Some(plain(self.call(call))),
                    _ => None,
                })
                .collect();
        }
        if message.role == Role::Tool {
            let results = message.results();
            return results
                .map(|result| Item {
                    json: self.result(result),
                    is_error: result.is_error,
                })
                .collect();
        }
        let role = match message.role {
            Role::System => "developer",
            _ => "user",
        };
        let parts: Vec<String> = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) | Block::Injected(text) => Some(text_part("input_text", text)),
                _ => None,
            })
            .collect();
        vec![plain(message_item(role, &parts.join(",")))]
    }

    fn call(&mut self, call: &Call) -> String {
        let (kind, member) = if is_object(&call.arguments) {
            ("function_call", "arguments")
        } else {
            self.text_calls.insert(call.id.to_string());
            ("custom_tool_call", "input")
        };
        format!(
            "{{\"type\":\"{kind}\",\"name\":{},\"{member}\":{},\"call_id\":{}}}",
            quoted(&call.name),
            quoted(&call.arguments),
            quoted(&call.id)
        )
    }

    fn result(&self, result: &ToolResult) -> String {
        let kind = if self.text_calls.contains(&*result.call_id) {
            "custom_tool_call_output"
        } else {
            "function_call_output"
        };
        let texts: Vec<&String> = result
            .parts
            .iter()
            .filter_map(|part| match part {
                ResultPart::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        let output = match texts.as_slice() {
            [text] => quoted(text),
            texts => {
                let parts: Vec<String> = texts
                    .iter()
                    .map(|text| text_part("input_text", text))
                    .collect();
                format!("[{}]", parts.join(","))
            }
        };
        format!(
            "{{\"type\":\"{kind}\",\"call_id\":{},\"output\":{output}}}",
            quoted(&result.call_id)
        )
    }

    /// A compaction whose history is spelled by us.
    fn recorded(&mut self, recorded: &Recorded) {
        let mut history = History::default();
        if let Kept::Replaced(messages) = &recorded.kept {
            for message in messages {
                history.spelled(self.items(message));
            }
        }
        self.compaction(recorded, &history);
    }

    pub(super) fn compaction(&mut self, recorded: &Recorded, history: &History) {
        let payload = format!(
            "{{\"message\":{},\"replacement_history\":[{}]}}",
            quoted(&recorded.summary),
            history.items.join(",")
        );
        let facts = [
            (!history.is_verbatim).then(|| "\"exact\":true".to_owned()),
            recorded
                .tokens_before
                .map(|tokens| format!("\"tokensBefore\":{tokens}")),
            recorded
                .trigger
                .as_deref()
                .map(|trigger| format!("\"trigger\":{}", quoted(trigger))),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let own = format!(",\"epitome\":{{{}}}", facts.join(","));
        self.line("compacted", &payload, &own);
        self.line("event_msg", "{\"type\":\"context_compacted\"}", "");
    }
}

fn message_item(role: &str, parts: &str) -> String {
    format!("{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{parts}]}}")
}

fn text_part(kind: &str, text: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"text\":{}}}", quoted(text))
}
