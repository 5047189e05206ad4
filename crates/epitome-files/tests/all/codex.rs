//! Codex: what a compaction behind a rollout says, so that Codex loads it, and what is read from it again.

use std::io::Cursor;

use epitome::{FileOperations, Message, Role};
use epitome_files::{
    FileFormat, Kept, LossCode, NewCompaction, Stamp, Transcript, appended, flat_text, write_file,
};
use serde_json::{Value, json};

const STAMP: Stamp<'_> = Stamp {
    session_id: "s",
    folder: "/work",
    time_ms: 0,
};

/// A rollout of two turns, with numbered entries where it is paginated.
fn rollout(is_paginated: bool) -> String {
    let message = |role: &str, text: &str| {
        let kind = if role == "assistant" {
            "output_text"
        } else {
            "input_text"
        };
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
    };
    let mut meta = json!({"id": "t-1", "cwd": "/home/me/shop", "model_provider": "local",
        "base_instructions": {"text": "You mend things."}});
    if is_paginated {
        meta["history_mode"] = json!("paginated");
    }
    let items = [
        ("session_meta", meta),
        (
            "response_item",
            message("developer", "Ask before you write."),
        ),
        (
            "response_item",
            message(
                "user",
                "<environment_context>\n<cwd>/home/me/shop</cwd>\n</environment_context>",
            ),
        ),
        ("response_item", message("user", "Mend the till.")),
        (
            "event_msg",
            json!({"type": "user_message", "message": "Mend the till."}),
        ),
        (
            "response_item",
            message("assistant", "The drawer sticks.\n"),
        ),
        ("response_item", message("user", "Then oil it.")),
        (
            "response_item",
            json!({"type": "reasoning", "id": "rs_7", "summary": [], "encrypted_content": "gAAA"}),
        ),
        (
            "response_item",
            json!({"type": "function_call", "id": "fc_7", "name": "oil", "arguments": "{\"drops\": 2}", "call_id": "c7"}),
        ),
        (
            "response_item",
            json!({"type": "function_call", "id": "fc_8", "name": "wipe", "arguments": "{}", "call_id": "c8"}),
        ),
        (
            "response_item",
            json!({"type": "function_call_output", "call_id": "c7", "output": "oiled"}),
        ),
        (
            "response_item",
            json!({"type": "function_call_output", "call_id": "c8", "output": "wiped"}),
        ),
        ("world_state", json!({"full": true, "state": {}})),
        (
            "response_item",
            message("developer", "The model was switched."),
        ),
        ("response_item", message("assistant", " It opens. ")),
    ];
    let lines = items.into_iter().enumerate().map(|(at, (kind, payload))| {
        let mut line =
            json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": kind, "payload": payload});
        if is_paginated {
            line["ordinal"] = json!(at);
        }
        format!("{line}\n")
    });
    lines.collect()
}

fn read(file: &[u8]) -> Transcript {
    let transcript = Transcript::collect(&mut Cursor::new(file), FileFormat::Codex).unwrap();
    assert_eq!(transcript.problems.kept, []);
    transcript
}

/// The file with a summary in place of everything before a message of the context.
fn compacted(file: &[u8], summary: &str, from: usize) -> Vec<u8> {
    let transcript = read(file);
    let conversation = &transcript.conversations[0];
    let context = conversation.context();
    let mut messages = vec![Message::text(Role::User, summary)];
    messages.extend(context.messages.iter().skip(from).cloned());
    let places: Vec<Option<usize>> = std::iter::once(None)
        .chain((from..context.messages.len()).map(Some))
        .collect();
    let new = NewCompaction {
        summary,
        first_kept: context.sources[from].unwrap_or(conversation.messages.len()),
        context: &messages,
        places: &places,
        tokens_before: 90,
        tokens_after: 9,
        files: &FileOperations::default(),
    };
    appended(file, FileFormat::Codex, conversation, &new, STAMP).unwrap()
}

fn lines(file: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(file).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn history(file: &[u8]) -> Vec<Value> {
    let lines = lines(file);
    let last = lines.iter().rfind(|line| line["type"] == "compacted");
    let history = &last.unwrap()["payload"]["replacement_history"];
    history.as_array().unwrap().clone()
}

fn said(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<&str> = message.calls().map(|call| &*call.name).collect();
        format!(
            "{} {}{}",
            message.role.as_str(),
            flat_text(message),
            calls.join("+")
        )
    };
    messages.iter().map(line).collect()
}

#[test]
fn numbered_entries_go_on_and_others_stay_without_numbers() {
    for is_paginated in [true, false] {
        let file = rollout(is_paginated);
        let first = compacted(file.as_bytes(), "S1", 5);
        let second = compacted(&first, "S2", 2);
        assert!(second.starts_with(file.as_bytes()));
        for (at, line) in lines(&second).iter().enumerate() {
            let expected = if is_paginated { json!(at) } else { Value::Null };
            assert_eq!(line["ordinal"], expected, "{line}");
        }
    }
}

#[test]
fn what_stays_is_spelled_as_it_was_and_what_codex_says_again_is_left_out() {
    let file = rollout(true);
    // From the second request on; the developer's and the environment's messages are in the context before it.
    let first = compacted(file.as_bytes(), "S1", 5);
    let items = history(&first);
    let original = lines(file.as_bytes());
    let kept: Vec<&Value> = [6, 7, 8, 9, 10, 11, 14]
        .map(|at| &original[at]["payload"])
        .to_vec();
    assert_eq!(items[0]["content"][0]["text"], "S1");
    assert_eq!(items.iter().skip(1).collect::<Vec<_>>(), kept);
    // All of the context: neither the developer nor the environment stands in it.
    let all = history(&compacted(file.as_bytes(), "S1", 0)).len();
    assert_eq!(all, 1 + 2 + kept.len());
    // The second one takes what the first one kept, word for word too.
    let again = history(&compacted(&first, "S2", 2));
    assert_eq!(again.iter().skip(1).collect::<Vec<_>>(), kept);
}

#[test]
fn the_whole_history_is_read_again() {
    let file = compacted(rollout(true).as_bytes(), "S1", 5);
    let transcript = read(&file);
    let conversation = &transcript.conversations[0];
    let Kept::Replaced(messages) = &conversation.compactions[0].kept else {
        panic!("a history");
    };
    let expected = [
        "user S1",
        "user Then oil it.",
        "assistant oil+wipe",
        "tool oiled",
        "tool wiped",
        "assistant It opens.",
    ];
    assert_eq!(said(messages), expected);
    let context = conversation.context().messages;
    assert_eq!(said(&context)[0], "system You mend things.");
    assert_eq!(said(&context)[1..], expected);
}

#[test]
fn other_formats_get_the_end_of_the_history_too() {
    let file = compacted(rollout(true).as_bytes(), "S1", 5);
    for format in [FileFormat::Pi, FileFormat::ClaudeCode] {
        let transcript = read(&file);
        let written = write_file(&transcript.conversations[0], format, STAMP).unwrap();
        let is_told = |code| written.losses.iter().any(|loss| loss.code == code);
        assert!(!is_told(LossCode::Replacement), "{format}");
        let again = Transcript::collect(&mut Cursor::new(written.bytes), format).unwrap();
        let context = again.conversations[0].context();
        let shown: Vec<String> = said(&context.messages)
            .into_iter()
            .filter(|line| !line.starts_with("system "))
            .collect();
        let expected = [
            "user S1",
            "user Then oil it.",
            "assistant oil+wipe",
            "tool oiled",
            "tool wiped",
            "assistant It opens.",
        ];
        assert_eq!(shown, expected, "{format}");
    }
}

#[test]
fn a_history_of_codex_itself_is_told_with_its_requests() {
    let mut file = rollout(false);
    let text = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let history = [
        text("Mend the till."),
        text("Then oil it."),
        text("They said: done."),
    ];
    let line = json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": "compacted",
        "payload": {"message": "They said: done.", "replacement_history": history}});
    file.push_str(&format!("{line}\n"));
    let transcript = read(file.as_bytes());
    let written = write_file(&transcript.conversations[0], FileFormat::Pi, STAMP).unwrap();
    let codes: Vec<LossCode> = written.losses.iter().map(|loss| loss.code).collect();
    assert!(codes.contains(&LossCode::Replacement), "{codes:?}");
    let again = Transcript::collect(&mut Cursor::new(written.bytes), FileFormat::Pi).unwrap();
    let context = again.conversations[0].context();
    let last = context.messages.last().map(flat_text).unwrap();
    assert_eq!(last, "Mend the till.\n\nThen oil it.\n\nThey said: done.");
}
