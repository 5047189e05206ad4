//! 001: before a compaction the model saves what should last, once per cycle, and nobody hears of it.

use epitome::settings::{DesignSettings, Value as Setting};
use epitome::{Message, PresetName, Reason, Role};
use epitome_engine::conversation::{FlushOutcome, Flushed, StepAction};
use epitome_engine::memory_folder::flush::FlushPrompts;
use epitome_engine::pipeline::{
    AutoCompact, MemoryFlush, Next, Outcome, Pipeline, ResetReason, TurnContext,
};
use epitome_engine::{Conversation, MemoryFolder};
use epitome_testkit::{Call, Reply};
use epitome_wire::Wire;
use jiff::civil::{Date, date};
use serde_json::json;

use super::{all_valid, builder, caller, model, push, settings};
use crate::all::support::{GOOD, conversation as work};
use crate::all::told::{calls_tool, last_said, said};

const WINDOW: u64 = 60_000;

fn today() -> Date {
    date(2026, 11, 15)
}

async fn ask(pipeline: &mut Pipeline, conversation: &Conversation) -> Outcome {
    let statistics = conversation.statistics().await;
    conversation
        .look(|session| pipeline.before_turn(&TurnContext::of(session, &statistics)))
        .await
}

/// More of the same work, as long as it is below so many tokens.
async fn work_until(conversation: &Conversation, tokens: u64) {
    let mut steps = work(40).split_off(2);
    let mut round = conversation.raw_entries().await.len();
    while conversation.look(|session| session.due_tokens()).await < tokens {
        if steps.len() < 2 {
            steps = work(40).split_off(2);
        }
        let mut step: Vec<Message> = steps.drain(..2).collect();
        round += 2;
        for message in &mut step {
            for block in &mut message.blocks {
                match block {
                    epitome::Block::Call(call) => call.id = format!("call_{round}").as_str().into(),
                    epitome::Block::Result(result) => {
                        result.call_id = format!("call_{round}").as_str().into();
                    }
                    _ => {}
                }
            }
        }
        push(conversation, &step).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memories_are_saved_once_per_cycle_and_nothing_of_it_is_in_the_conversation() {
    let server = model(|request| {
        if !calls_tool(request, "memory_write") {
            return Reply::text(GOOD);
        }
        if last_said(request).is_empty() {
            return Reply::text("NO_REPLY");
        }
        Reply::calls([
            Call::new(
                "memory_write",
                json!({"path": "memory/2026-11-15.md", "content": "The parser reads lists."}),
            ),
            Call::new(
                "memory_write",
                json!({"path": "../outside.md", "content": "No."}),
            ),
            Call::new("read_file", json!({"path": "src/parser.rs"})),
        ])
    })
    .await;
    let changes = [
        ("wait", Setting::Switch(true)),
        (
            "memory_flush",
            Setting::Table(vec![(
                "system_prompt".to_owned(),
                Setting::Text("Store memories now.".to_owned()),
            )]),
        ),
    ];
    let settings = settings(PresetName::Openclaw, &changes);
    let DesignSettings::Openclaw(own) = &settings.design else {
        panic!("not openclaw");
    };
    let prompts = FlushPrompts::from(&own.memory_flush);
    let caller = caller(&server, Wire::OpenAiChat, 200_000);
    let store = tempfile::tempdir().unwrap();
    let url = epitome_testkit::stores::location(&store.path().join("memory.db"));
    let opened = epitome_store::AnyStore::open(&url).await.unwrap();
    let engine = builder(&settings, WINDOW, &caller)
        .store(opened)
        .build()
        .await
        .unwrap();
    let conversation = engine.create().await.unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::open(place.path().join("agent")).unwrap();
    let flush = MemoryFlush::new(WINDOW, own.reserve())
        .with_soft_tokens(own.memory_flush.soft_threshold_tokens);
    let mut pipeline = Pipeline::default().with(flush).with(AutoCompact::default());
    push(&conversation, &work(1)).await;

    // The line is at 40,000, the flush 4,000 before it.
    work_until(&conversation, 35_000).await;
    assert!(!ask(&mut pipeline, &conversation).await.is_flush_due);
    work_until(&conversation, 36_000).await;
    let entries = conversation.raw_entries().await;
    let due = ask(&mut pipeline, &conversation).await;
    assert_eq!((due.is_flush_due, due.next), (true, Next::Continue));
    let flushed = conversation
        .flush_memory(&caller, &folder, &prompts, today())
        .await;
    let expected = Flushed {
        outcome: FlushOutcome::Silent,
        notes: 1,
        refused: flushed.refused.clone(),
    };
    assert_eq!(flushed, expected);
    assert_eq!(flushed.refused.len(), 2, "{:?}", flushed.refused);
    let note = std::fs::read_to_string(place.path().join("agent/memory/2026-11-15.md")).unwrap();
    assert_eq!(note, "The parser reads lists.\n");
    assert!(!place.path().join("outside.md").exists());

    // A detached view: the model saw the conversation and the prompts, the conversation saw nothing.
    let asked = server.requests()[0].json();
    let heard = said(&asked);
    assert!(
        heard[0].1.ends_with("Store memories now."),
        "{:?}",
        heard[0]
    );
    assert!(heard.last().unwrap().1.contains("memory/2026-11-15.md"));
    assert_eq!(conversation.raw_entries().await, entries);
    let request = String::from_utf8(conversation.request().await.to_vec()).unwrap();
    assert!(!request.contains("memory_write") && !request.contains("NO_REPLY"));
    let statistics = conversation.statistics().await;
    assert_eq!(
        (statistics.compactions, statistics.flushed_at),
        (0, Some(0))
    );

    // Not twice in one cycle, by whichever pipeline.
    work_until(&conversation, 39_000).await;
    assert!(!ask(&mut pipeline, &conversation).await.is_flush_due);
    let mut fresh = Pipeline::default().with(flush);
    assert!(!ask(&mut fresh, &conversation).await.is_flush_due);

    // The compaction begins the next cycle.
    work_until(&conversation, 40_100).await;
    let due = ask(&mut pipeline, &conversation).await;
    let reason = Reason::Threshold;
    assert_eq!(
        (due.is_flush_due, due.next),
        (false, Next::Compact { reason })
    );
    let action = conversation.prepare_step().await.unwrap().action;
    assert_eq!(action, StepAction::Compacted(reason));
    pipeline.reset(ResetReason::Compact);
    let statistics = conversation.statistics().await;
    assert_eq!(
        (statistics.compactions, statistics.flushed_at),
        (1, Some(0))
    );
    work_until(&conversation, 36_500).await;
    assert!(ask(&mut pipeline, &conversation).await.is_flush_due);
    let flushed = conversation
        .flush_memory(&caller, &folder, &prompts, today())
        .await;
    assert_eq!(
        flushed.notes, 1,
        "the same note is not written twice: {flushed:?}"
    );
    let note = std::fs::read_to_string(place.path().join("agent/memory/2026-11-15.md")).unwrap();
    assert_eq!(note, "The parser reads lists.\n");
    let statistics = conversation.statistics().await;
    assert_eq!(
        (statistics.compactions, statistics.flushed_at),
        (1, Some(1))
    );
    all_valid(&server);

    // Who opens the conversation again knows how often it was compacted.
    let id = conversation.id().clone();
    engine.shutdown().await;
    let opened = epitome_store::AnyStore::open(&url).await.unwrap();
    let engine = builder(&settings, WINDOW, &caller)
        .store(opened)
        .build()
        .await
        .unwrap();
    let again = engine.open(&id).await.unwrap();
    assert_eq!(again.statistics().await.compactions, 1);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flush_that_fails_stands_in_nobodys_way() {
    let server = model(|_| Reply::error(500, "api_error", "the model is away")).await;
    let settings = settings(PresetName::Openclaw, &[]);
    let caller = caller(&server, Wire::OpenAiChat, 200_000);
    let engine = builder(&settings, WINDOW, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    push(&conversation, &[Message::text(Role::User, "Good morning")]).await;
    let place = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::open(place.path()).unwrap();
    let prompts = FlushPrompts::default();
    let flushed = conversation
        .flush_memory(&caller, &folder, &prompts, today())
        .await;
    assert!(
        matches!(flushed.outcome, FlushOutcome::Failed(_)),
        "{flushed:?}"
    );
    assert_eq!(
        conversation.prepare_step().await.unwrap().action,
        StepAction::Proceed
    );
    assert_eq!(
        conversation.statistics().await.flushed_at,
        Some(0),
        "the one of its cycle"
    );
    engine.shutdown().await;
}
