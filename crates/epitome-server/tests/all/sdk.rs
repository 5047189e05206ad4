//! A hundred turns in a window of 24,000 tokens, with the official Python SDKs as the clients.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests stop the test in the same way as the tests, and say what they skip"
)]

#[cfg(test)]
#[path = "sdk/designs.rs"]
mod designs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use epitome_store::{CompactionRow, CompactionState};
use epitome_testkit::{
    Chunking, ModelConfig, Recorded, Script, ScriptedModel, Wire, client, tokens,
};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Folder, assert_splice, pair, raw_messages, report_skip, summary};

const TURNS: usize = 100;
const WINDOW_TOKENS: u64 = 24_000;
const SYSTEM: &str =
    "You are a careful clerk of a parcel service. Use the tools before you answer.";
/// With quotes, a tab, a backslash and more than ASCII: all of it has to survive as it was typed.
const TASK: &str = "Make an inventory of the depots in \"Köln\\Süd\" and\t\"Łódź\", section by section, \
     and report the parcels of each depot as a table. The reference is order 8841-QX.";
const INSTRUCTION: &str =
    "Always answer in metric units (\"km\", not \"mi\") and never delete the audit trail.";
const INSTRUCTION_TURN: usize = 3;

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

macro_rules! conversations {
    ($($name:ident: $wire:ident $answers:ident $window:ident $store:ident;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            check(Wire::$wire, Answers::$answers, Window::$window, Store::$store).await;
        }
    )*};
}

conversations! {
    openai_whole_in_a_configured_window: OpenaiChat Whole Configured Sqlite;
    openai_whole_in_an_unknown_window: OpenaiChat Whole Unknown Memory;
    openai_streamed_in_a_configured_window: OpenaiChat Streamed Configured Memory;
    openai_streamed_in_an_unknown_window: OpenaiChat Streamed Unknown Sqlite;
    anthropic_whole_in_a_configured_window: Anthropic Whole Configured Memory;
    anthropic_whole_in_an_unknown_window: Anthropic Whole Unknown Sqlite;
    anthropic_streamed_in_a_configured_window: Anthropic Streamed Configured Sqlite;
    anthropic_streamed_in_an_unknown_window: Anthropic Streamed Unknown Memory;
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
    assert_eq!(
        findings["counted_tokens"],
        counted("/v1/messages/count_tokens")
    );
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
    let folder = Folder::new();
    let out = folder.path().with_file_name("out");
    fs::create_dir(&out).unwrap();
    let script = Script::Agent {
        tool_every: 4,
        parallel_every: 8,
        words: 170,
    };
    let model = ModelConfig {
        window_tokens: WINDOW_TOKENS,
        script,
        chunking: Chunking::Events,
        ..ModelConfig::default()
    };
    let (model, proxy) = pair(model, |config| {
        config.window_tokens = (window == Window::Configured).then_some(WINDOW_TOKENS);
        if store == Store::Sqlite {
            config.store = folder.location();
        }
    })
    .await;
    let settings = json!({
        "client": match wire {
            Wire::OpenaiChat | Wire::OpenaiResponses => "with_openai",
            Wire::Anthropic => "with_anthropic",
        },
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
        "out": out,
    });
    let arguments = vec![settings.to_string()];
    let findings = drive(python, "converse.py", arguments, Vec::new()).await;
    proxy.stop().await;
    assert_eq!(findings["errors"], json!([]), "{case}: {findings}");
    assert_eq!(findings["turns"], TURNS, "{case}: {findings}");
    let conversations = findings["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 1, "{case}: {findings}");

    let (accepted, refused): (Vec<Recorded>, Vec<Recorded>) =
        (model.requests().into_iter()).partition(|request| request.status == Some(200));
    for request in accepted.iter().chain(&refused) {
        assert_eq!(request.violations, [], "{case}: request {}", request.number);
    }
    for request in &refused {
        assert!(is_overflow(request), "{case}: {:?}", request.status);
    }
    let overflows = refused.len();
    let allowed = usize::from(window == Window::Unknown);
    assert!(overflows <= allowed, "{case}: {overflows} overflows");
    assert!(accepted.len() >= TURNS, "{case}: {findings}");
    assert_eq!(findings["requests"], accepted.len(), "{case}");
    let heard = read_answers(&out);
    check_pins(&case, &accepted, &heard);
    let summaries = check_prefixes(&case, &accepted, &heard);
    if store == Store::Sqlite {
        check_store(&case, &folder.compactions().await, &summaries);
    }
    check_answers(&case, wire, &model, &accepted, &heard).await;

    let last = fs::read(out.join("last_request.json")).unwrap();
    assert_splice(&last, &accepted[accepted.len() - 1].body);
    let history_tokens = tokens::count(wire, &serde_json::from_slice(&last).unwrap());
    assert!(
        history_tokens > 2 * WINDOW_TOKENS,
        "{case}: a history of only {history_tokens} tokens"
    );
    let sizes = accepted.iter().filter_map(|request| request.input_tokens);
    let numbers = json!({
        "overflows": overflows,
        "compactions": summaries.len(),
        "largest_tokens": sizes.max(),
        "history_tokens": history_tokens,
    });
    eprintln!("{case}: {findings} {numbers}");
}

/// What the agent heard, answer by answer.
#[derive(Deserialize)]
struct Heard {
    turn: usize,
    message: Value,
    action: String,
    sent_bytes: usize,
}

fn read_answers(folder: &Path) -> Vec<Heard> {
    let text = fs::read_to_string(folder.join("answers.jsonl")).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn is_overflow(request: &Recorded) -> bool {
    let output_tokens = request.json()["max_tokens"].as_u64().unwrap_or(0);
    let tokens = request.input_tokens.unwrap_or(0) + output_tokens;
    request.status == Some(400) && tokens > WINDOW_TOKENS
}

/// The task is in every request, the standing instruction in every one since it was given, word for word.
fn check_pins(case: &str, accepted: &[Recorded], heard: &[Heard]) {
    for (request, Heard { turn, .. }) in accepted.iter().zip(heard) {
        let body = request.json();
        let mut texts = Vec::new();
        strings(&body["messages"], &mut texts);
        let holds = |wanted: &str| texts.iter().any(|text| text.contains(wanted));
        assert!(holds(TASK), "{case}: no task in turn {turn}");
        let is_given = *turn >= INSTRUCTION_TURN;
        assert_eq!(holds(INSTRUCTION), is_given, "{case}: turn {turn}");
    }
}

/// Requests under the same summary grow at the end of their messages only, byte for byte; a summary that was
/// replaced never comes back. Returns the summary messages.
fn check_prefixes(case: &str, accepted: &[Recorded], heard: &[Heard]) -> Vec<String> {
    let mut epochs: Vec<String> = Vec::new();
    let mut prefix: &[u8] = b"";
    let (_, options) = around_messages(&accepted[0].body);
    for (request, heard) in accepted.iter().zip(heard) {
        let (body, turn) = (&request.body, heard.turn);
        let epoch = summary(body).unwrap_or_default();
        if epoch.is_empty() {
            assert_eq!(heard.action, "passthrough", "{case}: turn {turn}");
            assert_eq!(heard.sent_bytes, body.len(), "{case}: turn {turn}");
        } else {
            assert_eq!(heard.action, "compacted", "{case}: turn {turn}");
            assert!(heard.sent_bytes > body.len(), "{case}: turn {turn}");
        }
        if epochs.last() == Some(&epoch) {
            let grows = body.len() > prefix.len() && body.starts_with(prefix);
            assert!(grows, "{case}: turn {turn} changes what was sent");
        } else {
            assert!(!epochs.contains(&epoch), "{case}: turn {turn} goes back");
            epochs.push(epoch);
        }
        let (messages, rest) = around_messages(body);
        assert_eq!(rest, options, "{case}: turn {turn}");
        prefix = messages;
    }
    epochs.retain(|epoch| !epoch.is_empty());
    let is_moderate = epochs.len() >= 3 && epochs.len() * 5 < accepted.len();
    assert!(is_moderate, "{case}: {} compactions", epochs.len());
    epochs
}

/// What was sent in place of history is on record, as published.
fn check_store(case: &str, rows: &[CompactionRow], summaries: &[String]) {
    for message in summaries {
        let message: Value = serde_json::from_str(message).unwrap();
        let mut texts = Vec::new();
        strings(&message, &mut texts);
        let row = rows
            .iter()
            .find(|row| texts.contains(&row.summary.as_str()));
        let state = row.map(|row| row.state);
        assert_eq!(state, Some(CompactionState::Published), "{case}: {message}");
    }
}

/// A body up to the end of its last message, and what follows.
fn around_messages(body: &[u8]) -> (&[u8], &[u8]) {
    let last = raw_messages(body).pop().unwrap();
    body.split_at(last.as_ptr().addr() + last.len() - body.as_ptr().addr())
}

/// The model says the same to the same request: asked again without the proxy, it gives what the agent heard.
async fn check_answers(
    case: &str,
    wire: Wire,
    model: &ScriptedModel,
    accepted: &[Recorded],
    heard: &[Heard],
) {
    for (request, heard) in accepted.iter().zip(heard) {
        let body = request.body.clone();
        let answer = client::send(model.address(), &Method::POST, wire.path(), &[], body).await;
        let message = client::assistant_message(wire, &answer.unwrap()).unwrap();
        assert_eq!(heard.message, message, "{case}: turn {}", heard.turn);
    }
}

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        _ => {}
    }
}

/// Runs a driver and reads the JSON on its last line.
pub(crate) async fn drive(
    python: PathBuf,
    name: &str,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
) -> Value {
    let driver = driver(name);
    let run = move || {
        Command::new(python)
            .arg("-B")
            .arg(driver)
            .args(arguments)
            .envs(environment)
            // The proxy is on this machine, whatever the way to the internet is.
            .env("NO_PROXY", "*")
            .output()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// A Python that has both SDKs. Without one the suite is skipped, and that is said; under CI it fails.
pub(crate) async fn python() -> Option<PathBuf> {
    static ENVIRONMENT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let ready = || {
        ENVIRONMENT.get_or_init(|| {
            let made = environment();
            if let Err(reason) = &made {
                report_skip("sdk", reason);
            }
            made
        })
    };
    match tokio::task::spawn_blocking(ready).await.unwrap() {
        Ok(python) => Some(python.clone()),
        Err(reason) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("{reason}"),
        Err(_) => None,
    }
}

/// Makes a virtual environment from PyPI, or takes the one of an earlier run.
fn environment() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-python");
    let output = Command::new("python3")
        .arg(driver("environment.py"))
        .arg(&folder)
        .output();
    let output = output.map_err(|error| format!("python3 does not start: {error}"))?;
    if output.status.success() {
        return Ok(folder.join("bin/python"));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    Err(last
        .unwrap_or("no environment, and no reason given")
        .to_owned())
}

fn driver(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sdk")
        .join(name)
}
