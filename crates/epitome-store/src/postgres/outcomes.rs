//! What was done with requests.

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::{query, signed};
use crate::statements as sql;
use crate::{ConversationId, Outcome, Outcomes, Result, TenantId};

impl Outcomes for PostgresStore {
    fn record_outcome(
        &self,
        tenant: &TenantId,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<()>> + Send {
        record(&self.connections, tenant, outcome)
    }

    fn outcomes(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Outcome>>> + Send {
        outcomes(&self.connections, tenant, limit)
    }
}

async fn record(connections: &Connections, tenant: &TenantId, outcome: &Outcome) -> Result<()> {
    let mut transaction = connections.begin().await?;
    query(sql::INSERT_OUTCOME)
        .bind(tenant.as_str())
        .bind(outcome.conversation.as_ref().map(ConversationId::as_str))
        .bind(outcome.at_ms)
        .bind(&outcome.action)
        .bind(&outcome.reason)
        .bind(signed(outcome.tokens_before))
        .bind(signed(outcome.tokens_after))
        .bind(outcome.model.as_bytes())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

async fn outcomes(
    connections: &Connections,
    tenant: &TenantId,
    limit: u32,
) -> Result<Vec<Outcome>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_OUTCOMES)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::outcome).collect()
}
