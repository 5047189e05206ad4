//! Deleting a conversation and leaving those that branched off whole.

/// Engines put a fork together from the changes of the other one.
pub(crate) const FORKS_OF_ENGINES: &str = "\
    SELECT c.id FROM conversations AS c WHERE c.tenant = $1 AND c.parent = $2 \
        AND EXISTS (SELECT 1 FROM changes AS f \
            WHERE f.tenant = $1 AND f.conversation = c.id AND f.kind = 'forked') ORDER BY c.id";

/// The conversations that have a link or a compaction on a link of this one.
pub(crate) const STANDING: &str = "\
    SELECT n.conversation FROM nodes AS p JOIN nodes AS n ON n.tenant = $1 AND n.parent = p.digest \
        WHERE p.tenant = $1 AND p.conversation = $2 AND n.conversation <> $2 \
    UNION \
    SELECT k.conversation FROM nodes AS p \
        JOIN compactions AS k ON k.tenant = $1 AND k.node = p.digest \
        WHERE p.tenant = $1 AND p.conversation = $2 AND k.conversation <> $2 \
    ORDER BY 1";

/// What hold for the others too is said in each of them, where they have not said otherwise.
pub(crate) const COPY_PINS: &str = "\
    INSERT INTO pins (tenant, conversation, text, mark, at_ms) \
        SELECT c.tenant, c.id, p.text, p.mark, p.at_ms FROM conversations AS c \
            JOIN pins AS p ON p.tenant = $1 AND p.conversation = $2 \
            WHERE c.tenant = $1 AND c.parent = $2 \
        ON CONFLICT DO NOTHING";

/// One of the others takes the place that this one had: what was said in that one alone does not hold for its brothers.
pub(crate) const SHIELD_PINS: &str = "\
    INSERT INTO pins (tenant, conversation, text, mark, at_ms) \
        SELECT c.tenant, c.id, p.text, 'restored', p.at_ms FROM conversations AS c \
            JOIN conversations AS s ON s.tenant = $1 AND s.parent = $2 AND s.id <> c.id \
            JOIN pins AS p ON p.tenant = $1 AND p.conversation = s.id \
            WHERE c.tenant = $1 AND c.parent = $2 \
        ON CONFLICT DO NOTHING";

/// From where the links of a conversation begin up to the root, as long as it is still links of the deleted one.
macro_rules! rehome {
    ($start:literal) => {
        concat!(
            "WITH RECURSIVE up (digest, parent) AS ( \
                SELECT p.digest, p.parent FROM ",
            $start,
            " WHERE s.tenant = $1 AND s.conversation = $3 AND p.conversation = $2 \
                UNION \
                SELECT p.digest, p.parent FROM up \
                    JOIN nodes AS p ON p.tenant = $1 AND p.digest = up.parent \
                    WHERE p.conversation = $2 \
            ) \
            UPDATE nodes SET conversation = $3 \
                WHERE tenant = $1 AND digest IN (SELECT digest FROM up)"
        )
    };
}

pub(crate) const REHOME_BY_NODES: &str =
    rehome!("nodes AS s JOIN nodes AS p ON p.tenant = $1 AND p.digest = s.parent");

pub(crate) const REHOME_BY_COMPACTIONS: &str =
    rehome!("compactions AS s JOIN nodes AS p ON p.tenant = $1 AND p.digest = s.node");

/// A branch hangs on whoever owns its first strange link now, else on what the deleted one hung on; never on itself, nor on what
/// is gone, whatever circles there are.
pub(crate) const RELINK: &str = "\
    UPDATE conversations SET parent = COALESCE( \
        (SELECT p.conversation FROM nodes AS n \
            JOIN nodes AS p ON p.tenant = $1 AND p.digest = n.parent \
            WHERE n.tenant = $1 AND n.conversation = conversations.id \
                AND p.conversation <> n.conversation ORDER BY n.position LIMIT 1), \
        (SELECT a.parent FROM conversations AS a WHERE a.tenant = $1 AND a.id = $2 \
            AND a.parent <> $2 AND a.parent <> conversations.id)) \
    WHERE tenant = $1 AND parent = $2 AND id <> $2";

pub(crate) const REHOME_COMPACTIONS: &str = "\
    UPDATE compactions SET conversation = (SELECT n.conversation FROM nodes AS n \
        WHERE n.tenant = $1 AND n.digest = compactions.node) \
    WHERE tenant = $1 AND conversation = $2 AND EXISTS (SELECT 1 FROM nodes AS n \
        WHERE n.tenant = $1 AND n.digest = compactions.node AND n.conversation <> $2)";

/// In this order: nothing refers to what goes.
pub(crate) const DELETE_DETAILS: [&str; 6] = [
    "DELETE FROM changes WHERE tenant = $1 AND conversation = $2",
    "DELETE FROM pins WHERE tenant = $1 AND conversation = $2",
    "DELETE FROM leases WHERE tenant = $1 AND conversation = $2",
    "DELETE FROM jobs WHERE tenant = $1 AND conversation = $2",
    "DELETE FROM counted WHERE tenant = $1 AND conversation = $2",
    "UPDATE outcomes SET conversation = NULL WHERE tenant = $1 AND conversation = $2",
];

pub(crate) const DELETE_COMPACTIONS: &str =
    "DELETE FROM compactions WHERE tenant = $1 AND conversation = $2";

pub(crate) const DELETE_MEMORIES: &str =
    "DELETE FROM memories WHERE tenant = $1 AND conversation = $2 RETURNING number";

/// Where it ended, and no more: others may have begun with the same messages, but whoever sends it again sends its ends too, and
/// whoever goes on with it stands on one.
pub(crate) const MARK_LEAVES: &str = "\
    INSERT INTO deleted_nodes (tenant, digest, at_ms) \
        SELECT l.tenant, l.digest, $3 FROM nodes AS l \
            WHERE l.tenant = $1 AND l.conversation = $2 AND l.position > 0 \
                AND NOT EXISTS (SELECT 1 FROM nodes AS n \
                    WHERE n.tenant = $1 AND n.parent = l.digest) \
        ON CONFLICT (tenant, digest) DO NOTHING";

pub(crate) const DELETE_NODES: &str =
    "DELETE FROM nodes WHERE tenant = $1 AND conversation = $2 RETURNING entry";

pub(crate) const SELECT_UNUSED_WORDS: &str = "\
    SELECT number FROM indexed_entries WHERE tenant = $1 AND key = $2 \
        AND NOT EXISTS (SELECT 1 FROM nodes WHERE tenant = $1 AND entry = $2)";

pub(crate) const DELETE_INDEXED: &str = "DELETE FROM indexed_entries WHERE number = $1";

pub(crate) const DELETE_UNUSED_ENTRY: &str = "\
    DELETE FROM entries WHERE tenant = $1 AND key = $2 \
        AND NOT EXISTS (SELECT 1 FROM nodes WHERE tenant = $1 AND entry = $2) \
    RETURNING CAST(length(raw) AS BIGINT)";

pub(crate) const DELETE_CONVERSATION: &str =
    "DELETE FROM conversations WHERE tenant = $1 AND id = $2";

pub(crate) const MARK_CONVERSATION: &str = "\
    INSERT INTO deleted_conversations (tenant, id, at_ms) VALUES ($1, $2, $3) \
        ON CONFLICT (tenant, id) DO NOTHING";

/// Why a conversation goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Why {
    /// Somebody wants it forgotten: it does not come back.
    Ordered { at_ms: i64 },
    /// Nobody has touched it since: only room is wanted, and who goes on with it is welcome.
    Idle { before_ms: i64 },
}

/// `delete` and `drop_entry`, parts of a transaction that the caller commits. `$lock` says when the conversation was touched and
/// keeps others from adding to it; the words of an entry and of a memory are another statement in each database.
macro_rules! delete {
    ($connection:ty, $lock:expr, $delete_words:expr, $delete_memory_words:expr) => {
        pub(super) async fn delete(
            connection: &mut $connection,
            tenant: &TenantId,
            id: &ConversationId,
            why: crate::housekeeping::delete::Why,
        ) -> Result<Option<Deleted>> {
            use crate::housekeeping::delete as sql;
            let on = |statement| query(statement).bind(tenant.as_str()).bind(id.as_str());
            let Some(found) = on($lock).fetch_optional(&mut *connection).await? else {
                return Ok(None);
            };
            let touched_ms: i64 = found.try_get(0)?;
            if matches!(why, sql::Why::Idle { before_ms } if touched_ms >= before_ms) {
                return Ok(None);
            }
            let forks = on(sql::FORKS_OF_ENGINES)
                .fetch_all(&mut *connection)
                .await?;
            if !forks.is_empty() {
                let forks = forks.iter().map(|row| Ok(row.try_get(0)?));
                return Err(Error::Forked {
                    id: id.as_str().to_owned(),
                    forks: forks.collect::<Result<_>>()?,
                });
            }
            let mut deleted = Deleted::default();
            for statement in [sql::COPY_PINS, sql::SHIELD_PINS] {
                on(statement).execute(&mut *connection).await?;
            }
            for row in on(sql::STANDING).fetch_all(&mut *connection).await? {
                let home: String = row.try_get(0)?;
                for statement in [sql::REHOME_BY_NODES, sql::REHOME_BY_COMPACTIONS] {
                    let moved = on(statement).bind(&home).execute(&mut *connection).await?;
                    deleted.rehomed_nodes += moved.rows_affected();
                }
            }
            on(sql::RELINK).execute(&mut *connection).await?;
            on(sql::REHOME_COMPACTIONS)
                .execute(&mut *connection)
                .await?;
            for statement in sql::DELETE_DETAILS {
                on(statement).execute(&mut *connection).await?;
            }
            let gone = on(sql::DELETE_COMPACTIONS)
                .execute(&mut *connection)
                .await?;
            deleted.compactions = gone.rows_affected();
            for row in on(sql::DELETE_MEMORIES).fetch_all(&mut *connection).await? {
                let number: i64 = row.try_get(0)?;
                query($delete_memory_words)
                    .bind(number)
                    .execute(&mut *connection)
                    .await?;
                deleted.memories += 1;
            }
            if let sql::Why::Ordered { at_ms } = why {
                for statement in [sql::MARK_LEAVES, sql::MARK_CONVERSATION] {
                    let mark = on(statement).bind(at_ms);
                    mark.execute(&mut *connection).await?;
                }
            }
            let mut keys: Vec<Vec<u8>> = Vec::new();
            for row in on(sql::DELETE_NODES).fetch_all(&mut *connection).await? {
                keys.push(row.try_get(0)?);
                deleted.nodes += 1;
            }
            // Sorted, so that two who delete take locks in the same order.
            keys.sort_unstable();
            keys.dedup();
            for key in &keys {
                if let Some(bytes) = drop_entry(connection, tenant.as_str(), key).await? {
                    deleted.entries += 1;
                    deleted.entry_bytes += bytes;
                }
            }
            on(sql::DELETE_CONVERSATION)
                .execute(&mut *connection)
                .await?;
            Ok(Some(deleted))
        }

        /// Removes an entry that no link has, with its words. The bytes it had.
        pub(super) async fn drop_entry(
            connection: &mut $connection,
            tenant: &str,
            key: &[u8],
        ) -> Result<Option<u64>> {
            use crate::housekeeping::delete as sql;
            let on = |statement| query(statement).bind(tenant).bind(key);
            let words = on(sql::SELECT_UNUSED_WORDS);
            if let Some(row) = words.fetch_optional(&mut *connection).await? {
                let number: i64 = row.try_get(0)?;
                for statement in [$delete_words, sql::DELETE_INDEXED] {
                    query(statement)
                        .bind(number)
                        .execute(&mut *connection)
                        .await?;
                }
            }
            let entry = on(sql::DELETE_UNUSED_ENTRY);
            let row = entry.fetch_optional(&mut *connection).await?;
            let bytes: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
            Ok(bytes.map(i64::unsigned_abs))
        }
    };
}
pub(crate) use delete;
