//! The same message in another spelling, and with everything changed that must not matter.

use epitome_testkit::Random;
use epitome_wire::Wire;
use serde_json::{Value, json};

use crate::documents::{Container, Writer};

/// The same document with other spaces, escapes, key order and number spellings.
pub(crate) fn respelled(random: &mut Random, value: &Value) -> String {
    let mut writer = Writer::new(random, Container::Object);
    write(&mut writer, value);
    writer.text
}

fn write(writer: &mut Writer<'_>, value: &Value) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<String> = members.keys().cloned().collect();
            for at in (1..names.len()).rev() {
                let other = writer.random.below(at + 1);
                names.swap(at, other);
            }
            writer.members(&names, |writer, name| write(writer, &members[name]));
        }
        Value::Array(items) => {
            writer.text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    writer.text.push(',');
                }
                writer.space();
                write(writer, item);
            }
            writer.space();
            writer.text.push(']');
        }
        Value::String(text) => writer.string(text),
        Value::Number(number) => {
            let spelled = number_in(writer.random, &number.to_string());
            writer.text.push_str(&spelled);
        }
        other => writer.text.push_str(&other.to_string()),
    }
}

fn number_in(random: &mut Random, number: &str) -> String {
    let is_whole = number.bytes().all(|byte| byte.is_ascii_digit());
    match random.below(if is_whole { 5 } else { 2 }) {
        0 => number.to_owned(),
        1 if number.contains(['e', 'E']) => number.replace('e', "E"),
        1 => format!("{number}e0"),
        2 => format!("{number}.0"),
        3 => format!("{number}.000E+0"),
        _ => format!("{number}0e-1"),
    }
}

/// The same message after something happened to it that must not matter.
pub(crate) fn affected(random: &mut Random, wire: Wire, message: &Value) -> Value {
    let mut message = message.clone();
    for _ in 0..random.between(1, 4) {
        match (wire, random.below(5)) {
            (Wire::OpenAiResponses, way) => affected_item(random, way, &mut message),
            (_, 0) => toggle_string(&mut message["content"]),
            (_, 1) => reminder(random, &mut message),
            (Wire::Anthropic, 2) => mark(random, &mut message),
            (Wire::Anthropic, 3) => thinking(random, &mut message),
            (Wire::Anthropic, _) => toggle_result(random, &mut message),
            (Wire::OpenAiChat, 2) => reasoning(random, &mut message),
            (Wire::OpenAiChat, 3) => nothing_said(random, &mut message),
            (Wire::OpenAiChat, _) => arguments(random, &mut message),
        }
    }
    message
}

/// What may happen to an item of Responses.
fn affected_item(random: &mut Random, way: usize, item: &mut Value) {
    let is_message = item.get("role").is_some();
    let members = item.as_object_mut().unwrap();
    let has_type = members.contains_key("type");
    match way {
        0 => toggle_text(&mut item["content"], "input_text"),
        1 => toggle_text(&mut item["output"], "input_text"),
        2 => {
            let name =
                *random.pick(&["id", "status", "internal_chat_message_metadata_passthrough"]);
            if members.remove(name).is_none() {
                members.insert(name.to_owned(), json!("fc_new"));
            }
        }
        3 if is_message && has_type => drop(members.remove("type")),
        3 if is_message => drop(members.insert("type".to_owned(), json!("message"))),
        _ => {
            if let Some(arguments) = item["arguments"].as_str()
                && let Ok(parsed) = serde_json::from_str::<Value>(arguments)
            {
                item["arguments"] = json!(respelled(random, &parsed));
            }
            reminder(random, item);
        }
    }
    // Looking at a member of an object puts it there.
    item.as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
}

/// String ↔ one text block.
fn toggle_string(content: &mut Value) {
    toggle_text(content, "text");
}

fn toggle_text(content: &mut Value, kind: &str) {
    let is_text = |block: &Value| {
        block["type"]
            .as_str()
            .is_some_and(|kind| kind.ends_with("text"))
    };
    let single = match &*content {
        Value::String(text) if !text.is_empty() => Some(json!([{"type": kind, "text": text}])),
        Value::Array(blocks) if blocks.len() == 1 && is_text(&blocks[0]) => {
            Some(blocks[0]["text"].clone())
        }
        _ => None,
    };
    if let Some(single) = single {
        *content = single;
    }
}

/// A reminder is put in, changed or taken out of a message of the user.
fn reminder(random: &mut Random, message: &mut Value) {
    if message["role"] != "user" {
        return;
    }
    if message["content"].is_string() {
        toggle_string(&mut message["content"]);
    }
    let Some(blocks) = message["content"].as_array_mut() else {
        return;
    };
    let is_reminder = |block: &Value| {
        block["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("<system-reminder>"))
    };
    match blocks.iter().position(is_reminder) {
        Some(at) if random.chance(50) => drop(blocks.remove(at)),
        Some(at) => {
            blocks[at]["text"] = json!(format!(
                "<system-reminder>\nToday is {}.\n</system-reminder>",
                random.below(99)
            ));
        }
        None => {
            let at = random.below(blocks.len() + 1);
            let text = "<system-reminder>Be brief.</system-reminder>\n<system-reminder>\n</system-reminder>\n";
            blocks.insert(at, json!({"type": "text", "text": text}));
        }
    }
}

/// The cache mark comes or goes.
fn mark(random: &mut Random, message: &mut Value) {
    let Some(blocks) = message["content"].as_array_mut().filter(|b| !b.is_empty()) else {
        return;
    };
    let at = random.below(blocks.len());
    let block = blocks[at].as_object_mut().unwrap();
    if block.remove("cache_control").is_none() {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Thinking is dropped, or comes back.
fn thinking(random: &mut Random, message: &mut Value) {
    if message["role"] != "assistant" {
        return;
    }
    if let Some(blocks) = message["content"].as_array_mut() {
        let before = blocks.len();
        blocks.retain(|block| !block["type"].as_str().unwrap().contains("thinking"));
        if blocks.len() == before {
            let thought = format!("thought {}", random.below(9));
            blocks.insert(
                0,
                json!({"type": "thinking", "thinking": thought, "signature": "s"}),
            );
        }
    }
}

fn toggle_result(random: &mut Random, message: &mut Value) {
    for block in message["content"].as_array_mut().into_iter().flatten() {
        if block["type"] == "tool_result" && random.chance(70) {
            toggle_string(&mut block["content"]);
            if block.get("is_error").is_none() {
                block["is_error"] = json!(false);
            }
        }
    }
}

fn reasoning(random: &mut Random, message: &mut Value) {
    if message["role"] == "assistant" {
        let members = message.as_object_mut().unwrap();
        if members.remove("reasoning_content").is_none() {
            let thought = format!("thought {}", random.below(9));
            members.insert("reasoning_content".to_owned(), json!(thought));
        }
    }
}

/// Members that say nothing come and go.
fn nothing_said(random: &mut Random, message: &mut Value) {
    let name = *random.pick(&[
        "refusal",
        "audio",
        "function_call",
        "tool_calls",
        "annotations",
    ]);
    let members = message.as_object_mut().unwrap();
    if !members.contains_key(name) {
        let nothing = if random.chance(50) {
            json!(null)
        } else {
            json!([])
        };
        members.insert(name.to_owned(), nothing);
    }
}

/// Arguments are JSON in another spelling.
fn arguments(random: &mut Random, message: &mut Value) {
    for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        if let Ok(parsed) = serde_json::from_str::<Value>(arguments) {
            call["function"]["arguments"] = json!(respelled(random, &parsed));
        }
    }
}
