//! Bringing the rows of a snapshot in.

use crate::{Cell, ConversationId, Digest, Error, MemoryRow, Result, SnapshotRow, TenantId};

/// A pin that was said when the store had another key, or none, becomes the same under the key that writes.
pub(crate) const MOVE_PIN: &str = "\
    INSERT INTO pins (tenant, conversation, text, mark, at_ms) \
        SELECT tenant, conversation, $4, mark, at_ms FROM pins \
            WHERE tenant = $1 AND conversation = $2 AND text = $3 \
        ON CONFLICT DO NOTHING";

pub(crate) const SELECT_MARK: &str =
    "SELECT 1 FROM deleted_conversations WHERE tenant = $1 AND id = $2";

/// Says what a row has that no snapshot has.
pub(crate) fn bad(row: &SnapshotRow) -> Error {
    let table = row.table;
    Error::BadSnapshot {
        problem: format!("a row of {table} is not as rows of {table} are"),
    }
}

/// A memory and whose it is.
pub(crate) fn memory(row: &SnapshotRow) -> Result<(TenantId, MemoryRow)> {
    let conversation = match row.cells.get(5) {
        Some(Cell::Text(id)) => Some(ConversationId::new(id)?),
        _ => None,
    };
    let memory = MemoryRow {
        id: row.text(1).to_owned(),
        key: Digest::from_slice(row.bytes(2)).ok_or_else(|| bad(row))?,
        kind: row.text(3).to_owned(),
        text: row.text(4).to_owned(),
        conversation,
        entries: serde_json::from_str(row.text(6)).map_err(|_| bad(row))?,
        created_ms: row.integer(7),
    };
    Ok((TenantId::new(row.text(0))?, memory))
}

/// `restore_row`, part of a transaction that the caller commits, and `is_deleted`. `$bind` hands a value over as its kind.
macro_rules! restore {
    ($connection:ty, $bind:path) => {
        async fn restore_row(
            connection: &mut $connection,
            keys: &crate::Keys,
            row: &SnapshotRow,
        ) -> Result<Brought> {
            use crate::housekeeping::{restore as sql, sealed, snapshot};
            let table = snapshot::table(row.table).ok_or_else(|| sql::bad(row))?;
            if table.columns.len() != row.cells.len() {
                return Err(sql::bad(row));
            }
            if [snapshot::TENANTS, snapshot::SEALED_SECRETS].contains(&table.name) {
                return restore_secret(connection, keys, row).await;
            }
            if table.name == snapshot::STORE_KEYS {
                let id = row.bytes(0).try_into().map_err(|_| sql::bad(row))?;
                // What it has encrypted is encrypted with the key that writes when it comes in.
                keys.check(&[id])?;
                return Ok(Brought::There);
            }
            // What was deleted there goes here too.
            if table.name == snapshot::DELETED_CONVERSATIONS {
                let tenant = TenantId::new(row.text(0))?;
                let id = ConversationId::new(row.text(1))?;
                let at_ms = row.integer(2);
                match delete(connection, &tenant, &id, Why::Ordered { at_ms }).await {
                    Ok(Some(_)) => return Ok(Brought::Written),
                    // It was made one there only after this fork; that it is deleted is said again the next time.
                    Err(Error::Forked { .. }) => return Ok(Brought::Refused),
                    result => result?,
                };
            }
            let row = &match table.name {
                snapshot::PINS => resealed_pin(connection, keys, row).await?,
                _ => sealed::resealed(keys, row)?.into_owned(),
            };
            let mut insert = query(table.insert);
            for (kind, cell) in table.columns.iter().zip(&row.cells) {
                insert = $bind(insert, *kind, cell).ok_or_else(|| sql::bad(row))?;
            }
            let mut written = insert.execute(&mut *connection).await?.rows_affected() > 0;
            let with = |(statement, places): (&'static str, &[usize])| {
                let mut statement = query(statement);
                for at in places {
                    let (kind, cell) = table.columns.get(*at).zip(row.cells.get(*at))?;
                    statement = $bind(statement, *kind, cell)?;
                }
                Some(statement)
            };
            if let (false, Some(update)) = (written, table.update) {
                let update = with(update).ok_or_else(|| sql::bad(row))?;
                written = update.execute(&mut *connection).await?.rows_affected() > 0;
            }
            if let (false, Some(find)) = (written, table.find) {
                let find = with(find).ok_or_else(|| sql::bad(row))?;
                if find.fetch_optional(&mut *connection).await?.is_none() {
                    return Ok(Brought::Refused);
                }
            }
            Ok(match written {
                true => Brought::Written,
                false => Brought::There,
            })
        }

        /// A pin as it is to be stored here. One that is here already and says the same is found by it.
        async fn resealed_pin(
            connection: &mut $connection,
            keys: &crate::Keys,
            row: &SnapshotRow,
        ) -> Result<SnapshotRow> {
            use crate::housekeeping::snapshot::Kind::{Name, Text};
            use crate::housekeeping::{restore as sql, snapshot};
            let tenant = TenantId::new(row.text(0))?;
            let conversation = Cell::Text(row.text(1).to_owned());
            let value = crate::seal::Value::Pin;
            let clear = keys.open_text(&tenant, value, row.text(2).to_owned())?;
            let text = Cell::Text(keys.seal_text(&tenant, value, &clear)?.into_owned());
            let owner = Cell::Text(row.text(0).to_owned());
            for other in keys.other_texts(&tenant, value, &clear)? {
                let other = Cell::Text(other);
                let cells = [
                    (Name, &owner),
                    (Name, &conversation),
                    (Text, &other),
                    (Text, &text),
                ];
                for (statement, count) in [(sql::MOVE_PIN, 4), (crate::statements::DELETE_PIN, 3)] {
                    let mut statement = query(statement);
                    for (kind, cell) in cells.iter().take(count) {
                        statement = $bind(statement, *kind, cell).ok_or_else(|| sql::bad(row))?;
                    }
                    statement.execute(&mut *connection).await?;
                }
            }
            let mut sealed = row.clone();
            if let Some(old) = sealed.cells.get_mut(snapshot::PIN_TEXT) {
                *old = text;
            }
            Ok(sealed)
        }

        async fn restore_secret(
            connection: &mut $connection,
            keys: &crate::Keys,
            row: &SnapshotRow,
        ) -> Result<Brought> {
            use crate::housekeeping::{restore as sql, secret, snapshot};
            let tenant = TenantId::new(row.text(0))?;
            let stored = row.bytes(1).to_vec();
            if row.table == snapshot::TENANTS && stored == secret::SEALED {
                return Ok(Brought::There);
            }
            let given = match row.table {
                snapshot::TENANTS => stored.into(),
                _ => keys.open(&tenant, crate::seal::Value::Secret, stored.into())?,
            };
            let given: [u8; 32] = given.as_ref().try_into().map_err(|_| sql::bad(row))?;
            let known = stored_secret(connection, keys, &tenant).await?;
            let kept = keep_secret(connection, keys, &tenant, given).await?;
            match (kept == given, known) {
                (true, Some(_)) => Ok(Brought::There),
                (true, None) => Ok(Brought::Written),
                (false, _) => Err(Error::OtherSecret {
                    tenant: tenant.as_str().to_owned(),
                }),
            }
        }

        /// Whether the memory is one of a conversation that was deleted here.
        async fn is_deleted(
            connection: &mut $connection,
            tenant: &TenantId,
            memory: &MemoryRow,
        ) -> Result<bool> {
            let Some(conversation) = &memory.conversation else {
                return Ok(false);
            };
            let mark = query(crate::housekeeping::restore::SELECT_MARK)
                .bind(tenant.as_str())
                .bind(conversation.as_str());
            Ok(mark.fetch_optional(connection).await?.is_some())
        }
    };
}
pub(crate) use restore;
