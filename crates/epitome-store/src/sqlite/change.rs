//! Changes of conversations, and the leases under which they are made.

use epitome::Digest;
use sqlx::{SqliteConnection, SqlitePool};

use super::append::insert_all;
use super::decode;
use super::search;
use super::transaction::begin;
use super::write::{insert_compaction, set_state, signed};
use crate::statements as sql;
use crate::{
    Append, Appended, ChangeKind, ChangeRow, Committed, CompactionState, ConversationId, NewChange,
    Result, TenantId,
};

pub(super) async fn append(
    writer: &SqlitePool,
    tenant: &TenantId,
    new: &NewChange,
) -> Result<Appended> {
    let words = new.span.iter().flat_map(|span| &span.words);
    let words = search::prepared(tenant, words);
    let mut transaction = begin(writer).await?;
    // Dropping the transaction rolls it back, so whatever was written before a refusal is gone.
    if !is_next(&mut transaction, tenant, new).await? {
        return Ok(Appended::Superseded);
    }
    if let Some(span) = &new.span {
        insert_all(&mut transaction, tenant, span).await?;
        search::insert(&mut transaction, tenant, &words).await?;
    }
    if let Some(compaction) = &new.compaction {
        let committed = insert_compaction(&mut transaction, tenant, compaction).await?;
        if let Committed::Existing(_) = committed {
            return Ok(Appended::Superseded);
        }
    }
    if let (ChangeKind::Undone, Some(id)) = (new.change.kind, &new.change.compaction) {
        set_state(&mut transaction, tenant, id, CompactionState::Undone).await?;
    }
    insert(&mut transaction, tenant, &new.change).await?;
    transaction.commit().await?;
    Ok(Appended::Stored)
}

pub(super) async fn extend(
    writer: &SqlitePool,
    tenant: &TenantId,
    append: &Append,
    after: Option<Digest>,
) -> Result<Appended> {
    let words = search::prepared(tenant, &append.words);
    let mut transaction = begin(writer).await?;
    let tip: Option<Vec<u8>> = sqlx::query_scalar(sql::SELECT_TIP)
        .bind(tenant.as_str())
        .bind(append.conversation.id.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    if tip.as_deref().and_then(Digest::from_slice) != after {
        return Ok(Appended::Superseded);
    }
    insert_all(&mut transaction, tenant, append).await?;
    search::insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(Appended::Stored)
}

pub(super) async fn all(
    readers: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<ChangeRow>> {
    let rows = sqlx::query(sql::SELECT_CHANGES)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::change).collect()
}

pub(super) async fn acquire_lease(
    writer: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
    holder: &str,
    now_ms: i64,
    until_ms: i64,
) -> Result<Option<u64>> {
    let fence: Option<i64> = sqlx::query_scalar(sql::ACQUIRE_LEASE)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(holder)
        .bind(now_ms)
        .bind(until_ms)
        .fetch_optional(writer)
        .await?;
    Ok(fence.map(i64::unsigned_abs))
}

pub(super) async fn renew_lease(
    writer: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
    fence: u64,
    until_ms: i64,
) -> Result<bool> {
    let result = sqlx::query(sql::RENEW_LEASE)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(signed(fence))
        .bind(until_ms)
        .execute(writer)
        .await?;
    Ok(result.rows_affected() == 1)
}

pub(super) async fn release_lease(
    writer: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
    fence: u64,
) -> Result<()> {
    sqlx::query(sql::RELEASE_LEASE)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(signed(fence))
        .execute(writer)
        .await?;
    Ok(())
}

/// Whether nobody was faster: neither with a change nor in taking the lease.
async fn is_next(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    new: &NewChange,
) -> Result<bool> {
    let is_next = sqlx::query_scalar(sql::IS_NEXT_CHANGE)
        .bind(tenant.as_str())
        .bind(new.change.conversation.as_str())
        .bind(i64::from(new.change.seq))
        .bind(new.fence.map(signed))
        .fetch_one(connection)
        .await?;
    Ok(is_next)
}

async fn insert(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    change: &ChangeRow,
) -> Result<()> {
    sqlx::query(sql::INSERT_CHANGE)
        .bind(tenant.as_str())
        .bind(change.conversation.as_str())
        .bind(i64::from(change.seq))
        .bind(change.kind.as_str())
        .bind(change.compaction.as_deref())
        .bind(&change.body)
        .bind(change.at_ms)
        .execute(connection)
        .await?;
    Ok(())
}
