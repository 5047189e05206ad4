//! Queries, on the reader pool.

use epitome::Digest;
use sqlx::{Row as _, SqlitePool};

use super::decode;
use crate::statements as sql;
use crate::{
    BeliefRow, CompactionRow, CompactionState, ConversationId, ConversationRow, EntryRow,
    LearnedWindow, NodeRow, Outcome, Result, TenantId,
};

/// Turns the digests in `$2`, laid end to end, into rows; one prepared statement serves any number of them.
macro_rules! wanted {
    () => {
        "WITH RECURSIVE wanted (start) AS ( \
            SELECT 1 UNION ALL SELECT start + 32 FROM wanted WHERE start + 32 < length($2) \
        ) "
    };
}

/// `CROSS JOIN` keeps SQLite from scanning the table and probing the digests.
const SELECT_NODES: &str = concat!(
    wanted!(),
    "SELECT n.digest, n.parent, n.entry, n.position, n.conversation FROM wanted \
    CROSS JOIN nodes AS n ON n.tenant = $1 AND n.digest = substr($2, wanted.start, 32)"
);

const SELECT_COMPACTIONS_AT: &str = concat!(
    wanted!(),
    "SELECT ",
    sql::compaction_columns!(),
    " FROM wanted CROSS JOIN compactions AS c ON c.tenant = $1 \
        AND c.node = substr($2, wanted.start, 32) AND c.state <> 'undone' \
    ORDER BY created_ms, id"
);

pub(super) async fn tenant_key(
    readers: &SqlitePool,
    tenant: &TenantId,
) -> Result<Option<[u8; 32]>> {
    let key: Option<Vec<u8>> = sqlx::query_scalar(sql::SELECT_TENANT_KEY)
        .bind(tenant.as_str())
        .fetch_optional(readers)
        .await?;
    key.map(|key| decode::secret(&key)).transpose()
}

pub(super) async fn find_nodes(
    readers: &SqlitePool,
    tenant: &TenantId,
    digests: &[Digest],
) -> Result<Vec<NodeRow>> {
    if digests.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(SELECT_NODES)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(digests))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::node).collect()
}

pub(super) async fn compactions_at(
    readers: &SqlitePool,
    tenant: &TenantId,
    nodes: &[Digest],
) -> Result<Vec<CompactionRow>> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(SELECT_COMPACTIONS_AT)
        .bind(tenant.as_str())
        .bind(laid_end_to_end(nodes))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

pub(super) async fn compactions_of(
    readers: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Vec<CompactionRow>> {
    let rows = sqlx::query(sql::SELECT_COMPACTIONS_OF)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::compaction).collect()
}

pub(super) async fn compaction(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &str,
) -> Result<Option<CompactionRow>> {
    let row = sqlx::query(sql::SELECT_COMPACTION)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::compaction).transpose()
}

pub(super) async fn compaction_state(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &str,
) -> Result<Option<CompactionState>> {
    let row = sqlx::query(sql::SELECT_COMPACTION_STATE)
        .bind(tenant.as_str())
        .bind(id)
        .fetch_optional(readers)
        .await?;
    row.map(|row| decode::state(row.try_get(0)?)).transpose()
}

pub(super) async fn conversation(
    readers: &SqlitePool,
    tenant: &TenantId,
    id: &ConversationId,
) -> Result<Option<ConversationRow>> {
    let row = sqlx::query(sql::SELECT_CONVERSATION)
        .bind(tenant.as_str())
        .bind(id.as_str())
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::conversation).transpose()
}

pub(super) async fn tip(
    readers: &SqlitePool,
    tenant: &TenantId,
    conversation: &ConversationId,
) -> Result<Option<NodeRow>> {
    let row = sqlx::query(sql::SELECT_TIP)
        .bind(tenant.as_str())
        .bind(conversation.as_str())
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::node).transpose()
}

pub(super) async fn path(
    readers: &SqlitePool,
    tenant: &TenantId,
    tip: Digest,
) -> Result<Vec<NodeRow>> {
    let rows = sqlx::query(sql::SELECT_PATH)
        .bind(tenant.as_str())
        .bind(tip.as_bytes().as_slice())
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::node).collect()
}

pub(super) async fn entry(
    readers: &SqlitePool,
    tenant: &TenantId,
    key: Digest,
) -> Result<Option<EntryRow>> {
    let row = sqlx::query(sql::SELECT_ENTRY)
        .bind(tenant.as_str())
        .bind(key.as_bytes().as_slice())
        .fetch_optional(readers)
        .await?;
    let placed = row.as_ref().map(decode::placed_entry).transpose()?;
    Ok(placed.map(|(_, entry)| entry))
}

pub(super) async fn conversations(
    readers: &SqlitePool,
    tenant: &TenantId,
    limit: u32,
) -> Result<Vec<ConversationRow>> {
    let rows = sqlx::query(sql::SELECT_CONVERSATIONS)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::conversation).collect()
}

pub(super) async fn history(
    readers: &SqlitePool,
    tenant: &TenantId,
    tip: Digest,
) -> Result<Vec<EntryRow>> {
    let rows = sqlx::query(sql::SELECT_HISTORY)
        .bind(tenant.as_str())
        .bind(tip.as_bytes().as_slice())
        .fetch_all(readers)
        .await?;
    let placed = rows.iter().map(decode::placed_entry);
    let mut placed: Vec<_> = placed.collect::<Result<_>>()?;
    placed.sort_by_key(|(position, _)| *position);
    Ok(placed.into_iter().map(|(_, entry)| entry).collect())
}

pub(super) async fn outcomes(
    readers: &SqlitePool,
    tenant: &TenantId,
    limit: u32,
) -> Result<Vec<Outcome>> {
    let rows = sqlx::query(sql::SELECT_OUTCOMES)
        .bind(tenant.as_str())
        .bind(i64::from(limit))
        .fetch_all(readers)
        .await?;
    rows.iter().map(decode::outcome).collect()
}

pub(super) async fn windows(readers: &SqlitePool) -> Result<Vec<LearnedWindow>> {
    let rows = sqlx::query(sql::SELECT_WINDOWS).fetch_all(readers).await?;
    rows.iter().map(decode::window).collect()
}

pub(super) async fn beliefs(readers: &SqlitePool) -> Result<Vec<BeliefRow>> {
    // A file of an earlier version that may only be read has no such table.
    let tables: i64 = sqlx::query_scalar(sql::COUNT_BELIEF_TABLES)
        .fetch_one(readers)
        .await?;
    if tables == 0 {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(sql::SELECT_BELIEFS).fetch_all(readers).await?;
    rows.iter().map(decode::belief).collect()
}

/// Sorted, so that neighbours in the index are read together, and each once.
fn laid_end_to_end(digests: &[Digest]) -> Vec<u8> {
    let mut digests = digests.to_vec();
    digests.sort_unstable();
    digests.dedup();
    let bytes = digests.iter().flat_map(Digest::as_bytes);
    bytes.copied().collect()
}
