//! Entries and nodes, however many, in a few round trips.
//!
//! Every table is written in one statement for all of its rows. Conversations come first and rows are sorted by their keys:
//! two writers that have rows in common take the same locks in the same order, and wait for each other instead of standing
//! in each other's way.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use epitome::Digest;
use sqlx::{PgConnection, Row as _};

use super::decode;
use super::query::{blob, query, sorted};
use crate::housekeeping::deleted::links;
use crate::seal::Value;
use crate::{
    Append, ConversationId, EntryRow, Error, Keys, NewConversation, NodeRow, Result, TenantId,
};

const INSERT_CONVERSATIONS: &str = "\
    INSERT INTO conversations (tenant, id, parent, label, created_ms, touched_ms) \
        SELECT $1, c.* FROM unnest($2, $3, $4, $5, $6) \
                AS c (id, parent, label, created_ms, touched_ms) \
            WHERE NOT EXISTS (SELECT 1 FROM deleted_conversations AS d \
                    WHERE d.tenant = $1 AND d.id = c.id) \
                AND NOT EXISTS (SELECT 1 FROM deleted_nodes AS d \
                    WHERE d.tenant = $1 AND d.digest = ANY($7)) \
        ON CONFLICT (tenant, id) DO UPDATE SET \
            parent = COALESCE(conversations.parent, excluded.parent), \
            label = COALESCE(excluded.label, conversations.label), \
            touched_ms = GREATEST(excluded.touched_ms, conversations.touched_ms)";

/// Returns the keys of those that are new.
const INSERT_ENTRIES: &str = "\
    INSERT INTO entries (tenant, key, raw, wire, tokens) \
        SELECT $1, e.* FROM unnest($2, $3, $4, $5) AS e \
        ON CONFLICT (tenant, key) DO NOTHING RETURNING key";

/// Entries that are stored with other bytes than those given.
const SELECT_CONFLICT: &str = "\
    SELECT s.key, s.raw FROM unnest($2, $3) AS e (key, raw) \
        JOIN entries AS s ON s.tenant = $1 AND s.key = e.key WHERE s.raw <> e.raw";

/// A parent may come behind its child: references are looked at when the statement is done. Says whether any of it was deleted
/// since the conversation was asked for: whoever deletes holds that up, and the statement before this one saw what was then.
const INSERT_NODES: &str = "\
    WITH inserted AS ( \
        INSERT INTO nodes (tenant, digest, parent, entry, position, conversation) \
            SELECT $1, n.* FROM unnest($2, $3, $4, $5, $6) AS n \
            ON CONFLICT (tenant, digest) DO NOTHING \
    ) \
    SELECT EXISTS (SELECT 1 FROM deleted_nodes AS d \
            WHERE d.tenant = $1 AND (d.digest = ANY($2) OR d.digest = ANY($3))) \
        OR EXISTS (SELECT 1 FROM deleted_conversations AS d \
            WHERE d.tenant = $1 AND d.id = ANY($6))";

/// Part of a transaction that the caller commits. Holds the conversations of all pieces until then: nobody else adds to them.
/// [`Error::Deleted`] when a piece stands on what was deleted; the transaction is of no use then.
pub(super) async fn insert_conversations(
    connection: &mut PgConnection,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    // A statement may touch a row only once, so pieces of one conversation become one.
    let mut merged: BTreeMap<&str, (NewConversation, i64)> = BTreeMap::new();
    for Append {
        conversation,
        touched_ms,
        ..
    } in appends
    {
        merged
            .entry(conversation.id.as_str())
            .and_modify(|(first, touched)| {
                first.parent = first.parent.take().or_else(|| conversation.parent.clone());
                first.label = conversation.label.clone().or_else(|| first.label.take());
                *touched = (*touched_ms).max(*touched);
            })
            .or_insert_with(|| (conversation.clone(), *touched_ms));
    }
    let rows = || merged.values().map(|(conversation, _)| conversation);
    let parents = rows().map(|one| one.parent.as_ref().map(ConversationId::as_str));
    let labels = rows().map(|one| one.label.as_ref().map(String::as_bytes));
    let created_ms = rows().map(|one| one.created_ms);
    let touched_ms = merged.values().map(|(_, touched_ms)| *touched_ms);
    let written = query(INSERT_CONVERSATIONS)
        .bind(tenant.as_str())
        .bind(merged.keys().copied().collect::<Vec<&str>>())
        .bind(parents.collect::<Vec<_>>())
        .bind(labels.collect::<Vec<_>>())
        .bind(created_ms.collect::<Vec<_>>())
        .bind(touched_ms.collect::<Vec<_>>())
        .bind(sorted(&links(appends)))
        .execute(connection)
        .await?;
    match usize::try_from(written.rows_affected()) == Ok(merged.len()) {
        true => Ok(()),
        false => Err(Error::Deleted),
    }
}

/// Part of a transaction that the caller commits, with the conversations in it.
pub(super) async fn insert_rest(
    connection: &mut PgConnection,
    keys: &Keys,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    let entries = appends.iter().flat_map(|append| &append.entries).collect();
    insert_entries(connection, keys, tenant, entries).await?;
    let nodes = appends.iter().flat_map(|append| &append.nodes).collect();
    insert_nodes(connection, tenant, nodes).await
}

async fn insert_entries(
    connection: &mut PgConnection,
    store_keys: &Keys,
    tenant: &TenantId,
    mut entries: Vec<&EntryRow>,
) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    entries.sort_by_key(|entry| entry.key);
    let (keys, raw) = columns(&entries);
    let wires: Vec<&str> = entries.iter().map(|entry| entry.wire.as_str()).collect();
    let tokens: Vec<i64> = entries.iter().map(|entry| entry.tokens.into()).collect();
    let rows = query(INSERT_ENTRIES)
        .bind(tenant.as_str())
        .bind(keys)
        .bind(raw)
        .bind(wires)
        .bind(tokens)
        .fetch_all(&mut *connection)
        .await?;
    let new = rows.iter().map(|row| decode::digest(row.try_get(0)?));
    let mut new: HashSet<Digest> = new.collect::<Result<_>>()?;
    // Of two with one key the first was stored.
    entries.retain(|entry| !new.remove(&entry.key));
    check_known(connection, store_keys, tenant, &entries).await
}

/// What was stored before must have the bytes that are given now.
async fn check_known(
    connection: &mut PgConnection,
    store_keys: &Keys,
    tenant: &TenantId,
    entries: &[&EntryRow],
) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let (keys, raw) = columns(entries);
    let others = query(SELECT_CONFLICT)
        .bind(tenant.as_str())
        .bind(keys)
        .bind(raw)
        .fetch_all(connection)
        .await?;
    for row in &others {
        let key = decode::digest(row.try_get(0)?)?;
        let stored: Vec<u8> = row.try_get(1)?;
        // What is encrypted is other bytes each time.
        let opened = |raw: Bytes| store_keys.open(tenant, Value::Entry(&key), raw);
        let stored = opened(stored.into())?;
        for given in entries.iter().filter(|entry| entry.key == key) {
            if opened(given.raw.clone())? != stored {
                return Err(Error::Conflict { key });
            }
        }
    }
    Ok(())
}

fn columns<'a>(entries: &[&'a EntryRow]) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let columns = entries.iter().map(|entry| (blob(&entry.key), &*entry.raw));
    columns.unzip()
}

async fn insert_nodes(
    connection: &mut PgConnection,
    tenant: &TenantId,
    mut nodes: Vec<&NodeRow>,
) -> Result<()> {
    if nodes.is_empty() {
        return Ok(());
    }
    nodes.sort_by_key(|node| node.digest);
    let parents = nodes.iter().map(|node| node.parent.as_ref().map(blob));
    let positions = nodes.iter().map(|node| i64::from(node.position));
    let conversations = nodes.iter().map(|node| node.conversation.as_str());
    let row = query(INSERT_NODES)
        .bind(tenant.as_str())
        .bind(
            nodes
                .iter()
                .map(|node| blob(&node.digest))
                .collect::<Vec<_>>(),
        )
        .bind(parents.collect::<Vec<_>>())
        .bind(
            nodes
                .iter()
                .map(|node| blob(&node.entry))
                .collect::<Vec<_>>(),
        )
        .bind(positions.collect::<Vec<_>>())
        .bind(conversations.collect::<Vec<_>>())
        .fetch_one(connection)
        .await?;
    match row.try_get(0)? {
        true => Err(Error::Deleted),
        false => Ok(()),
    }
}
