//! Session files that are written here: every format in a few lines, and what can be wrong with them.

use std::io::Cursor;

use epitome_files::{Counts, FileFormat, Transcript, read_file};

/// Reads a file whose format is found by looking.
pub(crate) fn read(text: &str) -> Transcript {
    let format = FileFormat::sniff(text.as_bytes()).expect("a known format");
    Transcript::collect(&mut Cursor::new(text), format).unwrap()
}

/// What a file says in short lines, and what is wrong with it.
pub(crate) fn shape(text: &str) -> Vec<String> {
    let transcript = read(text);
    let mut lines = Vec::new();
    for conversation in &transcript.conversations {
        for message in &conversation.messages {
            lines.push(line(message));
        }
        for recorded in &conversation.compactions {
            lines.push(format!(
                "compaction at {}: {}",
                recorded.at, recorded.summary
            ));
        }
    }
    for problem in &transcript.problems.kept {
        lines.push(format!("{} {}", problem.position, problem.code.as_str()));
    }
    lines
}

pub(crate) fn line(message: &epitome::Message) -> String {
    let mut line = format!(
        "{} {}",
        message.role.as_str(),
        epitome_files::flat_text(message)
    );
    for call in message.calls() {
        line.push_str(&format!(
            " call {} {} {}",
            call.id, call.name, call.arguments
        ));
    }
    line.trim_end().to_owned()
}

const PI: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"look"}}
{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look"},{"type":"toolCall","id":"c1","name":"ls","arguments":{"path":"."}}]}}
{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a.rs"}],"isError":false}}
"#;

#[test]
fn pi_is_read_along_the_way_from_the_leaf() {
    let branch = r#"{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"user","content":"abandoned"}}
{"type":"message","id":"e","parentId":"c","timestamp":"t","message":{"role":"user","content":"taken"}}
"#;
    assert_eq!(
        shape(&format!("{PI}{branch}")),
        [
            "user look",
            r#"assistant I look call c1 ls {"path":"."}"#,
            "tool a.rs",
            "user taken"
        ]
    );
}

#[test]
fn openclaw_moves_the_leaf() {
    let moved = r#"{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"user","content":"abandoned"}}
{"type":"leaf","id":"l","parentId":"d","timestamp":"t","targetId":"a"}
"#;
    assert_eq!(shape(&format!("{PI}{moved}")), ["user look"]);
    let went_on = r#"{"type":"message","id":"f","parentId":"l","timestamp":"t","message":{"role":"user","content":"again"}}
"#;
    assert_eq!(
        shape(&format!("{PI}{moved}{went_on}")),
        ["user look", "user again"]
    );
}

#[test]
fn a_pi_compaction_keeps_from_the_entry_it_names() {
    let compaction = r#"{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"user","content":"more"}}
{"type":"compaction","id":"e","parentId":"d","timestamp":"t","summary":"S","firstKeptEntryId":"d","tokensBefore":9}
{"type":"message","id":"f","parentId":"e","timestamp":"t","message":{"role":"user","content":"new"}}
"#;
    let transcript = read(&format!("{PI}{compaction}"));
    let conversation = &transcript.conversations[0];
    let context: Vec<String> = conversation.context().messages.iter().map(line).collect();
    assert_eq!(conversation.messages.len(), 5);
    assert_eq!(context, ["user S", "user more", "user new"]);
    let reset = r#"{"type":"reset","id":"g","parentId":"f","timestamp":"t","reason":"new"}
{"type":"message","id":"h","parentId":"g","timestamp":"t","message":{"role":"user","content":"fresh"}}
"#;
    let transcript = read(&format!("{PI}{compaction}{reset}"));
    let context = transcript.conversations[0].context();
    assert_eq!(
        context.messages.iter().map(line).collect::<Vec<_>>(),
        ["user fresh"]
    );
}

#[test]
fn the_first_version_of_pi_counts_lines() {
    let text = r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w","provider":"p","modelId":"m"}
{"type":"message","timestamp":"t","message":{"role":"user","content":"one"}}
{"type":"message","timestamp":"t","message":{"role":"user","content":"two"}}
{"type":"compaction","timestamp":"t","summary":"S","firstKeptEntryIndex":2,"tokensBefore":9}
"#;
    let transcript = read(text);
    let context = transcript.conversations[0].context();
    assert_eq!(
        context.messages.iter().map(line).collect::<Vec<_>>(),
        ["user S", "user two"]
    );
}

#[test]
fn what_is_wrong_with_a_pi_file_is_named_and_nothing_is_lost() {
    let broken = r#"{"type":"message","id":"d","parentId":"zzz","timestamp":"t","message":{"role":"user","content":"lost parent"}}
{"type":"wizardry","id":"w","parentId":"d","timestamp":"t"}
not json
{"type":"message","id":"d","parentId":"w","timestamp":"t","message":{"role":"user","content":"same id"}}
{"type":"message","id":"e","parentId":"d","timestamp":"t","message":{"role":"us"#;
    assert_eq!(
        shape(&format!("{PI}{broken}")),
        [
            "user look",
            r#"assistant I look call c1 ls {"path":"."}"#,
            "tool a.rs",
            "user lost parent",
            "user same id",
            "line 5 broken_parent",
            "line 7 not_json",
            "line 8 repeated_id",
            "line 9 torn_last_line",
        ]
    );
}

#[test]
fn claude_code_joins_an_answer_that_is_spread_over_lines() {
    let text = r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"}]}}
{"type":"assistant","uuid":"3","parentUuid":"2","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"\n\nI go"}]}}
{"type":"assistant","uuid":"4","parentUuid":"3","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"p":1}}]}}
{"type":"user","uuid":"5","parentUuid":"4","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"type":"assistant","uuid":"6","parentUuid":"4","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"p":2}}]}}
{"type":"assistant","uuid":"7","parentUuid":"6","isSidechain":true,"sessionId":"s","message":{"id":"q","role":"assistant","content":[{"type":"text","text":"sub-agent"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"8","parentUuid":null,"sessionId":"s","compactMetadata":{"trigger":"auto","preTokens":7}}
{"type":"user","uuid":"9","parentUuid":"8","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"S"}}
{"type":"user","uuid":"10","parentUuid":"nowhere","sessionId":"s","message":{"role":"user","content":"on"}}
"#;
    assert_eq!(
        shape(text),
        [
            "user go",
            r#"assistant I go call t1 Read {"p":1} call t2 Read {"p":2}"#,
            "tool ok",
            "user on",
            "compaction at 3: S",
            "line 10 broken_parent",
        ]
    );
    let context = read(text).conversations[0].context();
    assert_eq!(
        context.messages.iter().map(line).collect::<Vec<_>>(),
        ["user S", "user on"]
    );
}

#[test]
fn codex_replaces_its_history() {
    let text = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"be good"}}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I go"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c1","output":"done"}}
{"timestamp":"t","type":"compacted","payload":{"message":"S","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"compaction","encrypted_content":"x"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"on"}]}}
"#;
    assert_eq!(
        shape(text),
        [
            "system be good",
            "user go",
            "assistant I go call c1 apply_patch *** Begin",
            "tool done",
            "user on",
            "compaction at 4: S",
        ]
    );
    let context = read(text).conversations[0].context();
    let lines: Vec<String> = context.messages.iter().map(line).collect();
    assert_eq!(lines, ["system be good", "user go", "user", "user on"]);
}

#[test]
fn documents_are_read_item_by_item() {
    let gemini = r#"{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"user","content":"go"},
        {"id":"2","type":"gemini","content":"","toolCalls":[{"id":"c","name":"ls","args":{},"result":[1, 2]}]}, {"type":"info"}]}"#;
    assert_eq!(
        shape(gemini),
        ["user go", "assistant  call c ls {}", "tool [1, 2]"]
    );
    let swe = r#"{"environment":"e","trajectory":[{"big":[[[]]]}],"history":[{"role":"system","content":"s"},{"role":"tool","content":"out","tool_call_ids":["x"]}]}"#;
    assert_eq!(shape(swe), ["system s", "tool out"]);
    let tau = r#"[{"task_id":0,"trial":1,"traj":[{"role":"user","content":"a"}]},{"task_id":1,"traj":[{"role":"user","content":"b"}]}]"#;
    assert_eq!(shape(tau), ["user a", "user b"]);
    assert_eq!(read(tau).conversations.len(), 2);
    let unified = r#"{"id":"u","format":"pi","messages":[{"role":"user","content":"a"}],"compactions":[{"at":1,"summary":"S"}]}"#;
    assert_eq!(shape(unified), ["user a", "compaction at 1: S"]);
    let torn = r#"{"id":"u","format":"pi","messages":[{"role":"user","content":"a"},{"role":"us"#;
    let format = FileFormat::Unified;
    let transcript = Transcript::collect(&mut Cursor::new(torn), format).unwrap();
    assert_eq!(transcript.conversations[0].messages.len(), 1);
    assert_eq!(transcript.problems.kept[0].code.as_str(), "torn_document");
}

#[test]
fn copilot_and_aider_are_logs() {
    let copilot = r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1","timestamp":"t"}
{"type":"user.message","data":{"content":"go"},"id":"2","parentId":"1","timestamp":"t"}
{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"a":1}}]},"id":"3","timestamp":"t"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"no"}},"id":"4","timestamp":"t"}
{"type":"hook.end","data":{},"id":"5","timestamp":"t"}
"#;
    assert_eq!(
        shape(copilot),
        ["user go", r#"assistant  call c bash {"a":1}"#, "tool no"]
    );
    let aider = "\n# aider chat started at 2024-08-05 19:33:02\n\n> Aider v0.47\n\n#### rename it  \n\nDone.\n\n    code\n> Applied\n";
    assert_eq!(
        shape(aider),
        ["user rename it", "assistant Done.\n\n    code"]
    );
}

#[test]
fn goose_is_read_from_lines_and_from_exports() {
    let messages = [
        r#"{"id":"m1","role":"user","created":1,"content":[{"type":"text","text":"go"}],"metadata":{"userVisible":true,"agentVisible":true}}"#,
        r#"{"role":"assistant","created":2,"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}},{"type":"toolRequest","id":"c2","toolCall":{"status":"error","error":"-32603: no such tool"}}]}"#,
        r#"{"role":"user","created":3,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"a.rs"}],"isError":false}}},{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"no"}}]}"#,
        r#"{"role":"assistant","created":4,"content":[{"type":"toolRequest","id":"c3","toolCall":{"status":"success","value":{"name":"shell"}}},{"type":"systemNotification","notificationType":"inlineMessage","msg":"x"}]}"#,
        r#"{"role":"user","created":5,"content":[{"type":"toolResponse","id":"c3","toolResult":{"status":"success","value":[{"type":"text","text":"old"}]}},{"type":"image","data":"AA","mimeType":"image/png"}]}"#,
    ];
    let expected = [
        "user go",
        r#"assistant I look call c1 shell {"command":"ls"} call c2 unreadable_call -32603: no such tool"#,
        "tool a.rs",
        "tool no",
        "assistant  call c3 shell",
        "tool old",
        "user [image]",
    ];
    let header = r#"{"working_dir":"/w","description":"d","message_count":5,"total_tokens":9}"#;
    let lines = format!("{header}\n{}\n", messages.join("\n"));
    assert_eq!(shape(&lines), expected);
    assert_eq!(FileFormat::sniff(lines.as_bytes()), Some(FileFormat::Goose));
    // Older files have no header.
    assert_eq!(shape(&messages.join("\n")), expected);
    let list = messages.join(",\n");
    for export in [
        format!(
            r#"{{"id":"s","working_dir":"/w","name":"n","conversation":[{list}],"message_count":5}}"#
        ),
        format!("{{\n \"id\":\"s\",\n \"working_dir\":\"/w\",\n \"conversation\":[{list}]\n}}"),
    ] {
        assert_eq!(shape(&export), expected);
        assert_eq!(read(&export).conversations[0].id.as_deref(), Some("s"));
    }
}

/// What Goose compacted is hidden from the model, and a message that only the model sees stands for it.
#[test]
fn goose_compacts_by_hiding() {
    let hidden = r#""metadata":{"userVisible":true,"agentVisible":false}"#;
    let only = r#""metadata":{"userVisible":false,"agentVisible":true}"#;
    let text = |role: &str, text: &str, more: &str| {
        format!(
            r#"{{"role":"{role}","created":1,"content":[{{"type":"text","text":"{text}"}}]{more}}}"#
        )
    };
    let lines = [
        text("user", "go", &format!(",{hidden}")),
        text("assistant", "done", &format!(",{hidden}")),
        text("user", "All went well.", &format!(",{only}")),
        text("user", "on", ""),
    ];
    assert_eq!(
        shape(&lines.join("\n")),
        [
            "user go",
            "assistant done",
            "user on",
            "compaction at 2: All went well.",
        ]
    );
    let unsaid = [&lines[0], &lines[1], &lines[3]].map(String::as_str);
    assert_eq!(
        shape(&unsaid.join("\n")),
        ["user go", "assistant done", "user on", "compaction at 2: "]
    );
}

#[test]
fn cline_and_roo_are_read() {
    let cline = r#"[{"role":"user","content":[{"type":"text","text":"<task>\ngo\n</task>"}],"ts":1},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"read_file","input":{"path":"a.rs"}}],"ts":2},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"fn"}]},{"type":"text","text":"and this"}],"ts":3}]"#;
    assert_eq!(FileFormat::sniff(cline.as_bytes()), Some(FileFormat::Cline));
    assert_eq!(
        shape(cline),
        [
            "user <task>\ngo\n</task>",
            r#"assistant I look call t1 read_file {"path":"a.rs"}"#,
            "tool fn",
            "user and this",
        ]
    );
    let roo = r#"{"version":2,"messages":[{"role":"user","content":"go","ts":1,"condenseParent":"k"},
        {"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"tool-call","toolCallId":"t","toolName":"ls","input":{}}],"ts":2,"condenseParent":"k"},
        {"role":"tool","content":[{"type":"tool-result","toolCallId":"t","toolName":"ls","output":{"type":"text","value":"[ERROR] none"}}],"ts":3,"condenseParent":"k"},
        {"type":"reasoning","encrypted_content":"x","ts":4},
        {"role":"user","content":[{"type":"text","text":"So far: nothing."}],"isSummary":true,"condenseId":"k","ts":5},
        {"role":"user","content":"on","ts":6}]}"#;
    assert_eq!(
        shape(roo),
        [
            "user go",
            "assistant  call t ls {}",
            "tool [ERROR] none",
            "user on",
            "compaction at 3: So far: nothing.",
        ]
    );
    let shown = r#"[{"ts":1,"type":"say","say":"text","text":"go"},{"ts":2,"type":"say","say":"api_req_started","text":"{}"},
        {"ts":3,"type":"say","say":"text","text":"I look"},{"ts":4,"type":"ask","ask":"tool","text":"{}"},{"ts":5,"type":"say","say":"user_feedback","text":"no"}]"#;
    assert_eq!(shape(shown), ["user go", "assistant I look", "user no"]);
}

#[test]
fn no_garbage_is_taken_for_a_session() {
    let deep = "[".repeat(10_000_000);
    let garbage: &[&[u8]] = &[
        b"",
        b"  \n",
        b"\x7fELF\0\0",
        deep.as_bytes(),
        b"{",
        b"hello",
        b"{}",
        b"[{}]",
    ];
    for bytes in garbage {
        assert_eq!(FileFormat::sniff(bytes), None);
    }
    for format in FileFormat::ALL {
        for bytes in garbage {
            let mut counts = Counts::default();
            let _ = read_file(&mut Cursor::new(bytes), *format, &mut |event| {
                counts.add(&event);
            });
            assert!(counts.messages <= 1, "{format}");
        }
        assert_eq!(format.as_str().parse::<FileFormat>(), Ok(*format));
    }
}

/// Endless text without a line end.
struct Endless {
    at: u64,
    chunk: Vec<u8>,
}

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(b'x');
        Ok(buffer.len())
    }
}

impl std::io::BufRead for Endless {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(&self.chunk)
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount as u64;
    }
}

impl std::io::Seek for Endless {
    fn seek(&mut self, _: std::io::SeekFrom) -> std::io::Result<u64> {
        self.at = 0;
        Ok(0)
    }
}

#[test]
fn a_line_without_end_is_an_error_that_names_its_place() {
    for format in FileFormat::ALL {
        let mut source = Endless {
            at: 0,
            chunk: vec![b'x'; 1 << 20],
        };
        let error = read_file(&mut source, *format, &mut |_| {}).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("line 1") || told.contains("byte 0"), "{told}");
        assert!(
            source.at < 100 << 20,
            "{format}: {} bytes were read",
            source.at
        );
    }
}

#[test]
fn damaged_files_never_stop_a_reader() {
    let samples: Vec<Vec<u8>> = FileFormat::ALL
        .iter()
        .filter_map(|format| {
            let transcript = read(PI);
            let stamp = epitome_files::Stamp {
                session_id: "s",
                folder: "/",
                time_ms: 0,
            };
            let conversation = &transcript.conversations[0];
            epitome_files::write_file(conversation, *format, stamp).ok()
        })
        .map(|written| written.bytes)
        .collect();
    assert_eq!(samples.len(), 4);
    epitome_testkit::cases::property(2, 40, |random, size| {
        let mut bytes = samples[random.below(samples.len())].clone();
        for _ in 0..=size {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => {
                    bytes.remove(at);
                    bytes.push(b'\n');
                }
                _ => {
                    let from = random.below(bytes.len());
                    let piece = bytes[from.min(at)..from.max(at)].to_vec();
                    bytes.extend(piece);
                }
            }
            bytes.truncate(20_000);
        }
        for format in FileFormat::ALL {
            let mut counts = Counts::default();
            let outcome = read_file(&mut Cursor::new(&bytes), *format, &mut |event| {
                counts.add(&event);
            });
            let _ = counts.finish();
            if let Err(error) = outcome {
                assert!(error.to_string().contains("byte"), "{error}");
            }
        }
    });
}
