//! Spelling messages as chats: the unified form, and OpenAI Chat for what goes to a model.

use epitome::{Block, Message, Role};

use super::Stamp;
use super::spell::{is_object, optional, quoted};
use crate::blocks::flat_text;
use crate::event::Recorded;
use crate::transcript::Conversation;

pub(super) fn write(conversation: &Conversation, stamp: Stamp<'_>) -> String {
    let messages: Vec<String> = conversation.messages.iter().map(unified_message).collect();
    let compactions: Vec<String> = conversation.compactions.iter().map(compaction).collect();
    format!(
        "{{\"id\":{},\"format\":\"unified\",\"messages\":[{}],\"compactions\":[{}]}}\n",
        quoted(conversation.id.as_deref().unwrap_or(stamp.session_id)),
        messages.join(","),
        compactions.join(",")
    )
}

fn unified_message(message: &Message) -> String {
    let call = |call: &epitome::Call| {
        format!(
            "{{\"id\":{},\"name\":{},\"arguments\":{}}}",
            quoted(&call.id),
            quoted(&call.name),
            quoted(&call.arguments)
        )
    };
    let has_text = message.blocks.iter().any(|block| {
        matches!(
            block,
            Block::Text(_) | Block::Injected(_) | Block::Result(_)
        )
    });
    let content = has_text.then(|| quoted(&flat_text(message)));
    format!(
        "{{\"role\":\"{}\",\"content\":{}{}{}}}",
        message.role.as_str(),
        content.unwrap_or_else(|| "null".to_owned()),
        calls(message, call),
        result(message)
    )
}

fn calls(message: &Message, spell: impl Fn(&epitome::Call) -> String) -> String {
    let calls: Vec<String> = message.calls().map(spell).collect();
    optional(
        "tool_calls",
        (!calls.is_empty()).then(|| format!("[{}]", calls.join(","))),
    )
}

fn result(message: &Message) -> String {
    let Some(result) = message.results().next() else {
        return String::new();
    };
    let error = result.is_error.then(|| "true".to_owned());
    let id = optional("tool_call_id", Some(quoted(&result.call_id)));
    id + &optional("error", error)
}

/// A compaction of the unified form.
pub(super) fn compaction(recorded: &Recorded) -> String {
    format!(
        "{{\"at\":{},\"summary\":{},\"pre_tokens\":{},\"trigger\":{}}}",
        recorded.at,
        quoted(&recorded.summary),
        recorded
            .tokens_before
            .map_or_else(|| "null".to_owned(), |tokens| tokens.to_string()),
        recorded
            .trigger
            .as_deref()
            .map_or_else(|| "null".to_owned(), quoted)
    )
}

/// Messages in the form of OpenAI Chat, as a JSON list: one for each. Thinking is left out, because only its own
/// provider could read it, and a word stands for what cannot be shown.
#[must_use]
pub fn chat_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<u8> {
    let mut list = String::from("[");
    for message in messages {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(&chat_message(message));
    }
    list.push(']');
    list.into_bytes()
}

fn chat_message(message: &Message) -> String {
    if message.role == Role::Tool {
        let id = message
            .results()
            .next()
            .map_or("", |result| &*result.call_id);
        return format!(
            "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{}}}",
            quoted(id),
            quoted(&flat_text(message))
        );
    }
    let call = |call: &epitome::Call| {
        // Servers read arguments as JSON; what is none is wrapped.
        let arguments = if is_object(&call.arguments) {
            quoted(&call.arguments)
        } else {
            quoted(&format!("{{\"input\":{}}}", quoted(&call.arguments)))
        };
        format!(
            "{{\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{},\"arguments\":{arguments}}}}}",
            quoted(&call.id),
            quoted(&call.name)
        )
    };
    let calls = calls(message, call);
    let text = flat_text(message);
    let content = match (text.is_empty(), calls.is_empty()) {
        (false, _) => quoted(&text),
        (true, false) => "null".to_owned(),
        (true, true) => quoted(UNREADABLE),
    };
    format!(
        "{{\"role\":\"{}\",\"content\":{content}{calls}}}",
        message.role.as_str()
    )
}

/// Stands for a message of which nothing can be shown.
const UNREADABLE: &str = "[nothing that can be shown]";
