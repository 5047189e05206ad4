//! Answers of Anthropic Messages.

use epitome::Block;

use super::blocks_of;
use super::draft::{Draft, Drafts};
use crate::json::Value;
use crate::json::compacted;
use crate::wire::Wire;

pub(super) fn blocks(answer: &Value<'_>) -> Option<Vec<Block>> {
    answer.get("content")?;
    Some(blocks_of(Wire::Anthropic, answer))
}

pub(super) fn event(event: &Value<'_>, drafts: &mut Drafts) {
    let kind = event.string("type").unwrap_or_default();
    let index = event.whole_number("index").unwrap_or(0);
    match kind.as_ref() {
        "content_block_start" => {
            if let Some(block) = event.get("content_block") {
                drafts.put(index, begun(block));
            }
        }
        "content_block_delta" => {
            let Some(delta) = event.get("delta") else {
                return;
            };
            if let Some(words) = delta.string("text") {
                drafts.say(index, &words);
            }
            if let Some(words) = delta.string("thinking") {
                drafts.think(index, &words);
            }
            if let Some(json) = delta.string("partial_json") {
                drafts.call(index, "", "", &json);
            }
        }
        _ => {}
    }
}

/// A block as its first event shows it. What is not put together from pieces is whole already.
fn begun(block: &Value<'_>) -> Draft {
    let member = |name| {
        let text = block.string(name);
        text.map(|text| text.into_owned()).unwrap_or_default()
    };
    match block.string("type").unwrap_or_default().as_ref() {
        "text" => Draft::Text(member("text")),
        "thinking" => Draft::Thinking {
            chars: member("thinking").chars().count(),
        },
        "tool_use" => Draft::Call {
            id: member("id"),
            name: member("name"),
            arguments: input(block),
        },
        _ => {
            let chars = block.range.len();
            Draft::Done(vec![Block::opaque(chars)])
        }
    }
}

/// The input of a call that came whole; where pieces follow, the first event has an empty object.
fn input(block: &Value<'_>) -> String {
    let input = block.get("input").map(compacted).unwrap_or_default();
    if input == "{}" { String::new() } else { input }
}
