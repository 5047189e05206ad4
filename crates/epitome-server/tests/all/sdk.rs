//! A hundred turns in a window of 24,000 tokens, with the official Python SDKs as the clients.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests stop the test in the same way as the tests, and say what they skip"
)]

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use epitome_server::StoreLocation;
use epitome_testkit::{
    Chunking, ModelConfig, Recorded, Script, ScriptedModel, Wire, client, tokens,
};
use http::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::pair;

const TURNS: usize = 100;
const WINDOW_TOKENS: u64 = 24_000;
const SYSTEM: &str = "You are a careful clerk of a parcel service. Use the tools before you answer.";
/// With quotes, a tab, a backslash and more than ASCII: all of it has to survive as it was typed.
const TASK: &str = "Make an inventory of the depots in \"Köln\\Süd\" and\t\"Łódź\", section by section, \
     and report the parcels of each depot as a table. The reference is order 8841-QX.";
const INSTRUCTION: &str =
    "Always answer in metric units (\"km\", not \"mi\") and never delete the audit trail.";
const INSTRUCTION_TURN: usize = 3;
/// How a summary message begins.
const SUMMARY_MARK: &str = "[Conversation summary, epitome 1, ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    Whole,
    Streamed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Window {
    Configured,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    Memory,
    Sqlite,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openai_whole_configured() {
    check(
        Wire::OpenaiChat,
        Answers::Whole,
        Window::Configured,
        Store::Sqlite,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openai_whole_unknown() {
    check(
        Wire::OpenaiChat,
        Answers::Whole,
        Window::Unknown,
        Store::Memory,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openai_streamed_configured() {
    check(
        Wire::OpenaiChat,
        Answers::Streamed,
        Window::Configured,
        Store::Memory,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openai_streamed_unknown() {
    check(
        Wire::OpenaiChat,
        Answers::Streamed,
        Window::Unknown,
        Store::Sqlite,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic_whole_configured() {
    check(
        Wire::Anthropic,
        Answers::Whole,
        Window::Configured,
        Store::Memory,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic_whole_unknown() {
    check(
        Wire::Anthropic,
        Answers::Whole,
        Window::Unknown,
        Store::Sqlite,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic_streamed_configured() {
    check(
        Wire::Anthropic,
        Answers::Streamed,
        Window::Configured,
        Store::Sqlite,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic_streamed_unknown() {
    check(
        Wire::Anthropic,
        Answers::Streamed,
        Window::Unknown,
        Store::Memory,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_with_their_defaults_notice_nothing() {
    let Some(python) = python().await else { return };
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let environment = [
        ("OPENAI_BASE_URL", format!("{}/v1", proxy.base_url())),
        ("OPENAI_API_KEY", "test-key".to_owned()),
        ("ANTHROPIC_BASE_URL", proxy.base_url()),
        ("ANTHROPIC_API_KEY", "test-key".to_owned()),
    ];
    let findings = drive(python, "plain.py", Vec::new(), environment.to_vec()).await;
    let requests = model.requests();
    let counted = |path: &str| {
        let found = requests.iter().find(|request| request.path == path);
        json!(found.unwrap().input_tokens)
    };
    assert_eq!(findings["openai_models"], json!(["scripted"]));
    assert_eq!(findings["anthropic_models"], json!(["scripted"]));
    for action in ["models_action", "chat_action", "message_action"] {
        assert_eq!(findings[action], "passthrough", "{action}");
    }
    assert_eq!(findings["counted_tokens"], counted("/v1/messages/count_tokens"));
    assert_eq!(findings["chat_tokens"], counted("/v1/chat/completions"));
    assert_eq!(findings["message_tokens"], counted("/v1/messages"));
    for text in ["chat_text", "message_text"] {
        assert!(findings[text].as_str().unwrap().len() > 20, "{findings}");
    }
    assert_eq!(findings["not_found"], 404);
    assert!(requests.iter().all(|request| request.violations.is_empty()));
}

/// One conversation from the first turn to the last, and everything the scripted model saw of it.
async fn check(wire: Wire, answers: Answers, window: Window, store: Store) {
    let case = format!("{wire:?} {answers:?} {window:?} {store:?}");
    let Some(python) = python().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let model = ModelConfig {
        window_tokens: WINDOW_TOKENS,
        script: Script::Agent {
            tool_every: 2,
            parallel_every: 6,
            words: 60,
        },
        chunking: Chunking::Events,
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |config| {
        config.window_tokens = (window == Window::Configured).then_some(WINDOW_TOKENS);
        if store == Store::Sqlite {
            let file = folder.path().join("epitome.db");
            config.store = StoreLocation::Url(format!("sqlite:{}", file.display()));
        }
    })
    .await;
    let settings = json!({
        "client": match wire { Wire::OpenaiChat => "with_openai", Wire::Anthropic => "with_anthropic" },
        "base_url": proxy.base_url(),
        "model": "scripted-24k",
        "system": SYSTEM,
        "task": TASK,
        "instruction": INSTRUCTION,
        "instruction_turn": INSTRUCTION_TURN,
        "turns": TURNS,
        "streams": answers == Answers::Streamed,
        // Streams of OpenAI tell no usage unless asked; the proxy has to do with and without.
        "asks_usage": window == Window::Unknown,
        "thinks": answers == Answers::Streamed,
        "out": folder.path(),
    });
    let findings = drive(python, "converse.py", vec![settings.to_string()], Vec::new()).await;
    let health = client::send(proxy.address, &Method::GET, "/healthz", &[], "".into()).await;
    assert_eq!(health.unwrap().json()["store_failures"], 0, "{case}");
    proxy.stop().await;

    assert_eq!(findings["errors"], json!([]), "{case}: {findings}");
    assert_eq!(findings["turns"], TURNS, "{case}: {findings}");
    assert_eq!(findings["conversations"].as_array().unwrap().len(), 1, "{case}: {findings}");
    let requests = model.requests();
    let refused = requests.iter().filter(|request| request.status != Some(200));
    let overflows = refused.clone().filter(|request| is_overflow(wire, request)).count();
    assert_eq!(refused.count(), overflows, "{case}: refused for another reason");
    assert!(overflows <= usize::from(window == Window::Unknown), "{case}: {overflows} overflows");
    for request in &requests {
        assert_eq!(request.violations, [], "{case}: request {}", request.number);
    }
    let accepted: Vec<Recorded> =
        requests.into_iter().filter(|request| request.status == Some(200)).collect();
    assert_eq!(findings["requests"], accepted.len(), "{case}");
    let heard = read_answers(folder.path());
    check_pins(&case, &accepted);
    let summaries = check_prefixes(&case, &accepted, &heard);
    check_answers(&case, wire, &model, &accepted, &heard).await;
    let last = fs::read(folder.path().join("last_request.json")).unwrap();
    let history_tokens = tokens::count(wire, &serde_json::from_slice(&last).unwrap());
    assert!(history_tokens > 3 * WINDOW_TOKENS, "{case}: only {history_tokens} tokens of history");
    let largest = accepted.iter().filter_map(|request| request.input_tokens).max().unwrap();
    eprintln!(
        "{case}: {findings}, {overflows} overflow answers, {summaries} compactions, at most {largest} tokens \
         forwarded, {history_tokens} tokens of history"
    );
}

/// The answers as the SDK gave them to the agent, in order.
#[derive(Deserialize)]
struct Heard {
    said: Value,
    action: String,
    sent_bytes: usize,
}

fn read_answers(folder: &Path) -> Vec<Heard> {
    let text = fs::read_to_string(folder.join("answers.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_overflow(wire: Wire, request: &Recorded) -> bool {
    let output = request.json()["max_tokens"].as_u64().unwrap_or(0);
    assert!(wire == Wire::Anthropic || output == 0);
    request.status == Some(400)
        && request.input_tokens.is_some_and(|tokens| tokens + output > WINDOW_TOKENS)
}

/// The task is in every request, the standing instruction in every one since it was given, word for word.
fn check_pins(case: &str, accepted: &[Recorded]) {
    let mut is_given = false;
    for request in accepted {
        let body = request.json();
        let mut texts = Vec::new();
        strings(&body["messages"], &mut texts);
        let holds = |wanted: &str| texts.iter().any(|text| text.contains(wanted));
        assert!(holds(TASK), "{case}: request {} lost the task", request.number);
        is_given |= holds(INSTRUCTION);
        assert_eq!(holds(INSTRUCTION), is_given, "{case}: request {} lost it", request.number);
    }
    assert!(is_given, "{case}");
}
