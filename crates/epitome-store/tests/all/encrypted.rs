//! Stores with a key: what can be read in their files, who may open them, and one key after the other.

use std::ops::ControlFlow;

use epitome_store::{
    AnyStore, Append, Cell, ChangeKind, ChangeRow, Changes, Compactions, Conversations, Entries,
    EntryWords, Error, Housekeeping, Keys, Memories, MemoryRow, PinMark, PinRow, Pins, Search,
    SearchScope, SnapshotRow, Store, Tenants, TurnRow, Turns,
};
use epitome_testkit::postgres;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tempfile::TempDir;

use crate::fixtures::{
    KEY, chain, compaction, conversation, digest, keys, node, tenant, with_words,
};

const OTHER: &str = "0f0e0d0c0b0a090807060504030201000f0e0d0c0b0a09080706050403020100";
const PLANTED: &str = "plantedzebra";
const SECRET: [u8; 32] = *b"a secret that is planted as well";

fn both() -> Keys {
    Keys::parse(&format!("{OTHER}\n{KEY}")).unwrap()
}

/// Two messages with the planted word. It stands in no name: the digests of these tests show what they are made of.
fn messages(name: &str) -> Append {
    let names = [format!("{name} a"), format!("{name} b")];
    let mut append = chain(name, &[names[0].as_str(), names[1].as_str()], 0);
    for entry in &mut append.entries {
        entry.raw = [entry.raw.as_ref(), PLANTED.as_bytes()].concat().into();
    }
    append
}

/// Something of every kind, with the planted word in it; `name` tells it from what was planted before.
async fn plant(store: &AnyStore, name: &str) {
    let tenant = tenant("t");
    assert_eq!(store.tenant_key(&tenant, SECRET).await.unwrap(), SECRET);
    let mut span = with_words(messages(name), &format!("{PLANTED} {name}"));
    span.conversation.label = Some(format!("title {PLANTED}"));
    let mut row = compaction(&format!("k{name}"), name, &format!("{name} b"));
    row.summary = format!("summary {PLANTED}");
    row.record = format!("{{\"pins\":[\"{PLANTED}\"]}}");
    store.commit_compaction(&tenant, &span, &row).await.unwrap();
    // Again, as who was not answered does: the same content is the same entry.
    store.append(&tenant, &span).await.unwrap();
    let record = format!("{{\"published\":\"{PLANTED}\"}}");
    store
        .publish(&tenant, &row.id, Some(&record))
        .await
        .unwrap();
    let change = ChangeRow {
        conversation: conversation(name),
        seq: 0,
        kind: ChangeKind::Superseded,
        compaction: None,
        body: format!("{{\"note\":\"{PLANTED}\"}}"),
        at_ms: 3,
    };
    store.append_change(&tenant, &change.into()).await.unwrap();
    store.mark_pin(&tenant, &pin(name)).await.unwrap();
    let memory = MemoryRow {
        id: format!("m{name}"),
        key: digest(&format!("memory {name}")),
        kind: format!("kind {PLANTED}"),
        text: format!("{PLANTED} is remembered of {name}"),
        conversation: None,
        entries: vec![1],
        created_ms: 4,
    };
    store.save_memory(&tenant, &memory).await.unwrap();
    let turn = TurnRow {
        id: format!("r{name}"),
        previous: None,
        items: format!("[\"{PLANTED}\"]").into(),
        compaction: None,
        at_ms: 5,
    };
    store.keep_turns(&tenant, &[turn]).await.unwrap();
}

fn pin(name: &str) -> PinRow {
    PinRow {
        conversation: conversation(name),
        text: format!("never touch {PLANTED}"),
        mark: PinMark::Dropped,
        at_ms: 6,
    }
}

/// All of it is read back.
async fn read(store: &AnyStore, name: &str) {
    let tenant = tenant("t");
    assert_eq!(store.tenant_key(&tenant, [1; 32]).await.unwrap(), SECRET);
    let id = conversation(name);
    let row = store.conversation(&tenant, &id).await.unwrap().unwrap();
    assert_eq!(row.label.unwrap(), format!("title {PLANTED}"));
    let last = node(&format!("{name} b"));
    let history = store.history(&tenant, last).await.unwrap();
    assert_eq!(history, messages(name).entries);
    let row = &store.compactions_at(&tenant, &[last]).await.unwrap()[0];
    assert_eq!(row.summary, format!("summary {PLANTED}"));
    assert_eq!(row.record, format!("{{\"published\":\"{PLANTED}\"}}"));
    let changes = store.changes(&tenant, &id).await.unwrap();
    assert_eq!(changes[0].body, format!("{{\"note\":\"{PLANTED}\"}}"));
    assert_eq!(store.marked_pins(&tenant, &id).await.unwrap(), [pin(name)]);
    let found = store.memories(&tenant, Some(name), 9).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, format!("kind {PLANTED}"));
    let turns = store.turns_to(&tenant, &format!("r{name}")).await.unwrap();
    assert_eq!(turns[0].items, format!("[\"{PLANTED}\"]"));
    for scope in [SearchScope::Branch(last), SearchScope::Conversation(id)] {
        let query = format!("{PLANTED} {name}");
        let hits = store.search(&tenant, &scope, &query, 9).await.unwrap();
        assert_eq!(hits.len(), 2, "{name} {scope:?}");
    }
}

/// Where a store is, and how what lies there is looked at.
enum Place {
    File(TempDir),
    Database(postgres::Database),
}

impl Place {
    fn location(&self) -> String {
        match self {
            Self::File(folder) => format!("sqlite:{}/log.db", folder.path().display()),
            Self::Database(database) => database.url().to_owned(),
        }
    }

    async fn open(&self, keys: &Keys) -> AnyStore {
        AnyStore::open_with(&self.location(), keys).await.unwrap()
    }

    /// Everything that lies there: the files as they are, or every row of every table, bytes as they are written in hexadecimal
    /// digits.
    async fn bytes(&self) -> Vec<u8> {
        match self {
            Self::File(folder) => {
                let files = ["log.db", "log.db-wal"].map(|name| folder.path().join(name));
                let files = files.map(|path| std::fs::read(path).unwrap_or_default());
                files.concat()
            }
            Self::Database(database) => {
                let mut connection = PgConnection::connect(database.url()).await.unwrap();
                let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
                let tables = sqlx::query(tables)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap();
                let mut all = Vec::new();
                for table in tables {
                    let table: String = table.get(0);
                    let rows = format!("SELECT t::text FROM {table} AS t ORDER BY 1");
                    let rows = sqlx::query(AssertSqlSafe(rows));
                    for row in rows.fetch_all(&mut connection).await.unwrap() {
                        all.extend(row.get::<String, _>(0).into_bytes());
                    }
                }
                all
            }
        }
    }

    /// Whether the planted word or the secret can be read there.
    async fn shows_planted(&self) -> bool {
        let bytes = self.bytes().await;
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().map(|one| format!("{one:02x}")).collect() };
        let wanted = [PLANTED.as_bytes().to_vec(), SECRET.to_vec()];
        let hex = wanted.clone().map(|one| hex(&one).into_bytes());
        wanted
            .iter()
            .chain(&hex)
            .any(|one| bytes.windows(one.len()).any(|part| part == one))
    }
}

async fn places() -> Vec<Place> {
    let mut places = vec![Place::File(TempDir::new().unwrap())];
    // Where there is no server that was said.
    places.extend(postgres::database().await.map(Place::Database));
    places
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_planted_can_be_read() {
    for place in places().await {
        let store = place.open(&keys()).await;
        plant(&store, "one").await;
        assert!(!place.shows_planted().await);
        read(&store, "one").await;
        store.close().await;
        assert!(!place.shows_planted().await);
        let store = place.open(&keys()).await;
        read(&store, "one").await;
        store.close().await;
    }
    for place in places().await {
        let store = place.open(&Keys::none()).await;
        plant(&store, "one").await;
        assert!(place.shows_planted().await, "or nothing was shown above");
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_not_the_key_is_refused_and_changes_nothing() {
    for place in places().await {
        let location = place.location();
        let store = place.open(&keys()).await;
        plant(&store, "one").await;
        store.close().await;
        let before = place.bytes().await;
        let other = Keys::parse(OTHER).unwrap();
        for (keys, is_none) in [(Keys::none(), true), (other, false)] {
            let opened = AnyStore::open_with(&location, &keys).await;
            let read_only = AnyStore::open_read_only_with(&location, &keys).await;
            for refused in [opened, read_only] {
                match refused.unwrap_err() {
                    Error::KeyNeeded => assert!(is_none),
                    Error::WrongKey { .. } => assert!(!is_none),
                    error => panic!("{error:?}"),
                }
            }
        }
        assert!(place.bytes().await == before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_clear_to_a_key_and_to_another() {
    for place in places().await {
        let store = place.open(&Keys::none()).await;
        plant(&store, "clear").await;
        assert!(matches!(store.reseal().await, Err(Error::KeyNeeded)));
        store.close().await;

        let first = keys();
        let store = place.open(&first).await;
        plant(&store, "first").await;
        // What was said in clear is said anew.
        let tenant = tenant("t");
        store.mark_pin(&tenant, &pin("clear")).await.unwrap();
        read(&store, "clear").await;
        read(&store, "first").await;
        assert!(place.shows_planted().await);
        assert!(store.reseal().await.unwrap().rows > 0);
        assert_eq!(store.reseal().await.unwrap().rows, 0);
        assert!(!place.shows_planted().await);
        read(&store, "clear").await;
        read(&store, "first").await;
        store.close().await;

        let store = place.open(&both()).await;
        plant(&store, "second").await;
        // The same sentence under two keys.
        store.mark_pin(&tenant, &pin("first")).await.unwrap();
        let names = ["clear", "first", "second"];
        for name in names {
            read(&store, name).await;
        }
        assert!(store.reseal().await.unwrap().rows > 0);
        store.close().await;
        let error = AnyStore::open_with(&place.location(), &first).await;
        assert!(matches!(error, Err(Error::WrongKey { .. })));
        let store = place.open(&Keys::parse(OTHER).unwrap()).await;
        for name in names {
            read(&store, name).await;
        }
        assert!(!place.shows_planted().await);
        store.close().await;
    }
}

async fn rows(store: &AnyStore) -> Vec<SnapshotRow> {
    let mut rows = Vec::new();
    let mut each = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    store.snapshot(&mut each).await.unwrap();
    rows
}

/// Words are no part of a copy.
async fn give_words(store: &AnyStore, name: &str) {
    let tenant = tenant("t");
    let words = store.unindexed(&tenant, None, 9).await.unwrap();
    let words: Vec<_> = words
        .iter()
        .map(|entry| EntryWords {
            key: entry.key,
            text: format!("{PLANTED} {name}"),
        })
        .collect();
    assert_eq!(words.len(), 2);
    store.index(&tenant, &words).await.unwrap();
}

/// What comes in, in clear or encrypted with another key, is encrypted with the one that writes, and no other is needed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_in_is_encrypted() {
    let other = Keys::parse(OTHER).unwrap();
    for from in [Keys::none(), keys()] {
        for place in places().await {
            let source = AnyStore::open_with("sqlite::memory:", &from).await.unwrap();
            plant(&source, "one").await;
            let copy = rows(&source).await;
            let store = place.open(&both()).await;
            assert!(store.restore(&copy).await.unwrap().written > 0);
            assert_eq!(store.restore(&copy).await.unwrap().written, 0);
            assert!(!place.shows_planted().await);
            store.close().await;
            assert!(!place.shows_planted().await);
            let store = place.open(&other).await;
            give_words(&store, "one").await;
            read(&store, "one").await;
            assert_eq!(store.reseal().await.unwrap().rows, 0);
            store.close().await;
        }
    }
}

/// What was said of a pin before there was a key, and what comes in of it later, is one word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pin_that_comes_in_is_the_one_that_is_there() {
    for place in places().await {
        let store = place.open(&Keys::none()).await;
        plant(&store, "one").await;
        let mut copy = rows(&store).await;
        store.close().await;
        let restored = PinRow {
            mark: PinMark::Restored,
            at_ms: 7,
            ..pin("one")
        };
        let at = copy.iter().position(|row| row.table == "pins").unwrap();
        copy[at].cells[3] = Cell::Text(restored.mark.as_str().to_owned());
        copy[at].cells[4] = Cell::Integer(restored.at_ms);
        let store = place.open(&keys()).await;
        store.restore(&copy).await.unwrap();
        let pins = rows(&store).await;
        assert_eq!(pins.iter().filter(|row| row.table == "pins").count(), 1);
        let found = store.marked_pins(&tenant("t"), &conversation("one")).await;
        assert_eq!(found.unwrap(), [restored]);
        store.close().await;
    }
}

/// A copy is as encrypted as what it is a copy of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_needs_the_same_key() {
    for place in places().await {
        let store = place.open(&keys()).await;
        plant(&store, "one").await;
        let rows = rows(&store).await;
        store.close().await;
        assert!(!format!("{rows:?}").contains(PLANTED));
        let clear = AnyStore::open("sqlite::memory:").await.unwrap();
        let error = clear.restore(&rows).await.unwrap_err();
        assert!(matches!(error, Error::KeyNeeded), "{error:?}");
        let other = AnyStore::open_with("sqlite::memory:", &both()).await;
        let other = other.unwrap();
        other.restore(&rows).await.unwrap();
        let tenant = tenant("t");
        assert_eq!(other.tenant_key(&tenant, [1; 32]).await.unwrap(), SECRET);
        let found = other.memories(&tenant, Some("remembered"), 9).await;
        assert_eq!(found.unwrap().len(), 1);
        let last = node("one b");
        assert_eq!(other.history(&tenant, last).await.unwrap().len(), 2);
        // The words are found again once they were given.
        assert_eq!(other.unindexed(&tenant, None, 9).await.unwrap().len(), 2);
    }
}
