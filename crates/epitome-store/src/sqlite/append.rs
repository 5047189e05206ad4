//! Entries and nodes, however many and of however many conversations, in one round trip to SQLite's thread.
//!
//! A round trip costs more than the inserts it asks for. So all rows travel in six arguments: digests and bytes laid
//! end to end, and for each row a small JSON array that says where its part lies.

use bytes::Bytes;
use epitome::Digest;
use serde_json::json;
use sqlx::{Row, SqliteConnection};

use crate::seal::Value;
use crate::{Append, ConversationId, Error, Keys, Result, TenantId};

/// `WHERE TRUE` keeps `ON CONFLICT` from being read as a join condition. `substr` makes NULL of an empty blob, hence
/// `COALESCE`. The last statement returns entries that are stored with other bytes than those given.
const INSERT_ALL: &str = "\
    INSERT INTO conversations (tenant, id, parent, label, created_ms, touched_ms) \
        SELECT $1, c.value ->> 0, c.value ->> 1, c.value ->> 2, c.value ->> 3, c.value ->> 4 \
        FROM json_each($2) AS c WHERE TRUE \
        ON CONFLICT (tenant, id) DO UPDATE SET \
            parent = COALESCE(conversations.parent, excluded.parent), \
            label = COALESCE(excluded.label, conversations.label), \
            touched_ms = max(excluded.touched_ms, conversations.touched_ms); \
    INSERT INTO entries (tenant, key, raw, wire, tokens) \
        SELECT $1, substr($3, e.key * 32 + 1, 32), \
            COALESCE(substr($4, e.value ->> 0, e.value ->> 1), x''), e.value ->> 2, e.value ->> 3 \
        FROM json_each($5) AS e WHERE TRUE ON CONFLICT (tenant, key) DO NOTHING; \
    INSERT INTO nodes (tenant, digest, parent, entry, position, conversation) \
        SELECT $1, substr($6, n.key * 96 + 1, 32), \
            CASE WHEN n.value ->> 0 THEN substr($6, n.key * 96 + 33, 32) END, \
            substr($6, n.key * 96 + 65, 32), n.value ->> 1, n.value ->> 2 \
        FROM json_each($7) AS n WHERE TRUE ON CONFLICT (tenant, digest) DO NOTHING; \
    SELECT s.key, s.raw FROM json_each($5) AS e CROSS JOIN entries AS s \
        ON s.tenant = $1 AND s.key = substr($3, e.key * 32 + 1, 32) \
        WHERE s.raw <> COALESCE(substr($4, e.value ->> 0, e.value ->> 1), x'')";

/// Part of a transaction that the caller commits.
pub(super) async fn insert_all(
    connection: &mut SqliteConnection,
    keys: &Keys,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    let entries = PackedEntries::new(appends);
    let nodes = PackedNodes::new(appends);
    let others = sqlx::query(INSERT_ALL)
        .bind(tenant.as_str())
        .bind(conversations(appends))
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
        let given = appends.iter().flat_map(|append| &append.entries);
        for given in given.filter(|entry| entry.key == key) {
            if opened(given.raw.clone())? != stored {
                return Err(Error::Conflict { key });
            }
        }
    }
    Ok(())
}

/// `[id, parent, label, created, touched]` for each.
fn conversations(appends: &[Append]) -> String {
    let rows = appends.iter().map(|append| {
        let one = &append.conversation;
        let parent = one.parent.as_ref().map(ConversationId::as_str);
        json!([
            one.id.as_str(),
            parent,
            one.label,
            one.created_ms,
            append.touched_ms
        ])
    });
    serde_json::Value::from(rows.collect::<Vec<_>>()).to_string()
}

struct PackedEntries {
    /// 32 bytes for each.
    keys: Vec<u8>,
    raw: Vec<u8>,
    /// `[offset in raw from 1, length, wire, tokens]` for each.
    places: String,
}

impl PackedEntries {
    fn new(appends: &[Append]) -> Self {
        let entries = || appends.iter().flat_map(|append| &append.entries);
        let mut keys = Vec::new();
        let mut raw = Vec::with_capacity(entries().map(|entry| entry.raw.len()).sum());
        let mut places = Vec::new();
        for entry in entries() {
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
    fn new(appends: &[Append]) -> Self {
        let mut digests = Vec::new();
        let mut places = Vec::new();
        for node in appends.iter().flat_map(|append| &append.nodes) {
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
