use epitome::{
    Block, Call, FileOperations, Message, ResultPart, Role, TOOL_FAILURE_CHARS, ToolResult,
};

use crate::support::{property, text};

fn call(id: &str, name: &str, arguments: &str) -> Message {
    Message {
        role: Role::Assistant,
        blocks: vec![Block::Call(Call::new(id, name, arguments))],
    }
}

fn answer(id: &str, text: &str, is_error: bool) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(text.to_owned())],
            is_error,
        })],
    }
}

/// The files that one call reads, and those that it changes.
fn check(name: &str, arguments: &str, read: &[&str], modified: &[&str]) {
    let found = FileOperations::of(&[call("a", name, arguments)]);
    assert_eq!(found.read_files, read, "{name} {arguments}");
    assert_eq!(found.modified_files, modified, "{name} {arguments}");
}

#[test]
fn tools_of_common_agents_are_known() {
    check(
        "Read",
        r#"{"file_path": "/a/b.rs", "limit": 20}"#,
        &["/a/b.rs"],
        &[],
    );
    check(
        "read",
        r#"{"path":"./docs/theme.md"}"#,
        &["docs/theme.md"],
        &[],
    );
    check(
        "mcp__filesystem__read_multiple_files",
        r#"{"paths":["b","a"]}"#,
        &["a", "b"],
        &[],
    );
    check(
        "functions.view",
        r#"{"filename":"x y.txt"}"#,
        &["x y.txt"],
        &[],
    );
    check(
        "cat",
        r#"{"file":"file:///etc/hosts"}"#,
        &["/etc/hosts"],
        &[],
    );
    check(
        "Edit",
        r#"{"file_path":"a.go","old_string":"{\"path\":\"no\"}"}"#,
        &[],
        &["a.go"],
    );
    check(
        "write_to_file",
        r#"{"path":"a","content":"path"}"#,
        &[],
        &["a"],
    );
    check(
        "MultiEdit",
        r#"{"edits":[{"old":"x"}],"file_path":"a"}"#,
        &[],
        &["a"],
    );
    check(
        "str_replace_editor",
        r#"{"command":"view","path":"a"}"#,
        &["a"],
        &[],
    );
    check(
        "str_replace_based_edit_tool",
        r#"{"command":"insert","path":"a"}"#,
        &[],
        &["a"],
    );
    check(
        "move_file",
        r#"{"source":"a","destination":"b"}"#,
        &[],
        &["a", "b"],
    );
    check("Bash", r#"{"command":"cat a","path":"b"}"#, &[], &[]);
    check("Grep", r#"{"path":"src"}"#, &[], &[]);
}

#[test]
fn patches_name_their_files_whoever_carries_them() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n*** Move to: src/b.rs\n*** Add File: c\n*** End Patch";
    let files = ["c", "src/a.rs", "src/b.rs"];
    check("apply_patch", patch, &[], &files);
    let json = serde_json::json!({ "input": patch }).to_string();
    check("apply_patch", &json, &[], &files);
    let shell =
        serde_json::json!({ "command": ["bash", "-lc", format!("apply_patch <<'E'\n{patch}\nE")] });
    check("shell", &shell.to_string(), &[], &files);
    let written = serde_json::json!({ "path": "notes.md", "content": patch }).to_string();
    check("write", &written, &[], &["notes.md"]);
}

#[test]
fn arguments_are_read_as_far_as_they_are_json() {
    check(
        "read",
        r#"{"path":"caf\u00e9\/\ud83d\ude00\\x\"y"}"#,
        &["café/😀\\x\"y"],
        &[],
    );
    check("read", r#"{"path":"a","offset":"#, &["a"], &[]);
    check("read", r#"{"path":"unfinished"#, &[], &[]);
    check("read", "src/main.rs", &[], &[]);
    check("read", r#"{"path":""}"#, &[], &[]);
    check("read", r#"{"path":"two\nlines"}"#, &[], &[]);
    check("read", r#"{"path":"\ud83d"}"#, &["\u{fffd}"], &[]);
}

#[test]
fn a_changed_file_is_not_repeated_and_order_does_not_matter() {
    let mut messages = vec![
        call("1", "read", r#"{"path":"z"}"#),
        call("2", "read", r#"{"path":"m"}"#),
        call("3", "edit", r#"{"path":"z"}"#),
        call("4", "read", r#"{"path":"m"}"#),
        call("5", "write", r#"{"path":"a"}"#),
    ];
    let found = FileOperations::of(&messages);
    assert_eq!(found.read_files, ["m"]);
    assert_eq!(found.modified_files, ["a", "z"]);
    messages.reverse();
    assert_eq!(FileOperations::of(&messages), found);
}

#[test]
fn failures_are_told_once_on_one_line_and_touch_no_file() {
    let messages = [
        call("1", "Read", r#"{"file_path":"gone.rs"}"#),
        answer(
            "1",
            "<tool_use_error>File does not exist.</tool_use_error>",
            false,
        ),
        call("2", "edit", r#"{"path":"a.rs"}"#),
        answer("2", "String to replace\nnot found", true),
        call("3", "Bash", r#"{"command":"make"}"#),
        answer(
            "3",
            &format!("Exit code 2\n{}", "make: *** error ".repeat(100)),
            false,
        ),
        call("4", "Bash", r#"{"command":"make"}"#),
        answer("4", "Exit code: 0\nWall time: 1 s", false),
        call("5", "edit", r#"{"path":"a.rs"}"#),
        answer("5", "String to replace not found", true),
        answer("lost", "", true),
    ];
    let found = FileOperations::of(&messages);
    assert_eq!((found.read_files.len(), found.modified_files.len()), (0, 0));
    let told: Vec<(&str, &str)> = found
        .tool_failures
        .iter()
        .map(|failure| (failure.tool_name.as_str(), failure.summary.as_str()))
        .collect();
    assert_eq!(told[0], ("Read", "File does not exist."));
    assert_eq!(told[1], ("edit", "String to replace not found"));
    assert_eq!(told[2].0, "Bash");
    assert!(told[2].1.starts_with("Exit code 2 make: *** error") && told[2].1.ends_with('…'));
    assert_eq!(told[2].1.chars().count(), TOOL_FAILURE_CHARS);
    assert_eq!(told[3], ("unknown", "failed without a word"));
    assert_eq!(told.len(), 4);
}

#[test]
fn what_only_looks_like_a_failure_is_none() {
    let fails = |name: &str, text: &str| {
        let messages = [call("1", name, r#"{"path":"a"}"#), answer("1", text, false)];
        !FileOperations::of(&messages).tool_failures.is_empty()
    };
    for text in [
        "Error: no such file",
        "fatal: not a git repository",
        "Command exited with code 1",
        "exit code: -1",
        "Traceback (most recent call last):\n  File",
        "{\"error\": \"nope\"}",
        "apply_patch verification failed: x",
    ] {
        assert!(fails("Bash", text), "{text}");
    }
    for text in [
        "",
        "errors.go:20: func",
        "Errors are values",
        "no error: fine",
        "Command exited with code 0",
        "exit code",
        "{\"error\":null}",
        "0 failed",
    ] {
        assert!(!fails("Bash", text), "{text}");
    }
    assert!(fails("Read", "Error: no such file"));
    assert!(
        !fails("Read", "error: the first line of a log\nsecond"),
        "a file may begin so"
    );
}

#[test]
fn a_later_span_adds_to_an_earlier_one() {
    let earlier = FileOperations::of(&[
        call("1", "read", r#"{"path":"b"}"#),
        call("2", "edit", r#"{"path":"c"}"#),
        answer("9", "no", true),
    ]);
    let later = FileOperations::of(&[
        call("1", "read", r#"{"path":"c"}"#),
        call("2", "edit", r#"{"path":"b"}"#),
        call("3", "read", r#"{"path":"a"}"#),
        answer("9", "no", true),
    ]);
    let both = later.after(&earlier);
    assert_eq!(both.read_files, ["a"]);
    assert_eq!(both.modified_files, ["b", "c"]);
    assert_eq!(both.tool_failures.len(), 1);
    assert!(FileOperations::default().is_empty() && !both.is_empty());
}

#[test]
fn no_text_is_too_strange() {
    property(1, &(text(200), text(400)), |(arguments, output)| {
        let messages = [
            call("1", "read", &format!("{{\"path\":\"{arguments}")),
            answer("1", &output, true),
            call("2", "apply_patch", &arguments),
        ];
        let found = FileOperations::of(&messages);
        for failure in &found.tool_failures {
            assert!(failure.summary.chars().count() <= TOOL_FAILURE_CHARS);
            assert!(
                !failure.summary.contains(char::is_control),
                "{}",
                failure.summary
            );
        }
    });
}

#[test]
fn every_string_of_json_reads_as_it_was_written() {
    property(1, &text(60), |path| {
        let arguments = serde_json::json!({ "limit": 3, "path": path }).to_string();
        let found = FileOperations::of(&[call("1", "read", &arguments)]);
        let path = path.trim();
        if !path.is_empty() && !path.contains(char::is_control) {
            let path = path.strip_prefix("file://").unwrap_or(path);
            let path = path.strip_prefix("./").unwrap_or(path);
            assert_eq!(found.read_files, [path]);
        }
    });
}
