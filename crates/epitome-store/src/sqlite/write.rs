//! Transactions, on the one writing connection.

use epitome::Digest;
use sqlx::{SqliteConnection, SqlitePool};

use super::append::insert_all;
use super::decode;
use super::read;
use super::search;
use super::transaction::begin;
use crate::statements as sql;
use crate::{
    Append, BeliefRow, Committed, CompactionRow, CompactionState, ConversationId, Error, Outcome,
    Result, TenantId,
};

pub(super) async fn tenant_key(
    readers: &SqlitePool,
    writer: &SqlitePool,
    tenant: &TenantId,
    fresh: [u8; 32],
) -> Result<[u8; 32]> {
    if let Some(key) = read::tenant_key(readers, tenant).await? {
        return Ok(key);
    }
    let mut transaction = begin(writer).await?;
    sqlx::query(sql::INSERT_TENANT_KEY)
        .bind(tenant.as_str())
        .bind(fresh.as_slice())
        .execute(&mut *transaction)
        .await?;
    let key: Vec<u8> = sqlx::query_scalar(sql::SELECT_TENANT_KEY)
        .bind(tenant.as_str())
        .fetch_one(&mut *transaction)
        .await?;
    transaction.commit().await?;
    decode::secret(&key)
}

pub(super) async fn append(
    writer: &SqlitePool,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    let words = appends.iter().flat_map(|append| &append.words);
    let words = search::prepared(tenant, words);
    let mut transaction = begin(writer).await?;
    for append in appends {
        insert_all(&mut transaction, tenant, append).await?;
    }
    search::insert(&mut transaction, tenant, &words).await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn commit_compaction(
    writer: &SqlitePool,
    tenant: &TenantId,
    span: &Append,
    compaction: &CompactionRow,
) -> Result<Committed> {
    let words = search::prepared(tenant, &span.words);
    let mut transaction = begin(writer).await?;
    insert_all(&mut transaction, tenant, span).await?;
    search::insert(&mut transaction, tenant, &words).await?;
    let committed = insert_compaction(&mut transaction, tenant, compaction).await?;
    transaction.commit().await?;
    Ok(committed)
}

pub(super) async fn publish(
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

pub(super) async fn advance(
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

pub(super) async fn outcome(
    writer: &SqlitePool,
    tenant: &TenantId,
    outcome: &Outcome,
) -> Result<()> {
    sqlx::query(sql::INSERT_OUTCOME)
        .bind(tenant.as_str())
        .bind(outcome.conversation.as_ref().map(ConversationId::as_str))
        .bind(outcome.at_ms)
        .bind(&outcome.action)
        .bind(&outcome.reason)
        .bind(signed(outcome.tokens_before))
        .bind(signed(outcome.tokens_after))
        .bind(&outcome.model)
        .execute(writer)
        .await?;
    Ok(())
}

pub(super) async fn window(
    writer: &SqlitePool,
    endpoint: &str,
    model: &str,
    window_tokens: u64,
    at_ms: i64,
) -> Result<()> {
    sqlx::query(sql::UPSERT_WINDOW)
        .bind(endpoint)
        .bind(model)
        .bind(signed(window_tokens))
        .bind(at_ms)
        .execute(writer)
        .await?;
    Ok(())
}

pub(super) async fn belief(writer: &SqlitePool, belief: &BeliefRow) -> Result<()> {
    sqlx::query(sql::UPSERT_BELIEF)
        .bind(&belief.endpoint)
        .bind(&belief.model)
        .bind(&belief.window)
        .bind(&belief.counts)
        .bind(belief.at_ms)
        .execute(writer)
        .await?;
    Ok(())
}

pub(super) async fn forget_belief(
    writer: &SqlitePool,
    endpoint: &str,
    model: &str,
) -> Result<bool> {
    let mut gone = 0;
    let mut transaction = begin(writer).await?;
    for statement in [sql::DELETE_BELIEF, sql::DELETE_WINDOW] {
        let done = sqlx::query(statement)
            .bind(endpoint)
            .bind(model)
            .execute(&mut *transaction)
            .await?;
        gone += done.rows_affected();
    }
    transaction.commit().await?;
    Ok(gone > 0)
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

fn blob(digest: &Digest) -> &[u8] {
    digest.as_bytes()
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
