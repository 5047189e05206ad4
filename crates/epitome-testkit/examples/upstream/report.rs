//! What is told of a request at the end.

use epitome_testkit::{Delivery, Recorded};
use serde_json::{Value, json};

/// One line for a request with messages; the others are nobody's business.
pub(super) fn line(request: &Recorded, rules: &[u64], window_tokens: u64) -> Option<Value> {
    let tokens = request.input_tokens?;
    let body = request.json();
    let violations: Vec<String> = request
        .violations
        .iter()
        .map(|violation| format!("{:?}: {violation}", violation.rule))
        .collect();
    let model = body.get("model").and_then(Value::as_str).unwrap_or("");
    let tools = body.get("tools").and_then(Value::as_array);
    Some(json!({
        "number": request.number,
        "path": request.path,
        "model": model,
        "tokens": tokens,
        "window": window_tokens,
        "status": request.status,
        "is_complete": request.delivery == Delivery::Complete,
        "violations": violations,
        "rules": rules,
        "has_tools": tools.is_some_and(|tools| !tools.is_empty()),
        "is_side": is_side(request, model),
        "bytes": request.body.len(),
    }))
}

/// Whether it is no part of the conversation with the user: titles, counts, sub-agents, a smaller model.
fn is_side(request: &Recorded, model: &str) -> bool {
    let small = ["haiku", "mini", "nano", "small"];
    let agents = [
        "x-claude-code-agent-id",
        "x-openai-subagent",
        "x-parent-session-id",
    ];
    request.path.contains("tokens")
        || small.iter().any(|name| model.contains(name))
        || agents.iter().any(|name| !request.header(name).is_empty())
}
