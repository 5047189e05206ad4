//! What needs the connections themselves.

use bytes::Bytes;
use epitome::Digest;
use tempfile::TempDir;

use super::SqliteStore;
use crate::{
    Append, ConversationId, Conversations, Entries, EntryRow, Error, NewConversation, Store,
    TenantId,
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
