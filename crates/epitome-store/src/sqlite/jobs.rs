//! Background work, over all processes that share the file. The write lock of a transaction keeps two from being granted one.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::arguments::{query, signed};
use super::decode;
use super::transaction::begin;
use crate::statements as sql;
use crate::{Claimed, ConversationId, JobClaim, JobRow, JobState, Jobs, Result, TenantId};

const DROP_OLD: &str = "\
    DELETE FROM jobs WHERE wanted_ms < $1 - $2 AND NOT EXISTS (SELECT 1 FROM leases AS l \
        WHERE l.tenant = jobs.tenant AND l.conversation = jobs.conversation \
            AND l.holder IS NOT NULL AND l.until_ms > $1)";

const WANT: &str = "\
    INSERT INTO jobs (tenant, conversation, reason, wanted_ms, tries) VALUES ($1, $2, $3, $4, 0) \
    ON CONFLICT (tenant, conversation) DO NOTHING";

const COUNT_RUNNING: &str = "\
    SELECT count(*) FROM jobs AS j JOIN leases AS l \
        ON l.tenant = j.tenant AND l.conversation = j.conversation \
    WHERE l.holder IS NOT NULL AND l.until_ms > $3 AND (j.tenant, j.conversation) <> ($1, $2)";

const BEGIN: &str = "\
    UPDATE jobs SET tries = tries + 1, begun_ms = $3 \
    WHERE tenant = $1 AND conversation = $2 RETURNING tries";

const SELECT: &str = "\
    SELECT j.conversation, j.reason, j.wanted_ms, j.begun_ms, j.tries, l.holder, l.until_ms > $2 \
    FROM jobs AS j LEFT JOIN leases AS l \
        ON l.tenant = j.tenant AND l.conversation = j.conversation \
    WHERE j.tenant = $1 ORDER BY j.wanted_ms, j.conversation LIMIT $3";

impl Jobs for SqliteStore {
    fn claim_job(
        &self,
        tenant: &TenantId,
        claim: &JobClaim<'_>,
    ) -> impl Future<Output = Result<Claimed>> + Send {
        claim_once(&self.writer, tenant, claim)
    }

    fn finish_job(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<bool>> + Send {
        finish(&self.writer, tenant, conversation, fence)
    }

    fn jobs(
        &self,
        tenant: &TenantId,
        now_ms: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<JobRow>>> + Send {
        jobs(&self.readers, tenant, now_ms, limit)
    }
}

async fn claim_once(writer: &SqlitePool, tenant: &TenantId, job: &JobClaim<'_>) -> Result<Claimed> {
    let mut transaction = begin(writer).await?;
    let claimed = claim(&mut transaction, tenant, job).await?;
    transaction.commit().await?;
    Ok(claimed)
}

async fn claim(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    job: &JobClaim<'_>,
) -> Result<Claimed> {
    let on = |statement| {
        query(statement)
            .bind(tenant.as_str())
            .bind(job.conversation.as_str())
    };
    query(DROP_OLD)
        .bind(job.now_ms)
        .bind(sql::LONGEST_WANTED_MS)
        .execute(&mut *connection)
        .await?;
    on(WANT)
        .bind(job.reason)
        .bind(job.now_ms)
        .execute(&mut *connection)
        .await?;
    let running = on(COUNT_RUNNING)
        .bind(job.now_ms)
        .fetch_one(&mut *connection)
        .await?;
    if running.try_get::<i64, _>(0)? >= i64::from(job.most_running) {
        return Ok(Claimed::Full);
    }
    let granted = on(sql::ACQUIRE_LEASE)
        .bind(job.holder)
        .bind(job.now_ms)
        .bind(job.until_ms)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(granted) = granted else {
        return Ok(Claimed::Taken);
    };
    let row = on(BEGIN).bind(job.now_ms).fetch_one(connection).await?;
    Ok(Claimed::Granted {
        fence: granted.try_get::<i64, _>(0)?.unsigned_abs(),
        tries: decode::number(&row, 0)?,
    })
}

async fn finish(
    writer: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
    fence: u64,
) -> Result<bool> {
    let mut transaction = begin(writer).await?;
    let on = |statement| {
        query(statement)
            .bind(tenant.as_str())
            .bind(conversation.as_str())
    };
    let released = on(sql::RELEASE_LEASE)
        .bind(signed(fence))
        .execute(&mut *transaction)
        .await?;
    let is_ours = released.rows_affected() == 1;
    if is_ours {
        on(sql::DELETE_JOB).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(is_ours)
}

async fn jobs(
    readers: &SqlitePool,
    tenant: &TenantId,
    now_ms: i64,
    limit: u32,
) -> Result<Vec<JobRow>> {
    let rows = query(SELECT)
        .bind(tenant.as_str())
        .bind(now_ms)
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    rows.iter().map(job).collect()
}

fn job(row: &SqliteRow) -> Result<JobRow> {
    let holder: Option<String> = row.try_get(5)?;
    let is_live: Option<bool> = row.try_get(6)?;
    Ok(JobRow {
        conversation: decode::conversation_id(row.try_get(0)?)?,
        reason: row.try_get(1)?,
        state: match (&holder, is_live) {
            (Some(_), Some(true)) => JobState::Running,
            (Some(_), _) => JobState::Abandoned,
            (None, _) => JobState::Waiting,
        },
        holder,
        wanted_ms: row.try_get(2)?,
        begun_ms: row.try_get(3)?,
        tries: decode::number(row, 4)?,
    })
}
