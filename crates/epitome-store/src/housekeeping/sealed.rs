//! Which values of which rows are encrypted, and what each of them is.

use std::borrow::Cow;

use super::snapshot::Kind::{self, Bytes, Integer, Name, Text};
use crate::seal::Value;
use crate::{Cell, ConversationId, Digest, Error, Keys, Result, SnapshotRow, TenantId};

/// Rows with values that are encrypted. They are read in the order of their names, from behind those that were read last.
pub(crate) struct Rows {
    table: &'static str,
    /// Where name and values stand in a row of a snapshot.
    places: &'static [usize],
    /// The columns of the name, the tenant first.
    pub(crate) name: &'static [Kind],
    /// The columns of the values, behind those of the name.
    pub(crate) values: &'static [Kind],
    /// With the values of the last name, and how many are wanted: the names, how long the values are together, and how each
    /// begins. By that it is known which key has encrypted it.
    pub(crate) beginnings: &'static str,
    /// The values of one row, by its name.
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
        table: "entries",
        places: &[0, 1, 4],
        name: &[Name, Bytes],
        values: &[Bytes],
        beginnings: "SELECT tenant, key, CAST(octet_length(raw) AS BIGINT), substr(raw, 1, 32) \
            FROM entries WHERE (tenant, key) > ($1, $2) ORDER BY tenant, key LIMIT $3",
        select: "SELECT raw FROM entries WHERE tenant = $1 AND key = $2",
        update: "UPDATE entries SET raw = $3 WHERE tenant = $1 AND key = $2 AND raw = $4",
        value: |_, named| named.digest.as_ref().map(Value::Entry),
    },
    Rows {
        table: "conversations",
        places: &[0, 1, 3],
        name: &[Name, Name],
        values: &[Text],
        beginnings: "SELECT tenant, id, CAST(COALESCE(octet_length(label), 0) AS BIGINT), \
                substr(label, 1, 32) \
            FROM conversations WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3",
        select: "SELECT label FROM conversations WHERE tenant = $1 AND id = $2",
        update: "UPDATE conversations SET label = $3 \
            WHERE tenant = $1 AND id = $2 AND label = $4",
        value: |_, named| named.conversation.as_ref().map(Value::Title),
    },
    Rows {
        table: "compactions",
        places: &[0, 1, 11, 10],
        name: &[Name, Text],
        values: &[Text, Text],
        beginnings: "SELECT tenant, id, \
                CAST(octet_length(record) + octet_length(summary) AS BIGINT), \
                substr(record, 1, 32), substr(summary, 1, 32) \
            FROM compactions WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3",
        select: "SELECT record, summary FROM compactions WHERE tenant = $1 AND id = $2",
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
        table: "changes",
        places: &[0, 1, 2, 5],
        name: &[Name, Name, Integer],
        values: &[Text],
        beginnings: "SELECT tenant, conversation, seq, CAST(octet_length(body) AS BIGINT), \
                substr(body, 1, 32) \
            FROM changes WHERE (tenant, conversation, seq) > ($1, $2, $3) \
            ORDER BY tenant, conversation, seq LIMIT $4",
        select: "SELECT body FROM changes WHERE tenant = $1 AND conversation = $2 AND seq = $3",
        update: "UPDATE changes SET body = $4 \
            WHERE tenant = $1 AND conversation = $2 AND seq = $3 AND body = $5",
        value: |_, named| {
            let conversation = named.conversation.as_ref();
            conversation.map(|id| Value::Change(id, named.number.unwrap_or_default()))
        },
    },
    Rows {
        table: "memories",
        places: &[0, 1, 4, 3],
        name: &[Name, Text],
        values: &[Text, Text],
        beginnings: "SELECT tenant, id, \
                CAST(octet_length(text) + octet_length(kind) AS BIGINT), \
                substr(text, 1, 32), substr(kind, 1, 32) \
            FROM memories WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3",
        select: "SELECT text, kind FROM memories WHERE tenant = $1 AND id = $2",
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
        table: "turns",
        places: &[0, 1, 3],
        name: &[Name, Name],
        values: &[Bytes],
        beginnings: "SELECT tenant, id, CAST(octet_length(items) AS BIGINT), \
                substr(items, 1, 32) \
            FROM turns WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3",
        select: "SELECT items FROM turns WHERE tenant = $1 AND id = $2",
        update: "UPDATE turns SET items = $3 WHERE tenant = $1 AND id = $2 AND items = $4",
        value: |_, named| Some(Value::Turn(&named.text)),
    },
];

/// The words of entries, which no snapshot has; how they are read is another statement in each database.
pub(crate) const fn words(
    beginnings: &'static str,
    select: &'static str,
    update: &'static str,
) -> Rows {
    Rows {
        table: "indexed_entries",
        places: &[],
        name: &[Name, Bytes],
        values: &[Bytes],
        beginnings,
        select,
        update,
        value: |_, named| named.digest.as_ref().map(Value::Words),
    }
}

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
        if are_current(keys, values) {
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

/// Whether values, or their beginnings, are as they would be stored now.
pub(crate) fn are_current(keys: &Keys, values: &[Cell]) -> bool {
    values.iter().all(|cell| match cell {
        Cell::Text(text) => keys.is_current_text(text),
        Cell::Bytes(bytes) => keys.is_current(bytes),
        Cell::Null | Cell::Integer(_) => true,
    })
}

/// A row of a snapshot as it is to be stored here: what is in clear there, or encrypted with another key, is encrypted with the
/// one that writes.
pub(crate) fn resealed<'a>(keys: &Keys, row: &'a SnapshotRow) -> Result<Cow<'a, SnapshotRow>> {
    let Some(rows) = ROWS_OF.iter().find(|rows| rows.table == row.table) else {
        return Ok(Cow::Borrowed(row));
    };
    let at = |place: &usize| row.cells.get(*place).cloned().unwrap_or(Cell::Null);
    let cells: Vec<Cell> = rows.places.iter().map(at).collect();
    let (name, values) = cells.split_at(rows.name.len());
    let Some(new) = rows.resealed(keys, name, values)? else {
        return Ok(Cow::Borrowed(row));
    };
    let mut sealed = row.clone();
    for (place, cell) in rows.places.iter().skip(name.len()).zip(new) {
        if let Some(old) = sealed.cells.get_mut(*place) {
            *old = cell;
        }
    }
    Ok(Cow::Owned(sealed))
}
