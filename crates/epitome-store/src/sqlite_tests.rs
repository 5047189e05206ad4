//! What needs the connections themselves.

use bytes::Bytes;
use epitome::Digest;
use tempfile::TempDir;

use super::SqliteStore;
use crate::statements as sql;
use crate::{
    Append, ConversationId, Conversations, Entries, EntryRow, Error, Housekeeping, Keys,
    NewConversation, Store, TenantId,
};

fn append_of(bytes: usize) -> Append {
    Append {
        conversation: NewConversation {
            id: ConversationId::new("c").unwrap(),
            parent: None,
            label: None,
            created_ms: 1,
        },
        entries: vec![EntryRow {
            key: Digest::new([1; 32]),
            raw: Bytes::from(vec![7; bytes]),
            wire: "anthropic".to_owned(),
            tokens: 1,
        }],
        nodes: Vec::new(),
        words: Vec::new(),
        touched_ms: 1,
    }
}

#[tokio::test]
async fn full_disk() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    let store = SqliteStore::open(&path).await.unwrap();
    sqlx::query("PRAGMA max_page_count = 100")
        .execute(&store.writer)
        .await
        .unwrap();
    let tenant = TenantId::new("t").unwrap();
    let error = store
        .append(&tenant, &append_of(1_000_000))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Full(_)), "{error:?}");
    assert_eq!(store.conversations(&tenant, 1).await.unwrap(), []);
    store.append(&tenant, &append_of(10)).await.unwrap();
}

#[tokio::test]
async fn newer_schema() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    let store = SqliteStore::open(&path).await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        VALUES (99, 'later', TRUE, x'00', 0)",
    )
    .execute(&store.writer)
    .await
    .unwrap();
    store.close().await;
    for opened in [
        SqliteStore::open(&path).await,
        SqliteStore::open_read_only(&path).await,
    ] {
        let error = opened.unwrap_err();
        assert!(
            matches!(
                error,
                Error::NewerSchema {
                    found: 99,
                    known: 9
                }
            ),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn foreign_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.db");
    let store = SqliteStore::open(&path).await.unwrap();
    sqlx::query("PRAGMA application_id = 5")
        .execute(&store.writer)
        .await
        .unwrap();
    store.close().await;
    let error = SqliteStore::open(&path).await.unwrap_err();
    assert!(matches!(error, Error::ForeignFile), "{error:?}");
}

#[tokio::test]
async fn dropped_write_leaves_nothing_behind() {
    let store = SqliteStore::in_memory().await.unwrap();
    let tenant = TenantId::new("t").unwrap();
    for polls in 0..40 {
        let append = append_of(100);
        let mut write = Box::pin(store.append(&tenant, &append));
        for _ in 0..polls {
            let poll = std::future::poll_fn(|context| {
                std::task::Poll::Ready(write.as_mut().poll(context))
            });
            if poll.await.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(write);
        store.append(&tenant, &append).await.unwrap();
    }
}

/// Who still reads the file as it was keeps what was written over on the disk.
#[tokio::test]
async fn room_that_is_not_given_back_is_told() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path().join("log.db"))
        .await
        .unwrap();
    let tenant = TenantId::new("t").unwrap();
    store.append(&tenant, &append_of(10)).await.unwrap();
    sqlx::query("PRAGMA busy_timeout = 1")
        .execute(&store.writer)
        .await
        .unwrap();
    let mut reading = store.readers.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM entries")
        .fetch_all(&mut *reading)
        .await
        .unwrap();
    let error = store.vacuum().await.unwrap_err();
    assert!(matches!(error, Error::Busy(_)), "{error:?}");
    drop(reading);
    store.vacuum().await.unwrap();
    let left = std::fs::metadata(folder.path().join("log.db-wal")).unwrap();
    assert_eq!(left.len(), 0);
}

/// Rows are encrypted again in pieces by their bytes, however few they are.
#[tokio::test]
async fn large_rows_are_encrypted_one_by_one() {
    use super::housekeeping::reseal_some;
    use crate::housekeeping::sealed::ROWS_OF;
    let keys = Keys::parse(&"7".repeat(64)).unwrap();
    let store = SqliteStore::in_memory_with(keys.clone()).await.unwrap();
    let tenant = TenantId::new("t").unwrap();
    for (number, bytes) in [
        (1, 3_000_000),
        (2, 2_000_000),
        (3, 2_000_000),
        (4, 9_000_000),
    ] {
        let mut append = append_of(bytes);
        append.entries[0].key = Digest::new([number; 32]);
        store.append(&tenant, &append).await.unwrap();
    }
    let entries = &ROWS_OF[0];
    let mut last = entries.before_all();
    let mut pieces = Vec::new();
    let mut connection = store.writer.acquire().await.unwrap();
    loop {
        let piece = reseal_some(&mut connection, &keys, entries, &last).await;
        let (behind, written) = piece.unwrap();
        let Some(behind) = behind else { break };
        last = behind;
        pieces.push(written);
    }
    assert_eq!(pieces, [1, 2, 1]);
}

/// What is asked for one conversation is found by an index that knows more than the tenant: SQLite may choose another one, and then
/// goes through all that the tenant has.
#[tokio::test]
async fn one_conversation_is_not_looked_for_among_all() {
    use crate::housekeeping::delete;
    let store = SqliteStore::in_memory().await.unwrap();
    let statements = [
        super::entries::SELECT_TIP,
        super::entries::SELECT_NODES,
        super::compactions::SELECT_COMPACTIONS_AT,
        super::counted::DELETE_OLD,
        super::counted::SELECT_COUNTED,
        super::deleted::STANDS_ON_DELETED,
        super::search::SCAN_BRANCH,
        super::search::SELECT_UNINDEXED,
        super::search::SCAN_CONVERSATION,
        sql::SELECT_CONVERSATION,
        sql::SELECT_COMPACTIONS_OF,
        sql::SELECT_COMPACTIONS_ALONG,
        sql::SELECT_PATH,
        sql::SELECT_HISTORY,
        sql::SELECT_CHANGES,
        sql::IS_NEXT_CHANGE,
        sql::SELECT_PINS,
        sql::SELECT_TURNS,
        delete::FORKS_OF_ENGINES,
        delete::STANDING,
        delete::COPY_PINS,
        delete::SHIELD_PINS,
        delete::REHOME_BY_NODES,
        delete::REHOME_BY_COMPACTIONS,
        delete::RELINK,
        delete::REHOME_COMPACTIONS,
        delete::DELETE_COMPACTIONS,
        delete::DELETE_MEMORIES,
        delete::MARK_LEAVES,
        delete::DELETE_NODES,
        delete::SELECT_UNUSED_WORDS,
        delete::DELETE_UNUSED_ENTRY,
    ];
    let tables = [
        "nodes",
        "entries",
        "compactions",
        "conversations",
        "counted",
        "pins",
        "turns",
    ];
    let mut slow = Vec::new();
    for statement in statements.iter().chain(&delete::DELETE_DETAILS) {
        let plan = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
        for row in sqlx::query(plan).fetch_all(&store.readers).await.unwrap() {
            let step: String = sqlx::Row::get(&row, 3);
            // Whether something was deleted at all is the first row of the tenant.
            let is_first = step.starts_with("SEARCH deleted_nodes");
            let scans = |table: &&str| step.starts_with(&format!("SCAN {table}"));
            if step.ends_with("(tenant=?)") && !is_first || tables.iter().any(scans) {
                slow.push(format!("{step}: {statement}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
