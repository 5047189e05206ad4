//! Background work, over all nodes. Who does it holds a lease by the clock of the server.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::PostgresStore;
use super::connections::{Connections, settle};
use super::decode;
use super::leases::{grant, lasts_ms, now_ms};
use super::query::{query, signed};
use crate::statements as sql;
use crate::{Claimed, ConversationId, JobClaim, JobRow, JobState, Jobs, Result, TenantId};

/// Claims wait for each other, so that never more run than may. They are short and rare.
const LOCK: &str = "SELECT pg_advisory_xact_lock($1)";

/// Any number that nobody else in the database is likely to lock: "epijobs", in bytes.
const LOCK_NUMBER: i64 = 0x65_7069_6a6f_6273;

const DROP_OLD: &str = concat!(
    "DELETE FROM jobs WHERE wanted_ms < ",
    now_ms!(),
    " - $1 AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.tenant = jobs.tenant \
        AND l.conversation = jobs.conversation AND l.holder IS NOT NULL AND l.until_ms > ",
    now_ms!(),
    ")"
);

/// Wanted again is wanted since now.
const WANT: &str = concat!(
    "INSERT INTO jobs (tenant, conversation, reason, wanted_ms, tries) VALUES ($1, $2, $3, ",
    now_ms!(),
    ", 0) ON CONFLICT (tenant, conversation) DO NOTHING"
);

const COUNT_RUNNING: &str = concat!(
    "SELECT count(*) FROM jobs AS j JOIN leases AS l \
        ON l.tenant = j.tenant AND l.conversation = j.conversation \
    WHERE l.holder IS NOT NULL AND l.until_ms > ",
    now_ms!(),
    " AND (j.tenant, j.conversation) <> ($1, $2)"
);

/// Whoever has it locked is just finishing it.
const TAKE: &str = "\
    SELECT tries FROM jobs WHERE tenant = $1 AND conversation = $2 FOR UPDATE SKIP LOCKED";

/// The job, until its transaction ends.
const HOLD: &str = "SELECT 1 FROM jobs WHERE tenant = $1 AND conversation = $2 FOR UPDATE";

const BEGIN: &str = concat!(
    "UPDATE jobs SET tries = tries + 1, begun_ms = ",
    now_ms!(),
    " WHERE tenant = $1 AND conversation = $2 RETURNING tries"
);

const SELECT: &str = concat!(
    "SELECT j.conversation, j.reason, j.wanted_ms, j.begun_ms, j.tries, l.holder, l.until_ms > ",
    now_ms!(),
    " FROM jobs AS j LEFT JOIN leases AS l \
        ON l.tenant = j.tenant AND l.conversation = j.conversation \
    WHERE j.tenant = $1 ORDER BY j.wanted_ms, j.conversation LIMIT $2"
);

impl Jobs for PostgresStore {
    fn claim_job(
        &self,
        tenant: &TenantId,
        claim: &JobClaim<'_>,
    ) -> impl Future<Output = Result<Claimed>> + Send {
        claim_once(&self.connections, tenant, claim)
    }

    fn finish_job(
        &self,
        tenant: &TenantId,
        conversation: &ConversationId,
        fence: u64,
    ) -> impl Future<Output = Result<bool>> + Send {
        finish(&self.connections, tenant, conversation, fence)
    }

    fn jobs(
        &self,
        tenant: &TenantId,
        _now_ms: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<JobRow>>> + Send {
        jobs(&self.connections, tenant, limit)
    }
}

async fn claim_once(
    connections: &Connections,
    tenant: &TenantId,
    job: &JobClaim<'_>,
) -> Result<Claimed> {
    let mut transaction = connections.begin().await?;
    let claimed = claim(&mut transaction, tenant, job).await;
    settle(transaction, claimed).await
}

async fn claim(
    connection: &mut PgConnection,
    tenant: &TenantId,
    job: &JobClaim<'_>,
) -> Result<Claimed> {
    let on = |statement| {
        query(statement)
            .bind(tenant.as_str())
            .bind(job.conversation.as_str())
    };
    query(LOCK)
        .bind(LOCK_NUMBER)
        .execute(&mut *connection)
        .await?;
    query(DROP_OLD)
        .bind(sql::LONGEST_WANTED_MS)
        .execute(&mut *connection)
        .await?;
    on(WANT).bind(job.reason).execute(&mut *connection).await?;
    let running = on(COUNT_RUNNING).fetch_one(&mut *connection).await?;
    if running.try_get::<i64, _>(0)? >= i64::from(job.most_running) {
        return Ok(Claimed::Full);
    }
    if on(TAKE).fetch_optional(&mut *connection).await?.is_none() {
        return Ok(Claimed::Taken);
    }
    let lasts_ms = lasts_ms(job.now_ms, job.until_ms);
    let granted = grant(connection, tenant, job.conversation, job.holder, lasts_ms);
    let Some(fence) = granted.await? else {
        return Ok(Claimed::Taken);
    };
    let row = on(BEGIN).fetch_one(connection).await?;
    Ok(Claimed::Granted {
        fence,
        tries: decode::number(&row, 0)?,
    })
}

async fn finish(
    connections: &Connections,
    tenant: &TenantId,
    conversation: &ConversationId,
    fence: u64,
) -> Result<bool> {
    let mut transaction = connections.begin().await?;
    let finished = async {
        let on = |statement| {
            query(statement)
                .bind(tenant.as_str())
                .bind(conversation.as_str())
        };
        // Whoever claims takes the job first and its lease then.
        on(HOLD).execute(&mut *transaction).await?;
        let released = on(sql::RELEASE_LEASE)
            .bind(signed(fence))
            .execute(&mut *transaction)
            .await?;
        let is_ours = released.rows_affected() == 1;
        if is_ours {
            on(sql::DELETE_JOB).execute(&mut *transaction).await?;
        }
        Ok(is_ours)
    };
    let finished = finished.await;
    settle(transaction, finished).await
}

async fn jobs(connections: &Connections, tenant: &TenantId, limit: u32) -> Result<Vec<JobRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(SELECT)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(job).collect()
}

fn job(row: &PgRow) -> Result<JobRow> {
    let holder: Option<Vec<u8>> = row.try_get(5)?;
    let holder = holder.map(|name| String::from_utf8_lossy(&name).into_owned());
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
