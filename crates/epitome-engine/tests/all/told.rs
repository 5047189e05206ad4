//! What a scripted model is told, whichever API it is told in.

use serde_json::Value;

fn list(request: &Value) -> &[Value] {
    let list = request.get("messages").or_else(|| request.get("input"));
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The names of the tools that a request declares.
pub(crate) fn tools(request: &Value) -> Vec<&str> {
    let tools = request.get("tools").and_then(Value::as_array);
    let names = tools.into_iter().flatten().filter_map(|tool| {
        let tool = tool.get("function").unwrap_or(tool);
        tool.get("name")?.as_str()
    });
    names.collect()
}

/// Whether a request declares a tool.
pub(crate) fn calls_tool(request: &Value, name: &str) -> bool {
    tools(request).contains(&name)
}

fn text_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn role_of(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or("")
}

/// Who said what, without calls and results.
pub(crate) fn said(request: &Value) -> Vec<(String, String)> {
    let spoken = list(request)
        .iter()
        .filter(|message| role_of(message) != "tool");
    spoken
        .map(|message| (role_of(message).to_owned(), text_of(message)))
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

/// What the user said at the end of a request; empty where it ends with something else. Reminders do not count.
pub(crate) fn last_said(request: &Value) -> String {
    let is_reminder = |text: &str| text.starts_with("<system-reminder>");
    let mut from_the_end = list(request).iter().rev();
    let last = from_the_end.find(|message| !is_reminder(&text_of(message)));
    last.filter(|message| role_of(message) == "user")
        .map(text_of)
        .unwrap_or_default()
}
