//! Who may do the background work of a conversation, by the clock of the database server.

use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::Connections;
use super::query::{query, signed};
use crate::statements as sql;
use crate::{ConversationId, Leases, Result, TenantId};

/// What time it is at the server, at this moment and not when the transaction began: it may have waited for another.
macro_rules! now_ms {
    () => {
        "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)"
    };
}
pub(super) use now_ms;

/// One statement, so that two nodes cannot both be granted it. `$4` is how long it lasts.
const ACQUIRE: &str = concat!(
    "INSERT INTO leases (tenant, conversation, holder, fence, until_ms) \
        VALUES ($1, $2, $3, 1, ",
    now_ms!(),
    " + $4) ON CONFLICT (tenant, conversation) DO UPDATE SET \
        fence = leases.fence + CASE WHEN leases.holder = excluded.holder \
            AND leases.until_ms > ",
    now_ms!(),
    " THEN 0 ELSE 1 END, \
        until_ms = CASE WHEN leases.holder = excluded.holder \
            THEN GREATEST(leases.until_ms, excluded.until_ms) ELSE excluded.until_ms END, \
        holder = excluded.holder \
    WHERE leases.holder IS NULL OR leases.holder = excluded.holder OR leases.until_ms <= ",
    now_ms!(),
    " RETURNING fence"
);

const RENEW: &str = concat!(
    "UPDATE leases SET until_ms = GREATEST(until_ms, ",
    now_ms!(),
    " + $4) \
    WHERE tenant = $1 AND conversation = $2 AND fence = $3 AND holder IS NOT NULL"
);

/// A thousand years; no clock runs over with it.
const LONGEST_MS: i64 = 1_000 * 366 * 86_400_000;

impl Leases for PostgresStore {
    fn acquire_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<Option<u64>>> + Send {
        let lasts_ms = lasts_ms(now_ms, until_ms);
        acquire(&self.connections, tenant, conversation, holder, lasts_ms)
    }

    fn renew_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
        now_ms: i64,
        until_ms: i64,
    ) -> impl Future<Output = Result<bool>> + Send {
        let lasts_ms = lasts_ms(now_ms, until_ms);
        renew(&self.connections, tenant, conversation, fence, lasts_ms)
    }

    fn release_lease(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<()>> + Send {
        release(&self.connections, tenant, conversation, fence)
    }
}

/// All that is taken from the callers' clocks.
pub(super) fn lasts_ms(now_ms: i64, until_ms: i64) -> i64 {
    let lasts_ms = until_ms.saturating_sub(now_ms);
    lasts_ms.clamp(-LONGEST_MS, LONGEST_MS)
}

async fn acquire(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    holder: &str,
    lasts_ms: i64,
) -> Result<Option<u64>> {
    let mut transaction = connections.begin().await?;
    let fence = grant(&mut transaction, tenant, conversation, holder, lasts_ms).await?;
    transaction.commit().await?;
    Ok(fence)
}

/// Part of a transaction that the caller commits.
pub(super) async fn grant(
    connection: &mut PgConnection,
    tenant: &TenantId,
    conversation: &ConversationId,
    holder: &str,
    lasts_ms: i64,
) -> Result<Option<u64>> {
    let row = query(ACQUIRE)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(holder.as_bytes())
        .bind(lasts_ms)
        .fetch_optional(connection)
        .await?;
    let fence: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
    Ok(fence.map(i64::unsigned_abs))
}

async fn renew(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    fence: u64,
    lasts_ms: i64,
) -> Result<bool> {
    let mut transaction = connections.begin().await?;
    let result = query(RENEW)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(signed(fence))
        .bind(lasts_ms)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(result.rows_affected() == 1)
}

async fn release(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    fence: u64,
) -> Result<()> {
    let mut transaction = connections.begin().await?;
    query(sql::RELEASE_LEASE)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .bind(signed(fence))
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}
