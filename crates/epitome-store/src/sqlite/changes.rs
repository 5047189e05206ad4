//! What changed a conversation, in order.

use std::slice;

use sqlx::{SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::append::insert_all;
use super::arguments::signed;
use super::compactions::{insert_compaction, set_state};
use super::decode;
use super::deleted::refuse_deleted;
use super::search;
use super::transaction::begin;
use crate::statements as sql;
use crate::{
    Appended, ChangeKind, ChangeRow, Changes, Committed, CompactionState, ConversationId, Error,
    Keys, NewChange, Result, TenantId,
};

/// The write lock of the transaction keeps it there.
const FIND_CONVERSATION: &str = "SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2";

impl Changes for SqliteStore {
    fn append_change(
        &self,
        tenant: &TenantId,
        new: &NewChange,
    ) -> impl Future<Output = Result<Appended>> + Send {
        append(&self.writer, &self.keys, tenant, new)
    }

    fn changes(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Vec<ChangeRow>>> + Send {
        all(&self.readers, tenant, conversation)
    }
}

async fn append(
    writer: &SqlitePool,
    keys: &Keys,
    tenant: &TenantId,
    new: &NewChange,
) -> Result<Appended> {
    let words = new.span.iter().flat_map(|span| &span.words);
    let words = search::prepared(keys, tenant, words)?;
    let mut transaction = begin(writer).await?;
    if let Some(parent) = new.forked_off() {
        let found = sqlx::query(FIND_CONVERSATION)
            .bind(tenant.as_str())
            .bind(parent.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
        found.ok_or(Error::Deleted)?;
    }
    // Before anything else is asked: whoever was too late and whoever is deleted must do different things.
    if let Some(span) = &new.span {
        refuse_deleted(&mut transaction, tenant, slice::from_ref(span)).await?;
    }
    // Dropping the transaction rolls it back, so whatever was written before a refusal is gone.
    if !is_next(&mut transaction, tenant, new).await? {
        return Ok(Appended::Superseded);
    }
    if let Some(span) = &new.span {
        insert_all(&mut transaction, keys, tenant, slice::from_ref(span)).await?;
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

async fn all(
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
