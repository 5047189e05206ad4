//! Answers of OpenAI Chat.

use epitome::Block;

use super::blocks_of;
use super::draft::Drafts;
use crate::json::Value;
use crate::wire::Wire;

/// Reasoning comes first and text before calls, whatever order the pieces arrive in.
const REASONING: u64 = 0;
const TEXT: u64 = 1;
const CALLS: u64 = 2;

pub(super) fn blocks(answer: &Value<'_>) -> Option<Vec<Block>> {
    let message = answer.get("choices")?.items().first()?.get("message")?;
    Some(blocks_of(Wire::OpenAiChat, message))
}

/// Only the first choice counts, as in a whole answer.
pub(super) fn event(event: &Value<'_>, drafts: &mut Drafts) {
    let choices = event.get("choices").map(Value::items).unwrap_or_default();
    let is_first = |choice: &&Value<'_>| choice.whole_number("index").unwrap_or(0) == 0;
    let Some(delta) = choices
        .iter()
        .find(is_first)
        .and_then(|choice| choice.get("delta"))
    else {
        return;
    };
    for name in ["reasoning_content", "reasoning"] {
        if let Some(words) = delta.string(name).filter(|words| !words.is_empty()) {
            drafts.think(REASONING, &words);
        }
    }
    for name in ["content", "refusal"] {
        if let Some(words) = delta.string(name).filter(|words| !words.is_empty()) {
            drafts.say(TEXT, &words);
        }
    }
    let calls = delta
        .get("tool_calls")
        .map(Value::items)
        .unwrap_or_default();
    for (at, call) in calls.iter().enumerate() {
        let index = call.whole_number("index").unwrap_or(at as u64);
        let function = call.get("function");
        let member = |name| function.and_then(|function| function.string(name));
        drafts.call(
            CALLS.saturating_add(index),
            &call.string("id").unwrap_or_default(),
            &member("name").unwrap_or_default(),
            &member("arguments").unwrap_or_default(),
        );
    }
}
