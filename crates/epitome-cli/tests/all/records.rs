//! One file that an engine and a proxy write into, under the commands.

use std::path::Path;
use std::process::Output;

use epitome::{Message, Role, Window};
use epitome_engine::{Conversation, Engine};
use epitome_server::{
    Config, ConfiguredWindows, INSPECTION_LIMIT_BYTES, Mode, Server, StoreLocation, TenantSettings,
};
use epitome_store::{AnyStore, ConversationId};
use epitome_testkit::{ModelConfig, Reply, Script, ScriptedModel, Wire, client};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{epitome, json, stderr};

const RULE: &str = "Never touch the files under vendor/.";
/// The proxy compacts a conversation of thirty turns in it.
const WINDOW_TOKENS: u64 = 8_000;

struct Kept {
    folder: TempDir,
    engine: String,
    proxy: String,
}

fn location(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("log.db").display())
}

fn turn(number: usize) -> String {
    format!("In turn {number} the heron looks at buoy{number} in the harbour. ").repeat(14)
}

async fn engine(folder: &Path) -> Engine {
    let store = AnyStore::open(&location(folder)).await.unwrap();
    Engine::builder()
        .store(store)
        .window(Window::configured(200_000))
        .build()
        .await
        .unwrap()
}

async fn in_force(conversation: &Conversation) -> bool {
    conversation
        .look(|session| session.compaction().is_some())
        .await
}

/// A conversation of an engine, compacted once.
async fn kept_by_an_engine(folder: &Path) -> String {
    let engine = engine(folder).await;
    let conversation = engine.create().await.unwrap();
    let say = async |role, text: &str| {
        let message = Message::text(role, text);
        conversation.push(&message).await.unwrap();
    };
    say(Role::User, RULE).await;
    for number in 0..20 {
        say(Role::Assistant, &turn(number)).await;
        say(Role::User, &format!("Go on with part {number}.")).await;
    }
    conversation.compact(None).await.unwrap();
    let id = conversation.id().to_string();
    engine.shutdown().await;
    id
}

/// A conversation that passes a proxy, compacted before it went out.
#[expect(clippy::disallowed_methods, reason = "a test owns its runtime")]
async fn kept_by_a_proxy(folder: &Path) -> String {
    let model = ScriptedModel::start(ModelConfig {
        script: Script::by(|_| Reply::text("Done.")),
        ..ModelConfig::default()
    })
    .await;
    let upstream: http::Uri = model.base_url().parse().unwrap();
    let server = Server::bind(Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        openai_upstream: Some(upstream.clone()),
        anthropic_upstream: Some(upstream),
        store: StoreLocation::Url(location(folder)),
        window_tokens: Some(WINDOW_TOKENS),
        windows: ConfiguredWindows::none(),
        mode: Mode::Act,
        settings: epitome::settings::Settings::of(epitome::PresetName::Default),
        summariser: None,
        hooks: epitome_engine::Hooks::default(),
        pruning: epitome_server::Pruning::Off,
        inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
        tenants: TenantSettings::default(),
    })
    .await
    .unwrap();
    let address = server.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async move {
        stopped.await.ok();
    }));
    let mut messages = vec![json!({"role": "user", "content": RULE})];
    for number in 0..30 {
        messages.push(json!({"role": "assistant", "content": turn(number)}));
        messages.push(json!({"role": "user", "content": format!("Go on with part {number}.")}));
    }
    let request = json!({"model": "scripted", "messages": messages});
    let answer = client::post(address, Wire::OpenaiChat, &request)
        .await
        .unwrap();
    assert_eq!(answer.header("x-epitome-action"), "compacted");
    let id = answer.header("x-epitome-conversation").to_owned();
    drop(stop);
    serving.await.unwrap().unwrap();
    id
}

impl Kept {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            engine: kept_by_an_engine(folder.path()).await,
            proxy: kept_by_a_proxy(folder.path()).await,
            folder,
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let store = location(self.folder.path());
        let mut command = epitome();
        command.args(arguments).args(["--store", &store]);
        command.output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
        json(&output)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_engines_and_proxies_stored_is_read_alike() {
    let kept = Kept::new().await;
    let listed = kept.json(&["log"]);
    assert_eq!(listed["conversations"].as_array().unwrap().len(), 2);
    for (session, member, tells) in [
        (&kept.engine, "compaction", "tokens were allowed"),
        (
            &kept.proxy,
            "covered_links",
            "made for a window of 8,000 tokens",
        ),
    ] {
        let log = kept.json(&["log", "--session", session]);
        let compactions = log["compactions"].as_array().unwrap();
        assert_eq!(compactions.len(), 1, "{member}: {log}");
        assert_eq!(compactions[0]["state"], "published", "{member}");
        let id = text(&compactions[0]["id"]);

        let shown = kept.json(&["show", id]);
        assert!(!shown["record"][member].is_null(), "{member}: {shown}");
        assert!(text(&shown["summary"]).contains("buoy"), "{member}");
        let output = kept.run(&["show", id]);
        let told = String::from_utf8(output.stdout).unwrap();
        for words in ["written by built_in", "verified: ", tells] {
            assert!(told.contains(words), "{member}: no {words:?} in {told}");
        }

        let found = kept.json(&["recall", "--session", session, "buoy1"]);
        let covered = &found["hits"][0]["covered_by"];
        assert_eq!(covered["compaction"], id, "{member}: {found}");

        let forked = kept.json(&["fork", "--session", session, "--at", "3"]);
        let fork = text(&forked["session"]);
        kept.json(&["recall", "--session", fork, "vendor"]);
        let output = kept.run(&["recall", "--session", fork, "buoy9"]);
        assert_eq!(output.status.code(), Some(1), "{member}");

        let undone = kept.json(&["undo", "--session", session]);
        assert_eq!(undone["undone"], id, "{member}");
        assert_eq!(kept.json(&["show", id])["state"], "undone", "{member}");
    }
    // What the command took back and branched off, the engine takes for so.
    let engine = engine(kept.folder.path()).await;
    let open = async |id: &str| {
        let id = ConversationId::new(id).unwrap();
        engine.open(&id).await.unwrap()
    };
    assert!(!in_force(&open(&kept.engine).await).await);
    let listed = kept.json(&["log"]);
    let conversations = listed["conversations"].as_array().unwrap();
    let mine = |one: &&Value| one["parent"] == *kept.engine;
    let fork = conversations.iter().find(mine).unwrap();
    let fork = open(text(&fork["session"])).await;
    assert_eq!(fork.raw_entries().await.len(), 3);
    engine.shutdown().await;
}
