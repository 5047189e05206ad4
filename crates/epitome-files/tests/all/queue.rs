//! What was typed while Claude Code worked: a message where the model got it, and never a second one.

use std::io::Cursor;

use epitome::{Block, FileOperations, Message};
use epitome_files::{Counts, FileFormat, NewCompaction, Stamp, appended, read_file, repaired};

use crate::small::{line, read, shape};

const STAMP: Stamp<'_> = Stamp {
    session_id: "s",
    folder: "/w",
    time_ms: 0,
};

fn queue(operation: &str) -> String {
    format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"t","sessionId":"s"}}"#
    )
}

fn queue_text(operation: &str, text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"t","sessionId":"s","content":{text}}}"#
    )
}

fn user(id: &str, text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        r#"{{"type":"user","uuid":"{id}","sessionId":"s","message":{{"role":"user","content":{text}}}}}"#
    )
}

fn says(id: &str, answer: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","sessionId":"s","message":{{"id":"{answer}","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn calls(id: &str, answer: &str, call: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","sessionId":"s","message":{{"id":"{answer}","role":"assistant","content":[{{"type":"tool_use","id":"{call}","name":"Read","input":{{}}}}]}}}}"#
    )
}

fn result(id: &str, call: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","sessionId":"s","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"ok"}}]}}}}"#
    )
}

fn file(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A prompt goes to the model in the middle of two parallel calls.
fn absorbed() -> String {
    file(&[
        user("1", "go"),
        calls("2", "m1", "a"),
        queue_text("enqueue", "on a branch"),
        result("3", "a"),
        calls("4", "m1", "b"),
        queue("remove"),
        result("5", "b"),
        says("6", "m2", "on a branch it is"),
    ])
}

const TASK: &str =
    r#"{"task_id":"b1","tool_use_id":"x","description":"test","task_type":"local_bash"}"#;

#[test]
fn a_queued_prompt_stands_behind_the_results_it_was_sent_with() {
    assert_eq!(
        shape(&absorbed()),
        [
            "user go",
            "assistant  call a Read {} call b Read {}",
            "tool ok",
            "tool ok",
            "user on a branch",
            "assistant on a branch it is",
        ]
    );
    let origin = &read(&absorbed()).conversations[0].origins[4];
    assert_eq!((origin.id.clone(), origin.position.line), (None, Some(3)));
    // The file may end before the answer comes.
    let open = file(&[
        user("1", "go"),
        queue_text("enqueue", "more"),
        queue("remove"),
    ]);
    assert_eq!(shape(&open), ["user go", "user more"]);
}

#[test]
fn a_dequeued_prompt_is_the_user_entry_that_follows() {
    let text = file(&[
        user("1", "go"),
        queue_text("enqueue", "and then this"),
        says("2", "m1", "gone"),
        queue("dequeue"),
        user("3", "and then this"),
        says("4", "m2", "done"),
    ]);
    let expected = [
        "user go",
        "assistant gone",
        "user and then this",
        "assistant done",
    ];
    assert_eq!(shape(&text), expected);
    // Some versions write no `dequeue`, and some a `remove` with a reason of its own.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        shape(&text.replace(&format!("{}\n", lines[3]), "")),
        expected
    );
    assert_eq!(shape(&text.replace("dequeue", "remove")), expected);
}

#[test]
fn what_the_user_takes_back_was_never_said() {
    let one = |taken: &[String]| {
        let mut lines = vec![
            user("1", "go"),
            queue_text("enqueue", "no"),
            queue_text("enqueue", "never"),
        ];
        lines.extend_from_slice(taken);
        lines.extend([queue("remove"), says("2", "m1", "gone")]);
        shape(&file(&lines))
    };
    assert_eq!(one(&[queue("popAll")]), ["user go", "assistant gone"]);
    assert_eq!(
        one(&[queue_text("popAll", "no\nnever")]),
        ["user go", "assistant gone"]
    );
    assert_eq!(
        one(&[queue_text("popAll", "no")]),
        ["user go", "user never", "assistant gone"]
    );
    let cancelled = queue_text("remove", "never")
        .replace("\"content\"", "\"reason\":\"cancelled\",\"content\"");
    assert_eq!(one(&[cancelled]), ["user go", "user no", "assistant gone"]);
    // What still waits when the file ends was not said either.
    let waiting = file(&[
        user("1", "go"),
        queue_text("enqueue", "later"),
        says("2", "m1", "gone"),
    ]);
    assert_eq!(shape(&waiting), ["user go", "assistant gone"]);
}

#[test]
fn the_same_prompt_queued_twice_is_two_messages() {
    let text = file(&[
        user("1", "go"),
        queue_text("enqueue", "faster"),
        queue_text("enqueue", "faster"),
        queue("remove"),
        queue("remove"),
        says("2", "m1", "yes"),
    ]);
    let expected = ["user go", "user faster", "user faster", "assistant yes"];
    assert_eq!(shape(&text), expected);
    // One at once, the other as an entry of its own.
    let text = file(&[
        user("1", "go"),
        queue_text("enqueue", "faster"),
        queue_text("enqueue", "faster"),
        queue("remove"),
        says("2", "m1", "yes"),
        queue("dequeue"),
        user("3", "faster"),
    ]);
    assert_eq!(
        shape(&text),
        ["user go", "user faster", "assistant yes", "user faster"]
    );
}

#[test]
fn a_prompt_goes_before_what_the_client_tells_itself() {
    let note = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";
    let text = file(&[
        user("1", "go"),
        calls("2", "m1", "a"),
        queue_text("enqueue", TASK),
        queue_text("enqueue", note),
        queue_text("enqueue", "look"),
        queue("remove"),
        result("3", "a"),
        says("4", "m2", "looked"),
        // The end of the turn: the task goes without a word, the notification becomes an entry.
        queue("remove"),
        queue("dequeue"),
        user("5", note),
    ]);
    let said = format!("user {note}");
    assert_eq!(
        shape(&text),
        [
            "user go",
            "assistant  call a Read {}",
            "tool ok",
            "user look",
            "assistant looked",
            &said
        ]
    );
    // A prompt that came too late for the turn waits while the task is removed.
    let late = file(&[
        user("1", "go"),
        queue_text("enqueue", TASK),
        queue_text("enqueue", "late"),
        says("2", "m1", "gone"),
        queue("remove"),
        queue("dequeue"),
        user("3", "late"),
        says("4", "m2", "yes"),
    ]);
    assert_eq!(
        shape(&late),
        ["user go", "assistant gone", "user late", "assistant yes"]
    );
}

#[test]
fn a_prompt_sent_before_a_compaction_stands_before_it() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"8","sessionId":"s","compactMetadata":{"trigger":"auto"}}"#;
    let summary = r#"{"type":"user","uuid":"9","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"S"}}"#;
    let text = file(&[
        user("1", "go"),
        queue_text("enqueue", "more"),
        queue("remove"),
        boundary.to_owned(),
        summary.to_owned(),
        says("10", "m1", "on"),
    ]);
    assert_eq!(
        shape(&text),
        ["user go", "user more", "assistant on", "compaction at 2: S"]
    );
}

#[test]
fn a_compaction_or_a_repair_keeps_the_lines_of_the_queue() {
    let text = absorbed();
    let conversation = &read(&text).conversations[0];
    for first_kept in 1..conversation.messages.len() {
        let new = NewCompaction {
            summary: "S",
            first_kept,
            context: &[],
            places: &[],
            tokens_before: 9,
            tokens_after: 1,
            files: &FileOperations::default(),
        };
        let format = FileFormat::ClaudeCode;
        let bytes = appended(text.as_bytes(), format, conversation, &new, STAMP).unwrap();
        let again = String::from_utf8(bytes).unwrap();
        assert!(again.starts_with(&text));
        let context = read(&again).conversations[0].context();
        let expected = conversation.messages.iter().skip(first_kept).map(line);
        let expected: Vec<String> = std::iter::once("user S".to_owned())
            .chain(expected)
            .collect();
        let lines: Vec<String> = context.messages.iter().map(line).collect();
        assert_eq!(lines, expected, "from {first_kept}");
    }
    let torn = format!("{text}{{\"type\":\"us");
    let repaired = repaired(torn.as_bytes(), FileFormat::ClaudeCode, STAMP).unwrap();
    assert_eq!(repaired.bytes, text.as_bytes());

    let mut counts = Counts::default();
    let mut source = Cursor::new(&text);
    read_file(&mut source, FileFormat::ClaudeCode, &mut |event| {
        counts.add(&event);
    })
    .unwrap();
    let counts = counts.finish();
    assert!(counts.problems.kept.is_empty());
    assert_eq!((counts.messages, counts.by_role["user"]), (6, 2));
}

/// What newer versions write where a queued text is handed to the model.
fn attachment(id: &str, text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        r#"{{"type":"attachment","uuid":"{id}","sessionId":"s","attachment":{{"type":"queued_command","prompt":{text},"commandMode":"prompt"}}}}"#
    )
}

#[test]
fn an_attached_prompt_is_one_message_with_or_without_its_lines_in_the_queue() {
    let (enqueue, remove) = (queue_text("enqueue", "on a branch"), queue("remove"));
    let removed = queue_text("remove", "on a branch");
    let attached = attachment("4", "on a branch");
    let orders: [&[&String]; 6] = [
        &[&attached],
        &[&enqueue, &attached],
        &[&enqueue, &remove, &attached],
        &[&enqueue, &removed, &attached],
        &[&enqueue, &attached, &remove],
        &[&enqueue, &attached, &removed],
    ];
    for order in orders {
        let mut lines = vec![user("1", "go"), calls("2", "m1", "a"), result("3", "a")];
        lines.extend(order.iter().map(|line| (*line).clone()));
        lines.push(says("5", "m2", "on a branch it is"));
        let text = file(&lines);
        let expected = [
            "user go",
            "assistant  call a Read {}",
            "tool ok",
            "user on a branch",
            "assistant on a branch it is",
        ];
        assert_eq!(shape(&text), expected, "{order:?}");
        let origin = &read(&text).conversations[0].origins[3];
        assert_eq!(origin.id.as_deref(), Some("4"), "{order:?}");
    }
}

#[test]
fn news_of_tasks_is_what_the_client_put_there() {
    let note = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>\nRead the output.";
    let text = file(&[
        user("1", "go"),
        queue_text("enqueue", note),
        queue("remove"),
        says("2", "m1", "on"),
        user("3", note),
        attachment("4", &note.replace("b1", "b2")),
        says("5", "m2", "done"),
    ]);
    let messages = read(&text).conversations[0].messages.clone();
    let is_injected = |message: &Message| matches!(message.blocks.as_slice(), [Block::Injected(_)]);
    let found: Vec<bool> = messages.iter().map(is_injected).collect();
    assert_eq!(found, [false, true, false, true, true, false]);
}
