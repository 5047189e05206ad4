//! A snapshot as lines of text: a head, a line of JSON for each row, and an end that says how many there were, so that a copy
//! that was cut off is known.

use serde_json::{Value, json};

use super::snapshot::{Cell, Kind, SnapshotRow, Table, table};
use crate::{Error, Result};

const FORMAT: &str = "epitome-store";
const VERSION: u64 = 1;

/// A line of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotLine {
    /// The first one.
    Head,
    /// One row.
    Row(SnapshotRow),
    /// The last one.
    End {
        /// How many rows came before it.
        rows: u64,
    },
}

impl SnapshotLine {
    /// The line, without its end.
    #[must_use]
    pub fn to_text(&self) -> String {
        let value = match self {
            Self::Head => json!({"format": FORMAT, "version": VERSION}),
            Self::Row(row) => {
                let cells: Vec<Value> = row.cells.iter().map(value).collect();
                json!({"table": row.table, "row": cells})
            }
            Self::End { rows } => json!({"end": rows}),
        };
        value.to_string()
    }

    /// Reads a line.
    ///
    /// # Errors
    /// [`Error::BadSnapshot`] when it is none, or of a later version.
    pub fn parse(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| bad(format!("it is not JSON: {error}")))?;
        if let Some(rows) = value.get("end") {
            let rows = rows.as_u64().ok_or_else(|| bad("its end has no number"))?;
            return Ok(Self::End { rows });
        }
        if let Some(format) = value.get("format") {
            let version = value.get("version").and_then(Value::as_u64);
            return match (format.as_str(), version) {
                (Some(FORMAT), Some(VERSION)) => Ok(Self::Head),
                (Some(FORMAT), _) => Err(bad("a later version of epitome wrote it")),
                _ => Err(bad("it is no export of a store")),
            };
        }
        let name = value.get("table").and_then(Value::as_str);
        let Some(table) = name.and_then(table) else {
            return Err(bad(format!("there is no table {name:?}")));
        };
        let cells = value.get("row").and_then(Value::as_array);
        let cells = cells.filter(|cells| cells.len() == table.columns.len());
        let cells = cells.ok_or_else(|| bad_row(table))?;
        let cells = table.columns.iter().zip(cells);
        let cells = cells.map(|(kind, value)| cell(*kind, value).ok_or_else(|| bad_row(table)));
        Ok(Self::Row(SnapshotRow {
            table: table.name,
            cells: cells.collect::<Result<_>>()?,
        }))
    }
}

fn bad(problem: impl Into<String>) -> Error {
    Error::BadSnapshot {
        problem: problem.into(),
    }
}

fn bad_row(table: &Table) -> Error {
    let name = table.name;
    bad(format!("a row of {name} is not as rows of {name} are"))
}

/// Bytes are text where they can be, which messages always are.
fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({"hex": hex(bytes)}),
        },
    }
}

fn cell(kind: Kind, value: &Value) -> Option<Cell> {
    match (kind, value) {
        (_, Value::Null) => Some(Cell::Null),
        (Kind::Integer, value) => value.as_i64().map(Cell::Integer),
        (Kind::Name | Kind::Text, Value::String(text)) => Some(Cell::Text(text.clone())),
        (Kind::Bytes, Value::String(text)) => Some(Cell::Bytes(text.clone().into_bytes())),
        (Kind::Bytes, value) => unhex(value.get("hex")?.as_str()?).map(Cell::Bytes),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let (pairs, rest) = digits.as_ref()?.as_chunks::<2>();
    let bytes = pairs
        .iter()
        .map(|[high, low]| u8::try_from(high * 16 + low).ok());
    bytes.collect::<Option<_>>().filter(|_| rest.is_empty())
}
