//! What providers counted for requests.

use epitome::Digest;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::{Connections, settle};
use super::decode;
use super::query::{blob, query, signed, sorted};
use crate::statements as sql;
use crate::{CountedRequests, CountedRow, Result, TenantId};

const SELECT: &str = "\
    SELECT node, conversation, kind, compaction, real_tokens, estimated_tokens, at_ms FROM counted \
    WHERE tenant = $1 AND node = ANY($2)";

impl CountedRequests for PostgresStore {
    fn keep_counted(
        &self,
        tenant: &TenantId,
        rows: &[CountedRow],
    ) -> impl Future<Output = Result<()>> + Send {
        keep(&self.connections, tenant, rows)
    }

    fn counted_at(
        &self,
        tenant: &TenantId,
        nodes: &[Digest],
    ) -> impl Future<Output = Result<Vec<CountedRow>>> + Send {
        counted_at(&self.connections, tenant, nodes)
    }
}

async fn keep(connections: &Connections, tenant: &TenantId, rows: &[CountedRow]) -> Result<()> {
    let mut rows: Vec<&CountedRow> = rows.iter().collect();
    // Writers take their locks in the same order.
    rows.sort_by_key(|row| row.node);
    let mut transaction = connections.begin().await?;
    let kept = async {
        for row in &rows {
            query(sql::UPSERT_COUNTED)
                .bind(tenant.as_str())
                .bind(blob(&row.node))
                .bind(row.conversation.as_str())
                .bind(row.kind.cast_signed())
                .bind(row.compaction.as_deref().map(str::as_bytes))
                .bind(signed(row.real_tokens))
                .bind(signed(row.estimated_tokens))
                .bind(row.at_ms)
                .execute(&mut *transaction)
                .await?;
        }
        Ok(())
    };
    let kept = kept.await;
    settle(transaction, kept).await?;
    drop_old(connections, tenant, &rows).await
}

/// Apart from what is kept: what goes has other locks.
async fn drop_old(
    connections: &Connections,
    tenant: &TenantId,
    rows: &[&CountedRow],
) -> Result<()> {
    let Some(newest) = rows.iter().map(|row| row.at_ms).max() else {
        return Ok(());
    };
    let mut conversations: Vec<&str> = rows.iter().map(|row| row.conversation.as_str()).collect();
    conversations.sort_unstable();
    conversations.dedup();
    let mut transaction = connections.begin().await?;
    let dropped =
        query("DELETE FROM counted WHERE tenant = $1 AND conversation = ANY($2) AND at_ms < $3")
            .bind(tenant.as_str())
            .bind(conversations)
            .bind(newest.saturating_sub(sql::COUNTED_FOR_MS))
            .execute(&mut *transaction)
            .await;
    settle(transaction, dropped.map(|_| ()).map_err(Into::into)).await
}

async fn counted_at(
    connections: &Connections,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CountedRow>> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    read_counted_at(&mut *connections.begin().await?, tenant, nodes).await
}

/// Part of a transaction that only reads.
pub(super) async fn read_counted_at(
    connection: &mut PgConnection,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CountedRow>> {
    let rows = query(SELECT)
        .bind(tenant.as_str())
        .bind(sorted(nodes))
        .fetch_all(connection)
        .await?;
    rows.iter().map(counted).collect()
}

fn counted(row: &PgRow) -> Result<CountedRow> {
    Ok(CountedRow {
        node: decode::digest(row.try_get(0)?)?,
        conversation: decode::conversation_id(row.try_get(1)?)?,
        kind: row.try_get::<i64, _>(2)?.cast_unsigned(),
        compaction: decode::optional_text(row, 3)?,
        real_tokens: row.try_get::<i64, _>(4)?.unsigned_abs(),
        estimated_tokens: row.try_get::<i64, _>(5)?.unsigned_abs(),
        at_ms: row.try_get(6)?,
    })
}
