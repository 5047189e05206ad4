//! What was deleted and does not come back.

use std::collections::HashSet;

use epitome::Digest;
use sqlx::Row as _;

use super::connections::Connections;
use super::decode;
use super::query::{blob, query, sorted};
use crate::housekeeping::deleted::{SPREAD, Sorted, links};
use crate::{Append, Result, TenantId};

const SELECT_NODES: &str =
    "SELECT digest FROM deleted_nodes WHERE tenant = $1 AND digest = ANY($2)";

const SELECT_CONVERSATIONS: &str =
    "SELECT id FROM deleted_conversations WHERE tenant = $1 AND id = ANY($2)";

/// The pieces that may be kept. What stands on something that was deleted is marked as well.
pub(super) async fn without_deleted(
    connections: &Connections,
    tenant: &TenantId,
    appends: &[Append],
) -> Result<Vec<Append>> {
    let mut transaction = connections.begin().await?;
    let rows = query(SELECT_NODES)
        .bind(tenant.as_str())
        .bind(sorted(&links(appends)))
        .fetch_all(&mut *transaction)
        .await?;
    let nodes = rows.iter().map(|row| decode::digest(row.try_get(0)?));
    let nodes: HashSet<Digest> = nodes.collect::<Result<_>>()?;
    let names = appends.iter().map(|append| append.conversation.id.as_str());
    let rows = query(SELECT_CONVERSATIONS)
        .bind(tenant.as_str())
        .bind(names.collect::<Vec<_>>())
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
