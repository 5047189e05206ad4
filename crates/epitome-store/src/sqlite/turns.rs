//! Turns of conversations whose history the provider keeps.

use sqlx::SqlitePool;

use super::decode;
use super::transaction::begin;
use super::{Access, SqliteStore};
use crate::statements as sql;
use crate::{Result, TenantId, TurnRow, Turns};

const COUNT_TABLES: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'turns'";

impl Turns for SqliteStore {
    fn keep_turns(
        &self,
        tenant: &TenantId,
        turns: &[TurnRow],
    ) -> impl Future<Output = Result<()>> + Send {
        keep(&self.writer, tenant, turns)
    }

    fn turns_to(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> impl Future<Output = Result<Vec<TurnRow>>> + Send {
        turns_to(&self.readers, self.access, tenant, id)
    }
}

async fn keep(writer: &SqlitePool, tenant: &TenantId, turns: &[TurnRow]) -> Result<()> {
    let mut transaction = begin(writer).await?;
    for turn in turns {
        sqlx::query(sql::INSERT_TURN)
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

async fn turns_to(
    readers: &SqlitePool,
    access: Access,
    tenant: &TenantId,
    id: &str,
) -> Result<Vec<TurnRow>> {
    if access == Access::ReadOnly {
        // A file of an earlier version that may only be read has no such table.
        let tables: i64 = sqlx::query_scalar(COUNT_TABLES).fetch_one(readers).await?;
        if tables == 0 {
            return Ok(Vec::new());
        }
    }
    let rows = sqlx::query(sql::SELECT_TURNS)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_all(readers)
        .await?;
    let rows: Vec<TurnRow> = rows.iter().map(decode::turn).collect::<Result<_>>()?;
    Ok(TurnRow::in_order(rows, id))
}
