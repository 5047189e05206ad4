//! The same conversations through `Engine` and through the proxy: one machine decides, so both act at the same turn.
//!
//! Where they may differ, and why:
//!
//! | | engine | proxy |
//! |---|---|---|
//! | `default`, from the second round on | a model or the view carries the summary before | made from the originals again |
//! | `spacebot`, tiers below the emergency | shown as soon as the background is done | shown with the next request after that; how long the background takes decides the turn |
//! | long and old tool results in `default` | pruned, so that it lasts longer | left alone: pruning is opt-in |
//! | a window below 16,000 | refused by the guard (switched off here) | no guard |

use bytes::Bytes;
use epitome::settings::{DesignSettings, Settings};
use epitome::{PresetName, Usage, Window};
use epitome_engine::Engine;
use epitome_testkit::{Counts, ModelConfig, Wire, tokens};

use super::rig::{Rig, Talk, server};

const TURNS: usize = 56;

#[derive(Clone, Copy, Debug)]
struct Scenario {
    preset: PresetName,
    window: u64,
    percent: u64,
    steps: bool,
}

fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for preset in PresetName::ALL {
        for (window, percent) in [(20_000, 100), (30_000, 100), (30_000, 70), (40_000, 140)] {
            for steps in [false, true] {
                all.push(Scenario {
                    preset,
                    window,
                    percent,
                    steps,
                });
            }
        }
    }
    all
}

fn settings(scenario: Scenario) -> Settings {
    let mut settings = Settings::of(scenario.preset);
    let line = scenario.window * 6 / 10;
    match &mut settings.design {
        DesignSettings::Vibe(own) => own.auto_compact_threshold = i64::try_from(line).unwrap(),
        DesignSettings::Openclaw(own) => {
            own.reserve_tokens = scenario.window - line;
            own.reserve_tokens_floor = 0;
            own.keep_recent_tokens = line / 4;
        }
        DesignSettings::Micro(own) => {
            own.compaction_threshold_tokens = i64::try_from(line).unwrap();
            own.max_conversation_messages = 300;
        }
        DesignSettings::Default(_)
        | DesignSettings::Spacebot(_)
        | DesignSettings::Layer(_)
        | DesignSettings::Table(_) => {}
    }
    settings
}

/// One more turn of a conversation.
fn grow(talk: &mut Talk, scenario: Scenario) {
    if scenario.steps {
        talk.stepped(scenario.window / 44);
    }
    talk.answered(scenario.window / 44);
}

/// The turns before which a compaction came into force at the proxy.
async fn through_the_proxy(scenario: Scenario) -> Vec<usize> {
    let percent = scenario.percent;
    let model = ModelConfig {
        counts: Counts::by(move |asked| asked.plain_tokens * percent / 100),
        ..server(scenario.window * 2)
    };
    let rig = Rig::start(model, |config| {
        config.window_tokens = Some(scenario.window);
        config.settings = settings(scenario);
    })
    .await;
    let mut talk = Talk::new(Wire::OpenaiChat, "scripted", 11);
    let mut compacted = Vec::new();
    for turn in 0..TURNS {
        grow(&mut talk, scenario);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("{scenario:?}, turn {turn}"));
        if !outcome.is_bare() && outcome.reason() != "epoch" {
            compacted.push(turn);
        }
        settle().await;
    }
    compacted
}

/// The turns before which a compaction came into force in the engine.
async fn through_the_engine(scenario: Scenario) -> Vec<usize> {
    let engine = Engine::builder()
        .settings(settings(scenario))
        .window(Window::configured(scenario.window))
        .without_guard()
        .build()
        .await
        .unwrap();
    let conversation = engine.create().await.unwrap();
    let mut talk = Talk::new(Wire::OpenaiChat, "scripted", 11);
    let mut pushed = 0;
    let mut known = 0;
    let mut compacted = Vec::new();
    for turn in 0..TURNS {
        grow(&mut talk, scenario);
        let mut frame = talk.request();
        frame.as_object_mut().unwrap().remove("messages");
        conversation.set_frame(&frame.to_string()).await.unwrap();
        for message in talk.messages.iter().skip(pushed) {
            let raw = Bytes::from(message.to_string());
            conversation.push_raw(raw).await.unwrap();
        }
        pushed = talk.messages.len();
        let step = conversation.prepare_step().await.unwrap();
        // What was written in the background may have come into force between two steps.
        let records = conversation.look(|session| session.records().len()).await;
        if records > known {
            compacted.push(turn);
        }
        known = records;
        let mut sent = frame;
        sent["messages"] = serde_json::from_slice(&step.list).unwrap();
        let plain = tokens::count(Wire::OpenaiChat, &sent);
        let usage = Usage {
            fresh_tokens: plain * scenario.percent / 100,
            ..Usage::default()
        };
        conversation.observe(usage, 0.1).await;
        settle().await;
    }
    engine.shutdown().await;
    compacted
}

/// Lets what runs in the background come to its end.
async fn settle() {
    tokio::time::sleep(std::time::Duration::from_millis(4)).await;
}

/// Both act at the same turns: the first time whatever the design, and as often within one.
pub(super) async fn engine_and_proxy_decide_alike() {
    let mut differing = Vec::new();
    let all = scenarios();
    let is_compared = |one: &&Scenario| one.preset != PresetName::Spacebot;
    assert!(all.iter().filter(is_compared).count() >= 40);
    for scenario in all {
        let proxy = through_the_proxy(scenario).await;
        let engine = through_the_engine(scenario).await;
        assert!(!proxy.is_empty(), "{scenario:?}: the proxy never acted");
        assert!(!engine.is_empty(), "{scenario:?}: the engine never acted");
        let prunes = scenario.preset == PresetName::Default && scenario.steps;
        let later = |proxy: usize, engine: usize| match scenario.preset {
            PresetName::Spacebot => true,
            _ if prunes => proxy <= engine,
            _ => proxy == engine,
        };
        let first = *engine.first().unwrap_or(&TURNS);
        let is_counted = !prunes && scenario.preset != PresetName::Spacebot;
        let is_as_often = proxy.len().abs_diff(engine.len()) <= 1;
        let is_alike = later(proxy[0], first) && (is_as_often || !is_counted);
        if !is_alike {
            differing.push(format!("{scenario:?}: proxy {proxy:?}, engine {engine:?}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
