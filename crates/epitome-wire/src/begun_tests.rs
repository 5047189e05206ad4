use super::*;

fn begun(wire: Wire, events: &[&str]) -> Begun {
    let mut start = StreamStart::new(wire);
    let mut last = Begun::NotYet;
    for event in events {
        last = start.feed(format!("data: {event}\n\n").as_bytes());
    }
    last
}

#[test]
fn what_every_answer_begins_with_says_nothing() {
    let cases: [(Wire, &[&str]); 3] = [
        (
            Wire::OpenAiChat,
            &[
                r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            ],
        ),
        (
            Wire::OpenAiResponses,
            &[
                r#"{"type":"response.created"}"#,
                r#"{"type":"response.in_progress"}"#,
            ],
        ),
        (
            Wire::Anthropic,
            &[
                r#"{"type":"message_start","message":{}}"#,
                r#"{"type":"ping"}"#,
            ],
        ),
    ];
    for (wire, events) in cases {
        assert_eq!(begun(wire, events), Begun::NotYet);
    }
}

#[test]
fn the_first_word_and_anything_unknown_goes_on() {
    let cases: [(Wire, &str); 7] = [
        (
            Wire::OpenAiChat,
            r#"{"choices":[{"delta":{"content":"Hi"}}]}"#,
        ),
        (
            Wire::OpenAiChat,
            r#"{"choices":[{"delta":{"tool_calls":[{}]}}]}"#,
        ),
        (
            Wire::OpenAiChat,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ),
        (Wire::OpenAiChat, "[DONE]"),
        (
            Wire::OpenAiResponses,
            r#"{"type":"response.output_item.added"}"#,
        ),
        (Wire::Anthropic, r#"{"type":"content_block_start"}"#),
        (
            Wire::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
    ];
    for (wire, event) in cases {
        assert_eq!(begun(wire, &[event]), Begun::Speaks, "{event}");
    }
}

#[test]
fn a_refusal_counts_only_before_the_first_word() {
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}"#;
    let wire = Wire::OpenAiResponses;
    let created = r#"{"type":"response.created"}"#;
    assert!(matches!(begun(wire, &[created, failed]), Begun::TooLong(_)));
    let added = r#"{"type":"response.output_item.added"}"#;
    assert_eq!(begun(wire, &[created, added, failed]), Begun::Speaks);
    let error = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
    let start = r#"{"type":"message_start","message":{}}"#;
    assert!(matches!(
        begun(Wire::Anthropic, &[start, error]),
        Begun::TooLong(_)
    ));
}
