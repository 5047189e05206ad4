//! Entries and nodes, however many, in one round trip to SQLite's thread.
//!
//! A round trip costs more than the inserts it asks for. So all rows travel in four arguments: digests and bytes laid
//! end to end, and for each row a small JSON array that says where its part lies.

use bytes::Bytes;
use epitome::Digest;
use serde_json::json;
use sqlx::{Row, SqliteConnection};

use crate::seal::Value;
use crate::{Append, ConversationId, EntryRow, Error, Keys, NodeRow, Result, TenantId};

/// `WHERE TRUE` keeps `ON CONFLICT` from being read as a join condition. `substr` makes NULL of an empty blob, hence
/// `COALESCE`. The last statement returns entries that are stored with other bytes than those given.
const INSERT_ALL: &str = "\
    INSERT INTO conversations (tenant, id, parent, label, created_ms, touched_ms) \
        VALUES ($1, $2, $3, $4, $5, $6) \
        ON CONFLICT (tenant, id) DO UPDATE SET \
            parent = COALESCE(conversations.parent, excluded.parent), \
            label = COALESCE(excluded.label, conversations.label), \
            touched_ms = max(excluded.touched_ms, conversations.touched_ms); \
    INSERT INTO entries (tenant, key, raw, wire, tokens) \
        SELECT $1, substr($7, e.key * 32 + 1, 32), \
            COALESCE(substr($8, e.value ->> 0, e.value ->> 1), x''), e.value ->> 2, e.value ->> 3 \
        FROM json_each($9) AS e WHERE TRUE ON CONFLICT (tenant, key) DO NOTHING; \
    INSERT INTO nodes (tenant, digest, parent, entry, position, conversation) \
        SELECT $1, substr($10, n.key * 96 + 1, 32), \
            CASE WHEN n.value ->> 0 THEN substr($10, n.key * 96 + 33, 32) END, \
            substr($10, n.key * 96 + 65, 32), n.value ->> 1, n.value ->> 2 \
        FROM json_each($11) AS n WHERE TRUE ON CONFLICT (tenant, digest) DO NOTHING; \
    SELECT s.key, s.raw FROM json_each($9) AS e CROSS JOIN entries AS s \
        ON s.tenant = $1 AND s.key = substr($7, e.key * 32 + 1, 32) \
        WHERE s.raw <> COALESCE(substr($8, e.value ->> 0, e.value ->> 1), x'')";

/// Part of a transaction that the caller commits.
pub(super) async fn insert_all(
    connection: &mut SqliteConnection,
    keys: &Keys,
    tenant: &TenantId,
    append: &Append,
) -> Result<()> {
    let conversation = &append.conversation;
    let entries = PackedEntries::new(&append.entries);
    let nodes = PackedNodes::new(&append.nodes);
    let others = sqlx::query(INSERT_ALL)
        .bind(tenant.as_str())
        .bind(conversation.id.as_str())
        .bind(conversation.parent.as_ref().map(ConversationId::as_str))
        .bind(conversation.label.as_deref())
        .bind(conversation.created_ms)
        .bind(append.touched_ms)
        .bind(entries.keys)
        .bind(entries.raw)
        .bind(entries.places)
        .bind(nodes.digests)
        .bind(nodes.places)
        .fetch_all(connection)
        .await?;
    for row in &others {
        let key = Digest::from_slice(row.try_get(0)?).unwrap_or_default();
        let stored: Vec<u8> = row.try_get(1)?;
        // What is encrypted is other bytes each time.
        let opened = |raw: Bytes| keys.open(tenant, Value::Entry(&key), raw);
        let stored = opened(stored.into())?;
        for given in append.entries.iter().filter(|entry| entry.key == key) {
            if opened(given.raw.clone())? != stored {
                return Err(Error::Conflict { key });
            }
        }
    }
    Ok(())
}

struct PackedEntries {
    /// 32 bytes for each.
    keys: Vec<u8>,
    raw: Vec<u8>,
    /// `[offset in raw from 1, length, wire, tokens]` for each.
    places: String,
}

impl PackedEntries {
    fn new(entries: &[EntryRow]) -> Self {
        let mut keys = Vec::with_capacity(entries.len() * 32);
        let mut raw = Vec::with_capacity(entries.iter().map(|entry| entry.raw.len()).sum());
        let mut places = Vec::with_capacity(entries.len());
        for entry in entries {
            places.push(json!([
                raw.len() + 1,
                entry.raw.len(),
                entry.wire,
                entry.tokens
            ]));
            keys.extend_from_slice(entry.key.as_bytes());
            raw.extend_from_slice(&entry.raw);
        }
        let places = serde_json::Value::from(places).to_string();
        Self { keys, raw, places }
    }
}

struct PackedNodes {
    /// Digest, parent (zeros for none) and entry: 96 bytes for each.
    digests: Vec<u8>,
    /// `[has a parent, position, conversation]` for each.
    places: String,
}

impl PackedNodes {
    fn new(nodes: &[NodeRow]) -> Self {
        let mut digests = Vec::with_capacity(nodes.len() * 96);
        let mut places = Vec::with_capacity(nodes.len());
        for node in nodes {
            let conversation = node.conversation.as_str();
            places.push(json!([node.parent.is_some(), node.position, conversation]));
            let parent = node.parent.unwrap_or_default();
            for digest in [node.digest, parent, node.entry] {
                digests.extend_from_slice(digest.as_bytes());
            }
        }
        let places = serde_json::Value::from(places).to_string();
        Self { digests, places }
    }
}
