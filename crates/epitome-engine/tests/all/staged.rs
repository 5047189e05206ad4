//! Histories that are too long for one request, and what is kept when one of its parts fails.

use std::sync::Arc;
use std::time::Duration;

use epitome::settings::{Settings, Value};
use epitome::{Message, Meter, PresetName, Reason, Role, Session, Window};
use epitome_engine::Clock;
use epitome_engine::model::{Caller, Delivery, Endpoint, SpendLedger};
use epitome_engine::summarise::{Ladder, LadderRung, ModelWriter, Parts, Style, Templates, Wish};
use epitome_testkit::{Fault, Faults, ModelConfig, Reply, Script, ScriptedModel};
use epitome_wire::Wire;

use super::support::{GOOD, conversation, session};

fn safeguard() -> Settings {
    let mut settings = Settings::of(PresetName::Openclaw);
    let mode = Value::Table(vec![("mode".into(), Value::Text("safeguard".into()))]);
    settings.apply(&mode).expect("a mode");
    settings
}

struct Rig {
    model: ScriptedModel,
    ladder: Ladder,
    parts: Parts,
    caller: Caller,
}

async fn rig(settings: &Settings, window: u64, config: ModelConfig) -> Rig {
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: window,
        ..config
    })
    .await;
    let endpoint = Endpoint::new(Wire::OpenAiChat, &model.base_url(), "scripted")
        .expect("an address")
        .with_delivery(Delivery::Whole)
        .with_window(window);
    let caller = Caller::new(endpoint, Arc::new(SpendLedger::default()), Clock::default())
        .with_first_wait(Duration::from_millis(1));
    let parts = Parts::default();
    let writer = ModelWriter::new(
        caller.clone(),
        Arc::new(Templates::built_in()),
        Style::of(settings),
        parts.clone(),
    );
    Rig {
        ladder: Ladder::new(Some(Arc::new(writer)), settings.common.on_failure),
        model,
        parts,
        caller,
    }
}

/// A model that always writes the same good summary.
fn good() -> ModelConfig {
    ModelConfig {
        script: Script::Fixed(vec![Reply::text(GOOD); 200]),
        ..ModelConfig::default()
    }
}

fn wish(rig: &Rig) -> Wish<'static> {
    Wish {
        focus: None,
        request: None,
        asked: rig.caller.begin("test"),
    }
}

fn long_session(settings: &Settings, steps: usize) -> Session {
    let mut session =
        Session::from_settings(settings, Window::configured(200_000), Meter::Estimate)
            .without_guard();
    for message in conversation(steps) {
        session.push(message);
    }
    session
}

#[tokio::test]
async fn a_request_always_fits_its_own_window() {
    for window in [6_000, 12_000, 50_000] {
        for settings in [
            Settings::of(PresetName::Default),
            safeguard(),
            Settings::of(PresetName::Layer),
        ] {
            let rig = rig(&settings, window, good()).await;
            let mut session = long_session(&settings, 500);
            let job = session.begin(Reason::Manual).expect("something to compact");
            let written = rig.ladder.write(&job, wish(&rig)).await;
            let preset = settings.design().name;
            assert_eq!(
                written.rung(),
                Some(LadderRung::Full),
                "{preset} in {window}: {:?}",
                written.steps
            );
            for request in rig.model.requests() {
                assert_eq!(request.status, Some(200), "{preset} in {window}: too long");
                assert_eq!(request.violations, []);
            }
        }
    }
}

#[tokio::test]
async fn parts_are_merged_and_finished_ones_are_not_asked_for_again() {
    let settings = safeguard();
    // The merge fails twice (once with its retry); the parts before it are done.
    let rig = rig(&settings, 20_000, good()).await;
    let mut session = long_session(&settings, 400);
    let job = session.begin(Reason::Manual).expect("something to compact");
    let written = rig.ladder.write(&job, wish(&rig)).await;
    assert_eq!(
        written.rung(),
        Some(LadderRung::Full),
        "{:?}",
        written.steps
    );
    let asked: Vec<String> = rig
        .model
        .requests()
        .iter()
        .map(|request| request.json()["messages"].to_string())
        .collect();
    let merges = asked
        .iter()
        .filter(|text| text.contains("<part number="))
        .count();
    assert!(
        merges >= 1 && asked.len() - merges >= 2,
        "{} asked, {merges} merges",
        asked.len()
    );

    // Once more: every part is known, only the merge is asked for.
    let before = rig.model.requests().len();
    assert!(!rig.parts.is_empty());
    let again = rig.ladder.write(&job, wish(&rig)).await;
    assert_eq!(again.rung(), Some(LadderRung::Full));
    let new = rig.model.requests().split_off(before);
    assert!(
        new.iter()
            .all(|request| request.json().to_string().contains("<part number=")),
        "{}",
        new.len()
    );
}

#[tokio::test]
async fn what_was_finished_before_a_failure_is_used_again() {
    let settings = safeguard();
    let faults = (1..200).fold(Faults::none(), |faults, number| {
        faults.on(number, Fault::ServerError)
    });
    let rig = rig(&settings, 20_000, ModelConfig { faults, ..good() }).await;
    let mut session = long_session(&settings, 400);
    let job = session.begin(Reason::Manual).expect("something to compact");
    let written = rig.ladder.write(&job, wish(&rig)).await;
    assert_eq!(written.first_failure(), Some(Reason::SummaryFailed));
    assert_eq!(written.rung(), Some(LadderRung::BuiltIn));
    assert_eq!(rig.parts.len(), 1, "the first part was finished");

    // What comes next fails as well, but the finished part is not asked for once more.
    let again = rig.ladder.write(&job, wish(&rig)).await;
    assert_eq!(again.first_failure(), Some(Reason::SummaryFailed));
    let requests = rig.model.requests();
    let bodies: Vec<_> = requests.iter().map(|request| request.json()).collect();
    let (first, others) = bodies.split_first().expect("requests");
    assert!(others.len() > 1, "the second part was asked for again");
    assert!(!others.contains(first));
}

#[tokio::test]
async fn a_very_large_message_is_noted() {
    let settings = Settings::of(PresetName::Default);
    // The model has nothing to say about a log.
    let script = Script::by(|request| {
        let shows_log = request.to_string().contains("unused variable");
        Reply::text(if shows_log { "" } else { GOOD })
    });
    let rig = rig(
        &settings,
        8_000,
        ModelConfig {
            script,
            ..ModelConfig::default()
        },
    )
    .await;
    let mut messages = conversation(40);
    let large = "The whole log of the build follows. ".to_owned()
        + &"warning: unused variable `x`\n".repeat(4_000);
    messages.insert(6, Message::text(Role::User, large));
    let mut session = session(PresetName::Default, 100_000, messages);
    let job = session.begin(Reason::Manual).expect("something to compact");
    let written = rig.ladder.write(&job, wish(&rig)).await;
    assert!(written.prepared.is_ok());
    assert_eq!(written.first_failure(), Some(Reason::SummaryEmpty));
    assert_eq!(
        written.rung(),
        Some(LadderRung::WithoutOversized),
        "{:?}",
        written.steps
    );
    let requests = rig.model.requests();
    let mut bodies = requests.iter().map(|request| request.json().to_string());
    assert!(bodies.any(|body| body.contains("left out: a message of about")));
}

#[tokio::test]
async fn a_smaller_window_than_was_thought_is_learned() {
    let settings = Settings::of(PresetName::Default);
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: 9_000,
        script: Script::Fixed(vec![Reply::text(GOOD); 200]),
        ..ModelConfig::default()
    })
    .await;
    let endpoint = Endpoint::new(Wire::Anthropic, &model.base_url(), "scripted")
        .expect("an address")
        .with_window(200_000);
    let caller = Caller::new(endpoint, Arc::new(SpendLedger::default()), Clock::default());
    let writer = ModelWriter::new(
        caller.clone(),
        Arc::default(),
        Style::of(&settings),
        Parts::default(),
    );
    let ladder = Ladder::new(Some(Arc::new(writer)), settings.common.on_failure);
    let mut session = long_session(&settings, 300);
    let job = session.begin(Reason::Manual).expect("something to compact");
    let wish = Wish {
        focus: None,
        request: None,
        asked: caller.begin("test"),
    };
    let written = ladder.write(&job, wish).await;
    assert_eq!(written.first_failure(), Some(Reason::SummaryOverflow));
    assert_eq!(
        written.rung(),
        Some(LadderRung::WithoutOversized),
        "{:?}",
        written.steps
    );
}
