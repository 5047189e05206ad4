//! What the provider counted for one request, and when that is a count of something else.

use bytes::Bytes;
use epitome::Meter;
use epitome_wire::{
    Accumulator, Answer, Body, ChainKey, Conversation, Counted, Memo, StreamWatch, Wire, counted,
    is_plain_request,
};
use serde_json::{Value, json};

fn watched(wire: Wire, events: &[Value]) -> Option<Counted> {
    let mut watch = StreamWatch::new(wire);
    let mut answer = Accumulator::new(wire);
    for event in events {
        watch.feed(format!("data: {event}\n\n").as_bytes());
        answer.event(event.to_string().as_bytes());
    }
    assert_eq!(watch.counted(), answer.finish().counted, "{events:?}");
    watch.counted()
}

fn whole(wire: Wire, answer: &Value) -> Counted {
    let text = answer.to_string();
    counted(wire, text.as_bytes()).unwrap()
}

/// A3: a search on the server reads the prompt again in every round, and the stream's end adds all of them up.
#[test]
fn a_stream_with_a_web_search_counts_the_request_once() {
    let start = json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 2_000, "cache_read_input_tokens": 60_000, "cache_creation_input_tokens": 0, "output_tokens": 1}}});
    let search = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 9_000, "cache_read_input_tokens": 180_000, "output_tokens": 500, "server_tool_use": {"web_search_requests": 2}}});
    let expected = Counted {
        input_tokens: 62_000,
        output_tokens: Some(500),
        cache_read_tokens: 60_000,
        cache_write_tokens: 0,
        is_plain: false,
    };
    let found = watched(
        Wire::Anthropic,
        &[start.clone(), search.clone(), end.clone()],
    );
    assert_eq!(found, Some(expected));
    // Each of the signs is enough.
    assert!(
        !watched(Wire::Anthropic, &[start.clone(), search])
            .unwrap()
            .is_plain
    );
    assert!(
        !watched(Wire::Anthropic, &[start.clone(), end])
            .unwrap()
            .is_plain
    );

    let plain_end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 2_000, "cache_read_input_tokens": 60_000, "output_tokens": 500, "server_tool_use": {"web_search_requests": 0}}});
    let plain = watched(Wire::Anthropic, &[start, plain_end]).unwrap();
    assert!(plain.is_plain);
    assert_eq!(
        (plain.input_tokens, plain.output_tokens),
        (62_000, Some(500))
    );

    // Gateways that know it only at the end begin with nothing.
    let late = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}}),
        json!({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 70, "output_tokens": 5}}),
    ];
    let late = watched(Wire::Anthropic, &late).unwrap();
    assert_eq!((late.input_tokens, late.is_plain), (70, true));
}

#[test]
fn what_more_than_one_round_read_is_not_plain() {
    let anthropic = |content: Value, usage: Value| json!({"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage});
    let usage = json!({"input_tokens": 10, "output_tokens": 2});
    let text = json!([{"type": "text", "text": "server_tool_use"}]);
    let chat =
        |message: Value, usage: Value| json!({"choices": [{"message": message}], "usage": usage});
    let chat_usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
    let responses = |output: Value| json!({"output": output, "previous_response_id": null, "usage": {"input_tokens": 10, "output_tokens": 2}});
    for (wire, answer, is_plain) in [
        (
            Wire::Anthropic,
            anthropic(text.clone(), usage.clone()),
            true,
        ),
        (
            Wire::Anthropic,
            anthropic(
                json!([{"type": "tool_use", "id": "a", "name": "read", "input": {}}]),
                usage.clone(),
            ),
            true,
        ),
        (
            Wire::Anthropic,
            anthropic(
                json!([{"type": "server_tool_use", "id": "a"}]),
                usage.clone(),
            ),
            false,
        ),
        (
            Wire::Anthropic,
            anthropic(
                json!([{"type": "web_search_tool_result", "content": []}]),
                usage.clone(),
            ),
            false,
        ),
        (
            Wire::Anthropic,
            anthropic(json!([{"type": "mcp_tool_use", "id": "a"}]), usage),
            false,
        ),
        (
            Wire::Anthropic,
            anthropic(
                text.clone(),
                json!({"input_tokens": 10, "server_tool_use": {"web_search_requests": 1}}),
            ),
            false,
        ),
        (
            Wire::Anthropic,
            anthropic(
                text.clone(),
                json!({"input_tokens": 10, "iterations": [{"type": "compaction"}, {"type": "message"}]}),
            ),
            false,
        ),
        (
            Wire::Anthropic,
            json!({"content": text, "usage": {"input_tokens": 10}, "context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919"}]}}),
            false,
        ),
        (
            Wire::OpenAiChat,
            chat(
                json!({"content": "web_search_call", "annotations": []}),
                chat_usage.clone(),
            ),
            true,
        ),
        (
            Wire::OpenAiChat,
            chat(
                json!({"content": "a", "annotations": [{"type": "url_citation"}]}),
                chat_usage.clone(),
            ),
            false,
        ),
        (
            Wire::OpenAiChat,
            chat(json!({"content": null, "audio": {"id": "x"}}), chat_usage),
            false,
        ),
        (
            Wire::OpenAiChat,
            chat(
                json!({"content": "a", "audio": null}),
                json!({"prompt_tokens": 10, "prompt_tokens_details": {"audio_tokens": 0}}),
            ),
            true,
        ),
        (
            Wire::OpenAiChat,
            chat(
                json!({"content": "a"}),
                json!({"prompt_tokens": 10, "prompt_tokens_details": {"audio_tokens": 4}}),
            ),
            false,
        ),
        (
            Wire::OpenAiChat,
            chat(
                json!({"content": "a"}),
                json!({"prompt_tokens": 10, "num_sources_used": 3}),
            ),
            false,
        ),
        (
            Wire::OpenAiResponses,
            responses(
                json!([{"type": "reasoning"}, {"type": "function_call"}, {"type": "custom_tool_call"}, {"type": "local_shell_call"}]),
            ),
            true,
        ),
        (
            Wire::OpenAiResponses,
            responses(json!([{"type": "web_search_call"}])),
            false,
        ),
        (
            Wire::OpenAiResponses,
            responses(json!([{"type": "file_search_call"}])),
            false,
        ),
        (
            Wire::OpenAiResponses,
            responses(json!([{"type": "code_interpreter_call"}])),
            false,
        ),
        (
            Wire::OpenAiResponses,
            responses(json!([{"type": "image_generation_call"}])),
            false,
        ),
        (
            Wire::OpenAiResponses,
            responses(json!([{"type": "mcp_call"}])),
            false,
        ),
        (
            Wire::OpenAiResponses,
            responses(json!([{"type": "compaction"}])),
            false,
        ),
        (
            Wire::OpenAiResponses,
            json!({"output": [], "previous_response_id": "resp_1", "usage": {"input_tokens": 10}}),
            false,
        ),
    ] {
        let found = whole(wire, &answer);
        assert_eq!(
            (found.input_tokens, found.is_plain),
            (10, is_plain),
            "{answer}"
        );
        let read = Answer::read(wire, answer.to_string().as_bytes()).unwrap();
        assert_eq!(read.counted, Some(found), "{answer}");
    }
    let streamed = [
        json!({"type": "response.output_item.added", "item": {"type": "web_search_call"}}),
        json!({"type": "response.completed", "response": {"output": [], "usage": {"input_tokens": 10}}}),
    ];
    assert!(!watched(Wire::OpenAiResponses, &streamed).unwrap().is_plain);
    assert!(
        watched(Wire::OpenAiResponses, &streamed[1..])
            .unwrap()
            .is_plain
    );
}

#[test]
fn parts_of_the_input_are_told() {
    let chat = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}});
    let anthropic = json!({"content": [], "usage": {"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 7}});
    let responses = json!({"output": [], "usage": {"input_tokens": 100, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}});
    for (wire, answer) in [
        (Wire::OpenAiChat, chat),
        (Wire::Anthropic, anthropic),
        (Wire::OpenAiResponses, responses),
    ] {
        let expected = Counted {
            input_tokens: 100,
            output_tokens: Some(7),
            cache_read_tokens: 60,
            cache_write_tokens: 30,
            is_plain: true,
        };
        assert_eq!(whole(wire, &answer), expected, "{wire}");
    }
}

fn is_plain(wire: Wire, request: &Value) -> bool {
    let body = Body::scan(Bytes::from(request.to_string()), wire).unwrap();
    let memo = Memo::new(Meter::default(), 100);
    let conversation = Conversation::of(&body, &memo, &ChainKey::public()).unwrap();
    is_plain_request(&body, &conversation)
}

#[test]
fn a_request_with_more_than_text_is_not_plain() {
    let user = |content: Value| json!([{"role": "user", "content": content}]);
    let image = json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]);
    let results = |content: Value| {
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "web_search", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": content}]},
        ])
    };
    for (messages, rest, expected) in [
        (
            user(json!("image, document, web_search_20250305")),
            json!({}),
            true,
        ),
        (
            results(json!("ok")),
            json!({"tools": [{"name": "web_search", "description": "\"type\": \"web_search\"", "input_schema": {}}]}),
            true,
        ),
        (user(image.clone()), json!({}), false),
        (results(image), json!({}), false),
        (
            user(json!([{"type": "document", "source": {}}])),
            json!({}),
            false,
        ),
        (
            user(json!("a")),
            json!({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
            false,
        ),
        (
            user(json!("a")),
            json!({"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
            false,
        ),
        (
            user(json!("a")),
            json!({"tools": [{"type": "bash_20250124", "name": "bash"}]}),
            true,
        ),
        (
            user(json!("a")),
            json!({"mcp_servers": [{"type": "url"}]}),
            false,
        ),
        (user(json!("a")), json!({"mcp_servers": null}), true),
    ] {
        let mut request = rest;
        request["messages"] = messages;
        assert_eq!(is_plain(Wire::Anthropic, &request), expected, "{request}");
    }
    for (request, expected) in [
        (
            json!({"messages": [{"role": "user", "content": "a"}], "tools": [{"type": "function", "function": {"name": "file_search"}}]}),
            true,
        ),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]}),
            false,
        ),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]}),
            false,
        ),
        (
            json!({"messages": [{"role": "user", "content": "a"}], "web_search_options": {}}),
            false,
        ),
    ] {
        assert_eq!(is_plain(Wire::OpenAiChat, &request), expected, "{request}");
    }
    for (tool, expected) in [
        ("function", true),
        ("custom", true),
        ("local_shell", true),
        ("web_search", false),
        ("web_search_preview", false),
        ("file_search", false),
        ("mcp", false),
        ("image_generation", false),
    ] {
        let request =
            json!({"input": [{"role": "user", "content": "a"}], "tools": [{"type": tool}]});
        assert_eq!(
            is_plain(Wire::OpenAiResponses, &request),
            expected,
            "{tool}"
        );
    }
    let kept =
        json!({"input": [{"role": "user", "content": "a"}], "previous_response_id": "resp_1"});
    assert!(!is_plain(Wire::OpenAiResponses, &kept));
}
