//! Conversations, one by one and listed.

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::entries::SELECT_TIP;
use super::query::query;
use crate::statements as sql;
use crate::{ConversationId, ConversationRow, Conversations, NodeRow, Result, TenantId};

impl Conversations for PostgresStore {
    fn conversation(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<ConversationRow>>> + Send {
        named(&self.connections, tenant, conversation)
    }

    fn conversations(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<ConversationRow>>> + Send {
        conversations(&self.connections, tenant, limit)
    }

    fn tip(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
    ) -> impl Future<Output = Result<Option<NodeRow>>> + Send {
        tip(&self.connections, tenant, conversation)
    }
}

async fn named(
    connections: &Connections,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<ConversationRow>> {
    let mut transaction = connections.begin().await?;
    let row = query(sql::SELECT_CONVERSATION)
        .bind(tenant.as_str())
        .bind(id.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    row.as_ref().map(decode::conversation).transpose()
}

async fn conversations(
    connections: &Connections,
    tenant: &TenantId,
    limit: u32,
) -> Result<Vec<ConversationRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_CONVERSATIONS)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::conversation).collect()
}

async fn tip(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Option<NodeRow>> {
    let mut transaction = connections.begin().await?;
    let row = query(SELECT_TIP)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    row.as_ref().map(decode::node).transpose()
}
