//! `epitome pins`: what is pinned is listed, and a pin that is dropped is gone with the next request of a running proxy,
//! and with the next step of a conversation of an engine.

use std::path::Path;
use std::process::Output;

use epitome::{Earlier, Message, Role, Window};
use epitome_engine::{Conversation, Engine};
use epitome_store::AnyStore;
use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client};
use serde_json::{Value, json};

use crate::serve::{Serving, serve};
use crate::support::{epitome, json, stderr};

/// It reads like a rule, and is none.
const WRONG: &str = "Never trust the old harbour map.";
const RIGHT: &str = "Always answer in short sentences.";

fn location(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("log.db").display())
}

fn pins(folder: &Path, session: &str, arguments: &[&str]) -> Output {
    let mut command = epitome();
    command.args(["pins", "--session", session]).args(arguments);
    command.args(["--store", &location(folder)]);
    command.output().unwrap()
}

fn listed(folder: &Path, session: &str) -> Vec<Value> {
    let output = pins(folder, session, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let listed = json(&output);
    listed
        .get("pins")
        .and_then(Value::as_array)
        .unwrap()
        .clone()
}

fn state_of(folder: &Path, session: &str, text: &str) -> Option<String> {
    let listed = listed(folder, session);
    let pin = listed.iter().find(|pin| pin["text"] == text)?;
    Some(pin["state"].as_str()?.to_owned())
}

fn drop_pin(folder: &Path, session: &str, which: &str) {
    let output = pins(folder, session, &["--drop", which]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// The instructions that a text with a summary says are in force.
fn instructions(text: &str) -> Vec<String> {
    Earlier::read(text).map_or_else(Vec::new, |summary| summary.pins)
}

fn turn(number: usize) -> String {
    format!("In turn {number} the heron looks at buoy{number} in the harbour. ").repeat(14)
}

/// What a client sends: a task, the two sentences, and many turns.
struct Client {
    wire: Wire,
    messages: Vec<Value>,
}

impl Client {
    fn new(wire: Wire) -> Self {
        let say = |text: &str| json!({"role": "user", "content": text});
        let answer = |text: &str| json!({"role": "assistant", "content": text});
        let rules = format!("{WRONG} {RIGHT}");
        Self {
            wire,
            messages: vec![
                say("Count the herons of the harbour."),
                answer("I begin."),
                say(&rules),
            ],
        }
    }

    fn go_on(&mut self, turns: usize) {
        for _ in 0..turns {
            let number = self.messages.len();
            let text = turn(number);
            self.messages
                .push(json!({"role": "assistant", "content": text}));
            let next = format!("What about buoy {}?", number + 1);
            self.messages.push(json!({"role": "user", "content": next}));
        }
    }

    /// Sends everything, and gives the session and the summary that went out.
    async fn ask(&self, serving: &Serving, model: &ScriptedModel) -> (String, Option<String>) {
        let request = json!({
            "model": "scripted", "max_tokens": 100, "messages": self.messages,
        });
        let answer = client::post(serving.address, self.wire, &request)
            .await
            .unwrap();
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        let sent = model.requests().pop().unwrap();
        let sent: Value = serde_json::from_slice(&sent.body).unwrap();
        let messages = sent.get("messages").and_then(Value::as_array).unwrap();
        let texts = messages.iter().map(|message| {
            let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
            let text = text("/content").or_else(|| text("/content/0/text"));
            text.unwrap_or_default().to_owned()
        });
        let summary = texts.into_iter().find(|text| text.contains("epitome 1, "));
        (answer.header("x-epitome-conversation").to_owned(), summary)
    }
}

async fn a_dropped_pin_is_gone(wire: Wire, arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let store = location(folder);
    let arguments = [&["--store", &store, "--window", "8000"], arguments].concat();
    let serving = serve(&model.base_url(), &arguments);
    let mut client = Client::new(wire);
    client.go_on(40);
    let (session, summary) = client.ask(&serving, &model).await;
    let summary = summary.unwrap();
    let told = instructions(&summary);
    assert!(
        told.contains(&WRONG.to_owned()) && told.contains(&RIGHT.to_owned()),
        "{summary}"
    );

    let before = listed(folder, &session);
    let wrong = before.iter().find(|pin| pin["text"] == WRONG).unwrap();
    assert_eq!(
        (&wrong["state"], &wrong["message"]),
        (&json!("in_force"), &json!(3))
    );
    for unknown in ["99", "0", "Never trust anybody."] {
        let output = pins(folder, &session, &["--drop", unknown]);
        assert_eq!(output.status.code(), Some(2), "{unknown}");
        let said = stderr(&output);
        assert!(said.contains(WRONG) && said.contains(RIGHT), "{said}");
    }
    let output = pins(folder, &session, &["--restore", WRONG]);
    assert_eq!(output.status.code(), Some(2), "it is not dropped");

    drop_pin(folder, &session, &wrong["number"].to_string());
    assert_eq!(
        state_of(folder, &session, WRONG).as_deref(),
        Some("dropped")
    );
    // The very next request, and every round behind it.
    for round in 0..30 {
        client.go_on(2);
        let (same, summary) = client.ask(&serving, &model).await;
        assert_eq!(same, session);
        let summary = summary.unwrap();
        let told = instructions(&summary);
        assert!(
            !told.contains(&WRONG.to_owned()),
            "round {round}: {summary}"
        );
        assert!(told.contains(&RIGHT.to_owned()), "round {round}: {summary}");
    }
    assert_eq!(
        state_of(folder, &session, WRONG).as_deref(),
        Some("dropped")
    );
    assert_eq!(
        state_of(folder, &session, RIGHT).as_deref(),
        Some("in_force")
    );

    // Another process on the same store knows it too.
    drop(serving);
    let serving = serve(&model.base_url(), &arguments);
    client.go_on(1);
    let (_, summary) = client.ask(&serving, &model).await;
    assert!(!instructions(&summary.unwrap()).contains(&WRONG.to_owned()));

    let output = pins(folder, &session, &["--restore", WRONG]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    client.go_on(1);
    let (_, summary) = client.ask(&serving, &model).await;
    let summary = summary.unwrap();
    assert!(
        instructions(&summary).contains(&WRONG.to_owned()),
        "{summary}"
    );
    assert_eq!(
        state_of(folder, &session, WRONG).as_deref(),
        Some("in_force")
    );
}

#[tokio::test]
async fn a_pin_that_is_dropped_is_gone_with_the_next_request() {
    a_dropped_pin_is_gone(Wire::OpenaiChat, &[]).await;
}

/// A design that compacts what is shown, not the originals.
#[tokio::test]
async fn a_pin_that_is_dropped_is_gone_in_a_design_of_rounds() {
    a_dropped_pin_is_gone(Wire::Anthropic, &["--preset", "vibe"]).await;
}

async fn engine(folder: &Path) -> Engine {
    let store = AnyStore::open(&location(folder)).await.unwrap();
    Engine::builder()
        .store(store)
        .window(Window::configured(8_000))
        .without_guard()
        .build()
        .await
        .unwrap()
}

async fn summary_of(conversation: &Conversation) -> String {
    let step = conversation.prepare_step().await.unwrap();
    let mut texts = step.messages.iter().flat_map(|message| message.spoken());
    let found = texts.find(|text| text.contains("epitome 1, "));
    found.unwrap_or_default().to_owned()
}

async fn go_on(conversation: &Conversation, turns: usize) {
    for number in 0..turns {
        for (role, text) in [
            (Role::Assistant, turn(number)),
            (Role::User, format!("What about buoy {number}?")),
        ] {
            conversation.push(&Message::text(role, text)).await.unwrap();
        }
        conversation.prepare_step().await.unwrap();
    }
}

#[tokio::test]
async fn a_pin_that_is_dropped_is_gone_with_the_next_step_of_an_open_conversation_and_of_its_forks()
{
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let engine = engine(folder).await;
    let conversation = engine.create().await.unwrap();
    for (role, text) in [
        (Role::User, "Count the herons of the harbour.".to_owned()),
        (Role::Assistant, "I begin.".to_owned()),
        (Role::User, format!("{WRONG} {RIGHT}")),
    ] {
        conversation.push(&Message::text(role, text)).await.unwrap();
    }
    go_on(&conversation, 40).await;
    let session = conversation.id().to_string();
    let summary = summary_of(&conversation).await;
    assert!(
        instructions(&summary).contains(&WRONG.to_owned()),
        "{summary}"
    );
    let entries = conversation.raw_entries().await.len();
    let fork = conversation.fork(entries).await.unwrap();
    assert!(instructions(&summary_of(&fork).await).contains(&WRONG.to_owned()));
    assert_eq!(
        state_of(folder, &session, WRONG).as_deref(),
        Some("in_force")
    );
    assert_eq!(
        state_of(folder, fork.id().as_str(), WRONG).as_deref(),
        Some("in_force")
    );

    drop_pin(folder, &session, WRONG);
    for branch in [&conversation, &fork] {
        let id = branch.id().as_str();
        assert_eq!(state_of(folder, id, WRONG).as_deref(), Some("dropped"));
        for round in 0..3 {
            let summary = summary_of(branch).await;
            let told = instructions(&summary);
            assert!(
                !told.contains(&WRONG.to_owned()),
                "round {round}: {summary}"
            );
            assert!(told.contains(&RIGHT.to_owned()), "round {round}: {summary}");
            go_on(branch, 12).await;
        }
        // What is stored leads to the same.
        let again = engine.open(branch.id()).await.unwrap();
        let told = summary_of(&again).await;
        assert!(!instructions(&told).contains(&WRONG.to_owned()), "{told}");
    }

    let output = pins(folder, &session, &["--restore", WRONG]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = summary_of(&conversation).await;
    assert!(
        instructions(&summary).contains(&WRONG.to_owned()),
        "{summary}"
    );
}

#[tokio::test]
async fn who_is_unknown_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    engine(folder).await.create().await.unwrap();
    let output = pins(folder, "nobody", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nobody"));
}
