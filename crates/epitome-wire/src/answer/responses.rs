//! Answers of OpenAI Responses.

use epitome::Block;

use super::blocks_of;
use super::draft::{Draft, Drafts};
use crate::json::Value;
use crate::wire::Wire;

pub(super) fn blocks(answer: &Value<'_>) -> Option<Vec<Block>> {
    let items = answer.get("output")?.items().iter();
    Some(
        items
            .flat_map(|item| blocks_of(Wire::OpenAiResponses, item))
            .collect(),
    )
}

/// Items count as they are when they are done; what is cut off counts by its pieces.
pub(super) fn event(event: &Value<'_>, drafts: &mut Drafts) {
    let kind = event.string("type").unwrap_or_default();
    let position = event.whole_number("output_index").unwrap_or(0);
    let words = event.string("delta").unwrap_or_default();
    match kind.as_ref() {
        "response.output_item.added" => {
            if let Some(item) = event.get("item") {
                begin(item, position, drafts);
            }
        }
        "response.output_text.delta" | "response.refusal.delta" => drafts.say(position, &words),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            drafts.think(position, &words);
        }
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            drafts.call(position, "", "", &words);
        }
        "response.output_item.done" => {
            if let Some(item) = event.get("item") {
                drafts.put(position, done(item));
            }
        }
        "response.completed" | "response.incomplete" if drafts.is_empty() => {
            let response = event
                .get("response")
                .and_then(|response| response.get("output"));
            for (at, item) in response
                .map(Value::items)
                .unwrap_or_default()
                .iter()
                .enumerate()
            {
                drafts.put(at as u64, done(item));
            }
        }
        _ => {}
    }
}

fn begin(item: &Value<'_>, position: u64, drafts: &mut Drafts) {
    let member = |name| item.string(name).unwrap_or_default();
    match member("type").as_ref() {
        "message" => drafts.put(position, Draft::Text(String::new())),
        "reasoning" => drafts.put(position, Draft::Thinking { chars: 0 }),
        "function_call" | "custom_tool_call" => {
            drafts.call(position, &member("call_id"), &member("name"), "");
        }
        _ => drafts.put(position, done(item)),
    }
}

fn done(item: &Value<'_>) -> Draft {
    Draft::Done(blocks_of(Wire::OpenAiResponses, item))
}
