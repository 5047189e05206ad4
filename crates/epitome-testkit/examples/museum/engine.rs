//! Conversations of the engine.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use epitome::settings::Settings;
use epitome::{PresetName, Window};
use epitome_engine::conversation::{Recovery, StepAction};
use epitome_engine::hooks::{Hooks, Verdict};
use epitome_engine::model::{CallLimits, Caller, Delivery, Endpoint, SpendLedger};
use epitome_engine::{Clock, Conversation, Engine, EngineBuilder};
use epitome_store::{AnyStore, ConversationId, Leases, Store, TenantId};
use epitome_testkit::museum::digest;
use epitome_testkit::{Call, ModelConfig, Reply, Script, ScriptedModel, Wire};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::talk::{RULE, Talk, prose};
use super::{store, write_manifest};

const WINDOW: u64 = 16_000;
/// The window that one conversation outgrows.
const SMALL: u64 = 2_400;

pub(crate) async fn make(folder: &Path) -> Result<()> {
    let database = folder.join("log.db");
    let mut shown = Vec::new();
    for (number, preset) in (1..).zip(PresetName::ALL) {
        shown.extend(several_rounds(&database, preset, number * 1_000).await?);
    }
    shown.push(Box::pin(hooked(&database)).await?);
    shown.push(overflowed(&database).await?);
    shown.push(hard(&database).await?);

    store::pack(&database).await?;
    let mut manifest = store::describe(&database).await?;
    for one in shown {
        let described = store::conversation(&mut manifest, &one.session)?;
        for (key, value) in one.facts {
            described[key] = value;
        }
    }
    write_manifest(&folder.join("manifest.json"), &manifest)
}

/// A conversation of the museum, and what is to be known of it beside what the store says.
struct Shown {
    session: String,
    facts: Vec<(&'static str, Value)>,
}

/// How the engine of a conversation is made.
#[derive(Clone, Copy)]
struct Frame {
    preset: PresetName,
    wire: Wire,
    window_tokens: u64,
}

impl Frame {
    const fn of(preset: PresetName) -> Self {
        let wire = match preset {
            PresetName::Default | PresetName::Spacebot => Wire::OpenaiChat,
            PresetName::Vibe | PresetName::Layer => Wire::OpenaiResponses,
            PresetName::Openclaw | PresetName::Micro => Wire::Anthropic,
        };
        Self {
            preset,
            wire,
            window_tokens: WINDOW,
        }
    }

    const fn engine_wire(self) -> epitome_wire::Wire {
        match self.wire {
            Wire::OpenaiChat => epitome_wire::Wire::OpenAiChat,
            Wire::OpenaiResponses => epitome_wire::Wire::OpenAiResponses,
            Wire::Anthropic => epitome_wire::Wire::Anthropic,
        }
    }

    async fn builder(self, database: &Path) -> Result<EngineBuilder> {
        Ok(Engine::builder()
            .store(AnyStore::open(&store::url(database)).await?)
            .settings(Settings::of(self.preset))
            .window(Window::configured(self.window_tokens))
            .wire(self.engine_wire())
            .without_guard())
    }

    async fn shown(self, name: &str, conversation: &Conversation) -> Shown {
        let (records, summary) = conversation
            .look(|session| {
                let summary = session.compaction().map(|made| made.summary.text.clone());
                (session.records().len(), summary)
            })
            .await;
        Shown {
            session: conversation.id().to_string(),
            facts: vec![
                ("name", json!(name)),
                ("preset", json!(self.preset.as_str())),
                ("wire", json!(self.engine_wire().as_str())),
                ("window_tokens", json!(self.window_tokens)),
                ("records", json!(records)),
                (
                    "in_force_blake3",
                    json!(summary.map(|text| digest(text.as_bytes()))),
                ),
            ],
        }
    }
}

async fn open(engine: &Engine, name: &str) -> Result<Conversation> {
    Ok(engine
        .open(&ConversationId::new(&format!("museum-{name}"))?)
        .await?)
}

/// Pushes what a talk has grown by.
async fn push(conversation: &Conversation, talk: &Talk) -> Result<()> {
    let there = conversation.raw_entries().await.len();
    for message in talk.messages.iter().skip(there) {
        conversation.push_raw(message.to_string()).await?;
    }
    Ok(())
}

/// Several compactions of each design; of `default` also one that is taken back, and two forks.
async fn several_rounds(database: &Path, preset: PresetName, seed: u64) -> Result<Vec<Shown>> {
    let frame = Frame::of(preset);
    let model = writer(preset.as_str()).await;
    let caller = caller(frame, &model)?;
    let builder = frame.builder(database).await?;
    let engine = match preset {
        // Ours writes by itself.
        PresetName::Default => builder,
        _ => builder.summariser(caller),
    };
    let engine = engine.build().await?;
    let conversation = open(&engine, preset.as_str()).await?;
    let frame_text = r#"{"model":"scripted","max_tokens":256}"#;
    conversation.set_frame(frame_text).await?;
    let mut talk = Talk::new(frame.wire, preset.as_str(), seed);
    // One design takes a third of what is there, which has to be more than its summary.
    let (rounds, tokens): (&[u64], usize) = match preset {
        PresetName::Default => (&[4, 3, 3], 70),
        PresetName::Spacebot => (&[3, 3], 170),
        PresetName::Layer => (&[7, 2], 60),
        PresetName::Micro => (&[5, 3], 70),
        PresetName::Vibe | PresetName::Openclaw => (&[4, 3], 75),
    };
    for steps in rounds {
        talk = talk.grow(*steps, tokens);
        push(&conversation, &talk).await?;
        conversation
            .compact(None)
            .await
            .with_context(|| format!("{preset}: {} messages", talk.messages.len()))?;
    }
    talk = talk.grow(1, 60);
    push(&conversation, &talk).await?;
    let mut shown = vec![frame.shown(preset.as_str(), &conversation).await];
    if preset == PresetName::Default {
        let fork = conversation.fork(talk.messages.len() - 2).await?;
        let more = Talk::new(frame.wire, "fork", seed + 500).grow(4, 75);
        for message in &more.messages {
            fork.push_raw(message.to_string()).await?;
        }
        fork.compact(None).await.context("the fork")?;
        shown.push(frame.shown("fork", &fork).await);
        let bare = conversation.fork(talk.messages.len()).await?;
        shown.push(frame.shown("bare-fork", &bare).await);

        let undone = open(&engine, "undone").await?;
        let talk = Talk::new(frame.wire, "undone", seed + 600).grow(4, 75);
        push(&undone, &talk).await?;
        undone.compact(None).await?;
        let talk = talk.grow(4, 75);
        push(&undone, &talk).await?;
        undone.compact(None).await?;
        undone.undo().await?;
        shown.push(frame.shown("undone", &undone).await);
    }
    engine.shutdown().await;
    Ok(shown)
}

/// One compaction came too late: while a hook thought about it, another one took effect. The last has a summary that the
/// hook brought.
async fn hooked(database: &Path) -> Result<Shown> {
    let frame = Frame::of(PresetName::Default);
    let (asked, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let calls = Arc::new(AtomicUsize::new(0));
    let mut hooks = Hooks::default();
    let (tell, wait) = (Arc::clone(&asked), Arc::clone(&go_on));
    hooks.on_before_compact("slow, quick, a writer", move |_, _| {
        let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
        let call = calls.fetch_add(1, Ordering::SeqCst);
        async move {
            match call {
                0 => {
                    tell.notify_one();
                    wait.notified().await;
                }
                1 => {}
                _ => {
                    let summary =
                        format!("Port the hooked module from src/hooked.py to Rust. {RULE}");
                    return Ok(Verdict::Replace { summary });
                }
            }
            Ok(Verdict::Continue)
        }
    });
    let builder = frame.builder(database).await?;
    let engine = builder.hooks(hooks).build().await?;
    let conversation = open(&engine, "hooked").await?;
    let talk = Talk::new(frame.wire, "hooked", 7_000).grow(4, 75);
    push(&conversation, &talk).await?;
    let late = conversation.compact(None);
    let quick = async {
        asked.notified().await;
        let done = conversation.compact(None).await;
        go_on.notify_one();
        done
    };
    let (late, quick) = tokio::join!(late, quick);
    quick?;
    ensure!(late.is_err(), "both took effect");
    push(&conversation, &talk.grow(3, 75)).await?;
    conversation.compact(None).await?;
    let log = conversation.log().await?;
    let row = log.last().and_then(|entry| entry.compaction.as_ref());
    let record: Value = serde_json::from_str(&row.context("no compaction was stored")?.record)?;
    ensure!(
        record["steps"][0]["rung"] == "full",
        "the hook's summary was not taken: {record}"
    );
    let shown = frame.shown("hooked", &conversation).await;
    engine.shutdown().await;
    Ok(shown)
}

/// A provider named its window when it refused; later an engine died at work on it, and its lease is still there.
async fn overflowed(database: &Path) -> Result<Shown> {
    let frame = Frame::of(PresetName::Default);
    let builder = frame.builder(database).await?;
    let engine = builder.model("museum", "overflowed-model").build().await?;
    let conversation = open(&engine, "overflowed").await?;
    push(
        &conversation,
        &Talk::new(frame.wire, "overflowed", 7_400).grow(4, 75),
    )
    .await?;
    let refusal = json!({"error": {"code": "context_length_exceeded", "message":
        "This model's maximum context length is 4000 tokens. However, your messages resulted in 4100 tokens."}});
    let recovery = conversation
        .overflowed(400, refusal.to_string().as_bytes())
        .await?;
    ensure!(recovery == Recovery::Retry, "{recovery:?}");
    let now_ms = Clock::default().now_ms();
    let store = AnyStore::open(&store::url(database)).await?;
    let lease = store
        .acquire_lease(
            &TenantId::local(),
            conversation.id(),
            "an engine that is gone",
            now_ms,
            now_ms + 30_000,
        )
        .await?;
    store.close().await;
    ensure!(lease.is_some(), "the lease was taken");
    let shown = frame.shown("overflowed", &conversation).await;
    engine.shutdown().await;
    Ok(shown)
}

/// Outgrew its window with one large result, which is shown in part.
async fn hard(database: &Path) -> Result<Shown> {
    let frame = Frame {
        window_tokens: SMALL,
        ..Frame::of(PresetName::Default)
    };
    let engine = frame.builder(database).await?.build().await?;
    let conversation = open(&engine, "hard").await?;
    let result = prose(9, 1_700);
    let talk = Talk::new(frame.wire, "hard", 7_600)
        .grow(4, 100)
        .with_result(&result);
    push(&conversation, &talk).await?;
    let step = conversation.prepare_step().await?;
    ensure!(
        matches!(step.action, StepAction::Compacted(_)),
        "{:?}",
        step.action
    );
    ensure!(step.list.len() < result.len(), "the result is shown whole");
    let shown = frame.shown("hard", &conversation).await;
    engine.shutdown().await;
    Ok(shown)
}

/// A model that summarises, and saves a memory first where it can.
async fn writer(topic: &'static str) -> ScriptedModel {
    let script = Script::by(move |request| {
        let text = request.to_string();
        if text.contains("memory_save") && !text.contains("\"role\":\"tool\"") {
            let content = format!("The user ports {topic} from Python to Rust.");
            let save = json!({"content": content, "kind": "fact"});
            return Reply::calls([Call::new("memory_save", save)]);
        }
        Reply::text(format!(
            "## What the user wants\nPort the {topic} module from src/{topic}.py to Rust. {RULE}\n\n\
             ## What was done\nParts of it were read, one file after the other."
        ))
    });
    ScriptedModel::start(ModelConfig {
        script,
        ..ModelConfig::default()
    })
    .await
}

fn caller(frame: Frame, model: &ScriptedModel) -> Result<Caller> {
    let endpoint = Endpoint::new(frame.engine_wire(), &model.base_url(), "scripted")?
        .with_delivery(Delivery::Whole)
        .with_window(100_000)
        .with_limits(CallLimits {
            retries: 1,
            ..CallLimits::default()
        });
    let spending = Arc::new(SpendLedger::default());
    Ok(Caller::new(endpoint, spending, Clock::default()).with_first_wait(Duration::from_millis(5)))
}
