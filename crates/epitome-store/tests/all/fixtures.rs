//! Small histories, and stores to put them in.

use bytes::Bytes;
use epitome_store::{
    AnyStore, Append, CompactionRow, CompactionState, ConversationId, Digest, EntryRow, EntryWords,
    Keys, NewConversation, NodeRow, PostgresStore, SqliteStore, TenantId,
};
use epitome_testkit::postgres::{self, Database};
use tempfile::TempDir;

/// A store and what must outlive it.
pub(crate) struct Opened<S> {
    pub(crate) store: S,
    _place: Place,
}

enum Place {
    Memory,
    Folder(#[expect(dead_code, reason = "it is removed when dropped")] TempDir),
    Database(#[expect(dead_code, reason = "it is removed when dropped")] Database),
}

pub(crate) async fn sqlite_in_file() -> Option<Opened<SqliteStore>> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("missing/folders/log.db");
    Some(Opened {
        store: SqliteStore::open(path).await.unwrap(),
        _place: Place::Folder(folder),
    })
}

pub(crate) async fn sqlite_in_memory() -> Option<Opened<SqliteStore>> {
    Some(Opened {
        store: SqliteStore::in_memory().await.unwrap(),
        _place: Place::Memory,
    })
}

pub(crate) async fn any_sqlite() -> Option<Opened<AnyStore>> {
    let folder = TempDir::new().unwrap();
    let location = format!("sqlite:{}", folder.path().join("log.db").display());
    Some(Opened {
        store: AnyStore::open(&location).await.unwrap(),
        _place: Place::Folder(folder),
    })
}

/// Handles on one store that know of each other only through it.
#[derive(Clone)]
pub(crate) struct Handles<S> {
    pub(crate) writers: Vec<S>,
    /// Opened for reading only, where the store knows the difference.
    pub(crate) reader: S,
}

pub(crate) async fn sqlite_handles() -> Option<Opened<Handles<SqliteStore>>> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    let mut writers = Vec::new();
    for _ in 0..4 {
        writers.push(SqliteStore::open(&path).await.unwrap());
    }
    let reader = SqliteStore::open_read_only(&path).await.unwrap();
    Some(Opened {
        store: Handles { writers, reader },
        _place: Place::Folder(folder),
    })
}

pub(crate) async fn any_sqlite_handles() -> Option<Opened<Handles<AnyStore>>> {
    let folder = TempDir::new().unwrap();
    let location = format!("sqlite:{}", folder.path().join("log.db").display());
    let mut writers = Vec::new();
    for _ in 0..4 {
        writers.push(AnyStore::open(&location).await.unwrap());
    }
    let reader = AnyStore::open_read_only(&location).await.unwrap();
    Some(Opened {
        store: Handles { writers, reader },
        _place: Place::Folder(folder),
    })
}

/// A key, in the form in which users give it.
pub(crate) const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

pub(crate) fn keys() -> Keys {
    Keys::parse(KEY).unwrap()
}

pub(crate) async fn encrypted_sqlite() -> Option<Opened<AnyStore>> {
    let folder = TempDir::new().unwrap();
    let location = format!("sqlite:{}", folder.path().join("log.db").display());
    Some(Opened {
        store: AnyStore::open_with(&location, &keys()).await.unwrap(),
        _place: Place::Folder(folder),
    })
}

pub(crate) async fn encrypted_sqlite_handles() -> Option<Opened<Handles<AnyStore>>> {
    let folder = TempDir::new().unwrap();
    let location = format!("sqlite:{}", folder.path().join("log.db").display());
    let mut writers = Vec::new();
    for _ in 0..4 {
        let store = AnyStore::open_with(&location, &keys()).await;
        writers.push(store.unwrap());
    }
    let reader = AnyStore::open_read_only_with(&location, &keys()).await;
    Some(Opened {
        store: Handles {
            writers,
            reader: reader.unwrap(),
        },
        _place: Place::Folder(folder),
    })
}

pub(crate) async fn encrypted_postgres() -> Option<Opened<AnyStore>> {
    let database = postgres::database().await?;
    let store = AnyStore::open_with(database.url(), &keys()).await;
    Some(Opened {
        store: store.unwrap(),
        _place: Place::Database(database),
    })
}

/// `None` where there is no server, which is reported then.
pub(crate) async fn postgres() -> Option<Opened<PostgresStore>> {
    opened(postgres::database().await?).await
}

pub(crate) async fn postgres_handles() -> Option<Opened<Handles<PostgresStore>>> {
    handles(postgres::database().await?).await
}

pub(crate) async fn pgbouncer() -> Option<Opened<PostgresStore>> {
    opened(postgres::pooled_database().await?).await
}

pub(crate) async fn pgbouncer_handles() -> Option<Opened<Handles<PostgresStore>>> {
    handles(postgres::pooled_database().await?).await
}

pub(crate) async fn any_postgres() -> Option<Opened<AnyStore>> {
    let database = postgres::database().await?;
    Some(Opened {
        store: AnyStore::open(database.url()).await.unwrap(),
        _place: Place::Database(database),
    })
}

async fn opened(database: Database) -> Option<Opened<PostgresStore>> {
    Some(Opened {
        store: PostgresStore::open(database.url()).await.unwrap(),
        _place: Place::Database(database),
    })
}

async fn handles(database: Database) -> Option<Opened<Handles<PostgresStore>>> {
    let mut writers = Vec::new();
    for _ in 0..4 {
        writers.push(PostgresStore::open(database.url()).await.unwrap());
    }
    let reader = PostgresStore::open_read_only(database.url()).await.unwrap();
    Some(Opened {
        store: Handles { writers, reader },
        _place: Place::Database(database),
    })
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

/// A digest that depends on nothing but its name.
pub(crate) fn digest(name: &str) -> Digest {
    let mut bytes = [0; 32];
    for (index, byte) in name.bytes().enumerate() {
        bytes[index % 32] ^= byte.rotate_left((index / 32) as u32);
    }
    bytes[31] ^= name.len() as u8;
    Digest::new(bytes)
}

/// Bytes that a text column, a JSON parser or a C string would damage.
pub(crate) fn raw(name: &str) -> Bytes {
    let mut bytes = format!("{{ \"n\": 1E3,\t\"x\":\"\\u00e9 {name}\" }}\r\n").into_bytes();
    bytes.extend([0, 0xff, 0xfe, b'\'', 0]);
    Bytes::from(bytes)
}

pub(crate) fn entry(name: &str) -> EntryRow {
    EntryRow {
        key: digest(&format!("entry {name}")),
        raw: raw(name),
        wire: "anthropic".to_owned(),
        tokens: 7,
    }
}

/// An empty append.
pub(crate) fn nothing(conversation_name: &str, touched_ms: i64) -> Append {
    Append {
        conversation: NewConversation {
            id: conversation(conversation_name),
            parent: None,
            label: None,
            created_ms: 1,
        },
        entries: Vec::new(),
        nodes: Vec::new(),
        words: Vec::new(),
        touched_ms,
    }
}

/// One node and one entry for each name, chained; a node's digest is `digest("node NAME")`. The first `known` names
/// are only there to be continued.
pub(crate) fn chain(conversation_name: &str, names: &[&str], known: usize) -> Append {
    let mut append = nothing(conversation_name, 1);
    for (position, name) in names.iter().enumerate().skip(known) {
        let parent = position.checked_sub(1).map(|before| node(names[before]));
        append.entries.push(entry(name));
        append.nodes.push(NodeRow {
            digest: node(name),
            parent,
            entry: entry(name).key,
            position: position as u32,
            conversation: conversation(conversation_name),
        });
    }
    append
}

/// The same, with `text` as the words of every entry.
pub(crate) fn with_words(mut append: Append, text: &str) -> Append {
    let words = append.entries.iter().map(|entry| EntryWords {
        key: entry.key,
        text: text.to_owned(),
    });
    append.words = words.collect();
    append
}

pub(crate) fn node(name: &str) -> Digest {
    digest(&format!("node {name}"))
}

/// A prepared compaction that ends at a node of `chain`.
pub(crate) fn compaction(id: &str, conversation_name: &str, last: &str) -> CompactionRow {
    CompactionRow {
        id: id.to_owned(),
        conversation: conversation(conversation_name),
        node: node(last),
        model_class: "large".to_owned(),
        state: CompactionState::Prepared,
        head_entries: 1,
        covered_entries: 2,
        tokens_before: 90_000,
        tokens_after: 4_000,
        summary: format!("what {id} says\n\u{1F980} '\""),
        record: "{\"pins\":[]}".to_owned(),
        created_ms: 5,
    }
}
