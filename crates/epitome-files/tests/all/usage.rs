//! What files tell of models, times and caches.

use std::io::Cursor;

use epitome_files::{CacheUsage, Conversation, FileFormat, Transcript, Usage};
use serde_json::{Value, json};

const NOON_MS: u64 = 1_767_355_200_000;

fn read(format: FileFormat, lines: &[Value]) -> Conversation {
    let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let transcript = Transcript::collect(&mut Cursor::new(file), format).unwrap();
    transcript.conversations.into_iter().next().unwrap()
}

fn at(second: u64) -> String {
    format!("2026-01-02T12:00:{second:02}.000Z")
}

fn times(conversation: &Conversation) -> Vec<Option<u64>> {
    let times = conversation.origins.iter().map(|origin| origin.at_ms);
    times
        .map(|time| time.map(|time| (time - NOON_MS) / 1_000))
        .collect()
}

#[test]
fn claude_code_tells_each_answer_once_and_where_it_stands() {
    let user = |number: u64, text: &str| {
        json!({"type": "user", "uuid": format!("u{number}"), "timestamp": at(number),
        "message": {"role": "user", "content": text}})
    };
    let answer = |number: u64, id: &str, model: &str, content: Value, output: u64| {
        json!({"type": "assistant", "uuid": format!("u{number}"), "timestamp": at(number),
        "message": {"id": id, "role": "assistant", "model": model, "content": [content],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 70,
                "cache_creation": {"ephemeral_1h_input_tokens": 60}, "output_tokens": output}}})
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let conversation = read(
        FileFormat::ClaudeCode,
        &[
            user(1, "Hello."),
            answer(
                2,
                "a",
                "claude-opus-4-6",
                json!({"type": "thinking", "thinking": "hm"}),
                1,
            ),
            answer(4, "a", "claude-opus-4-6", text("Hello to you."), 9),
            user(5, "Go on."),
            answer(6, "b", "<synthetic>", text("No more tokens."), 0),
        ],
    );
    assert_eq!(conversation.model.as_deref(), Some("claude-opus-4-6"));
    assert_eq!(times(&conversation), [Some(1), Some(4), Some(5), Some(6)]);
    let first = Usage {
        input_tokens: 573,
        output_tokens: 9,
        reasoning_tokens: 0,
        cache: Some(CacheUsage {
            read_tokens: 500,
            write_tokens: 70,
            write_1h_tokens: 60,
        }),
        messages: 1,
        at_ms: Some(NOON_MS + 2_000),
    };
    assert_eq!(conversation.usage.len(), 2);
    assert_eq!(conversation.usage[0], first);
    assert_eq!(conversation.usage[1].messages, 3);
}

#[test]
fn codex_tells_what_was_read_and_what_was_only_thought() {
    let entry = |second: u64, kind: &str, payload: Value| json!({"timestamp": at(second), "type": kind, "payload": payload});
    let message = |second: u64, role: &str, text: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        let content = json!([{"type": kind, "text": text}]);
        entry(
            second,
            "response_item",
            json!({"type": "message", "role": role, "content": content}),
        )
    };
    let counted = |second: u64, input: u64, read: u64, total: u64| {
        let usage = json!({"input_tokens": input, "cached_input_tokens": read, "output_tokens": 40, "reasoning_output_tokens": 30});
        let info = json!({"total_token_usage": {"input_tokens": total}, "last_token_usage": usage});
        entry(
            second,
            "event_msg",
            json!({"type": "token_count", "info": info}),
        )
    };
    let conversation = read(
        FileFormat::Codex,
        &[
            entry(0, "session_meta", json!({"id": "s", "cwd": "/"})),
            entry(0, "turn_context", json!({"model": "gpt-5.5"})),
            message(1, "user", "Hello."),
            message(2, "assistant", "Hello to you."),
            counted(3, 2_000, 1_024, 2_000),
            counted(3, 2_000, 1_024, 2_000),
            message(4, "user", "Go on."),
            message(5, "assistant", "Gladly."),
            counted(6, 2_100, 1_920, 4_100),
        ],
    );
    assert_eq!(conversation.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(times(&conversation), [Some(1), Some(2), Some(4), Some(5)]);
    let usage: Vec<(usize, u64, u64, Option<u64>)> = conversation
        .usage
        .iter()
        .map(|usage| {
            let read = usage.cache.map(|cache| cache.read_tokens);
            (
                usage.messages,
                usage.input_tokens,
                usage.reasoning_tokens,
                read,
            )
        })
        .collect();
    assert_eq!(
        usage,
        [(1, 2_000, 30, Some(1_024)), (3, 2_100, 30, Some(1_920))]
    );
}

#[test]
fn pi_tells_what_was_read_and_written() {
    let entry = |number: u64, message: Value| {
        let parent = number.checked_sub(1).filter(|before| *before > 0);
        json!({"type": "message", "id": format!("{number:08x}"), "parentId": parent.map(|before| format!("{before:08x}")),
            "timestamp": at(number), "message": message})
    };
    let conversation = read(
        FileFormat::Pi,
        &[
            json!({"type": "session", "version": 3, "id": "s", "timestamp": at(0), "cwd": "/"}),
            entry(1, json!({"role": "user", "content": "Hello."})),
            entry(
                2,
                json!({"role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "Hello to you."}],
                "usage": {"input": 3, "output": 9, "cacheRead": 100, "cacheWrite": 20}}),
            ),
        ],
    );
    assert_eq!(conversation.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(times(&conversation), [Some(1), Some(2)]);
    let [usage] = conversation.usage[..] else {
        panic!("{:?}", conversation.usage);
    };
    assert_eq!((usage.input_tokens, usage.messages), (123, 1));
    let cache = usage.cache.unwrap();
    assert_eq!((cache.read_tokens, cache.write_tokens), (100, 20));
}

#[test]
fn a_file_without_times_and_models_says_nothing_of_them() {
    let file = json!({"id": "s", "format": "test", "compactions": [],
        "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello to you."}]});
    let conversation = read(FileFormat::Unified, &[file]);
    assert_eq!(times(&conversation), [None, None]);
    assert_eq!((conversation.model, conversation.usage), (None, vec![]));
}
