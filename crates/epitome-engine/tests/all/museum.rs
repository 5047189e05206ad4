//! Conversations that engines of earlier versions stored are put together again and go on. The files and what must be true
//! of them are in `epitome-testkit/museum`.

use std::collections::BTreeSet;
use std::path::Path;

use epitome::settings::Settings;
use epitome::{Message, PresetName, Role, Window};
use epitome_engine::record::{ChangePlace, ForkPlace, MadeFor, Record, as_stored};
use epitome_engine::{Conversation, Engine};
use epitome_store::{
    AnyStore, Beliefs, ChangeKind, Changes, Compactions, ConversationId, Conversations, Memories,
    Store, TenantId, Tenants,
};
use epitome_testkit::museum::{Version, digest, versions};
use epitome_wire::Wire;
use serde_json::Value;
use tempfile::TempDir;

/// A copy of what a version stored.
struct Copy {
    version: Version,
    manifest: Value,
    folder: TempDir,
}

impl Copy {
    fn all() -> Vec<Self> {
        let copy = |version: Version| {
            let folder = tempfile::tempdir().unwrap();
            version.copy("engine", "log.db", &folder.path().join("log.db"));
            Self {
                manifest: version.manifest("engine"),
                version,
                folder,
            }
        };
        versions().into_iter().map(copy).collect()
    }

    fn conversations(&self) -> Vec<Value> {
        self.manifest["conversations"].as_array().unwrap().clone()
    }

    async fn engine(&self, one: &Value) -> Engine {
        let name = one["preset"].as_str().unwrap();
        let preset: PresetName = name.parse().unwrap();
        let wire = Wire::ALL.iter().find(|wire| one["wire"] == wire.as_str());
        Engine::builder()
            .store(open(self.folder.path()).await)
            .settings(Settings::of(preset))
            .window(Window::configured(one["window_tokens"].as_u64().unwrap()))
            .wire(*wire.unwrap())
            .without_guard()
            .build()
            .await
            .unwrap()
    }
}

async fn open(folder: &Path) -> AnyStore {
    let url = format!("sqlite:{}", folder.join("log.db").display());
    AnyStore::open(&url).await.unwrap()
}

fn id(one: &Value) -> ConversationId {
    ConversationId::new(one["session"].as_str().unwrap()).unwrap()
}

async fn in_force(conversation: &Conversation) -> Option<String> {
    let text = |session: &epitome::Session| {
        let made = session.compaction()?;
        Some(made.summary.text.clone())
    };
    conversation.look(text).await
}

/// Enough new text that there is something to gain.
async fn go_on(conversation: &Conversation) {
    for turn in 0..12 {
        let said = format!("In turn {turn} the zebra looks at part {turn} of the port. ").repeat(8);
        let question = Message::text(Role::User, said.clone());
        conversation.push(&question).await.unwrap();
        let answer = Message::text(Role::Assistant, said);
        conversation.push(&answer).await.unwrap();
    }
    let last = Message::text(Role::User, "What is left to do?");
    conversation.push(&last).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_conversation_is_put_together_again_and_goes_on() {
    let mut presets = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for copy in Copy::all() {
        for one in copy.conversations() {
            let name = format!("{} {}", copy.version.name(), one["name"]);
            presets.insert(one["preset"].to_string());
            let engine = copy.engine(&one).await;
            let conversation = engine.open(&id(&one)).await.unwrap();

            let log = conversation.log().await.unwrap();
            let changes: Vec<&str> = log.iter().map(|entry| entry.change.kind.as_str()).collect();
            assert_eq!(changes, *one["changes"].as_array().unwrap(), "{name}");
            kinds.extend(changes.into_iter().map(str::to_owned));
            let records = conversation.look(|session| session.records().len()).await;
            assert_eq!(records, one["records"], "{name}: a change was passed over");
            let raws = conversation.raw_entries().await;
            if one["entries"] != 0 {
                let bytes: Vec<u8> = raws.iter().flat_map(|raw| raw.to_vec()).collect();
                assert_eq!(digest(&bytes), one["entries_blake3"], "{name}");
            }
            let summary = in_force(&conversation).await;
            let known = summary.as_ref().map(|text| digest(text.as_bytes()));
            assert_eq!(serde_json::json!(known), one["in_force_blake3"], "{name}");

            let step = conversation.prepare_step().await.unwrap();
            if let Some(summary) = &summary {
                let list = String::from_utf8(step.list.to_vec()).unwrap();
                let shown = serde_json::to_string(summary.trim()).unwrap();
                assert!(list.contains(shown.trim_matches('"')), "{name}: {list}");
            }
            let newest = raws.last().unwrap();
            assert!(!newest.is_empty(), "{name}");

            go_on(&conversation).await;
            conversation.prepare_step().await.unwrap();
            conversation.compact(None).await.unwrap();
            let more = conversation.look(|session| session.records().len()).await;
            assert!(more > records, "{name}");
            assert_ne!(in_force(&conversation).await, summary, "{name}");
            let found = conversation.recall("zebra", 3).await.unwrap();
            assert!(!found.is_empty(), "{name}");

            // What was added is there after the next start too.
            let raws = conversation.raw_entries().await;
            let now = in_force(&conversation).await;
            engine.shutdown().await;
            let engine = copy.engine(&one).await;
            let conversation = engine.open(&id(&one)).await.unwrap();
            assert_eq!(conversation.raw_entries().await, raws, "{name}");
            assert_eq!(in_force(&conversation).await, now, "{name}");
            engine.shutdown().await;
        }
    }
    assert_eq!(presets.len(), PresetName::ALL.len(), "{presets:?}");
    let all = ["compacted", "forked", "superseded", "undone"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_compaction_can_be_taken_back_and_branched_off() {
    for copy in Copy::all() {
        for one in copy.conversations() {
            let name = format!("{} {}", copy.version.name(), one["name"]);
            let engine = copy.engine(&one).await;
            let conversation = engine.open(&id(&one)).await.unwrap();
            let entries = conversation.raw_entries().await;
            let fork = conversation.fork(entries.len()).await.unwrap();
            assert_eq!(fork.raw_entries().await, entries, "{name}");
            assert_eq!(
                in_force(&fork).await,
                in_force(&conversation).await,
                "{name}"
            );
            let before = in_force(&conversation).await;
            // One that outgrew its window would not fit without its compaction.
            let may_refuse = one["name"] == "hard" || before.is_none();
            match conversation.undo().await {
                Ok(()) => assert_ne!(in_force(&conversation).await, before, "{name}"),
                Err(error) => assert!(may_refuse, "{name}: {error}"),
            }
            assert_eq!(
                in_force(&fork).await,
                before,
                "{name}: a fork is not touched"
            );
            engine.shutdown().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_memories_windows_and_the_key_are_all_there() {
    for copy in Copy::all() {
        let tenant = TenantId::local();
        let store = open(copy.folder.path()).await;
        let key = store.tenant_key(&tenant, [7; 32]).await.unwrap();
        assert_eq!(digest(&key), copy.manifest["tenant_key_blake3"]);
        let memories = store.memories(&tenant, None, 100).await.unwrap();
        let listed = copy.manifest["memories"].as_array().unwrap();
        assert!(!listed.is_empty());
        assert_eq!(memories.len(), listed.len());
        for (memory, known) in memories.iter().zip(listed) {
            assert_eq!(memory.kind, known["kind"]);
            assert_eq!(memory.text, known["text"]);
            let found = store
                .memories(&tenant, Some(&memory.text), 9)
                .await
                .unwrap();
            assert!(found.contains(memory));
        }
        let windows = store.learned_windows().await.unwrap();
        let listed = copy.manifest["windows"].as_array().unwrap();
        assert_eq!(windows.len(), listed.len());
        // Later versions keep them with their evidence.
        let beliefs = store.beliefs().await.unwrap();
        let believed = copy.manifest["beliefs"].as_array().map_or(0, Vec::len);
        assert_eq!(beliefs.len(), believed);
        assert!(!windows.is_empty() || !beliefs.is_empty());
        store.close().await;
        for one in copy.conversations() {
            let engine = copy.engine(&one).await;
            let conversation = engine.open(&id(&one)).await.unwrap();
            let found = conversation.recall("never touch vendor", 1).await.unwrap();
            let first = found.first().map(|hit| hit.position);
            assert!(first.is_some(), "{}", one["name"]);
            engine.shutdown().await;
        }
    }
}

/// Whether `new` says everything that `old` says: then whoever read the old one reads the new one.
fn keeps(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => old
            .iter()
            .all(|(name, value)| new.get(name).is_some_and(|other| keeps(value, other))),
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| keeps(old, new))
        }
        _ => old == new,
    }
}

/// Records of engines and of proxies are read by the one reader; written again they still say all that they said.
#[tokio::test]
async fn every_stored_record_is_read_and_written_again() {
    let (mut sessions, mut chains, mut forks) = (0, 0, 0);
    let tenant = TenantId::local();
    for (version, part) in versions()
        .iter()
        .flat_map(|version| ["engine", "proxy"].map(|part| (version, part)))
    {
        let folder = tempfile::tempdir().unwrap();
        version.copy(part, "log.db", &folder.path().join("log.db"));
        let store = open(folder.path()).await;
        for conversation in store.conversations(&tenant, 1_000).await.unwrap() {
            let name = format!("{} {part} {}", version.name(), conversation.id);
            let rows = store.compactions_of(&tenant, &conversation.id).await;
            for row in rows.unwrap() {
                let record = Record::of(&row).unwrap();
                let is_of_a_proxy = MadeFor::read(&row.model_class).is_some();
                match &record {
                    Record::Session(_) => sessions += 1,
                    Record::Chain(_) => chains += 1,
                    Record::Other(_) => panic!("{name}: nobody's record"),
                }
                assert_eq!(matches!(record, Record::Chain(_)), is_of_a_proxy, "{name}");
                assert!(record.written_by().is_some(), "{name}");
                let written = record.write().unwrap();
                assert_eq!(Record::read(&written).unwrap(), record, "{name}");
                let stored = as_stored(&row).unwrap();
                let written: Value = serde_json::from_str(&written).unwrap();
                assert!(
                    keeps(&stored, &written),
                    "{name}: {stored} became {written}"
                );
            }
            let changes = store.changes(&tenant, &conversation.id).await.unwrap();
            for change in &changes {
                ChangePlace::of(change).unwrap();
            }
            let fork = ForkPlace::of(&changes).unwrap();
            forks += usize::from(fork.is_some());
            let is_fork = changes.first().map(|change| change.kind) == Some(ChangeKind::Forked);
            assert_eq!(fork.is_some(), is_fork, "{name}");
        }
        store.close().await;
    }
    assert!(
        sessions > 5 && chains > 5 && forks > 1,
        "{sessions} {chains} {forks}"
    );
}
