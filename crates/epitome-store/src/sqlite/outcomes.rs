//! What was done with requests.

use sqlx::SqlitePool;

use super::SqliteStore;
use super::arguments::signed;
use super::decode;
use crate::statements as sql;
use crate::{ConversationId, Outcome, Outcomes, Result, TenantId};

impl Outcomes for SqliteStore {
    fn record_outcome(
        &self,
        tenant: &TenantId,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<()>> + Send {
        record(&self.writer, tenant, outcome)
    }

    fn outcomes(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Outcome>>> + Send {
        outcomes(&self.readers, tenant, limit)
    }
}

async fn record(writer: &SqlitePool, tenant: &TenantId, outcome: &Outcome) -> Result<()> {
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

async fn outcomes(readers: &SqlitePool, tenant: &TenantId, limit: u32) -> Result<Vec<Outcome>> {
    let rows = sqlx::query(sql::SELECT_OUTCOMES)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::outcome).collect()
}
