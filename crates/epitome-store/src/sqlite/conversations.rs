//! Conversations, one by one and listed.

use sqlx::SqlitePool;

use super::SqliteStore;
use super::decode;
use super::entries::SELECT_TIP;
use crate::statements as sql;
use crate::{ConversationId, ConversationRow, Conversations, NodeRow, Result, TenantId};

impl Conversations for SqliteStore {
    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send {
        named(&self.readers, tenant, conversation)
    }

    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send {
        conversations(&self.readers, tenant, limit)
    }

    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send {
        tip(&self.readers, tenant, conversation)
    }
}

async fn named(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<ConversationRow>> {
    let row = sqlx::query(sql::SELECT_CONVERSATION)
        .bind(tenant.as_str())
        .bind(id.as_str())
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::conversation).transpose()
}

async fn conversations(
    readers: &SqlitePool,
    tenant: &TenantId,
    limit: u32,
) -> Result<Vec<ConversationRow>> {
    let rows = sqlx::query(sql::SELECT_CONVERSATIONS)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::conversation).collect()
}

async fn tip(
    readers: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Option<NodeRow>> {
    let row = sqlx::query(SELECT_TIP)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::node).transpose()
}
