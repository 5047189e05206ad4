//! `serve --summarizer borrow`: summaries in the client's own name, whose key is kept nowhere.

use std::path::Path;
use std::time::Duration;

use epitome_testkit::{ModelConfig, Recorded, Reply, Script, ScriptedModel, Wire, client};
use http::Method;
use serde_json::{Value, json};

use crate::serve::{Serving, serve};
use crate::support::epitome;

const KEY: &str = "sk-client-0123456789-secret";
/// What only a client sends: the requests for summaries have none.
const MARK: &str = "the-client-itself";
const WRITTEN: &str = "The herons of the harbour are counted, buoy after buoy, patient as a heron.";

/// A provider that answers clients, and whoever asks for a summary with `summary`.
async fn provider(summary: impl Fn() -> Reply + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::start(ModelConfig {
        script: Script::by(move |request: &Value| match is_client(request) {
            true => Reply::text("Go on."),
            false => summary(),
        }),
        ..ModelConfig::default()
    })
    .await
}

fn is_client(request: &Value) -> bool {
    let says = |pointer: &str| request.pointer(pointer).is_some_and(|value| value == MARK);
    says("/user") || says("/metadata/user_id")
}

fn summaries(model: &ScriptedModel) -> Vec<Recorded> {
    let requests = model.requests().into_iter();
    requests.filter(|one| !is_client(&one.json())).collect()
}

/// A client that goes on and on; what went out for it last.
async fn converse(
    serving: &Serving,
    model: &ScriptedModel,
    wire: Wire,
    turns: usize,
) -> Vec<String> {
    let mut messages = vec![json!({"role": "user", "content": "Count the herons of the harbour."})];
    let mut sent = Vec::new();
    for number in 0..turns {
        let text = format!("At buoy {number} there are herons, and the tide is low. ").repeat(20);
        messages.push(json!({"role": "assistant", "content": text}));
        messages.push(json!({"role": "user", "content": "And the next buoy?"}));
        let mark = match wire {
            Wire::Anthropic => ("metadata", json!({"user_id": MARK})),
            _ => ("user", json!(MARK)),
        };
        let request = json!({
            "model": "gpt-4o", "max_tokens": 50, "messages": messages, mark.0: mark.1,
        });
        let own = match wire {
            Wire::Anthropic => [
                ("x-api-key", KEY),
                ("anthropic-version", "2023-01-01"),
                ("anthropic-beta", "some-beta"),
            ],
            _ => [
                ("authorization", "Bearer sk-client-0123456789-secret"),
                ("openai-organization", "org-herons"),
                ("openai-project", "proj-harbour"),
            ],
        };
        let mut headers = vec![
            ("content-type", "application/json"),
            ("cookie", "stays=here"),
        ];
        headers.extend(own);
        let body = request.to_string();
        let answer = client::send(
            serving.address,
            &Method::POST,
            wire.path(),
            &headers,
            body.into(),
        )
        .await
        .unwrap();
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        // What writes in the background has a moment.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let own = model
            .requests()
            .into_iter()
            .filter(|one| is_client(&one.json()));
        let last = own.last().unwrap();
        sent.push(String::from_utf8(last.body.to_vec()).unwrap());
    }
    sent
}

/// Ends it and gives all that it said.
fn ended(mut serving: Serving) -> String {
    let pid = serving.child.id().to_string();
    std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .unwrap();
    serving.child.wait().unwrap();
    serving.lines.iter().collect::<Vec<_>>().join("\n")
}

fn assert_key_is_nowhere(folder: &Path, said: &str) {
    assert!(!said.contains(KEY), "it is in the log:\n{said}");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!found, "it is in {}", path.display());
        files += 1;
    }
    assert!(files > 0, "nothing was stored");
}

fn store_in(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("log.db").display())
}

fn shown(folder: &Path) -> String {
    let store = store_in(folder);
    let output = |arguments: &[&str]| {
        let mut command = epitome();
        command.args(arguments).args(["--store", &store, "--json"]);
        let output = command.output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let log = output(&["log"]);
    let session = log.pointer("/conversations/0/session").unwrap();
    let log = output(&["log", "--session", session.as_str().unwrap()]);
    let compactions = log.get("compactions").and_then(Value::as_array).unwrap();
    let all = compactions
        .iter()
        .map(|one| output(&["show", one["id"].as_str().unwrap()]).to_string());
    all.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_clients_own_model_writes_in_the_clients_name() {
    for wire in [Wire::OpenaiChat, Wire::Anthropic] {
        let folder = tempfile::tempdir().unwrap();
        let model = provider(|| Reply::text(WRITTEN)).await;
        let store = store_in(folder.path());
        let arguments = [
            "--store",
            &store,
            "--window",
            "16000",
            "--summarizer",
            "borrow",
        ];
        let serving = serve(&model.base_url(), &arguments);
        let sent = converse(&serving, &model, wire, 70).await;
        let asked = summaries(&model);
        assert!(!asked.is_empty(), "{wire:?}: nobody was asked");
        for one in &asked {
            let header = |name: &str| {
                let value = one.headers.get(name);
                value.map_or("", |value| value.to_str().unwrap()).to_owned()
            };
            let expected = match wire {
                Wire::Anthropic => [
                    ("x-api-key", KEY.to_owned()),
                    ("anthropic-version", "2023-01-01".to_owned()),
                    ("anthropic-beta", "some-beta".to_owned()),
                ],
                _ => [
                    ("authorization", format!("Bearer {KEY}")),
                    ("openai-organization", "org-herons".to_owned()),
                    ("openai-project", "proj-harbour".to_owned()),
                ],
            };
            for (name, value) in expected {
                assert_eq!(header(name), value, "{wire:?} {name}");
            }
            assert_eq!(header("cookie"), "", "not asked for");
            assert_eq!(one.json()["model"], "gpt-4o");
            assert_eq!(one.path, wire.path());
        }
        let written = sent
            .iter()
            .filter(|body| body.contains("patient as a heron"));
        assert!(written.count() > 3, "{wire:?}: it is not shown");
        let said = ended(serving);
        assert_key_is_nowhere(folder.path(), &said);
    }
}

/// A provider that repeats the key in its refusal: the built-in summariser writes, and the key is still nowhere.
#[tokio::test]
async fn a_refusal_that_repeats_the_key_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = || Reply::error(401, "invalid_api_key", format!("Incorrect API key: {KEY}."));
    let model = provider(refusal).await;
    let store = store_in(folder.path());
    let arguments = [
        "--store",
        &store,
        "--window",
        "16000",
        "--summarizer",
        "borrow",
    ];
    let serving = serve(&model.base_url(), &arguments);
    let sent = converse(&serving, &model, Wire::OpenaiChat, 60).await;
    assert!(!summaries(&model).is_empty(), "nobody was asked");
    assert!(
        sent.iter().any(|body| body.contains("epitome 1, ")),
        "not compacted"
    );
    let said = ended(serving);
    assert!(said.contains("Incorrect API key"), "{said}");
    let shown = shown(folder.path());
    // The rung that failed is told, and the built-in one below it held.
    assert!(shown.contains("summary_failed"), "{shown}");
    assert!(!shown.contains(KEY), "{shown}");
    assert_key_is_nowhere(folder.path(), &said);
}

#[tokio::test]
async fn what_it_may_cost_is_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("epitome.toml");
    let text = "[summarizer]\nkind = \"borrow\"\n\n[summarizer.spend]\nhour_usd = 0.0000001\n";
    std::fs::write(&config, text).unwrap();
    let model = provider(|| Reply::text(WRITTEN)).await;
    let config = config.display().to_string();
    let arguments = ["--store", "none", "--window", "16000", "--config", &config];
    let serving = serve(&model.base_url(), &arguments);
    serving.says("each client's own model");
    let sent = converse(&serving, &model, Wire::OpenaiChat, 60).await;
    assert_eq!(summaries(&model).len(), 0);
    assert!(
        sent.iter().any(|body| body.contains("epitome 1, ")),
        "not compacted"
    );
}

/// Only who says so lends anything.
#[tokio::test]
async fn nothing_is_borrowed_unless_it_is_set() {
    let model = provider(|| Reply::text(WRITTEN)).await;
    let serving = serve(&model.base_url(), &["--store", "none", "--window", "16000"]);
    let sent = converse(&serving, &model, Wire::OpenaiChat, 60).await;
    assert_eq!(summaries(&model).len(), 0);
    assert!(
        sent.iter().any(|body| body.contains("epitome 1, ")),
        "not compacted"
    );
}
