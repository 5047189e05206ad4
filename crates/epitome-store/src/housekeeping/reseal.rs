//! Encrypting again with the key that writes: what is in clear, and what another key has encrypted.

/// How many rows are looked at in one transaction.
pub(crate) const ROWS: i64 = 256;

/// How many bytes of values are written again in one transaction, unless a single one is larger: nobody waits for long, and no
/// more than that is in memory.
pub(crate) const BYTES: i64 = 4 << 20;

pub(crate) const SELECT_SECRETS: &str = "\
    SELECT t.tenant, t.key, s.key FROM tenants AS t \
        LEFT JOIN sealed_secrets AS s ON s.tenant = t.tenant ORDER BY t.tenant";

pub(crate) const BLANK_SECRET: &str = "UPDATE tenants SET key = $2 WHERE tenant = $1";

pub(crate) const DELETE_SECRET: &str = "DELETE FROM sealed_secrets WHERE tenant = $1";

pub(crate) const SELECT_PINS: &str = "\
    SELECT tenant, conversation, text, mark, at_ms FROM pins ORDER BY at_ms, tenant, conversation";

pub(crate) const INSERT_PIN: &str = "\
    INSERT INTO pins (tenant, conversation, text, mark, at_ms) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT DO NOTHING";

pub(crate) const UPDATE_PIN: &str = "\
    UPDATE pins SET mark = $4, at_ms = $5 \
        WHERE tenant = $1 AND conversation = $2 AND text = $3 AND at_ms < $5";

pub(crate) const DELETE_OTHER_KEYS: &str = "DELETE FROM store_keys WHERE id <> $1";

/// `reseal_some`, `reseal_pins` and `reseal_secrets`, each part of a transaction that the caller commits.
macro_rules! reseal {
    ($connection:ty, $cell:path, $beginning:path, $bind:path) => {
        /// Rows behind `last`. The name of the last one, and how many were written; `None` when there are no more. Only what
        /// has to be written again is read as a whole.
        pub(super) async fn reseal_some(
            connection: &mut $connection,
            keys: &crate::Keys,
            rows: &Rows,
            last: &[Cell],
        ) -> Result<(Option<Vec<Cell>>, u64)> {
            use crate::housekeeping::reseal as sql;
            let broken = || Error::corrupt("a value is of another kind than its column");
            let mut select = query(rows.beginnings);
            for (kind, cell) in rows.name.iter().zip(last) {
                select = $bind(select, *kind, cell).ok_or_else(broken)?;
            }
            let found = select.bind(sql::ROWS).fetch_all(&mut *connection).await?;
            let (mut behind, mut written, mut bytes) = (None, 0, 0);
            for row in &found {
                let name = rows.name.iter().enumerate();
                let name = name.map(|(at, kind)| $cell(row, at, *kind));
                let name: Vec<Cell> = name.collect::<Result<_>>()?;
                let length: i64 = row.try_get(name.len())?;
                let values = rows.values.iter().enumerate();
                let values = values.map(|(at, kind)| $beginning(row, name.len() + 1 + at, *kind));
                let values: Vec<Cell> = values.collect::<Result<_>>()?;
                if !sealed::are_current(keys, &values) {
                    // One row is always taken, however large.
                    if bytes > 0 && bytes + length > sql::BYTES {
                        break;
                    }
                    bytes += length;
                    written += reseal_row(connection, keys, rows, &name).await?;
                }
                behind = Some(name);
            }
            Ok((behind, written))
        }

        /// How many rows were written: none that is gone, or that somebody has encrypted meanwhile.
        async fn reseal_row(
            connection: &mut $connection,
            keys: &crate::Keys,
            rows: &Rows,
            name: &[Cell],
        ) -> Result<u64> {
            let broken = || Error::corrupt("a value is of another kind than its column");
            let mut select = query(rows.select);
            for (kind, cell) in rows.name.iter().zip(name) {
                select = $bind(select, *kind, cell).ok_or_else(broken)?;
            }
            let Some(row) = select.fetch_optional(&mut *connection).await? else {
                return Ok(0);
            };
            let values = rows.values.iter().enumerate();
            let values = values.map(|(at, kind)| $cell(&row, at, *kind));
            let values: Vec<Cell> = values.collect::<Result<_>>()?;
            let Some(new) = rows.resealed(keys, name, &values)? else {
                return Ok(0);
            };
            let mut update = query(rows.update);
            let names = rows.name.iter().zip(name);
            let first = rows.values.first().zip(values.first());
            let cells = names.chain(rows.values.iter().zip(&new)).chain(first);
            for (kind, cell) in cells {
                update = $bind(update, *kind, cell).ok_or_else(broken)?;
            }
            Ok(update.execute(&mut *connection).await?.rows_affected())
        }

        /// Those that say the same under two keys become one, and the later word holds.
        async fn reseal_pins(connection: &mut $connection, keys: &crate::Keys) -> Result<u64> {
            use crate::housekeeping::reseal as sql;
            use crate::housekeeping::snapshot::Kind::{Integer, Name, Text};
            const KINDS: [crate::housekeeping::snapshot::Kind; 5] =
                [Name, Name, Text, Name, Integer];
            let broken = || Error::corrupt("a value is of another kind than its column");
            let found = query(sql::SELECT_PINS).fetch_all(&mut *connection).await?;
            let mut written = 0;
            for row in &found {
                let cells = KINDS
                    .iter()
                    .enumerate()
                    .map(|(at, kind)| $cell(row, at, *kind));
                let cells: Vec<Cell> = cells.collect::<Result<_>>()?;
                let [
                    Cell::Text(tenant),
                    conversation,
                    Cell::Text(text),
                    mark,
                    at_ms,
                ] = cells.as_slice()
                else {
                    return Err(broken());
                };
                if keys.is_current_text(text) {
                    continue;
                }
                let (tenant, value) = (TenantId::new(tenant)?, crate::seal::Value::Pin);
                let clear = keys.open_text(&tenant, value, text.clone())?;
                let new = keys.seal_text(&tenant, value, &clear)?.into_owned();
                let mut delete = query(crate::statements::DELETE_PIN);
                for (kind, cell) in KINDS.iter().zip(&cells).take(3) {
                    delete = $bind(delete, *kind, cell).ok_or_else(broken)?;
                }
                delete.execute(&mut *connection).await?;
                for statement in [sql::INSERT_PIN, sql::UPDATE_PIN] {
                    let mut write = query(statement);
                    let tenant = Cell::Text(tenant.as_str().to_owned());
                    let text = Cell::Text(new.clone());
                    let cells = [&tenant, conversation, &text, mark, at_ms];
                    for (kind, cell) in KINDS.iter().zip(cells) {
                        write = $bind(write, *kind, cell).ok_or_else(broken)?;
                    }
                    write.execute(&mut *connection).await?;
                }
                written += 1;
            }
            Ok(written)
        }

        async fn reseal_secrets(connection: &mut $connection, keys: &crate::Keys) -> Result<u64> {
            use crate::housekeeping::{reseal as sql, secret};
            let found = query(sql::SELECT_SECRETS)
                .fetch_all(&mut *connection)
                .await?;
            let mut written = 0;
            for row in &found {
                let tenant: String = row.try_get(0)?;
                let (clear, sealed): (Vec<u8>, Option<Vec<u8>>) =
                    (row.try_get(1)?, row.try_get(2)?);
                let stored = sealed.unwrap_or(clear);
                if keys.is_current(&stored) {
                    continue;
                }
                let tenant = TenantId::new(&tenant)?;
                let value = crate::seal::Value::Secret;
                let secret = keys.open(&tenant, value, stored.into())?;
                let new = keys.seal(&tenant, value, &secret)?.into_owned();
                query(sql::DELETE_SECRET)
                    .bind(tenant.as_str())
                    .execute(&mut *connection)
                    .await?;
                query(secret::INSERT_SEALED)
                    .bind(tenant.as_str())
                    .bind(new)
                    .execute(&mut *connection)
                    .await?;
                query(sql::BLANK_SECRET)
                    .bind(tenant.as_str())
                    .bind(secret::SEALED.as_slice())
                    .execute(&mut *connection)
                    .await?;
                written += 1;
            }
            Ok(written)
        }
    };
}
pub(crate) use reseal;
