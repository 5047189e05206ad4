//! OpenCode's exports: what the model got, not what the file still holds.

use std::io::Cursor;

use epitome::{Block, Message};
use epitome_files::{
    Counts, Event, FileFormat, Kept, ProblemCode, Transcript, flat_text, read_file,
};
use serde_json::{Value, json};

fn message(role: &str, id: &str, mut info: Value, parts: &[Value]) -> Value {
    info["role"] = json!(role);
    info["id"] = json!(id);
    info["sessionID"] = json!("ses_1");
    json!({"info": info, "parts": parts})
}

fn user(id: &str, parts: &[Value]) -> Value {
    message("user", id, json!({"agent": "build"}), parts)
}

fn assistant(id: &str, parts: &[Value]) -> Value {
    let tokens =
        json!({"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 80, "write": 5}});
    message(
        "assistant",
        id,
        json!({"finish": "stop", "tokens": tokens}),
        parts,
    )
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool(call: &str, state: Value) -> Value {
    let mut state = state;
    state["input"] = json!({"path": "till.rs"});
    json!({"type": "tool", "callID": call, "tool": "read", "state": state})
}

fn export(messages: &[Value]) -> String {
    let info = json!({"id": "ses_1", "directory": "/srv/shop", "title": "till", "version": "1.2.26",
        "time": {"created": 1, "updated": 2}});
    serde_json::to_string_pretty(&json!({"info": info, "messages": messages})).unwrap()
}

fn read(file: &str) -> Transcript {
    assert_eq!(
        FileFormat::sniff(file.as_bytes()),
        Some(FileFormat::OpenCode)
    );
    Transcript::collect(&mut Cursor::new(file), FileFormat::OpenCode).unwrap()
}

fn lines(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<String> = message
            .calls()
            .map(|call| format!(" {}", call.id))
            .collect();
        let failed = message.results().any(|result| result.is_error);
        let failed = if failed { " failed" } else { "" };
        format!(
            "{} {}{}{failed}",
            message.role.as_str(),
            flat_text(message),
            calls.concat()
        )
    };
    messages.iter().map(line).collect()
}

#[test]
fn a_step_is_an_answer_with_its_calls_and_what_the_model_got_back() {
    let file = export(&[
        user(
            "msg_1",
            &[
                text("Mend the till."),
                json!({"type": "text", "text": "Use plan mode.", "synthetic": true}),
                json!({"type": "file", "mime": "image/png", "url": "data:"}),
                json!({"type": "file", "mime": "text/plain", "url": "file:"}),
            ],
        ),
        assistant(
            "msg_2",
            &[
                json!({"type": "step-start", "snapshot": "x"}),
                json!({"type": "reasoning", "text": "hm", "metadata": {"openai": {"reasoningEncryptedContent": "gAAA"}}}),
                tool(
                    "REDACTED",
                    json!({"status": "completed", "output": "fn till() {}", "metadata": {"preview": "fn till"}, "time": {"start": 1, "end": 2}}),
                ),
                tool(
                    "REDACTED",
                    json!({"status": "completed", "output": "long ago", "time": {"start": 1, "end": 2, "compacted": 3}}),
                ),
                tool("c3", json!({"status": "error", "error": "no such file"})),
                tool("c4", json!({"status": "running"})),
                json!({"type": "step-finish", "reason": "tool-calls"}),
                json!({"type": "patch", "hash": "h", "files": ["till.rs"]}),
            ],
        ),
        assistant("msg_3", &[text("It opens.")]),
        message(
            "assistant",
            "msg_4",
            json!({"error": {"name": "MessageAbortedError"}}),
            &[],
        ),
        user(
            "msg_5",
            &[json!({"type": "subtask", "prompt": "look", "agent": "general"})],
        ),
    ]);
    let transcript = read(&file);
    assert_eq!(transcript.problems.kept, []);
    let conversation = &transcript.conversations[0];
    assert_eq!(conversation.id.as_deref(), Some("ses_1"));
    assert_eq!(conversation.folder.as_deref(), Some("/srv/shop"));
    assert_eq!(
        lines(&conversation.messages),
        [
            "user Mend the till.\nUse plan mode.\n[image]",
            "assistant  REDACTED REDACTED-2 c3 c4",
            "tool fn till() {}",
            "tool [Old tool result content cleared]",
            "tool no such file failed",
            "tool [Tool execution was interrupted] failed",
            "assistant It opens.",
            "user The following tool was executed by the user",
        ]
    );
    let blocks = &conversation.messages[0].blocks;
    assert!(matches!(blocks[1], Block::Injected(_)), "{blocks:?}");
    assert_eq!(
        conversation.messages[1].blocks[0],
        Block::Thinking { chars: 2 }
    );

    let mut counts = Counts::default();
    let mut used = Vec::new();
    read_file(
        &mut Cursor::new(&file),
        FileFormat::OpenCode,
        &mut |event| {
            if let Event::Usage(usage) = &event {
                used.push((usage.input_tokens, usage.output_tokens));
            }
            counts.add(&event);
        },
    )
    .unwrap();
    let counts = counts.finish();
    assert_eq!((counts.calls, counts.unanswered, counts.orphans), (4, 0, 0));
    assert_eq!(counts.asides["pruned_result"], 1);
    assert_eq!(used, [(95, 5), (95, 5)]);
}

#[test]
fn a_compaction_is_a_marker_and_a_finished_summary() {
    let marker = |tail: Value| {
        let mut part = json!({"type": "compaction", "auto": true});
        if !tail.is_null() {
            part["tail_start_id"] = tail;
        }
        user("msg_m", &[part])
    };
    let summary = |info: Value| message("assistant", "msg_s", info, &[text("It sticks.")]);
    let file = |marker: Value, summary: Value| {
        export(&[
            user("msg_1", &[text("Mend the till.")]),
            assistant("msg_2", &[text("It sticks.")]),
            user("msg_3", &[text("Oil it.")]),
            assistant("msg_4", &[text("Oiled.")]),
            marker,
            summary,
            user("msg_5", &[text("And now?")]),
        ])
    };
    let whole = json!({"summary": true, "finish": "stop", "mode": "compaction"});
    let transcript = read(&file(marker(json!("msg_3")), summary(whole.clone())));
    let conversation = &transcript.conversations[0];
    assert_eq!(conversation.messages.len(), 5);
    assert_eq!(conversation.compactions[0].trigger.as_deref(), Some("auto"));
    let context = conversation.context();
    assert_eq!(
        lines(&context.messages),
        [
            "user It sticks.",
            "user Oil it.",
            "assistant Oiled.",
            "user And now?"
        ]
    );
    // Older versions keep nothing, and a summary that was cut off counts for nothing.
    let transcript = read(&file(marker(Value::Null), summary(whole.clone())));
    assert_eq!(
        transcript.conversations[0].compactions[0].kept,
        Kept::Nothing
    );
    let transcript = read(&file(
        marker(Value::Null),
        summary(json!({"summary": true})),
    ));
    assert_eq!(transcript.conversations[0].compactions, []);
    let transcript = read(&file(marker(json!("msg_0")), summary(whole)));
    assert_eq!(
        transcript.problems.kept[0].code,
        ProblemCode::FirstKeptMissing
    );
}

#[test]
fn a_request_body_is_no_export() {
    let body = r#"{"info": "x", "messages": [{"role": "user", "content": "hello"}]}"#;
    assert_eq!(FileFormat::sniff(body.as_bytes()), None);
}
