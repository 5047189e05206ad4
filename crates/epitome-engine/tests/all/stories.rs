//! The stories that the reference designs tell of themselves, end to end: the engine, a model behind HTTP, files.

mod layer;
mod micro;
mod openclaw;
mod openclaw_memory;
mod spacebot;
mod vibe;

use std::sync::Arc;
use std::time::Duration;

use epitome::settings::{Settings, Value as Setting};
use epitome::{Event, Message, Meter, PresetName, Window};
use epitome_engine::model::{Ask, CallLimits, Caller, Delivery, Endpoint, SpendLedger};
use epitome_engine::{Clock, Conversation, Engine, EngineBuilder};
use epitome_testkit::{ModelConfig, Recorded, Reply, Script, ScriptedModel};
use epitome_wire::Wire;
use serde_json::Value;

/// The settings of a design, with these changed.
pub(crate) fn settings(preset: PresetName, changes: &[(&str, Setting)]) -> Settings {
    let mut settings = Settings::of(preset);
    let changes = changes
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    settings.apply(&Setting::Table(changes.collect())).unwrap();
    settings
}

pub(crate) async fn model(
    respond: impl Fn(&Value) -> Reply + Send + Sync + 'static,
) -> ScriptedModel {
    ScriptedModel::start(ModelConfig {
        script: Script::by(respond),
        ..ModelConfig::default()
    })
    .await
}

pub(crate) fn caller(model: &ScriptedModel, wire: Wire, window: u64) -> Caller {
    let endpoint = Endpoint::new(wire, &model.base_url(), "scripted")
        .unwrap()
        .with_delivery(Delivery::Whole)
        .with_window(window)
        .with_limits(CallLimits {
            retries: 1,
            ..CallLimits::default()
        });
    Caller::new(endpoint, Arc::new(SpendLedger::default()), Clock::default())
        .with_first_wait(Duration::from_millis(5))
}

pub(crate) fn builder(settings: &Settings, window: u64, caller: &Caller) -> EngineBuilder {
    Engine::builder()
        .settings(settings.clone())
        .window(Window::configured(window))
        // The way in which the designs themselves count.
        .meter(Meter::Chars4)
        .wire(caller.endpoint().wire())
        .summariser(caller.clone())
}

pub(crate) async fn push(conversation: &Conversation, messages: &[Message]) {
    for message in messages {
        conversation.push(message).await.unwrap();
    }
}

/// One turn of the model on the conversation's own request.
pub(crate) async fn turn(conversation: &Conversation, caller: &Caller) -> String {
    let ask = Ask::own(conversation.request().await);
    let answer = caller.ask(&ask, &caller.begin("story")).await.unwrap();
    conversation.observe(answer.usage, 1.0).await;
    conversation.push(&answer.message).await.unwrap();
    answer.text()
}

/// Waits until something is so, which it must be soon.
pub(crate) async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not happen in time");
}

pub(crate) fn lines(events: &[Event], preset: PresetName) -> Vec<String> {
    events
        .iter()
        .flat_map(|event| event.lines(preset))
        .collect()
}

/// The text of the message at `position` of the view.
pub(crate) async fn shown(conversation: &Conversation, position: usize) -> String {
    let view = conversation.look(|session| session.view_messages()).await;
    view.get(position)
        .map(|message| message.spoken().collect::<Vec<_>>().join("\n"))
        .unwrap_or_default()
}

/// Who wrote the newest summary, and who failed before: `full` is the model.
pub(crate) async fn writers(conversation: &Conversation) -> Vec<(String, Option<String>)> {
    let log = conversation.log().await.unwrap();
    let row = log.iter().rev().find_map(|entry| entry.compaction.as_ref());
    let record: Value = serde_json::from_str(&row.unwrap().record).unwrap();
    let steps = record["steps"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    steps
        .map(|step| (text(&step["rung"]).unwrap(), text(&step["failed"])))
        .collect()
}

/// The model wrote the newest summary.
pub(crate) async fn written_by_the_model(conversation: &Conversation) {
    let writers = writers(conversation).await;
    assert_eq!(writers, [("full".to_owned(), None)]);
}

/// The requests that ask for a summary in a transcript.
pub(crate) fn summary_requests(model: &ScriptedModel) -> Vec<Recorded> {
    let mut requests = model.requests();
    requests.retain(|request| {
        let body = String::from_utf8_lossy(&request.body);
        body.contains("<transcript>") || body.contains("<part number")
    });
    requests
}

pub(crate) fn all_valid(model: &ScriptedModel) {
    for request in model.requests() {
        assert_eq!(request.violations, [], "request {}", request.number);
    }
}
