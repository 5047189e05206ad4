//! Claude Code: what a compaction behind a log says, so that Claude Code loads it, and which entries count.

use std::io::Cursor;

use epitome::{Block, FileOperations, Message};
use epitome_files::{
    Conversation, Counts, Event, FileFormat, NewCompaction, Stamp, Transcript, appended, flat_text,
    read_file,
};
use serde_json::{Value, json};

const STAMP: Stamp<'_> = Stamp {
    session_id: "s",
    folder: "/work",
    time_ms: 0,
};

/// A log, entry by entry. The parent of an entry is the one before it unless another is named.
#[derive(Default)]
struct Log {
    text: String,
    parent: Option<String>,
}

impl Log {
    fn add(&mut self, id: &str, kind: &str, members: &Value) {
        let parent = self.parent.take();
        self.add_behind(parent.as_deref(), id, kind, members);
    }

    fn add_behind(&mut self, parent: Option<&str>, id: &str, kind: &str, members: &Value) {
        let mut entry = json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "type": kind, "uuid": id,
            "timestamp": "2026-01-02T03:04:05.678Z"});
        for (name, value) in members.as_object().unwrap() {
            entry[name] = value.clone();
        }
        self.text.push_str(&format!("{entry}\n"));
        self.parent = Some(id.to_owned());
    }

    fn user(&mut self, id: &str, text: &str) {
        self.add(
            id,
            "user",
            &json!({"message": {"role": "user", "content": text}}),
        );
    }

    fn answer(&mut self, id: &str, answer: &str, block: &Value) {
        let message = json!({"role": "assistant", "id": answer, "content": [block]});
        self.add(id, "assistant", &json!({"message": message}));
    }

    fn result(&mut self, parent: &str, id: &str, call: &str) {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": format!("result {call}")});
        let members = json!({"message": {"role": "user", "content": [block]}});
        self.add_behind(Some(parent), id, "user", &members);
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

/// Two turns; the second has three parallel calls, whose results hang beside each other.
fn parallel() -> Log {
    let mut log = Log::default();
    log.user("u1", "Mend the till.");
    log.answer("a1", "m1", &text("The drawer sticks."));
    log.user("u2", "Look at all of it.");
    log.add(
        "n1",
        "attachment",
        &json!({"attachment": {"type": "task_reminder", "content": []}}),
    );
    log.answer(
        "a2",
        "m2",
        &json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
    );
    log.answer("a3", "m2", &call("c1"));
    log.answer("a4", "m2", &call("c2"));
    log.answer("a5", "m2", &call("c3"));
    log.result("a3", "r1", "c1");
    log.result("a5", "r3", "c3");
    log.result("a4", "r2", "c2");
    log.answer("a6", "m3", &text("It is rust."));
    log
}

fn read(file: &str) -> Conversation {
    let mut transcript =
        Transcript::collect(&mut Cursor::new(file), FileFormat::ClaudeCode).unwrap();
    assert_eq!(transcript.problems.kept, []);
    transcript.conversations.remove(0)
}

fn lines(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<&str> = message.calls().map(|call| &*call.id).collect();
        format!(
            "{} {}{}",
            message.role.as_str(),
            flat_text(message),
            calls.join("+")
        )
    };
    messages.iter().map(line).collect()
}

fn compacted(file: &str, summary: &str, first_kept: usize) -> String {
    let conversation = read(file);
    let new = NewCompaction {
        summary,
        first_kept,
        context: &[],
        places: &[],
        tokens_before: 9,
        tokens_after: 1,
        files: &FileOperations::default(),
    };
    let bytes = appended(
        file.as_bytes(),
        FileFormat::ClaudeCode,
        &conversation,
        &new,
        Stamp {
            session_id: summary,
            ..STAMP
        },
    );
    String::from_utf8(bytes.unwrap()).unwrap()
}

/// What the last boundary says of the entries that stay, and the id of the summary behind it.
fn boundary(file: &str) -> (Value, String) {
    let entries: Vec<Value> = file
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found = |test: &dyn Fn(&Value) -> bool| entries.iter().rfind(|entry| test(entry)).unwrap();
    let boundary = found(&|entry| entry["subtype"] == "compact_boundary");
    let summary = found(&|entry| entry["isCompactSummary"] == true);
    let id = summary["uuid"].as_str().unwrap().to_owned();
    (boundary["compactMetadata"].clone(), id)
}

#[test]
fn every_entry_that_stays_is_named_so_that_parallel_calls_stay_whole() {
    // From the answer with the calls on: its thinking, the calls and their results.
    let file = compacted(&parallel().text, "S1", 3);
    let (metadata, summary) = boundary(&file);
    let kept = json!(["a2", "a3", "a4", "a5", "r1", "r3", "r2", "a6"]);
    assert_eq!(
        metadata["preservedMessages"],
        json!({"anchorUuid": summary, "uuids": kept, "allUuids": kept})
    );
    assert_eq!(
        metadata["preservedSegment"],
        json!({"headUuid": "a2", "anchorUuid": summary, "tailUuid": "a6"})
    );
    let context = read(&file).context();
    let expected = [
        "user S1",
        "assistant c1+c2+c3",
        "tool result c1",
        "tool result c3",
        "tool result c2",
        "assistant It is rust.",
    ];
    assert_eq!(lines(&context.messages), expected);
}

#[test]
fn a_second_compaction_keeps_what_the_first_one_kept() {
    let first = compacted(&parallel().text, "S1", 2);
    let second = compacted(&first, "S2", 3);
    let (metadata, _) = boundary(&second);
    // What the first compaction wrote itself is not among them.
    let kept = json!(["a2", "a3", "a4", "a5", "r1", "r3", "r2", "a6"]);
    assert_eq!(metadata["preservedMessages"]["uuids"], kept);
    let context = read(&second).context();
    assert_eq!(context.messages.len(), 6);
    assert_eq!(lines(&context.messages)[0], "user S2");

    // An attachment between request and answer stays with the request.
    let (metadata, _) = boundary(&first);
    let kept = metadata["preservedMessages"]["uuids"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(kept[..2], [json!("u2"), json!("n1")]);
}

#[test]
fn what_the_user_took_back_is_no_part_of_the_conversation() {
    let mut log = parallel();
    log.user("u3", "Paint it green.");
    log.answer("a7", "m4", &call("c4"));
    log.result("a7", "r4", "c4");
    log.answer("a8", "m5", &text("Green it is."));
    // The user goes back and asks for something else.
    log.parent = Some("a6".to_owned());
    log.user("u4", "Paint it blue.");
    log.answer("a9", "m6", &text("Blue it is."));
    let conversation = read(&log.text);
    let said = lines(&conversation.messages);
    assert_eq!(
        said[said.len() - 3..],
        [
            "assistant It is rust.",
            "user Paint it blue.",
            "assistant Blue it is."
        ]
    );
    let mut counts = Counts::default();
    let mut source = Cursor::new(&log.text);
    read_file(&mut source, FileFormat::ClaudeCode, &mut |event| {
        counts.add(&event);
    })
    .unwrap();
    assert_eq!(counts.finish().asides["rewound"], 4);
    // Nor does it come back with a compaction.
    let (metadata, _) = boundary(&compacted(&log.text, "S1", 7));
    assert_eq!(
        metadata["preservedMessages"]["uuids"],
        json!(["a6", "u4", "a9"])
    );
}

#[test]
fn signatures_are_no_text_and_what_the_provider_counted_is_told_once_for_each_answer() {
    let signature = "c2ln".repeat(500);
    let answer = |block: Value, output: u64| {
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 97,
            "output_tokens": output});
        let message = json!({"role": "assistant", "id": "m1", "content": [block], "usage": usage});
        json!({"message": message})
    };
    let mut log = Log::default();
    log.user("u1", "Mend the till.");
    let thought = json!({"type": "thinking", "thinking": "hm, hm", "signature": signature});
    log.add("a1", "assistant", &answer(thought, 1));
    log.add("a2", "assistant", &answer(text("It sticks."), 42));
    // Some answers show nothing of what was thought.
    let thought = json!({"type": "thinking", "thinking": "", "signature": signature});
    log.user("u2", "And?");
    log.answer("a3", "m2", &thought);
    log.answer("a4", "m2", &text("Oil it."));
    let mut events = Vec::new();
    let mut source = Cursor::new(&log.text);
    read_file(&mut source, FileFormat::ClaudeCode, &mut |event| {
        events.push(event);
    })
    .unwrap();
    let used: Vec<(u64, u64)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(used, [(1_000, 42)]);
    let messages = read(&log.text).messages;
    let chars = |message: &Message| match message.blocks.first() {
        Some(Block::Thinking { chars }) => Some(*chars),
        _ => None,
    };
    assert_eq!(
        (chars(&messages[1]), chars(&messages[3])),
        (Some(6), Some(0))
    );
}
