//! The size of a conversation, message by message, as a picture.

use std::fmt::Write as _;

use serde_json::Value;

const WIDTH: u64 = 720;
const HEIGHT: u64 = 160;
/// Room for words below the picture.
const FOOT: u64 = 20;
/// How far letters reach below their line.
const DESCENT: u64 = 5;

/// A picture of what `conversation` says of its messages: how the history grew, and how much of it a summary stands for.
/// It holds numbers of ours only.
pub(super) fn growth(conversation: &Value) -> String {
    let messages = conversation.get("messages").and_then(Value::as_array);
    let messages = messages.map(Vec::as_slice).unwrap_or_default();
    let mut total = 0;
    let mut points = Vec::with_capacity(messages.len());
    let mut covered = 0;
    for (index, message) in messages.iter().enumerate() {
        total += message.get("tokens").and_then(Value::as_u64).unwrap_or(0);
        points.push(total);
        if message.get("state").and_then(Value::as_str) == Some("covered") {
            covered = index + 1;
        }
    }
    if total == 0 {
        return String::new();
    }
    let count = points.len() as u64;
    let x = |index: usize| (index as u64) * WIDTH / count.max(1);
    let y = |tokens: u64| HEIGHT - tokens.saturating_mul(HEIGHT) / total;
    let mut line = format!("M0 {HEIGHT}");
    for (index, tokens) in points.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(line, " L{} {}", x(index + 1), y(*tokens));
    }
    let full = HEIGHT + FOOT;
    let base = full - DESCENT;
    let edge = x(covered);
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {full}\" role=\"img\" aria-label=\"The history grew to {total} tokens over {count} messages; a summary stands for the first {covered}\">"
    );
    if covered > 0 {
        let _ = write!(
            out,
            "<rect class=\"covered\" x=\"0\" y=\"0\" width=\"{edge}\" height=\"{HEIGHT}\"/>"
        );
    }
    let _ = write!(
        out,
        "<path class=\"area\" d=\"{line} L{WIDTH} {HEIGHT} Z\"/><path class=\"line\" d=\"{line}\"/>\
         <text x=\"0\" y=\"{base}\">1</text><text class=\"end\" x=\"{WIDTH}\" y=\"{base}\">{count} messages</text></svg>"
    );
    out
}
