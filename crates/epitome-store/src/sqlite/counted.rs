//! What providers counted for requests.

use epitome::Digest;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqlitePool};

use super::SqliteStore;
use super::arguments::{blob, laid_end_to_end, query, signed, wanted};
use super::decode;
use super::transaction::begin;
use crate::statements as sql;
use crate::{CountedRequests, CountedRow, Result, TenantId};

pub(super) const SELECT_COUNTED: &str = concat!(
    wanted!(),
    "SELECT c.node, c.conversation, c.kind, c.compaction, c.real_tokens, c.estimated_tokens, c.at_ms \
    FROM wanted CROSS JOIN counted AS c ON c.tenant = $1 AND c.node = substr($2, wanted.start, 32)"
);

pub(super) const DELETE_OLD: &str =
    "DELETE FROM counted WHERE tenant = $1 AND conversation = $2 AND at_ms < $3";

impl CountedRequests for SqliteStore {
    fn keep_counted(
        &self,
        tenant: &TenantId,
        rows: &[CountedRow],
    ) -> impl Future<Output = Result<()>> + Send {
        keep(&self.writer, tenant, rows)
    }

    fn counted_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CountedRow>>> + Send {
        counted_at(&self.readers, tenant, nodes)
    }
}

async fn keep(writer: &SqlitePool, tenant: &TenantId, rows: &[CountedRow]) -> Result<()> {
    let mut transaction = begin(writer).await?;
    for row in rows {
        query(sql::UPSERT_COUNTED)
            .bind(tenant.as_str())
            .bind(blob(&row.node))
            .bind(row.conversation.as_str())
            .bind(row.kind.cast_signed())
            .bind(row.compaction.as_deref())
            .bind(signed(row.real_tokens))
            .bind(signed(row.estimated_tokens))
            .bind(row.at_ms)
            .execute(&mut *transaction)
            .await?;
        query(DELETE_OLD)
            .bind(tenant.as_str())
            .bind(row.conversation.as_str())
            .bind(row.at_ms.saturating_sub(sql::COUNTED_FOR_MS))
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn counted_at(
    readers: &SqlitePool,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CountedRow>> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let rows = query(SELECT_COUNTED)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(nodes))
        .fetch_all(readers)
        .await?;
    rows.iter().map(counted).collect()
}

fn counted(row: &SqliteRow) -> Result<CountedRow> {
    Ok(CountedRow {
        node: decode::digest(row.try_get(0)?)?,
        conversation: decode::conversation_id(row.try_get(1)?)?,
        kind: row.try_get::<i64, _>(2)?.cast_unsigned(),
        compaction: row.try_get(3)?,
        real_tokens: row.try_get::<i64, _>(4)?.unsigned_abs(),
        estimated_tokens: row.try_get::<i64, _>(5)?.unsigned_abs(),
        at_ms: row.try_get(6)?,
    })
}
