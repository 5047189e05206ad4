//! What changed a conversation, in order.

use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::append::{insert_conversations, insert_rest};
use super::compactions::{insert_compaction, set_state};
use super::connections::{Connections, settle};
use super::decode;
use super::query::{query, signed};
use super::search;
use crate::statements as sql;
use crate::{
    Appended, ChangeKind, ChangeRow, Changes, Committed, CompactionState, ConversationId, Error,
    Keys, NewChange, Result, TenantId,
};

/// Whoever changes the conversation too waits until this transaction is over.
const LOCK_CONVERSATION: &str =
    "SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE";

/// Whoever deletes it waits until this transaction is over, and finds the fork.
const KEEP_CONVERSATION: &str =
    "SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2 FOR KEY SHARE";

/// Whoever asks for the lease waits until this transaction is over.
const LOCK_LEASE: &str = "\
    SELECT 1 FROM leases WHERE tenant = $1 AND conversation = $2 AND fence = $3 \
        AND holder IS NOT NULL FOR SHARE";

const COUNT_CHANGES: &str = "SELECT count(*) FROM changes WHERE tenant = $1 AND conversation = $2";

impl Changes for PostgresStore {
    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send {
        append(&self.connections, tenant, new)
    }

    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send {
        all(&self.connections, tenant, conversation)
    }
}

async fn append(connections: &Connections, tenant: &TenantId, new: &NewChange) -> Result<Appended> {
    let keys = connections.keys();
    let words = new.span.iter().flat_map(|span| &span.words);
    let words = search::prepared(keys, tenant, words)?;
    let mut transaction = connections.begin().await?;
    match append_in(&mut transaction, keys, tenant, new, &words).await {
        Ok(Appended::Superseded) => {
            transaction.rollback().await?;
            Ok(Appended::Superseded)
        }
        appended => settle(transaction, appended).await,
    }
}

/// Part of a transaction that is to be rolled back when it is superseded.
async fn append_in(
    connection: &mut PgConnection,
    keys: &Keys,
    tenant: &TenantId,
    new: &NewChange,
    words: &search::Prepared,
) -> Result<Appended> {
    // Before its own row, as whoever deletes does.
    if let Some(parent) = new.forked_off() {
        let found = query(KEEP_CONVERSATION)
            .bind(tenant.as_str())
            .bind(parent.as_str())
            .fetch_optional(&mut *connection)
            .await?;
        found.ok_or(Error::Deleted)?;
    }
    let span = new.span.as_slice();
    if !span.is_empty() {
        // It may be what makes the conversation.
        insert_conversations(connection, tenant, span).await?;
    }
    if !is_next(connection, tenant, new).await? {
        return Ok(Appended::Superseded);
    }
    insert_rest(connection, keys, tenant, span).await?;
    search::insert(connection, tenant, words).await?;
    if let Some(compaction) = &new.compaction {
        let committed = insert_compaction(connection, tenant, compaction).await?;
        if let Committed::Existing(_) = committed {
            return Ok(Appended::Superseded);
        }
    }
    if let (ChangeKind::Undone, Some(id)) = (new.change.kind, &new.change.compaction) {
        set_state(connection, tenant, id, CompactionState::Undone).await?;
    }
    insert(connection, tenant, &new.change).await?;
    Ok(Appended::Stored)
}

async fn all(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<ChangeRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_CHANGES)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::change).collect()
}

/// Whether nobody was faster: neither with a change nor in taking the lease. Nobody can be until the transaction is over.
async fn is_next(
    connection: &mut PgConnection,
    tenant: &TenantId,
    new: &NewChange,
) -> Result<bool> {
    let conversation = new.change.conversation.as_str();
    query(LOCK_CONVERSATION)
        .bind(tenant.as_str())
        .bind(conversation)
        .execute(&mut *connection)
        .await?;
    if let Some(fence) = new.fence {
        let held = query(LOCK_LEASE)
            .bind(tenant.as_str())
            .bind(conversation)
            .bind(signed(fence))
            .fetch_optional(&mut *connection)
            .await?;
        if held.is_none() {
            return Ok(false);
        }
    }
    let row = query(COUNT_CHANGES)
        .bind(tenant.as_str())
        .bind(conversation)
        .fetch_one(connection)
        .await?;
    let count: i64 = row.try_get(0)?;
    Ok(count == i64::from(new.change.seq))
}

async fn insert(
    connection: &mut PgConnection,
    tenant: &TenantId,
    change: &ChangeRow,
) -> Result<()> {
    query(sql::INSERT_CHANGE)
        .bind(tenant.as_str())
        .bind(change.conversation.as_str())
        .bind(i64::from(change.seq))
        .bind(change.kind.as_str())
        .bind(change.compaction.as_ref().map(String::as_bytes))
        .bind(change.body.as_bytes())
        .bind(change.at_ms)
        .execute(connection)
        .await?;
    Ok(())
}
