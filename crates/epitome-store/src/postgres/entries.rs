//! The log itself: entries, and the nodes that chain them.

use std::slice;

use epitome::Digest;
use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::append::{insert_conversations, insert_rest};
use super::connections::{Connections, settle};
use super::decode;
use super::deleted::without_deleted;
use super::query::{blob, query, sorted};
use super::search;
use crate::statements::{self as sql, select_tip};
use crate::{Append, Appended, Entries, EntryRow, Error, Keys, NodeRow, Result, TenantId};

const SELECT_NODES: &str = "\
    SELECT digest, parent, entry, position, conversation FROM nodes \
    WHERE tenant = $1 AND digest = ANY($2)";

pub(super) const SELECT_TIP: &str = select_tip!("nodes");

impl Entries for PostgresStore {
    fn append(
        &self,
        tenant: &TenantId,
        append: &Append,
    ) -> impl Future<Output = Result<()>> + Send {
        append_all(&self.connections, tenant, slice::from_ref(append))
    }

    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send {
        append_all(&self.connections, tenant, appends)
    }

    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send {
        extend(&self.connections, tenant, append, after)
    }

    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send {
        entry(&self.connections, tenant, key)
    }

    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        history(&self.connections, tenant, tip)
    }

    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        find_nodes(&self.connections, tenant, digests)
    }

    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        path(&self.connections, tenant, tip)
    }
}

async fn append_all(
    connections: &Connections,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    match append_alive(connections, tenant, appends).await {
        // What was deleted a moment ago may only be missed as the parent of something.
        Err(error @ (Error::Deleted | Error::Dangling(_))) => {
            let alive = without_deleted(connections, tenant, appends).await?;
            match alive.len() == appends.len() {
                true => Err(error),
                false => append_alive(connections, tenant, &alive).await,
            }
        }
        result => result,
    }
}

async fn append_alive(
    connections: &Connections,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    let keys = connections.keys();
    let words = appends.iter().flat_map(|append| &append.words);
    let words = search::prepared(keys, tenant, words)?;
    let mut transaction = connections.begin().await?;
    let appended = async {
        insert_conversations(&mut transaction, tenant, appends).await?;
        insert_rest(&mut transaction, keys, tenant, appends).await?;
        search::insert(&mut transaction, tenant, &words).await
    };
    let appended = appended.await;
    settle(transaction, appended).await
}

async fn extend(
    connections: &Connections,
    tenant: &TenantId,
    append: &Append,
    after: Option<Digest>,
) -> Result<Appended> {
    let keys = connections.keys();
    let words = search::prepared(keys, tenant, &append.words)?;
    let mut transaction = connections.begin().await?;
    match extend_in(&mut transaction, keys, tenant, append, after, &words).await {
        Ok(Appended::Superseded) => {
            transaction.rollback().await?;
            Ok(Appended::Superseded)
        }
        appended => settle(transaction, appended).await,
    }
}

/// Part of a transaction that is to be rolled back when it is superseded.
async fn extend_in(
    connection: &mut PgConnection,
    keys: &Keys,
    tenant: &TenantId,
    append: &Append,
    after: Option<Digest>,
    words: &search::Prepared,
) -> Result<Appended> {
    // This takes the lock of the conversation: whoever extends it too waits here, and finds another tip then.
    insert_conversations(connection, tenant, slice::from_ref(append)).await?;
    let row = query(SELECT_TIP)
        .bind(tenant.as_str())
        .bind(append.conversation.id.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    let tip = row.map(|row| decode::digest(row.try_get(0)?)).transpose()?;
    if tip != after {
        return Ok(Appended::Superseded);
    }
    insert_rest(connection, keys, tenant, slice::from_ref(append)).await?;
    search::insert(connection, tenant, words).await?;
    Ok(Appended::Stored)
}

async fn entry(
    connections: &Connections,
    tenant: &TenantId,
    key: Digest,
) -> Result<Option<EntryRow>> {
    let mut transaction = connections.begin().await?;
    let row = query(sql::SELECT_ENTRY)
        .bind(tenant.as_str())
        .bind(blob(&key))
        .fetch_optional(&mut *transaction)
        .await?;
    let placed = row.as_ref().map(decode::placed_entry).transpose()?;
    Ok(placed.map(|(_, entry)| entry))
}

async fn history(
    connections: &Connections,
    tenant: &TenantId,
    tip: Digest,
) -> Result<Vec<EntryRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_HISTORY)
        .bind(tenant.as_str())
        .bind(blob(&tip))
        .fetch_all(&mut *transaction)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    let mut placed: Vec<_> = placed.collect::<Result<_>>()?;
    placed.sort_by_key(|(position, _)| *position);
    Ok(placed.into_iter().map(|(_, entry)| entry).collect())
}

async fn find_nodes(
    connections: &Connections,
    tenant: &TenantId,
    digests: &[Digest],
) -> Result<Vec<NodeRow>> {
    if digests.is_empty() {
        return Ok(Vec::new());
    }
    read_nodes(&mut *connections.begin().await?, tenant, digests).await
}

/// Part of a transaction that only reads.
pub(super) async fn read_nodes(
    connection: &mut PgConnection,
    tenant: &TenantId,
    digests: &[Digest],
) -> Result<Vec<NodeRow>> {
    let rows = query(SELECT_NODES)
        .bind(tenant.as_str())
        .bind(sorted(digests))
        .fetch_all(connection)
        .await?;
    rows.iter().map(decode::node).collect()
}

async fn path(connections: &Connections, tenant: &TenantId, tip: Digest) -> Result<Vec<NodeRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_PATH)
        .bind(tenant.as_str())
        .bind(blob(&tip))
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::node).collect()
}
