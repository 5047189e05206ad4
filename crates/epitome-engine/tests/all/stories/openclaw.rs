//! 001: overflow, compact, send again once; hooks around a compaction; a long history in chunks.

use std::sync::{Arc, Mutex};

use epitome::settings::Value as Setting;
use epitome::{Block, Call, Message, PresetName, Reason, ResultPart, Role, ToolResult};
use epitome_engine::Hooks;
use epitome_engine::conversation::{Recovery, StepAction};
use epitome_engine::hooks::{HookContext, Verdict};
use epitome_engine::model::{Ask, CallError};
use epitome_testkit::{ModelConfig, Reply, Script, ScriptedModel};
use epitome_wire::Wire;

use super::{
    all_valid, builder, caller, lines, model, push, settings, shown, summary_requests, until,
};
use crate::all::support::{GOOD, RULE, conversation as work};

const FRAME: &str = r#"{"model":"scripted"}"#;

/// A call that fails, and one that changes a file.
fn trouble() -> Vec<Message> {
    let call = |id: &str, name: &str, arguments: &str| Message {
        role: Role::Assistant,
        blocks: vec![Block::Call(Call::new(id, name, arguments))],
    };
    let result = |id: &str, text: &str, is_error: bool| Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(text.to_owned())],
            is_error,
        })],
    };
    vec![
        call("t1", "run_tests", "{}"),
        result("t1", "error: test nested_lists failed", true),
        call(
            "t2",
            "edit_file",
            r#"{"path":"src/lexer.rs","new_text":"x"}"#,
        ),
        result("t2", "changed", false),
    ]
}

/// Work with trouble near its beginning, long enough that some of it leaves.
fn long_work(steps: usize) -> Vec<Message> {
    let mut messages = work(steps);
    let rest = messages.split_off(2);
    messages.extend(trouble());
    messages.extend(rest);
    messages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_overflow_is_compacted_and_sent_again() {
    let server = ScriptedModel::start(ModelConfig {
        window_tokens: 40_000,
        script: Script::by(|_| Reply::text("It goes on.")),
        ..ModelConfig::default()
    })
    .await;
    // By its own count the conversation is far below the line, but the endpoint serves a smaller model.
    let caller = caller(&server, Wire::OpenAiChat, 200_000);
    let settings = settings(PresetName::Openclaw, &[]);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let engine = builder(&settings, 200_000, &caller).model("here", "scripted");
    let engine = engine.hooks(counting(&told)).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    conversation.set_frame(FRAME).await.unwrap();
    push(&conversation, &long_work(220)).await;
    assert_eq!(
        conversation.prepare_step().await.unwrap().action,
        StepAction::Proceed
    );

    let ask = |request| Ask::own(request);
    let asked = caller.begin("overflow");
    let refused = caller.ask(&ask(conversation.request().await), &asked).await;
    let Err(CallError::TooLong { overflow, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(overflow.window_tokens, Some(40_000));
    assert_eq!(
        conversation.too_long(&overflow).await.unwrap(),
        Recovery::Retry
    );
    let answer = caller
        .ask(&ask(conversation.request().await), &asked)
        .await
        .unwrap();
    assert_eq!(answer.text(), "It goes on.");
    conversation.observe(answer.usage, 1.0).await;

    let lines = lines(&conversation.take_events().await, PresetName::Openclaw);
    assert_eq!(
        lines[0],
        "context overflow detected; attempting auto-compaction"
    );
    assert_eq!(
        lines.last().unwrap(),
        "auto-compaction succeeded; retrying prompt"
    );
    let summary = shown(&conversation, 1).await;
    assert!(summary.contains(RULE), "{summary}");
    assert!(
        summary.contains("test nested_lists failed"),
        "failures are told: {summary}"
    );
    assert!(
        summary.contains("src/lexer.rs"),
        "changed files are told: {summary}"
    );
    assert_eq!(conversation.statistics().await.compactions, 1);
    until(async || told.lock().unwrap().len() == 2).await;
    let heard = told.lock().unwrap().clone();
    assert!(heard[0].starts_with("before 446 "), "{heard:?}");
    assert!(heard[1].starts_with("after "), "{heard:?}");
    for request in server.requests() {
        assert_eq!(request.violations, []);
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_again_the_answer_is_the_providers_own_error() {
    let words = "prompt is too long: 213462 tokens > 200000 maximum";
    let server = model(move |_| Reply::error(400, "invalid_request_error", words)).await;
    let caller = caller(&server, Wire::OpenAiChat, 200_000);
    let settings = settings(PresetName::Openclaw, &[]);
    assert_eq!(settings.common.overflow_attempts, 1);
    let engine = builder(&settings, 200_000, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    conversation.set_frame(FRAME).await.unwrap();
    push(&conversation, &long_work(220)).await;
    let mut recoveries = Vec::new();
    let message = loop {
        let ask = Ask::own(conversation.request().await);
        let refused = caller.ask(&ask, &caller.begin("overflow")).await;
        let Err(CallError::TooLong { overflow, message }) = refused else {
            panic!("{refused:?}");
        };
        let recovery = conversation.too_long(&overflow).await.unwrap();
        recoveries.push(recovery);
        if recovery != Recovery::Retry {
            break message;
        }
    };
    assert_eq!(
        recoveries,
        [Recovery::Retry, Recovery::GiveUp(Reason::AlreadyTried)]
    );
    assert!(message.contains(words), "{message}");
    assert_eq!(server.requests().len(), 2, "sent twice, compacted once");
    assert_eq!(conversation.statistics().await.compactions, 1);
    engine.shutdown().await;
}

/// Hooks that write down what they are told.
fn counting(told: &Arc<Mutex<Vec<String>>>) -> Hooks {
    let mut hooks = Hooks::default();
    let heard = Arc::clone(told);
    hooks.on_before("before", move |event, context: Arc<HookContext>| {
        let agent = context.agent_id.clone().unwrap_or_default();
        let line = format!(
            "before {} {} {agent}",
            event.message_count,
            event.token_count.is_some()
        );
        heard.lock().unwrap().push(line);
        async { Ok(()) }
    });
    let heard = Arc::clone(told);
    hooks.on_after("after", move |event, _| {
        let line = format!("after {} {}", event.message_count, event.compacted_count);
        heard.lock().unwrap().push(line);
        async { Ok(()) }
    });
    hooks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_are_told_the_counts_and_may_bring_the_summary() {
    let server = model(|_| Reply::text(GOOD)).await;
    let caller = caller(&server, Wire::OpenAiChat, 100_000);
    let settings = settings(PresetName::Openclaw, &[("wait", Setting::Switch(true))]);
    for replaces in [false, true] {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut hooks = counting(&told);
        let heard = Arc::clone(&told);
        hooks.on_before_compact("replace", move |preparation, _| {
            let files = &preparation.file_operations;
            let line = format!(
                "asked {} {:?} {:?} {}",
                preparation.messages_to_summarize.len() + preparation.turn_prefix_messages.len(),
                files.modified_files,
                files.tool_failures[0].tool_name,
                preparation.is_split_turn,
            );
            heard.lock().unwrap().push(line);
            async move {
                Ok(if replaces {
                    let summary =
                        "The parser in src/parser.rs is being taught nested lists.".to_owned();
                    Verdict::Replace { summary }
                } else {
                    Verdict::Continue
                })
            }
        });
        server.clear();
        let engine = builder(&settings, 60_000, &caller)
            .hooks(hooks)
            .build()
            .await
            .unwrap();
        let conversation = engine.create().await.unwrap();
        conversation.set_context(HookContext {
            agent_id: Some("clerk".to_owned()),
            ..HookContext::default()
        });
        push(&conversation, &long_work(230)).await;
        let action = conversation.prepare_step().await.unwrap().action;
        assert_eq!(action, StepAction::Compacted(Reason::Threshold));
        until(async || told.lock().unwrap().len() == 3).await;
        let span = conversation.look(|session| session.compaction().unwrap().plan.span.clone());
        let (span, view) = (
            span.await,
            conversation.look(|session| session.log().len()).await,
        );
        let expected = [
            "before 466 true clerk".to_owned(),
            format!("asked {} [\"src/lexer.rs\"] \"run_tests\" true", span.len()),
            format!("after {view} {}", span.len()),
        ];
        assert_eq!(*told.lock().unwrap(), expected);
        let summary = shown(&conversation, 1).await;
        assert_eq!(
            summary.contains("is being taught nested lists"),
            replaces,
            "{summary}"
        );
        assert_eq!(
            server.requests().is_empty(),
            replaces,
            "who brings it, asks nobody"
        );
        assert!(
            summary.contains(RULE),
            "also what a hook brings is completed: {summary}"
        );

        // The entry of the log says what the session file says.
        let log = conversation.log().await.unwrap();
        let row = log[0].compaction.as_ref().unwrap();
        assert_eq!(row.summary, summary);
        assert!(row.tokens_after < row.tokens_before);
        assert!(
            summary.contains("src/lexer.rs") && summary.contains("run_tests"),
            "{summary}"
        );
        engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn safeguard_summarises_in_chunks_and_merges_them() {
    let server = model(|_| Reply::text(GOOD)).await;
    let caller = caller(&server, Wire::OpenAiChat, 24_000);
    let changes = [
        ("wait", Setting::Switch(true)),
        ("mode", Setting::Text("safeguard".to_owned())),
    ];
    let settings = settings(PresetName::Openclaw, &changes);
    let engine = builder(&settings, 100_000, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    let mut messages = work(0);
    for number in 0..150 {
        let question = format!("Question {number}: what of src/parser.rs? ").repeat(30);
        let answer = format!("Answer {number}: src/parser.rs was changed. ").repeat(30);
        messages.push(Message::text(Role::Assistant, answer));
        messages.push(Message::text(Role::User, question));
    }
    push(&conversation, &messages).await;
    let action = conversation.prepare_step().await.unwrap().action;
    assert_eq!(action, StepAction::Compacted(Reason::Threshold));
    let asked = summary_requests(&server);
    let bodies: Vec<String> = asked
        .iter()
        .map(|request| request.json().to_string())
        .collect();
    let chunks = bodies
        .iter()
        .filter(|body| body.contains("<transcript>"))
        .count();
    let merges = bodies
        .iter()
        .filter(|body| body.contains("<part number"))
        .count();
    assert!(
        chunks >= 4 && merges >= 1,
        "{chunks} chunks, {merges} merges"
    );
    // Nothing of the span was left out: each message that left was shown to somebody.
    let span = conversation
        .look(|session| session.compaction().unwrap().plan.span.clone())
        .await;
    for number in 0..(span.len() - 2) / 2 {
        let said = format!("Question {number}: what of");
        assert!(bodies.iter().any(|body| body.contains(&said)), "{said}");
    }
    // What is above its share went first, by itself.
    let events = conversation.take_events().await;
    let pruned = events
        .iter()
        .any(|event| matches!(event, epitome::Event::Pruned(_)));
    assert!(pruned, "{events:?}");
    let summary = shown(&conversation, 1).await;
    assert!(summary.contains("has to read nested lists"), "{summary}");
    assert!(summary.contains(RULE), "{summary}");
    assert_eq!(conversation.statistics().await.summary_calls, 1);
    all_valid(&server);
    engine.shutdown().await;
}
