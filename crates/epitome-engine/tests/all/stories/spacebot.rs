//! 003: a conversation that never stops: summaries stack up behind it, memories are saved, the emergency asks nobody.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome::reference::spacebot as reference;
use epitome::settings::Value as Setting;
use epitome::{Message, PresetName, Role};
use epitome_engine::conversation::StepAction;
use epitome_testkit::{Call, Fault, Faults, ModelConfig, Reply, Script, ScriptedModel};
use epitome_wire::Wire;
use serde_json::json;

use super::{all_valid, builder, caller, push, settings, shown, summary_requests, turn, until};
use crate::all::told::{calls_tool, last_said};

const WINDOW: u64 = 8_000;

/// Talks; as a worker it saves two memories, then writes. Every answer takes a while.
async fn companion() -> ScriptedModel {
    let rounds = AtomicUsize::new(0);
    let script = Script::by(move |request| {
        if !calls_tool(request, "memory_save") {
            return Reply::text(format!("I hear you: {}", last_said(request)).repeat(2));
        }
        if last_said(request).is_empty() {
            let round = rounds.fetch_add(1, Ordering::Relaxed) + 1;
            return Reply::text(format!("They went on talking about tea, part {round}."));
        }
        // The same thing in other capitals is the same memory.
        let round = rounds.load(Ordering::Relaxed);
        let tea = ["The user drinks green tea.", "the user  drinks green TEA"][round % 2];
        Reply::calls([
            Call::new("memory_save", json!({"content": tea, "kind": "preference"})),
            Call::new(
                "memory_save",
                json!({"content": format!("Talk {round} was about tea.")}),
            ),
        ])
    });
    ScriptedModel::start(ModelConfig {
        script,
        faults: Faults::none().every(1, Fault::Delay(Duration::from_millis(15))),
        ..ModelConfig::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_summaries_stack_up_while_the_turns_go_on() {
    let model = companion().await;
    // Room between the tiers: the provider counts a fifth more than the design does.
    let tiers = [
        ("background_threshold", Setting::Number(0.60)),
        ("aggressive_threshold", Setting::Number(0.75)),
    ];
    let settings = settings(PresetName::Spacebot, &tiers);
    let caller = caller(&model, Wire::OpenAiChat, 100_000);
    let engine = builder(&settings, WINDOW, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    conversation
        .set_frame(r#"{"model":"scripted"}"#)
        .await
        .unwrap();
    push(&conversation, &[Message::text(Role::System, "You chat.")]).await;
    let mut turns_meanwhile = 0;
    let mut turns = 0;
    while conversation.statistics().await.compactions < 3 {
        assert!(turns < 400, "the third summary never came");
        let said = format!(
            "Turn {turns}: I had a cup of green tea at 10:{:02}. ",
            turns % 60
        );
        push(&conversation, &[Message::text(Role::User, said.repeat(4))]).await;
        let step = conversation.prepare_step().await.unwrap();
        assert!(
            !matches!(step.action, StepAction::Unchanged(_)),
            "{:?}",
            step.action
        );
        turns_meanwhile += usize::from(step.action == StepAction::Preparing);
        turn(&conversation, &caller).await;
        turns += 1;
    }
    assert!(
        turns_meanwhile >= 3,
        "turns while a summary was written: {turns_meanwhile}"
    );
    for (position, part) in [(1, 1), (2, 2), (3, 3)] {
        let summary = shown(&conversation, position).await;
        assert!(
            summary.starts_with(reference::SUMMARY_MARK),
            "{position}: {summary}"
        );
        let own = format!("about tea, part {part}");
        assert!(summary.contains(&own), "oldest first: {summary}");
    }
    assert!(
        !shown(&conversation, 4)
            .await
            .starts_with(reference::SUMMARY_MARK)
    );

    // What was saved is known in every conversation of the tenant, each thing once.
    until(async || !conversation.is_preparing().await).await;
    let other = engine.create().await.unwrap();
    push(&other, &[Message::text(Role::User, "What do I drink?")]).await;
    let found = engine.memories(Some("green tea"), 10).await.unwrap();
    let drinks: Vec<_> = found
        .iter()
        .filter(|row| row.text.contains("drinks"))
        .collect();
    assert_eq!(drinks.len(), 1, "{found:?}");
    assert_eq!(drinks[0].kind, "preference");
    assert_eq!(drinks[0].conversation.as_ref(), Some(conversation.id()));
    let all = engine.memories(None, 50).await.unwrap();
    let talks = all.iter().filter(|row| row.text.starts_with("Talk "));
    assert_eq!(talks.count(), 3, "{all:?}");
    assert!(!summary_requests(&model).is_empty());
    all_valid(&model);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_emergency_asks_nobody() {
    let model = companion().await;
    let settings = settings(PresetName::Spacebot, &[]);
    let caller = caller(&model, Wire::OpenAiChat, 100_000);
    let engine = builder(&settings, WINDOW, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    push(&conversation, &[Message::text(Role::System, "You chat.")]).await;
    let mut gone = 0;
    for round in 0..2 {
        while conversation.look(|session| session.due_tokens()).await < WINDOW * 96 / 100 {
            push(
                &conversation,
                &[Message::text(Role::User, "How are you today? ".repeat(12))],
            )
            .await;
            push(
                &conversation,
                &[Message::text(Role::Assistant, "Fine, thanks. ".repeat(12))],
            )
            .await;
        }
        let before = conversation.look(|session| session.log().len()).await;
        let step = conversation.prepare_step().await.unwrap();
        assert!(
            matches!(step.action, StepAction::Compacted(_)),
            "{:?}",
            step.action
        );
        let after = conversation.look(|session| session.log().len()).await;
        // The marker takes a place of its own, the first time.
        gone += before - after + usize::from(round == 0);
        let marker = shown(&conversation, 1).await;
        assert_eq!(
            marker,
            reference::emergency_marker(gone),
            "one marker that counts everything"
        );
        assert!(!shown(&conversation, 2).await.starts_with("[System:"));
    }
    assert!(model.requests().is_empty(), "nobody was asked");
    engine.shutdown().await;
}
