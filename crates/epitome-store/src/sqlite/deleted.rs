//! What was deleted and does not come back.

use std::collections::HashSet;

use epitome::Digest;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use super::arguments::{blob, laid_end_to_end, query, wanted};
use super::decode;
use super::transaction::begin;
use crate::housekeeping::deleted::{SPREAD, Sorted, links};
use crate::{Append, Error, Result, TenantId};

/// Where nothing was ever deleted, nothing is looked for.
pub(super) const STANDS_ON_DELETED: &str = concat!(
    wanted!(),
    "SELECT EXISTS (SELECT 1 FROM deleted_nodes WHERE tenant = $1) \
        AND EXISTS (SELECT 1 FROM wanted CROSS JOIN deleted_nodes AS d \
            ON d.tenant = $1 AND d.digest = substr($2, wanted.start, 32)) \
        OR EXISTS (SELECT 1 FROM json_each($3) AS c CROSS JOIN deleted_conversations AS d \
            ON d.tenant = $1 AND d.id = c.value)"
);

const SELECT_NODES: &str = concat!(
    wanted!(),
    "SELECT d.digest FROM wanted CROSS JOIN deleted_nodes AS d \
        ON d.tenant = $1 AND d.digest = substr($2, wanted.start, 32)"
);

const SELECT_CONVERSATIONS: &str = "\
    SELECT d.id FROM json_each($2) AS c CROSS JOIN deleted_conversations AS d \
        ON d.tenant = $1 AND d.id = c.value";

/// Part of a transaction that the caller commits, before anything is written: [`Error::Deleted`] when a piece stands on what
/// was deleted.
pub(super) async fn refuse_deleted(
    connection: &mut SqliteConnection,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<()> {
    let row = query(STANDS_ON_DELETED)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(&links(appends)))
        .bind(names(appends))
        .fetch_one(connection)
        .await?;
    match row.try_get(0)? {
        true => Err(Error::Deleted),
        false => Ok(()),
    }
}

/// The pieces that may be kept. What stands on something that was deleted is marked as well.
pub(super) async fn without_deleted(
    writer: &SqlitePool,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<Vec<Append>> {
    let mut transaction = begin(writer).await?;
    let rows = query(SELECT_NODES)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(&links(appends)))
        .fetch_all(&mut *transaction)
        .await?;
    let nodes = rows.iter().map(|row| decode::digest(row.try_get(0)?));
    let nodes: HashSet<Digest> = nodes.collect::<Result<_>>()?;
    let rows = query(SELECT_CONVERSATIONS)
        .bind(tenant.as_str())
        .bind(names(appends))
        .fetch_all(&mut *transaction)
        .await?;
    let conversations = rows.iter().map(|row| Ok(row.try_get(0)?));
    let conversations: HashSet<String> = conversations.collect::<Result<_>>()?;
    let sorted = Sorted::of(appends, &conversations, nodes);
    for (digest, at_ms) in &sorted.spread {
        query(SPREAD)
            .bind(tenant.as_str())
            .bind(blob(digest))
            .bind(*at_ms)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(sorted.alive)
}

fn names(appends: &[Append]) -> String {
    let names = appends.iter().map(|append| append.conversation.id.as_str());
    serde_json::Value::from(names.collect::<Vec<_>>()).to_string()
}
