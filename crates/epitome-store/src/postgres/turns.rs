//! Turns of conversations whose history the provider keeps.

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::query;
use crate::statements as sql;
use crate::{Result, TenantId, TurnRow, Turns};

impl Turns for PostgresStore {
    fn keep_turns(
        &self,
        tenant: &TenantId,
        turns: &[TurnRow],
    ) -> impl Future<Output = Result<()>> + Send {
        keep(&self.connections, tenant, turns)
    }

    fn turns_to(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> impl Future<Output = Result<Vec<TurnRow>>> + Send {
        turns_to(&self.connections, tenant, id)
    }
}

async fn keep(connections: &Connections, tenant: &TenantId, turns: &[TurnRow]) -> Result<()> {
    let mut transaction = connections.begin().await?;
    for turn in turns {
        query(sql::INSERT_TURN)
            .bind(tenant.as_str())
            .bind(&turn.id)
            .bind(&turn.previous)
            .bind(turn.items.as_ref())
            .bind(&turn.compaction)
            .bind(turn.at_ms)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn turns_to(connections: &Connections, tenant: &TenantId, id: &str) -> Result<Vec<TurnRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_TURNS)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_all(&mut *transaction)
        .await?;
    let rows: Vec<TurnRow> = rows.iter().map(decode::turn).collect::<Result<_>>()?;
    Ok(TurnRow::in_order(rows, id))
}
