//! Who may do the background work of a conversation.

use sqlx::SqlitePool;

use super::SqliteStore;
use super::arguments::signed;
use crate::statements as sql;
use crate::{ConversationId, Leases, Result, TenantId};

impl Leases for SqliteStore {
    fn acquire_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<Option<u64>>> + Send {
        acquire_lease(&self.writer, tenant, conversation, holder, now_ms, until_ms)
    }

    fn renew_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
        _now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<bool>> + Send {
        renew_lease(&self.writer, tenant, conversation, fence, until_ms)
    }

    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<()>> + Send {
        release_lease(&self.writer, tenant, conversation, fence)
    }
}

async fn acquire_lease(
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

async fn renew_lease(
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

async fn release_lease(
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
