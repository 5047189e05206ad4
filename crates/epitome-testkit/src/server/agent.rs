use serde_json::{Map, Value, json};

use super::rendered::Exchange;
use super::reply::{Answer, Call};
use crate::generate::text;
use crate::random::Random;
use crate::wire::{array, is_models_item, messages, text as field};
use crate::{Wire, tokens};

/// How often an agent calls tools and how much it says.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) tool_every: usize,
    pub(super) parallel_every: usize,
    pub(super) words: usize,
}

/// What the agent says to this request: always the same to the same request.
pub(super) fn answer(exchange: &Exchange<'_>, pace: Pace) -> Answer {
    let turn = 1 + answers_before(exchange);
    let mut random = Random::new(seed(exchange));
    let mut answer = Answer {
        thinking: wants_thinking(exchange).then(|| text::prose(&mut random, pace.words / 2 + 4)),
        ..Answer::default()
    };
    let tools = array(exchange.request, "tools");
    if is_due(turn, pace.tool_every) && !tools.is_empty() {
        let count = if is_due(turn, pace.parallel_every) {
            random.between(2, 4)
        } else {
            1
        };
        answer.calls = (0..count)
            .map(|_| {
                let tool = random.pick(tools);
                call(tool, &mut random)
            })
            .collect();
        answer.text = random.chance(50).then(|| text::prose(&mut random, 12));
    } else {
        answer.text = Some(text::prose(&mut random, pace.words));
        shorten(&mut answer, exchange);
    }
    answer
}

/// Counting answers and not messages makes the rhythm the same however calls and results are laid out.
fn answers_before(exchange: &Exchange<'_>) -> usize {
    let is_answer = |message: &Value| match exchange.wire {
        Wire::OpenaiChat | Wire::Anthropic => field(message, "role") == "assistant",
        Wire::OpenaiResponses => is_models_item(message),
    };
    let said: Vec<bool> = messages(exchange.request).iter().map(is_answer).collect();
    match exchange.wire {
        Wire::OpenaiChat | Wire::Anthropic => said.iter().filter(|is_answer| **is_answer).count(),
        // The items of one answer stand in a row.
        Wire::OpenaiResponses => said
            .chunk_by(|one, other| one == other)
            .filter(|run| run.first() == Some(&true))
            .count(),
    }
}

fn is_due(turn: usize, period: usize) -> bool {
    period != 0 && turn.is_multiple_of(period)
}

fn seed(exchange: &Exchange<'_>) -> u64 {
    let mut bytes = [0; 8];
    for (target, source) in bytes.iter_mut().zip(exchange.digest.as_bytes()) {
        *target = *source;
    }
    u64::from_le_bytes(bytes)
}

fn wants_thinking(exchange: &Exchange<'_>) -> bool {
    let mode = exchange.request.pointer("/thinking/type");
    exchange.wire == Wire::Anthropic
        && matches!(mode.and_then(Value::as_str), Some("enabled" | "adaptive"))
}

/// Ends the text where the request's output limit would end it.
fn shorten(answer: &mut Answer, exchange: &Exchange<'_>) {
    let Some(mut limit) = exchange.maximum_output_tokens() else {
        return;
    };
    // Thinking is paid from the same limit; when nothing would be left for the text, there is none.
    answer
        .thinking
        .take_if(|thinking| tokens::of_bytes(thinking.len() as u64) >= limit);
    limit -= answer
        .thinking
        .as_ref()
        .map_or(0, |thinking| tokens::of_bytes(thinking.len() as u64) + 1);
    let Some(text) = &mut answer.text else {
        return;
    };
    if tokens::of_bytes(text.len() as u64) <= limit {
        return;
    }
    let room = usize::try_from(limit.saturating_mul(18) / 5).unwrap_or(usize::MAX);
    text.truncate(text.floor_char_boundary(room.max(1)));
    if text.is_empty() {
        text.push('.');
    }
    answer.stop_reason = Some(String::from(match exchange.wire {
        Wire::OpenaiChat => "length",
        Wire::OpenaiResponses => "max_output_tokens",
        Wire::Anthropic => "max_tokens",
    }));
}

/// A call with an argument for every field the tool's schema requires.
fn call(tool: &Value, random: &mut Random) -> Call {
    let definition = tool.get("function").unwrap_or(tool);
    let schema = definition
        .get("parameters")
        .or_else(|| definition.get("input_schema"));
    let mut arguments = Map::new();
    for required in schema.map_or(&[][..], |schema| array(schema, "required")) {
        let Some(name) = required.as_str() else {
            continue;
        };
        let kind = schema
            .and_then(|schema| schema.get("properties"))
            .and_then(|properties| properties.get(name))
            .map_or("string", |property| field(property, "type"));
        arguments.insert(name.to_owned(), argument(kind, name, random));
    }
    let name = match field(definition, "name") {
        "" => "unnamed",
        name => name,
    };
    Call::new(name, Value::Object(arguments))
}

fn argument(kind: &str, name: &str, random: &mut Random) -> Value {
    match kind {
        "integer" | "number" => json!(random.between(1, 400)),
        "boolean" => json!(random.chance(50)),
        "array" => json!([]),
        "object" => json!({}),
        _ if name.contains("command") => json!(text::command(random)),
        _ if name.contains("path") || name.contains("file") => json!(text::path(random)),
        _ => json!(text::prose(random, 6)),
    }
}
