//! Compactions and their states.

use std::slice;

use epitome::Digest;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::append::insert_all;
use super::arguments::{blob, laid_end_to_end, signed, wanted};
use super::decode;
use super::deleted::{refuse_deleted, without_deleted};
use super::search;
use super::transaction::begin;
use crate::statements as sql;
use crate::{
    Append, Committed, CompactionRow, CompactionState, Compactions, ConversationId, Error, Keys,
    Result, TenantId,
};

pub(super) const SELECT_COMPACTIONS_AT: &str = concat!(
    wanted!(),
    "SELECT ",
    sql::compaction_columns!(),
    " FROM wanted CROSS JOIN compactions AS c ON c.tenant = $1 \
        AND c.node = substr($2, wanted.start, 32) AND c.state <> 'undone' \
    ORDER BY created_ms, id"
);

impl Compactions for SqliteStore {
    fn commit_compaction(
        &self,
        tenant: &TenantId,
        span: &Append,
        compaction: &CompactionRow,
    ) -> impl Future<Output = Result<Committed>> + Send {
        commit_compaction(&self.writer, &self.keys, tenant, span, compaction)
    }

    fn publish(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
        record: Option<&str>,
    ) -> impl Future<Output = Result<()>> + Send {
        publish(&self.writer, tenant, compaction_id, record)
    }

    fn undo(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<()>> + Send {
        let state = CompactionState::Undone;
        advance(&self.writer, tenant, compaction_id, state)
    }

    fn compaction(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionRow>>> + Send {
        compaction(&self.readers, tenant, compaction_id)
    }

    fn compaction_state(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionState>>> + Send {
        compaction_state(&self.readers, tenant, compaction_id)
    }

    fn compactions_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        compactions_at(&self.readers, tenant, nodes)
    }

    fn compactions_of(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        compactions_of(&self.readers, tenant, conversation)
    }

    fn compactions_along(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        compactions_along(&self.readers, tenant, conversation, limit)
    }
}

async fn commit_compaction(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    span: &Append,
    compaction: &CompactionRow,
) -> Result<Committed> {
    let words = search::prepared(keys, tenant, &span.words)?;
    let mut transaction = begin(writer).await?;
    if let Err(error) = refuse_deleted(&mut transaction, tenant, slice::from_ref(span)).await {
        transaction.rollback().await?;
        if let Error::Deleted = error {
            without_deleted(writer, tenant, slice::from_ref(span)).await?;
        }
        return Err(error);
    }
    insert_all(&mut transaction, keys, tenant, slice::from_ref(span)).await?;
    search::insert(&mut transaction, tenant, &words).await?;
    let committed = insert_compaction(&mut transaction, tenant, compaction).await?;
    transaction.commit().await?;
    Ok(committed)
}

async fn publish(
    writer: &SqlitePool,
    tenant: &TenantId,
    id: &str,
    record: Option<&str>,
) -> Result<()> {
    let mut transaction = begin(writer).await?;
    set_state(&mut transaction, tenant, id, CompactionState::Published).await?;
    if let Some(record) = record {
        sqlx::query(sql::UPDATE_COMPACTION_RECORD)
            .bind(tenant.as_str())
            .bind(id)
            .bind(record)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn advance(
    writer: &SqlitePool,
    tenant: &TenantId,
    id: &str,
    state: CompactionState,
) -> Result<()> {
    let mut transaction = begin(writer).await?;
    set_state(&mut transaction, tenant, id, state).await?;
    transaction.commit().await?;
    Ok(())
}

/// Part of a transaction that the caller commits. Setting the state that is stored already changes nothing.
pub(super) async fn set_state(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    id: &str,
    state: CompactionState,
) -> Result<()> {
    let stored: Option<String> = sqlx::query_scalar(sql::SELECT_COMPACTION_STATE)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_optional(&mut *connection)
        .await?;
    let id = id.to_owned();
    let Some(stored) = stored else {
        return Err(Error::UnknownCompaction { id });
    };
    match (decode::state(&stored)?, state) {
        (stored, wanted) if stored == wanted => return Ok(()),
        (CompactionState::Undone, _) => return Err(Error::Undone { id }),
        _ => {}
    }
    sqlx::query(sql::UPDATE_COMPACTION_STATE)
        .bind(tenant.as_str())
        .bind(id)
        .bind(state.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

async fn compaction(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &str,
) -> Result<Option<CompactionRow>> {
    let row = sqlx::query(sql::SELECT_COMPACTION)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::compaction).transpose()
}

async fn compaction_state(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &str,
) -> Result<Option<CompactionState>> {
    let row = sqlx::query(sql::SELECT_COMPACTION_STATE)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_optional(readers)
        .await?;
    row.map(|row| decode::state(row.try_get(0)?)).transpose()
}

async fn compactions_at(
    readers: &SqlitePool,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CompactionRow>> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(SELECT_COMPACTIONS_AT)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(nodes))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

async fn compactions_of(
    readers: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<CompactionRow>> {
    let rows = sqlx::query(sql::SELECT_COMPACTIONS_OF)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

async fn compactions_along(
    readers: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
    limit: u32,
) -> Result<Vec<CompactionRow>> {
    let rows = sqlx::query(sql::SELECT_COMPACTIONS_ALONG)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

/// Part of a transaction that the caller commits.
pub(super) async fn insert_compaction(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    row: &CompactionRow,
) -> Result<Committed> {
    let result = sqlx::query(sql::INSERT_COMPACTION)
        .bind(tenant.as_str())
        .bind(&row.id)
        .bind(row.conversation.as_str())
        .bind(blob(&row.node))
        .bind(&row.model_class)
        .bind(row.state.as_str())
        .bind(i64::from(row.head_entries))
        .bind(i64::from(row.covered_entries))
        .bind(signed(row.tokens_before))
        .bind(signed(row.tokens_after))
        .bind(&row.summary)
        .bind(&row.record)
        .bind(row.created_ms)
        .execute(&mut *connection)
        .await;
    match result {
        Ok(result) if result.rows_affected() == 1 => Ok(Committed::New(row.clone())),
        Ok(_) => live_compaction(connection, tenant, row).await,
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Err(Error::IdTaken { id: row.id.clone() })
        }
        Err(error) => Err(error.into()),
    }
}

async fn live_compaction(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    row: &CompactionRow,
) -> Result<Committed> {
    let row = sqlx::query(sql::SELECT_LIVE_COMPACTION)
        .bind(tenant.as_str())
        .bind(blob(&row.node))
        .bind(&row.model_class)
        .fetch_one(connection)
        .await?;
    decode::compaction(&row).map(Committed::Existing)
}
