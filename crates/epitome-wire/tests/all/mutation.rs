//! Near misses: a message with the smallest change that makes it another message.

use epitome_testkit::Random;
use epitome_wire::Wire;
use serde_json::{Value, json};

/// Another message, and what was done; `None` when the message has nothing of the chosen kind.
pub(crate) fn mutated(
    random: &mut Random,
    wire: Wire,
    message: &Value,
) -> Option<(Value, &'static str)> {
    // Nobody said what is in reasoning.
    if message["type"] == "reasoning" {
        return None;
    }
    let mut out = message.clone();
    let what = match random.below(10) {
        0..=4 => leaf(random, wire, &mut out)?,
        5 => swap(random, &mut out)?,
        6 => split(random, &mut out)?,
        7 => role(wire, &mut out)?,
        8 => repeat(random, &mut out)?,
        _ => input(random, wire, &mut out)?,
    };
    (out != *message).then_some((out, what))
}

/// Members that are known not to count.
const SILENT: &[&str] = &[
    "type",
    "role",
    "cache_control",
    "thinking",
    "signature",
    "data",
    "reasoning_content",
    "media_type",
];

/// Members of an item of Responses that are known not to count either.
const SILENT_IN_ITEMS: &[&str] = &[
    "/id",
    "/status",
    "/internal_chat_message_metadata_passthrough",
];

/// Pointers to the strings, numbers and flags that count.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let is_silent = SILENT.contains(&name.as_str()) && !path.contains("/input");
                if !is_silent || (name == "data" && path.ends_with("/source")) {
                    leaves(member, &format!("{path}/{name}"), out);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}/{at}"), out);
            }
        }
        Value::String(text) if text.starts_with("<system-reminder>") => {}
        Value::Null => {}
        _ => out.push(path.to_owned()),
    }
}

fn leaf(random: &mut Random, wire: Wire, message: &mut Value) -> Option<&'static str> {
    let mut paths = Vec::new();
    leaves(message, "", &mut paths);
    if wire == Wire::OpenAiResponses {
        paths.retain(|path| {
            !SILENT_IN_ITEMS
                .iter()
                .any(|silent| path.starts_with(silent))
        });
    }
    let path = paths.get(random.below(paths.len()))?.clone();
    let slot = message.pointer_mut(&path)?;
    match slot {
        Value::String(text) if wire != Wire::Anthropic && path.ends_with("/arguments") => {
            *text = changed_arguments(random, text)?;
            Some("an argument")
        }
        Value::String(text) => {
            *text = changed_text(random, text);
            Some("one character")
        }
        Value::Number(number) => {
            *slot = json!(number.as_f64()? + 1.0);
            Some("a number")
        }
        Value::Bool(flag) => {
            *flag = !*flag;
            Some("a flag")
        }
        _ => None,
    }
}

/// One character replaced, put in or taken out.
fn changed_text(random: &mut Random, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = random.below(letters.len() + 1);
    let new = *random.pick(&['a', 'B', '7', ' ', '\n', 'é', '\u{200b}', '😀', '"']);
    match random.below(3) {
        0 if at < letters.len() && letters[at] != new => letters[at] = new,
        1 if at < letters.len() => drop(letters.remove(at)),
        _ => letters.insert(at, new),
    }
    letters.into_iter().collect()
}

/// Arguments count as JSON, so a change of spelling is none: something inside has to change.
fn changed_arguments(random: &mut Random, text: &str) -> Option<String> {
    let Ok(mut parsed) = serde_json::from_str::<Value>(text) else {
        return Some(changed_text(random, text));
    };
    let mut paths = Vec::new();
    leaves(&json!({"input": parsed}), "", &mut paths);
    let Some(path) = paths.get(random.below(paths.len())) else {
        return Some("{\"added\":null}".to_owned());
    };
    let slot = parsed.pointer_mut(path.strip_prefix("/input")?)?;
    match slot {
        Value::String(text) => *text = changed_text(random, text),
        Value::Number(number) => *slot = json!(number.as_f64()? + 1.0),
        Value::Bool(flag) => *flag = !*flag,
        _ => return None,
    }
    Some(parsed.to_string())
}

fn blocks(message: &mut Value) -> Option<&mut Vec<Value>> {
    let name = match &message["tool_calls"] {
        Value::Array(_) => "tool_calls",
        _ => "content",
    };
    message[name]
        .as_array_mut()
        .filter(|blocks| !blocks.is_empty())
}

fn counts(block: &Value) -> bool {
    !block["type"]
        .as_str()
        .is_some_and(|kind| kind.contains("thinking"))
        && !block["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("<system-reminder>"))
}

fn swap(random: &mut Random, message: &mut Value) -> Option<&'static str> {
    let blocks = blocks(message)?;
    let at = random.below(blocks.len());
    let other = random.below(blocks.len());
    if !counts(&blocks[at]) || !counts(&blocks[other]) || blocks[at] == blocks[other] {
        return None;
    }
    blocks.swap(at, other);
    Some("two blocks swapped")
}

/// A text becomes two texts, or two become one.
fn split(random: &mut Random, message: &mut Value) -> Option<&'static str> {
    if message["role"] == "tool" {
        return None;
    }
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) if blocks.len() == 1 => blocks[0]["text"].as_str()?.to_owned(),
        _ => return None,
    };
    if text.starts_with("<system-reminder>") || text.chars().count() < 2 {
        return None;
    }
    let letters: Vec<char> = text.chars().collect();
    let (head, tail) = letters.split_at(random.between(1, letters.len() - 1));
    let block = |part: &[char]| json!({"type": "text", "text": part.iter().collect::<String>()});
    message["content"] = json!([block(head), block(tail)]);
    Some("a text split in two")
}

fn role(wire: Wire, message: &mut Value) -> Option<&'static str> {
    let other = match (wire, message["role"].as_str()?) {
        (_, "user") => "assistant",
        (Wire::OpenAiChat, "tool") => "user",
        _ => "user",
    };
    message["role"] = json!(other);
    Some("another role")
}

fn repeat(random: &mut Random, message: &mut Value) -> Option<&'static str> {
    let blocks = blocks(message)?;
    let at = random.below(blocks.len());
    if !counts(&blocks[at]) {
        return None;
    }
    if blocks.len() > 1 && random.chance(50) {
        blocks.remove(at);
        return Some("a block gone");
    }
    let again = blocks[at].clone();
    blocks.push(again);
    Some("a block twice")
}

/// Members of a call's input come, go or change, also one with the name of a cache mark.
fn input(random: &mut Random, wire: Wire, message: &mut Value) -> Option<&'static str> {
    let added = *random.pick(&["cache_control", "extra", "type"]);
    let value = match random.below(4) {
        0 => json!(null),
        1 => json!([]),
        2 => json!(""),
        _ => json!({"type": "ephemeral"}),
    };
    if let Some(text) = message["arguments"].as_str() {
        let mut arguments: Value = serde_json::from_str(text).ok()?;
        arguments.as_object_mut()?.insert(added.to_owned(), value);
        message["arguments"] = json!(arguments.to_string());
        return Some("a member of the input");
    }
    let block = blocks(message)?
        .iter_mut()
        .find(|block| block["type"] == "tool_use" || block["type"] == "function")?;
    match wire {
        Wire::Anthropic => {
            block["input"]
                .as_object_mut()?
                .insert(added.to_owned(), value);
        }
        Wire::OpenAiResponses => return None,
        Wire::OpenAiChat => {
            let text = block["function"]["arguments"].as_str()?;
            let mut arguments: Value = serde_json::from_str(text).ok()?;
            arguments.as_object_mut()?.insert(added.to_owned(), value);
            block["function"]["arguments"] = json!(arguments.to_string());
        }
    }
    Some("a member of the input")
}
