//! Compactions and their states.

use std::slice;

use epitome::Digest;
use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::append::{insert_conversations, insert_rest};
use super::connections::{Connections, settle};
use super::decode;
use super::deleted::without_deleted;
use super::query::{blob, query, signed, sorted};
use super::search;
use crate::statements as sql;
use crate::{
    Append, Committed, CompactionRow, CompactionState, Compactions, ConversationId, Error, Result,
    TenantId,
};

/// How often a compaction is inserted again when the one that was first is gone a moment later.
const TRIES: u32 = 8;

const SELECT_COMPACTIONS_AT: &str = concat!(
    "SELECT ",
    sql::compaction_columns!(),
    " FROM compactions WHERE tenant = $1 AND node = ANY($2) AND state <> 'undone' \
    ORDER BY created_ms, id"
);

/// Whoever sets the state too waits until this transaction is over.
const LOCK_STATE: &str = "SELECT state FROM compactions WHERE tenant = $1 AND id = $2 FOR UPDATE";

impl Compactions for PostgresStore {
    fn commit_compaction(
        &self,
        tenant: &TenantId,
        span: &Append,
        compaction: &CompactionRow,
    ) -> impl Future<Output = Result<Committed>> + Send {
        commit_compaction(&self.connections, tenant, span, compaction)
    }

    fn publish(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
        record: Option<&str>,
    ) -> impl Future<Output = Result<()>> + Send {
        publish(&self.connections, tenant, compaction_id, record)
    }

    fn undo(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<()>> + Send {
        let state = CompactionState::Undone;
        advance(&self.connections, tenant, compaction_id, state)
    }

    fn compaction(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionRow>>> + Send {
        compaction(&self.connections, tenant, compaction_id)
    }

    fn compaction_state(
        &self,
        tenant: &TenantId,
        compaction_id: &str,
    ) -> impl Future<Output = Result<Option<CompactionState>>> + Send {
        compaction_state(&self.connections, tenant, compaction_id)
    }

    fn compactions_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        compactions_at(&self.connections, tenant, nodes)
    }

    fn compactions_of(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        compactions_of(&self.connections, tenant, conversation)
    }

    fn compactions_along(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<CompactionRow>>> + Send {
        compactions_along(&self.connections, tenant, conversation, limit)
    }
}

async fn commit_compaction(
    connections: &Connections,
    tenant: &TenantId,
    span: &Append,
    compaction: &CompactionRow,
) -> Result<Committed> {
    let keys = connections.keys();
    let words = search::prepared(keys, tenant, &span.words)?;
    let mut transaction = connections.begin().await?;
    let begun = insert_conversations(&mut transaction, tenant, slice::from_ref(span)).await;
    if let Err(error) = begun {
        transaction.rollback().await?;
        if let Error::Deleted = error {
            without_deleted(connections, tenant, slice::from_ref(span)).await?;
        }
        return Err(error);
    }
    let committed = async {
        insert_rest(&mut transaction, keys, tenant, slice::from_ref(span)).await?;
        search::insert(&mut transaction, tenant, &words).await?;
        insert_compaction(&mut transaction, tenant, compaction).await
    };
    let committed = committed.await;
    settle(transaction, committed).await
}

async fn publish(
    connections: &Connections,
    tenant: &TenantId,
    id: &str,
    record: Option<&str>,
) -> Result<()> {
    let mut transaction = connections.begin().await?;
    let published = async {
        set_state(&mut transaction, tenant, id, CompactionState::Published).await?;
        if let Some(record) = record {
            query(sql::UPDATE_COMPACTION_RECORD)
                .bind(tenant.as_str())
                .bind(id.as_bytes())
                .bind(record.as_bytes())
                .execute(&mut *transaction)
                .await?;
        }
        Ok(())
    };
    let published = published.await;
    settle(transaction, published).await
}

async fn advance(
    connections: &Connections,
    tenant: &TenantId,
    id: &str,
    state: CompactionState,
) -> Result<()> {
    let mut transaction = connections.begin().await?;
    let set = set_state(&mut transaction, tenant, id, state).await;
    settle(transaction, set).await
}

/// Part of a transaction that the caller commits. Setting the state that is stored already changes nothing.
pub(super) async fn set_state(
    connection: &mut PgConnection,
    tenant: &TenantId,
    id: &str,
    state: CompactionState,
) -> Result<()> {
    let row = query(LOCK_STATE)
        .bind(tenant.as_str())
        .bind(id.as_bytes())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else {
        let id = id.to_owned();
        return Err(Error::UnknownCompaction { id });
    };
    match (decode::state(row.try_get(0)?)?, state) {
        (stored, wanted) if stored == wanted => return Ok(()),
        (CompactionState::Undone, _) => return Err(Error::Undone { id: id.to_owned() }),
        _ => {}
    }
    query(sql::UPDATE_COMPACTION_STATE)
        .bind(tenant.as_str())
        .bind(id.as_bytes())
        .bind(state.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

async fn compaction(
    connections: &Connections,
    tenant: &TenantId,
    id: &str,
) -> Result<Option<CompactionRow>> {
    let mut transaction = connections.begin().await?;
    let row = query(sql::SELECT_COMPACTION)
        .bind(tenant.as_str())
        .bind(id.as_bytes())
        .fetch_optional(&mut *transaction)
        .await?;
    row.as_ref().map(decode::compaction).transpose()
}

async fn compaction_state(
    connections: &Connections,
    tenant: &TenantId,
    id: &str,
) -> Result<Option<CompactionState>> {
    let mut transaction = connections.begin().await?;
    let row = query(sql::SELECT_COMPACTION_STATE)
        .bind(tenant.as_str())
        .bind(id.as_bytes())
        .fetch_optional(&mut *transaction)
        .await?;
    row.map(|row| decode::state(row.try_get(0)?)).transpose()
}

async fn compactions_at(
    connections: &Connections,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CompactionRow>> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    read_compactions_at(&mut *connections.begin().await?, tenant, nodes).await
}

/// Part of a transaction that only reads.
pub(super) async fn read_compactions_at(
    connection: &mut PgConnection,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CompactionRow>> {
    let rows = query(SELECT_COMPACTIONS_AT)
        .bind(tenant.as_str())
        .bind(sorted(nodes))
        .fetch_all(connection)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

async fn compactions_of(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<CompactionRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_COMPACTIONS_OF)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

async fn compactions_along(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    limit: u32,
) -> Result<Vec<CompactionRow>> {
    let mut transaction = connections.begin().await?;
    read_compactions_along(&mut transaction, tenant, conversation, limit).await
}

/// Part of a transaction that only reads.
pub(super) async fn read_compactions_along(
    connection: &mut PgConnection,
    tenant: &TenantId,
    conversation: &ConversationId,
    limit: u32,
) -> Result<Vec<CompactionRow>> {
    let rows = query(sql::SELECT_COMPACTIONS_ALONG)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

/// Part of a transaction that the caller commits.
pub(super) async fn insert_compaction(
    connection: &mut PgConnection,
    tenant: &TenantId,
    row: &CompactionRow,
) -> Result<Committed> {
    for _ in 0..TRIES {
        if insert(connection, tenant, row).await? {
            return Ok(Committed::New(row.clone()));
        }
        if let Some(first) = live_compaction(connection, tenant, row).await? {
            return Ok(Committed::Existing(first));
        }
    }
    Err(Error::Busy(
        "an epoch is being undone again and again".into(),
    ))
}

/// Whether it was the first for its epoch.
async fn insert(
    connection: &mut PgConnection,
    tenant: &TenantId,
    row: &CompactionRow,
) -> Result<bool> {
    let result = query(sql::INSERT_COMPACTION)
        .bind(tenant.as_str())
        .bind(row.id.as_bytes())
        .bind(row.conversation.as_str())
        .bind(blob(&row.node))
        .bind(row.model_class.as_bytes())
        .bind(row.state.as_str())
        .bind(i64::from(row.head_entries))
        .bind(i64::from(row.covered_entries))
        .bind(signed(row.tokens_before))
        .bind(signed(row.tokens_after))
        .bind(row.summary.as_bytes())
        .bind(row.record.as_bytes())
        .bind(row.created_ms)
        .execute(connection)
        .await;
    match result {
        Ok(result) => Ok(result.rows_affected() == 1),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Err(Error::IdTaken { id: row.id.clone() })
        }
        Err(error) => Err(error.into()),
    }
}

async fn live_compaction(
    connection: &mut PgConnection,
    tenant: &TenantId,
    row: &CompactionRow,
) -> Result<Option<CompactionRow>> {
    let row = query(sql::SELECT_LIVE_COMPACTION)
        .bind(tenant.as_str())
        .bind(blob(&row.node))
        .bind(row.model_class.as_bytes())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(decode::compaction).transpose()
}
