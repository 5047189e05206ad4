//! Hooks are told, asked and ended; none of them stops a compaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome::{Block, Call, FileOperations, Message, ResultPart, Role, ToolResult};
use epitome_engine::hooks::{
    AfterCompaction, BeforeCompaction, FailureKind, HookCommand, HookContext, HookPoint, Hooks,
    Preparation, Verdict,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

/// Longer than any hook here may hold anybody up, on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

fn context() -> Arc<HookContext> {
    Arc::new(HookContext {
        agent_id: Some("main".to_owned()),
        session_key: Some("s1".to_owned()),
        workspace_folder: Some("project".to_owned()),
        message_provider: None,
    })
}

pub(crate) fn shell(script: &str, timeout: Duration) -> HookCommand {
    let args = vec!["-c".to_owned(), script.to_owned()];
    HookCommand {
        args,
        timeout,
        ..HookCommand::new("sh")
    }
}

/// Asks one command, with a preparation of about `bytes` bytes.
pub(crate) async fn ask(command: HookCommand, bytes: usize) -> Result<Verdict, FailureKind> {
    let mut hooks = Hooks::default();
    hooks.on_command(HookPoint::BeforeCompact, command);
    let preparation = Preparation {
        previous_summary: Some("x".repeat(bytes)),
        ..Preparation::default()
    };
    let context = context();
    let asked = hooks.before_compact(Arc::new(preparation), &context);
    let mut outcome = asked.await;
    match outcome.failures.pop() {
        Some(failure) => Err(failure.kind),
        None => Ok(outcome.verdict),
    }
}

#[tokio::test]
async fn told_in_parallel() {
    let barrier = Arc::new(Barrier::new(3));
    let mut hooks = Hooks::default();
    for name in ["one", "two", "three"] {
        let barrier = Arc::clone(&barrier);
        hooks.on_before(name, move |event, context| {
            let barrier = Arc::clone(&barrier);
            async move {
                assert_eq!(event.token_count, Some(90_000));
                assert_eq!(context.agent_id.as_deref(), Some("main"));
                // One after the other, the first would wait until its time is over.
                barrier.wait().await;
                Ok(())
            }
        });
    }
    let event = BeforeCompaction {
        message_count: 12,
        token_count: Some(90_000),
    };
    assert_eq!(hooks.before(event, &context()).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn failures_are_returned_and_the_others_run() {
    let ran = Arc::new(AtomicUsize::new(0));
    let limit = Duration::from_millis(100);
    let mut hooks = Hooks::default().with_time_box(PATIENCE);
    hooks.on_after("fails", |_, _| async { Err("no disk".into()) });
    hooks.on_after("panics late", |_, _| async { panic!("late") });
    hooks.on_after("panics early", |event: AfterCompaction, _| {
        assert!(event.compacted_count > 100, "early");
        async { Ok(()) }
    });
    let mut hooks = hooks.with_time_box(limit);
    hooks.on_after("never ends", |_, _| std::future::pending());
    hooks.on_after("blocks", |_, _| async {
        std::thread::sleep(Duration::from_secs(3));
        Ok(())
    });
    let counter = Arc::clone(&ran);
    let mut hooks = hooks.with_time_box(PATIENCE);
    hooks.on_after("works", move |_, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let failures = hooks.after(AfterCompaction::default(), &context()).await;
    let told: Vec<(&str, FailureKind)> = failures
        .iter()
        .map(|failure| (failure.hook.as_str(), failure.kind.clone()))
        .collect();
    assert_eq!(
        told,
        [
            ("fails", FailureKind::Failed("no disk".to_owned())),
            ("panics late", FailureKind::Panicked("late".to_owned())),
            ("panics early", FailureKind::Panicked("early".to_owned())),
            ("never ends", FailureKind::TimedOut(limit)),
            ("blocks", FailureKind::TimedOut(limit)),
        ]
    );
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert_eq!(
        failures[0].to_string(),
        "the hook `fails` at after_compaction failed: no disk; the compaction goes on without it"
    );
}

#[tokio::test]
async fn the_first_that_wants_something_wins() {
    let cancel = |reason: &str| Verdict::Cancel {
        reason: reason.to_owned(),
    };
    let replace = |summary: &str| Verdict::Replace {
        summary: summary.to_owned(),
    };
    type Answers = Vec<Result<Verdict, &'static str>>;
    // What each hook answers; what comes of it, who decided and how many were asked.
    let cases: [(Answers, Verdict, Option<&str>, usize); 7] = [
        (vec![], Verdict::Continue, None, 0),
        (vec![Ok(Verdict::Continue); 2], Verdict::Continue, None, 2),
        (
            vec![Ok(Verdict::Continue), Ok(cancel("busy")), Ok(replace("s"))],
            cancel("busy"),
            Some("1"),
            2,
        ),
        (
            vec![Ok(replace("mine")), Ok(cancel("busy"))],
            replace("mine"),
            Some("0"),
            1,
        ),
        (
            vec![Err("broken"), Ok(replace("mine"))],
            replace("mine"),
            Some("1"),
            2,
        ),
        (
            vec![Ok(replace(" \n")), Ok(cancel("busy"))],
            cancel("busy"),
            Some("1"),
            2,
        ),
        (vec![Ok(replace(""))], Verdict::Continue, None, 1),
    ];
    for (answers, verdict, decided_by, asked) in cases {
        let count = Arc::new(AtomicUsize::new(0));
        let mut hooks = Hooks::default();
        for (at, answer) in answers.iter().enumerate() {
            let (count, answer) = (Arc::clone(&count), answer.clone().map_err(str::to_owned));
            hooks.on_before_compact(at.to_string(), move |_, _| {
                count.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                async move { Ok(answer?) }
            });
        }
        let outcome = hooks.before_compact(Arc::default(), &context()).await;
        assert_eq!(outcome.verdict, verdict, "{answers:?}");
        assert_eq!(outcome.decided_by.as_deref(), decided_by, "{answers:?}");
        assert_eq!(count.load(Ordering::SeqCst), asked, "{answers:?}");
    }
}

#[tokio::test]
async fn commands_are_told_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let mut hooks = Hooks::default();
    let points = [
        HookPoint::Before,
        HookPoint::After,
        HookPoint::BeforeCompact,
    ];
    for point in points {
        let script = format!("cat > {point}.json");
        let command = HookCommand {
            working_folder: Some(folder.path().to_owned()),
            ..shell(&script, PATIENCE)
        };
        hooks.on_command(point, command);
    }
    let before = BeforeCompaction {
        message_count: 12,
        token_count: None,
    };
    let after = AfterCompaction {
        message_count: 4,
        token_count: Some(9_000),
        compacted_count: 9,
    };
    assert_eq!(hooks.before(before, &context()).await, []);
    assert_eq!(hooks.after(after, &context()).await, []);
    let outcome = hooks
        .before_compact(Arc::new(preparation()), &context())
        .await;
    assert_eq!(outcome, epitome_engine::hooks::Outcome::default());

    let told = |point: HookPoint| -> Value {
        let text = std::fs::read(folder.path().join(format!("{point}.json"))).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    let context = json!({"agentId": "main", "sessionKey": "s1", "workspaceDir": "project"});
    assert_eq!(
        told(HookPoint::Before),
        json!({"hook": "before_compaction", "event": {"messageCount": 12}, "context": context})
    );
    assert_eq!(
        told(HookPoint::After),
        json!({
            "hook": "after_compaction",
            "event": {"messageCount": 4, "tokenCount": 9_000, "compactedCount": 9},
            "context": context,
        })
    );
    assert_eq!(
        told(HookPoint::BeforeCompact),
        json!({
            "hook": "session_before_compact",
            "event": {
                "customInstructions": "keep the paths",
                "preparation": {
                    "messagesToSummarize": [
                        {"role": "user", "text": "Fix \"it\".\n漢字", "calls": [], "results": []},
                        {"role": "assistant", "text": "", "results": [],
                         "calls": [{"id": "c1", "name": "read", "arguments": "{\"path\":\"a.rs\"}"}]},
                    ],
                    "turnPrefixMessages": [
                        {"role": "tool", "text": "", "calls": [],
                         "results": [{"callId": "c1", "isError": true, "text": "gone"}]},
                    ],
                    "firstKeptEntryId": "e7",
                    "tokensBefore": 90_000,
                    "previousSummary": null,
                    "fileOps": {"readFiles": ["a.rs"], "modifiedFiles": [], "toolFailures": []},
                    "settings": {"reserveTokens": 20_000},
                    "isSplitTurn": true,
                },
            },
            "context": context,
        })
    );
}

fn preparation() -> Preparation {
    let call = Message {
        role: Role::Assistant,
        blocks: vec![
            Block::Thinking { chars: 90 },
            Block::Call(Call::new("c1", "read", r#"{"path":"a.rs"}"#)),
        ],
    };
    let result = Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: "c1".into(),
            parts: vec![ResultPart::Text("gone".to_owned())],
            is_error: true,
        })],
    };
    Preparation {
        messages_to_summarize: vec![
            Arc::new(Message::text(Role::User, "Fix \"it\".\n漢字")),
            Arc::new(call),
        ],
        turn_prefix_messages: vec![Arc::new(result)],
        first_kept_entry_id: Some("e7".to_owned()),
        tokens_before: 90_000,
        previous_summary: None,
        file_operations: FileOperations {
            read_files: vec!["a.rs".to_owned()],
            ..FileOperations::default()
        },
        settings: json!({"reserveTokens": 20_000}),
        is_split_turn: true,
        custom_instructions: Some("keep the paths".to_owned()),
    }
}

#[tokio::test]
async fn commands_answer_in_json() {
    let cancel = |reason: &str| {
        Some(Verdict::Cancel {
            reason: reason.to_owned(),
        })
    };
    // What the command writes, and the verdict; `None` is a failure.
    let cases = [
        ("", Some(Verdict::Continue)),
        (" \n\t", Some(Verdict::Continue)),
        (r#"{"action":"continue"}"#, Some(Verdict::Continue)),
        (
            r#"{"action":"continue","summary":null,"note":1}"#,
            Some(Verdict::Continue),
        ),
        (r#"{"action":"cancel","reason":"busy"}"#, cancel("busy")),
        (r#"{"action":"cancel"}"#, cancel("")),
        (r#"{"action":"cancel","reason":null}"#, cancel("")),
        (
            r#" {"summary":"All is well.","action":"replace"} "#,
            Some(Verdict::Replace {
                summary: "All is well.".to_owned(),
            }),
        ),
        (r#"{"action":"replace"}"#, None),
        (r#"{"action":"replace","summary":""}"#, None),
        (r#"{"action":"replace","summary":7}"#, None),
        (r#"{"action":"explode"}"#, None),
        (r#"{"action":"cancel"} {"action":"cancel"}"#, None),
        (r#"["cancel"]"#, None),
        ("done", None),
        ("\u{1}\u{2}", None),
    ];
    for (written, expect) in cases {
        let script = format!("cat > /dev/null; printf '%s' '{written}'");
        let verdict = ask(shell(&script, PATIENCE), 0).await;
        assert_eq!(verdict.clone().ok(), expect, "{written}: {verdict:?}");
    }
}

#[tokio::test]
async fn commands_that_fail_say_how() {
    let gone = ask(HookCommand::new("no-such-program-anywhere"), 0).await;
    let script = "echo 'it\tbroke' >&2; echo '{\"action\":\"cancel\"}'; exit 3";
    let status = ask(shell(script, PATIENCE), 0).await;
    for (failed, words) in [
        (gone, "cannot be run"),
        (status, "exit status: 3; its last words: it broke"),
    ] {
        let Err(FailureKind::Failed(error)) = failed else {
            panic!("{failed:?}");
        };
        assert!(error.contains(words), "{error}");
    }
}
