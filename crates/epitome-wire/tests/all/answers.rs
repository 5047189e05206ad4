//! Answers, whole and in pieces.

use epitome::{Block, Call};
use epitome_wire::{Accumulator, Answer, Wire};
use serde_json::{Value, json};

fn accumulated(wire: Wire, events: &[Value]) -> Answer {
    let mut answer = Accumulator::new(wire);
    for event in events {
        answer.event(event.to_string().as_bytes());
    }
    answer.event(b"[DONE]");
    answer.finish()
}

/// A body and the events of the same answer.
fn spellings() -> [(Wire, Value, Vec<Value>); 3] {
    let arguments = r#"{"path":"src/ä.rs","n":12345678901234567890}"#;
    let (front, back) = arguments.split_at(9);
    let chat = json!({
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Good morning", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": arguments}},
            {"id": "c2", "type": "function", "function": {"name": "list", "arguments": "{}"}},
        ]}}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 100}},
    });
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": null});
    let chat_events = vec![
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"content": "Good "})),
        json!({"choices": [{"index": 1, "delta": {"content": "another choice"}}]}),
        chunk(json!({"content": "morning"})),
        chunk(
            json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": ""}}]}),
        ),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": front}}]})),
        chunk(
            json!({"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "list", "arguments": "{}"}}]}),
        ),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": back}}]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": chat["usage"]}),
    ];
    let anthropic = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "Good morning"},
            {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "src/ä.rs"}},
            {"type": "tool_use", "id": "c2", "name": "list", "input": {}},
        ],
        "usage": {"input_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 3, "output_tokens": 7},
    });
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let anthropic_events = vec![
        json!({"type": "message_start", "message": {"role": "assistant", "content": [], "stop_reason": null, "usage": {"input_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 3, "output_tokens": 1}}}),
        start(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "text_delta", "text": "Good "})),
        delta(0, json!({"type": "text_delta", "text": "morning"})),
        json!({"type": "content_block_stop", "index": 0}),
        start(
            1,
            json!({"type": "tool_use", "id": "c1", "name": "read", "input": {}}),
        ),
        delta(1, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            1,
            json!({"type": "input_json_delta", "partial_json": "{\"path\":\"sr"}),
        ),
        delta(
            1,
            json!({"type": "input_json_delta", "partial_json": "c/ä.rs\"}"}),
        ),
        start(
            2,
            json!({"type": "tool_use", "id": "c2", "name": "list", "input": {}}),
        ),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{}"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    let items = json!([
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Good morning"}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": arguments},
        {"type": "function_call", "call_id": "c2", "name": "list", "arguments": "{}"},
    ]);
    let responses = json!({
        "object": "response", "status": "completed", "error": null, "output": items,
        "usage": {"input_tokens": 120, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 7},
    });
    let mut responses_events = vec![
        json!({"type": "response.created", "response": {"status": "in_progress", "output": [], "usage": null}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "role": "assistant", "content": []}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Good "}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "morning"}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "c1", "name": "read", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": front}),
    ];
    for (at, item) in items.as_array().unwrap().iter().enumerate() {
        responses_events
            .push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    responses_events.push(json!({"type": "response.completed", "response": responses}));
    [
        (Wire::OpenAiChat, chat, chat_events),
        (Wire::Anthropic, anthropic, anthropic_events),
        (Wire::OpenAiResponses, responses, responses_events),
    ]
}

#[test]
fn pieces_give_the_same_answer_as_the_whole() {
    for (wire, body, events) in spellings() {
        let whole = Answer::read(wire, body.to_string().as_bytes()).unwrap();
        assert_eq!(accumulated(wire, &events), whole, "{wire}");
        assert_eq!(whole.text(), "Good morning");
        assert_eq!(whole.message.calls().count(), 2);
        assert_eq!(whole.usage.cache_read_tokens, 100);
        assert_eq!(whole.usage.output_tokens, 7);
        assert!(whole.stop.is_some() && whole.error.is_none(), "{wire}");
    }
}

#[test]
fn a_stream_that_is_cut_off_counts_as_far_as_it_went() {
    for (wire, _, events) in spellings() {
        for end in 0..events.len() {
            let answer = accumulated(wire, &events[..end]);
            assert!("Good morning".starts_with(&answer.text()), "{wire} {end}");
            let is_over = end + 2 >= events.len();
            assert!(is_over || answer.stop.is_none(), "{wire} {end}");
        }
        let part = accumulated(wire, &events[..6.min(events.len())]);
        assert_eq!(part.text(), "Good morning", "{wire}");
    }
    let cut = &spellings()[2].2[..6];
    let blocks = accumulated(Wire::OpenAiResponses, cut).message.blocks;
    assert_eq!(
        blocks[1],
        Block::Call(Call::new("c1", "read", r#"{"path":""#))
    );
}

#[test]
fn what_went_wrong_is_said() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let answer = accumulated(Wire::Anthropic, &[overloaded]);
    assert_eq!(answer.error.as_deref(), Some("Overloaded"));
    assert!(answer.overflow.is_none());
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "context_length_exceeded"}}});
    let answer = accumulated(Wire::OpenAiResponses, &[failed]);
    assert_eq!(answer.error.as_deref(), Some("context_length_exceeded"));
    assert!(answer.overflow.is_some());
    assert_eq!(answer.stop.as_deref(), Some("failed"));
    for wire in Wire::ALL {
        assert!(Answer::read(*wire, b"{}").is_none());
        assert!(Answer::read(*wire, b"<html>").is_none());
    }
}
