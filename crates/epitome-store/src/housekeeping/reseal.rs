//! Encrypting again with the key that writes: what is in clear, and what another key has encrypted.

use epitome::Digest;

use super::snapshot::Kind::{self, Bytes, Integer, Name, Text};
use crate::seal::Value;
use crate::{Cell, ConversationId, Error, Keys, Result, TenantId};

/// How many rows are read, and written again where they have to be, in one transaction.
pub(crate) const ROWS: i64 = 256;

/// Rows with values that are encrypted. They are read in the order of their names, from behind those that were read last.
pub(crate) struct Rows {
    /// The columns of the name, the tenant first.
    pub(crate) name: &'static [Kind],
    /// The columns of the values, behind those of the name.
    pub(crate) values: &'static [Kind],
    /// With the values of the last name, and how many are wanted.
    pub(crate) select: &'static str,
    /// With the name and the new values, and the first value as it was: whoever changed it meanwhile has encrypted it.
    pub(crate) update: &'static str,
    /// What a value is, by its place and the name.
    value: for<'a> fn(usize, &'a Named) -> Option<Value<'a>>,
}

/// The name of a row, in the form that values are bound to.
#[derive(Debug, Default)]
struct Named {
    text: String,
    conversation: Option<ConversationId>,
    digest: Option<Digest>,
    number: Option<u32>,
}

pub(crate) const ROWS_OF: &[Rows] = &[
    Rows {
        name: &[Name, Bytes],
        values: &[Bytes],
        select: "SELECT tenant, key, raw FROM entries WHERE (tenant, key) > ($1, $2) \
            ORDER BY tenant, key LIMIT $3",
        update: "UPDATE entries SET raw = $3 WHERE tenant = $1 AND key = $2 AND raw = $4",
        value: |_, named| named.digest.as_ref().map(Value::Entry),
    },
    Rows {
        name: &[Name, Name],
        values: &[Text],
        select: "SELECT tenant, id, label FROM conversations WHERE (tenant, id) > ($1, $2) \
            ORDER BY tenant, id LIMIT $3",
        update: "UPDATE conversations SET label = $3 \
            WHERE tenant = $1 AND id = $2 AND label = $4",
        value: |_, named| named.conversation.as_ref().map(Value::Title),
    },
    Rows {
        name: &[Name, Text],
        values: &[Text, Text],
        select: "SELECT tenant, id, record, summary FROM compactions \
            WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3",
        update: "UPDATE compactions SET record = $3, summary = $4 \
            WHERE tenant = $1 AND id = $2 AND record = $5",
        value: |at, named| {
            Some(match at {
                0 => Value::Record(&named.text),
                _ => Value::Summary(&named.text),
            })
        },
    },
    Rows {
        name: &[Name, Name, Integer],
        values: &[Text],
        select: "SELECT tenant, conversation, seq, body FROM changes \
            WHERE (tenant, conversation, seq) > ($1, $2, $3) \
            ORDER BY tenant, conversation, seq LIMIT $4",
        update: "UPDATE changes SET body = $4 \
            WHERE tenant = $1 AND conversation = $2 AND seq = $3 AND body = $5",
        value: |_, named| {
            let conversation = named.conversation.as_ref();
            conversation.map(|id| Value::Change(id, named.number.unwrap_or_default()))
        },
    },
    Rows {
        name: &[Name, Text],
        values: &[Text, Text],
        select: "SELECT tenant, id, text, kind FROM memories WHERE (tenant, id) > ($1, $2) \
            ORDER BY tenant, id LIMIT $3",
        update: "UPDATE memories SET text = $3, kind = $4 \
            WHERE tenant = $1 AND id = $2 AND text = $5",
        value: |at, named| {
            Some(match at {
                0 => Value::Memory(&named.text),
                _ => Value::MemoryKind(&named.text),
            })
        },
    },
    Rows {
        name: &[Name, Name],
        values: &[Bytes],
        select: "SELECT tenant, id, items FROM turns WHERE (tenant, id) > ($1, $2) \
            ORDER BY tenant, id LIMIT $3",
        update: "UPDATE turns SET items = $3 WHERE tenant = $1 AND id = $2 AND items = $4",
        value: |_, named| Some(Value::Turn(&named.text)),
    },
];

/// The words of entries; how they are read is another statement in each database.
pub(crate) const fn words(select: &'static str, update: &'static str) -> Rows {
    Rows {
        name: &[Name, Bytes],
        values: &[Bytes],
        select,
        update,
        value: |_, named| named.digest.as_ref().map(Value::Words),
    }
}

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

impl Rows {
    /// A name before all others.
    pub(crate) fn before_all(&self) -> Vec<Cell> {
        let least = |kind: &Kind| match kind {
            Name | Text => Cell::Text(String::new()),
            Bytes => Cell::Bytes(Vec::new()),
            Integer => Cell::Integer(i64::MIN),
        };
        self.name.iter().map(least).collect()
    }

    /// The values as they are to be stored now; `None` when they are so.
    pub(crate) fn resealed(
        &self,
        keys: &Keys,
        name: &[Cell],
        values: &[Cell],
    ) -> Result<Option<Vec<Cell>>> {
        if values.iter().all(|cell| is_current(keys, cell)) {
            return Ok(None);
        }
        let broken = || Error::corrupt("a row has another name than rows of its table");
        let Some(Cell::Text(tenant)) = name.first() else {
            return Err(broken());
        };
        let tenant = TenantId::new(tenant)?;
        let named = Named::of(name);
        let values = values.iter().enumerate().map(|(at, cell)| {
            let value = (self.value)(at, &named).ok_or_else(broken)?;
            Ok(match cell {
                Cell::Text(text) => {
                    let clear = keys.open_text(&tenant, value, text.clone())?;
                    Cell::Text(keys.seal_text(&tenant, value, &clear)?.into_owned())
                }
                Cell::Bytes(bytes) => {
                    let clear = keys.open(&tenant, value, bytes.clone().into())?;
                    Cell::Bytes(keys.seal(&tenant, value, &clear)?.into_owned())
                }
                Cell::Null | Cell::Integer(_) => cell.clone(),
            })
        });
        values.collect::<Result<_>>().map(Some)
    }
}

impl Named {
    fn of(name: &[Cell]) -> Self {
        let mut named = Self::default();
        for cell in name.iter().skip(1) {
            match cell {
                Cell::Text(text) => {
                    named.conversation = ConversationId::new(text).ok();
                    named.text.clone_from(text);
                }
                Cell::Bytes(bytes) => named.digest = Digest::from_slice(bytes),
                Cell::Integer(number) => named.number = u32::try_from(*number).ok(),
                Cell::Null => {}
            }
        }
        named
    }
}

fn is_current(keys: &Keys, cell: &Cell) -> bool {
    match cell {
        Cell::Text(text) => keys.is_current_text(text),
        Cell::Bytes(bytes) => keys.is_current(bytes),
        Cell::Null | Cell::Integer(_) => true,
    }
}

/// `reseal_some`, `reseal_pins` and `reseal_secrets`, each part of a transaction that the caller commits.
macro_rules! reseal {
    ($connection:ty, $cell:path, $bind:path) => {
        /// Rows behind `last`. The name of the last one, and how many were written; `None` when there are no more.
        async fn reseal_some(
            connection: &mut $connection,
            keys: &crate::Keys,
            rows: &crate::housekeeping::reseal::Rows,
            last: &[Cell],
        ) -> Result<(Option<Vec<Cell>>, u64)> {
            use crate::housekeeping::reseal as sql;
            let broken = || Error::corrupt("a value is of another kind than its column");
            let mut select = query(rows.select);
            for (kind, cell) in rows.name.iter().zip(last) {
                select = $bind(select, *kind, cell).ok_or_else(broken)?;
            }
            let found = select.bind(sql::ROWS).fetch_all(&mut *connection).await?;
            let columns = || rows.name.iter().chain(rows.values).enumerate();
            let (mut behind, mut written) = (None, 0);
            for row in &found {
                let cells = columns().map(|(at, kind)| $cell(row, at, *kind));
                let cells: Vec<Cell> = cells.collect::<Result<_>>()?;
                let (name, values) = cells.split_at(rows.name.len());
                if let Some(new) = rows.resealed(keys, name, values)? {
                    let mut update = query(rows.update);
                    let kinds = rows
                        .name
                        .iter()
                        .chain(rows.values)
                        .chain(rows.values.first());
                    let cells = name.iter().chain(&new).chain(values.first());
                    for (kind, cell) in kinds.zip(cells) {
                        update = $bind(update, *kind, cell).ok_or_else(broken)?;
                    }
                    written += update.execute(&mut *connection).await?.rows_affected();
                }
                behind = Some(name.to_vec());
            }
            Ok((behind, written))
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
