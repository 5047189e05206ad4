//! A database made ready for the museum, and what it holds.

use std::path::Path;

use anyhow::{Context as _, Result};
use epitome_store::{
    AnyStore, Beliefs, Changes, CompactionRow, Compactions, ConversationId, Conversations, Entries,
    Memories, Outcomes, Store, TenantId, Tenants,
};
use epitome_testkit::museum::digest;
use serde_json::{Value, json};
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

/// Small pages: most tables hold a row or two.
const PREPARATION: [&str; 4] = [
    "PRAGMA journal_mode = DELETE",
    "PRAGMA page_size = 1024",
    "VACUUM",
    "PRAGMA journal_mode = WAL",
];

pub(crate) fn url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// Packs a database that nobody has open into one small file.
pub(crate) async fn pack(path: &Path) -> Result<()> {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    for statement in PREPARATION {
        sqlx::raw_sql(statement).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(())
}

/// What a later version must find.
pub(crate) async fn describe(path: &Path) -> Result<Value> {
    let store = AnyStore::open(&url(path)).await?;
    let tenant = TenantId::local();
    let key = store.tenant_key(&tenant, [0; 32]).await?;
    let mut conversations = Vec::new();
    for row in store.conversations(&tenant, u32::MAX).await? {
        let compactions = store.compactions_of(&tenant, &row.id).await?;
        let changes = store.changes(&tenant, &row.id).await?;
        let kinds: Vec<&str> = changes.iter().map(|change| change.kind.as_str()).collect();
        let entries = match store.tip(&tenant, &row.id).await? {
            Some(tip) => store.history(&tenant, tip.digest).await?,
            None => Vec::new(),
        };
        let mut bytes = Vec::new();
        for entry in &entries {
            bytes.extend_from_slice(&entry.raw);
        }
        conversations.push(json!({
            "session": row.id.as_str(),
            "parent": row.parent.as_ref().map(ConversationId::as_str),
            "own_entries": row.nodes,
            "entries": entries.len(),
            "entries_blake3": digest(&bytes),
            "changes": kinds,
            "compactions": compactions.iter().map(compaction).collect::<Vec<_>>(),
        }));
    }
    conversations.sort_by_key(|one| one["session"].to_string());
    let windows = store.learned_windows().await?;
    let windows: Vec<Value> = windows
        .iter()
        .map(|row| json!({"model": row.model, "window_tokens": row.window_tokens}))
        .collect();
    let beliefs = store.beliefs().await?;
    let beliefs: Vec<Value> = beliefs
        .iter()
        .map(|row| json!({"endpoint": row.endpoint, "model": row.model, "window": row.window}))
        .collect();
    let outcomes = store.outcomes(&tenant, u32::MAX).await?;
    let memories = store.memories(&tenant, None, u32::MAX).await?;
    let memories: Vec<Value> = memories
        .iter()
        .map(|row| json!({"kind": row.kind, "text": row.text}))
        .collect();
    store.close().await;
    Ok(json!({
        "tenant_key_blake3": digest(&key),
        "conversations": conversations,
        "windows": windows,
        "beliefs": beliefs,
        "outcomes": outcomes.len(),
        "memories": memories,
    }))
}

fn compaction(row: &CompactionRow) -> Value {
    json!({
        "id": row.id,
        "state": row.state.as_str(),
        "model_class": row.model_class,
        "covered_entries": row.covered_entries,
        "tokens_before": row.tokens_before,
        "tokens_after": row.tokens_after,
        "summary_blake3": digest(row.summary.as_bytes()),
    })
}

/// The description of one conversation, with a name for people and whatever else is to be said of it.
pub(crate) fn conversation<'a>(manifest: &'a mut Value, session: &str) -> Result<&'a mut Value> {
    let listed = manifest["conversations"].as_array_mut();
    let mut listed = listed.into_iter().flatten();
    listed
        .find(|one| one["session"] == session)
        .with_context(|| format!("{session} was not stored"))
}
