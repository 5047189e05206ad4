//! Removing what nobody needs.

pub(crate) const OLDEST: &str = "\
    SELECT tenant, id, touched_ms FROM conversations \
        WHERE touched_ms < $1 AND ($2 = '' OR tenant = $2) \
            AND (touched_ms, tenant, id) > ($3, $4, $5) \
    ORDER BY touched_ms, tenant, id LIMIT $6";

pub(crate) const UNUSED_ENTRIES: &str = "\
    SELECT e.tenant, e.key FROM entries AS e WHERE ($1 = '' OR e.tenant = $1) \
        AND NOT EXISTS (SELECT 1 FROM nodes AS n \
            WHERE n.tenant = e.tenant AND n.entry = e.key)";

pub(crate) const OLD_OUTCOMES: &str =
    "DELETE FROM outcomes WHERE at_ms < $1 AND ($2 = '' OR tenant = $2)";

pub(crate) const OLD_TURNS: &str =
    "DELETE FROM turns WHERE at_ms < $1 AND ($2 = '' OR tenant = $2)";

pub(crate) const OLD_MARKS: [&str; 2] = [
    "DELETE FROM deleted_nodes WHERE at_ms < $1 AND ($2 = '' OR tenant = $2)",
    "DELETE FROM deleted_conversations WHERE at_ms < $1 AND ($2 = '' OR tenant = $2)",
];

/// `sweep` and `oldest`; the first is part of a transaction that the caller commits.
macro_rules! sweep {
    ($connection:ty) => {
        async fn sweep(connection: &mut $connection, before: SweepBefore<'_>) -> Result<Swept> {
            use crate::housekeeping::sweep as sql;
            let mut swept = Swept::default();
            let owner = before.tenant.map_or("", TenantId::as_str);
            let unused = query(sql::UNUSED_ENTRIES).bind(owner);
            for row in unused.fetch_all(&mut *connection).await? {
                let (tenant, key): (String, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
                if let Some(bytes) = drop_entry(connection, &tenant, &key).await? {
                    swept.entries += 1;
                    swept.entry_bytes += bytes;
                }
            }
            let old = query(sql::OLD_OUTCOMES)
                .bind(before.outcomes_ms)
                .bind(owner);
            swept.outcomes = old.execute(&mut *connection).await?.rows_affected();
            let old = query(sql::OLD_TURNS).bind(before.turns_ms).bind(owner);
            swept.turns = old.execute(&mut *connection).await?.rows_affected();
            for statement in sql::OLD_MARKS {
                let old = query(statement).bind(before.deleted_ms).bind(owner);
                swept.deleted_marks += old.execute(&mut *connection).await?.rows_affected();
            }
            Ok(swept)
        }

        async fn oldest(
            connection: &mut $connection,
            wanted: Oldest<'_>,
            limit: u32,
        ) -> Result<Vec<OwnedConversation>> {
            let behind = wanted.behind;
            let behind = behind.map_or((i64::MIN, "", ""), |last| {
                (last.touched_ms, last.tenant.as_str(), last.id.as_str())
            });
            let rows = query(crate::housekeeping::sweep::OLDEST)
                .bind(wanted.before_ms)
                .bind(wanted.tenant.map_or("", TenantId::as_str))
                .bind(behind.0)
                .bind(behind.1)
                .bind(behind.2)
                .bind(i64::from(limit))
                .fetch_all(connection)
                .await?;
            let one = |row: &_| {
                Ok(OwnedConversation {
                    tenant: TenantId::new(sqlx::Row::try_get(row, 0)?)?,
                    id: ConversationId::new(sqlx::Row::try_get(row, 1)?)?,
                    touched_ms: sqlx::Row::try_get(row, 2)?,
                })
            };
            rows.iter().map(one).collect()
        }
    };
}
pub(crate) use sweep;
