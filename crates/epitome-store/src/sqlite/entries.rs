//! The log itself: entries, and the nodes that chain them.

use std::slice;

use epitome::Digest;
use sqlx::SqlitePool;

use super::SqliteStore;
use super::append::insert_all;
use super::arguments::{laid_end_to_end, wanted};
use super::decode;
use super::deleted::{refuse_deleted, without_deleted};
use super::search;
use super::transaction::begin;
use crate::statements::{self as sql, select_tip};
use crate::{Append, Appended, Entries, EntryRow, Error, Keys, NodeRow, Result, TenantId};

/// `CROSS JOIN` keeps SQLite from scanning the table and probing the digests.
pub(super) const SELECT_NODES: &str = concat!(
    wanted!(),
    "SELECT n.digest, n.parent, n.entry, n.position, n.conversation FROM wanted \
    CROSS JOIN nodes AS n ON n.tenant = $1 AND n.digest = substr($2, wanted.start, 32)"
);

/// SQLite has to be told the index, or it goes through all nodes of the tenant.
pub(super) const SELECT_TIP: &str = select_tip!("nodes INDEXED BY nodes_by_conversation");

impl Entries for SqliteStore {
    fn append(
        &self,
        tenant: &TenantId,
        append: &Append,
    ) -> impl Future<Output = Result<()>> + Send {
        append_all(&self.writer, &self.keys, tenant, slice::from_ref(append))
    }

    fn append_all(
        &self,
        tenant: &TenantId,
        appends: &[Append],
    ) -> impl Future<Output = Result<()>> + Send {
        append_all(&self.writer, &self.keys, tenant, appends)
    }

    fn extend(
        &self,
        tenant: &TenantId,
        append: &Append,
        after: Option<Digest>,
    ) -> impl Future<Output = Result<Appended>> + Send {
        extend(&self.writer, &self.keys, tenant, append, after)
    }

    fn entry(
        &self,
        tenant: &TenantId,
        key: Digest,
    ) -> impl Future<Output = Result<Option<EntryRow>>> + Send {
        entry(&self.readers, tenant, key)
    }

    fn history(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<EntryRow>>> + Send {
        history(&self.readers, tenant, tip)
    }

    fn find_nodes(
        &self,
        tenant: &TenantId,
        digests: &[Digest],
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        find_nodes(&self.readers, tenant, digests)
    }

    fn path(
        &self,
        tenant: &TenantId,
        tip: Digest,
    ) -> impl Future<Output = Result<Vec<NodeRow>>> + Send {
        path(&self.readers, tenant, tip)
    }
}

async fn append_all(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    match append_alive(writer, keys, tenant, appends).await {
        Err(Error::Deleted) => {
            let alive = without_deleted(writer, tenant, appends).await?;
            append_alive(writer, keys, tenant, &alive).await
        }
        result => result,
    }
}

async fn append_alive(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    let words = appends.iter().flat_map(|append| &append.words);
    let words = search::prepared(keys, tenant, words)?;
    let mut transaction = begin(writer).await?;
    refuse_deleted(&mut transaction, tenant, appends).await?;
    insert_all(&mut transaction, keys, tenant, appends).await?;
    search::insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(())
}

async fn extend(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    append: &Append,
    after: Option<Digest>,
) -> Result<Appended> {
    let words = search::prepared(keys, tenant, &append.words)?;
    let mut transaction = begin(writer).await?;
    // Before the tip: whoever was too late and whoever is deleted must do different things.
    refuse_deleted(&mut transaction, tenant, slice::from_ref(append)).await?;
    let tip: Option<Vec<u8>> = sqlx::query_scalar(SELECT_TIP)
        .bind(tenant.as_str())
        .bind(append.conversation.id.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    if tip.as_deref().and_then(Digest::from_slice) != after {
        return Ok(Appended::Superseded);
    }
    insert_all(&mut transaction, keys, tenant, slice::from_ref(append)).await?;
    search::insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(Appended::Stored)
}

async fn entry(readers: &SqlitePool, tenant: &TenantId, key: Digest) -> Result<Option<EntryRow>> {
    let row = sqlx::query(sql::SELECT_ENTRY)
        .bind(tenant.as_str())
        .bind(key.as_bytes().as_slice())
        .fetch_optional(readers)
        .await?;
    let placed = row.as_ref().map(decode::placed_entry).transpose()?;
    Ok(placed.map(|(_, entry)| entry))
}

async fn history(readers: &SqlitePool, tenant: &TenantId, tip: Digest) -> Result<Vec<EntryRow>> {
    let rows = sqlx::query(sql::SELECT_HISTORY)
        .bind(tenant.as_str())
        .bind(tip.as_bytes().as_slice())
        .fetch_all(readers)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    let mut placed: Vec<_> = placed.collect::<Result<_>>()?;
    placed.sort_by_key(|(position, _)| *position);
    Ok(placed.into_iter().map(|(_, entry)| entry).collect())
}

async fn find_nodes(
    readers: &SqlitePool,
    tenant: &TenantId,
    digests: &[Digest],
) -> Result<Vec<NodeRow>> {
    if digests.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(SELECT_NODES)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(digests))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::node).collect()
}

async fn path(readers: &SqlitePool, tenant: &TenantId, tip: Digest) -> Result<Vec<NodeRow>> {
    let rows = sqlx::query(sql::SELECT_PATH)
        .bind(tenant.as_str())
        .bind(tip.as_bytes().as_slice())
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::node).collect()
}
