//! What earlier versions stored is recognised, applied and gone on with. The files and what must be true of them are in
//! `epitome-testkit/museum`.

use epitome_store::{
    Beliefs, CompactionRow, CompactionState, Compactions, ConversationId, Conversations, Entries,
    Outcomes, Store, TenantId, Tenants,
};
use epitome_testkit::museum::{Version, digest, versions};
use epitome_testkit::{ModelConfig, Received, Reply, Script, ScriptedModel, Wire};
use http::Method;
use serde_json::Value;

use crate::support::{
    Folder, Proxy, action, assert_splice, config, conversation, last, raw_messages, summary,
};

/// One stored conversation, the client's next request, and what the version that stored it made of that.
struct Next {
    version: Version,
    name: String,
    session: String,
    path: String,
    window_tokens: u64,
    request: Vec<u8>,
    forwarded: Vec<u8>,
    manifest: Value,
}

impl Next {
    /// Everything that went through the proxies of earlier versions.
    fn all() -> Vec<Self> {
        let read = |version: &Version| -> Vec<Self> {
            let manifest = version.manifest("proxy");
            let requests = manifest["requests"].as_array().unwrap().clone();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let next = |one: &Value| Self {
                name: format!("{} {}", version.name(), text(&one["name"])),
                session: text(&one["session"]),
                path: text(&one["path"]),
                window_tokens: one["window_tokens"].as_u64().unwrap(),
                request: version.bytes("proxy", one["request"].as_str().unwrap()),
                forwarded: version.bytes("proxy", one["forwarded"].as_str().unwrap()),
                manifest: manifest.clone(),
                version: version.clone(),
            };
            requests.iter().map(next).collect()
        };
        versions().iter().flat_map(read).collect()
    }

    /// The compactions that were stored for it, oldest first.
    fn compactions(&self) -> Vec<Value> {
        let listed = self.manifest["conversations"].as_array().unwrap();
        let own = listed.iter().find(|one| one["session"] == *self.session);
        own.unwrap()["compactions"].as_array().unwrap().clone()
    }

    /// The state of the newest compaction.
    fn state(&self) -> String {
        let newest = self.compactions().pop().unwrap();
        newest["state"].as_str().unwrap().to_owned()
    }

    /// A copy of the database that it is in.
    fn folder(&self) -> Folder {
        let folder = Folder::with_file();
        self.version.copy("proxy", "log.db", &folder.path());
        folder
    }

    /// Sends the request through a proxy on `folder` with a window of `window_tokens`.
    async fn send(&self, folder: &Folder, window_tokens: u64) -> (Received, Vec<u8>) {
        let model = ScriptedModel::start(model()).await;
        let mut config = config(model.address());
        config.window_tokens = Some(window_tokens);
        config.store = folder.location();
        let proxy = Proxy::start(config).await;
        let body = self.request.clone();
        let received = proxy.send(&Method::POST, &self.path, &[], body).await;
        proxy.stop().await;
        assert_eq!(received.status, 200, "{}: {received:?}", self.name);
        let sent = last(&model);
        assert_eq!(sent.violations, [], "{}", self.name);
        (received, sent.body.to_vec())
    }
}

fn model() -> ModelConfig {
    ModelConfig {
        script: Script::by(|_| Reply::text("Done.")),
        ..ModelConfig::default()
    }
}

async fn rows(folder: &Folder, session: &str) -> Vec<CompactionRow> {
    let store = folder.open().await;
    let id = ConversationId::new(session).unwrap();
    let rows = store.compactions_of(&TenantId::local(), &id).await.unwrap();
    store.close().await;
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_published_compaction_is_applied_with_the_bytes_it_had() {
    let mut wires = std::collections::BTreeSet::new();
    for next in Next::all() {
        if next.state() != "published" {
            continue;
        }
        let folder = next.folder();
        let (received, sent) = next.send(&folder, next.window_tokens).await;
        let name = &next.name;
        assert_eq!(action(&received), ("compacted", "epoch"), "{name}");
        assert_eq!(conversation(&received), next.session, "{name}");
        assert!(summary(&sent).is_some(), "{name}");
        assert_eq!(summary(&sent), summary(&next.forwarded), "{name}");
        assert_eq!(
            raw_messages(&sent),
            raw_messages(&next.forwarded),
            "{name}: what is cached at the provider stays cached"
        );
        let known = next.compactions();
        assert_eq!(rows(&folder, &next.session).await.len(), known.len());
        wires.insert(next.path.clone());
    }
    assert_eq!(wires.len(), Wire::ALL.len(), "every format: {wires:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_compacted_further() {
    for next in Next::all() {
        if next.state() != "published" {
            continue;
        }
        let folder = next.folder();
        // Far smaller than what the stored compaction leaves.
        let (received, sent) = next.send(&folder, next.window_tokens * 2 / 3).await;
        let name = &next.name;
        assert_eq!(action(&received).0, "compacted", "{name}");
        assert!(sent.len() < next.request.len(), "{name}");
        assert_eq!(conversation(&received), next.session, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prepared_compaction_is_used_or_replaced() {
    let mut seen = 0;
    for next in Next::all() {
        if next.state() != "prepared" {
            continue;
        }
        seen += 1;
        let folder = next.folder();
        let (received, sent) = next.send(&folder, next.window_tokens).await;
        let name = &next.name;
        assert_eq!(action(&received).0, "compacted", "{name}");
        assert_eq!(conversation(&received), next.session, "{name}");
        assert_splice(&next.request, &sent);
        let rows = rows(&folder, &next.session).await;
        let published: Vec<_> = rows
            .iter()
            .filter(|row| row.state == CompactionState::Published)
            .collect();
        assert_eq!(published.len(), 1, "{name}: {rows:?}");
        let text = serde_json::to_string(&published[0].summary).unwrap();
        assert!(summary(&sent).unwrap().contains(&text), "{name}");
    }
    assert!(seen > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undone_compaction_is_not_applied() {
    let mut seen = 0;
    for next in Next::all() {
        if next.state() != "undone" {
            continue;
        }
        seen += 1;
        let name = &next.name;
        let folder = next.folder();
        let (received, sent) = next.send(&folder, 200_000).await;
        assert_eq!(action(&received), ("passthrough", "below_line"), "{name}");
        assert_eq!(conversation(&received), next.session, "{name}");
        assert_eq!(sent, next.request, "{name}");
        // Where it does not fit, another one is made; the undone one stays undone.
        let folder = next.folder();
        let (received, _) = next.send(&folder, next.window_tokens).await;
        assert_eq!(action(&received).0, "compacted", "{name}");
        let undone = next.compactions().pop().unwrap();
        let rows = rows(&folder, &next.session).await;
        let old = rows.iter().find(|row| undone["id"] == row.id).unwrap();
        assert_eq!(old.state, CompactionState::Undone, "{name}");
        assert!(
            rows.iter()
                .any(|row| row.state == CompactionState::Published),
            "{name}"
        );
    }
    assert!(seen > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_stored_is_all_there() {
    for version in versions() {
        let manifest = version.manifest("proxy");
        let folder = Folder::with_file();
        version.copy("proxy", "log.db", &folder.path());
        let store = folder.open().await;
        let tenant = TenantId::local();
        let key = store.tenant_key(&tenant, [7; 32]).await.unwrap();
        assert_eq!(digest(&key), manifest["tenant_key_blake3"]);
        let outcomes = store.outcomes(&tenant, 1_000).await.unwrap();
        assert_eq!(outcomes.len(), manifest["outcomes"]);
        assert!(!outcomes.is_empty());
        let listed = manifest["conversations"].as_array().unwrap();
        let there = store.conversations(&tenant, 1_000).await.unwrap();
        assert_eq!(there.len(), listed.len());
        for one in listed {
            let id = ConversationId::new(one["session"].as_str().unwrap()).unwrap();
            let row = store.conversation(&tenant, &id).await.unwrap().unwrap();
            assert_eq!(row.nodes, one["own_entries"], "{id}");
            let bytes = match store.tip(&tenant, &id).await.unwrap() {
                Some(tip) => store.history(&tenant, tip.digest).await.unwrap(),
                None => Vec::new(),
            };
            assert_eq!(bytes.len(), one["entries"], "{id}");
            let bytes: Vec<u8> = bytes.iter().flat_map(|entry| entry.raw.to_vec()).collect();
            assert_eq!(digest(&bytes), one["entries_blake3"], "{id}");
            let rows = store.compactions_of(&tenant, &id).await.unwrap();
            let known = one["compactions"].as_array().unwrap();
            assert_eq!(rows.len(), known.len(), "{id}");
            for (row, known) in rows.iter().zip(known) {
                assert_eq!(row.id, known["id"]);
                assert_eq!(row.state.as_str(), known["state"]);
                assert_eq!(row.model_class, known["model_class"]);
                assert_eq!(row.covered_entries, known["covered_entries"]);
                assert_eq!(row.tokens_before, known["tokens_before"]);
                assert_eq!(row.tokens_after, known["tokens_after"]);
                assert_eq!(digest(row.summary.as_bytes()), known["summary_blake3"]);
            }
        }
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn learned_windows_do_no_harm_whatever_they_say() {
    for version in versions() {
        let manifest = version.manifest("proxy");
        let windows = manifest["windows"].as_array().unwrap().clone();
        let folder = Folder::with_file();
        version.copy("proxy", "log.db", &folder.path());
        let model = ScriptedModel::start(model()).await;
        let store = folder.open().await;
        let listed = store.learned_windows().await.unwrap();
        let known = |row: &epitome_store::LearnedWindow| {
            windows
                .iter()
                .any(|one| one["model"] == row.model && one["window_tokens"] == row.window_tokens)
        };
        assert_eq!(listed.len(), windows.len());
        assert!(listed.iter().all(known), "{listed:?}");
        // As if they had been learned from the endpoint at hand, whose port is another one.
        for row in &listed {
            store
                .learn_window(&model.base_url(), &row.model, row.window_tokens, row.at_ms)
                .await
                .unwrap();
        }
        store.close().await;
        let mut config = config(model.address());
        config.store = folder.location();
        let proxy = Proxy::start(config).await;
        for row in &listed {
            for wire in Wire::ALL {
                let hello = [crate::support::user("Hello, are you there?")];
                let body = crate::support::request(wire, &row.model, hello);
                let received = proxy.post(wire, &body).await;
                assert_eq!(received.status, 200, "{}", row.model);
                assert_eq!(last(&model).body, body.to_string(), "{}", row.model);
            }
        }
        assert_eq!(proxy.health().await["status"], "ok");
        proxy.stop().await;
    }
}
