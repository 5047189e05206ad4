//! Everything that is kept, row by row, in a form that both databases read and write.

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// None.
    Null,
    /// A number.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// One row of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The table that it is from.
    pub table: &'static str,
    /// Its values, in the order of that table here.
    pub cells: Vec<Cell>,
}

/// What a column holds, in both databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text in both.
    Name,
    /// Text of any kind: PostgreSQL has it as bytes.
    Text,
    Bytes,
    Integer,
}

/// A table of a snapshot. The first statement reads it; the second adds a row, unless it is there or what it refers to is not.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Kind],
    pub(crate) select: &'static str,
    pub(crate) insert: &'static str,
    /// Brings one that is there up to date, with these of the values.
    pub(crate) update: Option<(&'static str, &'static [usize])>,
    /// Finds one that is there, by these of the values: else a row that was not written was refused. Without it none is refused.
    pub(crate) find: Option<(&'static str, &'static [usize])>,
}

use Kind::{Bytes, Integer, Name, Text};

/// In the order in which rows refer to each other.
pub(crate) const TABLES: &[Table] = &[
    // First: without its keys nothing that follows can be read. They are looked at, and not brought in.
    Table {
        name: STORE_KEYS,
        columns: &[Bytes],
        select: "SELECT id FROM store_keys ORDER BY id",
        insert: "",
        update: None,
        find: None,
    },
    // Both are written through `keep_secret`. Of one that is encrypted the first has zeros.
    Table {
        name: SEALED_SECRETS,
        columns: &[Name, Bytes],
        select: "SELECT tenant, key FROM sealed_secrets ORDER BY tenant",
        insert: "",
        update: None,
        find: None,
    },
    Table {
        name: TENANTS,
        columns: &[Name, Bytes],
        select: "SELECT tenant, key FROM tenants ORDER BY tenant",
        insert: "",
        update: None,
        find: None,
    },
    Table {
        name: "conversations",
        columns: &[Name, Name, Name, Text, Integer, Integer],
        select: "SELECT tenant, id, parent, label, created_ms, touched_ms FROM conversations \
            ORDER BY tenant, id",
        insert: "INSERT INTO conversations (tenant, id, parent, label, created_ms, touched_ms) \
            SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS \
                (SELECT 1 FROM deleted_conversations AS d WHERE d.tenant = $1 AND d.id = $2) \
            ON CONFLICT DO NOTHING",
        update: Some((
            "UPDATE conversations SET parent = COALESCE(parent, $3), label = COALESCE($4, label), \
                touched_ms = $5 WHERE tenant = $1 AND id = $2 AND touched_ms < $5",
            &[0, 1, 2, 3, 5],
        )),
        find: Some((
            "SELECT 1 FROM conversations WHERE tenant = $1 AND id = $2",
            &[0, 1],
        )),
    },
    Table {
        name: "entries",
        columns: &[Name, Bytes, Name, Integer, Bytes],
        select: "SELECT tenant, key, wire, tokens, raw FROM entries ORDER BY tenant, key",
        insert: "INSERT INTO entries (tenant, key, wire, tokens, raw) VALUES ($1, $2, $3, $4, $5) \
            ON CONFLICT DO NOTHING",
        update: None,
        find: None,
    },
    Table {
        name: "nodes",
        columns: &[Name, Bytes, Bytes, Bytes, Integer, Name],
        select: "SELECT tenant, digest, parent, entry, position, conversation FROM nodes \
            ORDER BY position, tenant, digest",
        insert: "INSERT INTO nodes (tenant, digest, parent, entry, position, conversation) \
            SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS \
                (SELECT 1 FROM deleted_nodes AS d WHERE d.tenant = $1 AND d.digest = $2) \
            AND ($3 IS NULL OR EXISTS \
                (SELECT 1 FROM nodes AS p WHERE p.tenant = $1 AND p.digest = $3)) \
            AND EXISTS (SELECT 1 FROM conversations AS c WHERE c.tenant = $1 AND c.id = $6) \
            ON CONFLICT DO NOTHING",
        update: None,
        find: Some((
            "SELECT 1 FROM nodes WHERE tenant = $1 AND digest = $2",
            &[0, 1],
        )),
    },
    Table {
        name: "compactions",
        columns: &[
            Name, Text, Name, Bytes, Text, Name, Integer, Integer, Integer, Integer, Text, Text,
            Integer,
        ],
        select: "SELECT tenant, id, conversation, node, model_class, state, head_entries, \
                covered_entries, tokens_before, tokens_after, summary, record, created_ms \
            FROM compactions ORDER BY tenant, created_ms, id",
        insert: "INSERT INTO compactions (tenant, id, conversation, node, model_class, state, \
                head_entries, covered_entries, tokens_before, tokens_after, summary, record, \
                created_ms) \
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 \
            WHERE EXISTS (SELECT 1 FROM nodes AS n WHERE n.tenant = $1 AND n.digest = $4) \
            AND EXISTS (SELECT 1 FROM conversations AS c WHERE c.tenant = $1 AND c.id = $3) \
            ON CONFLICT DO NOTHING",
        // A state only ever moves on.
        update: Some((
            "UPDATE compactions SET state = $3, record = $4 WHERE tenant = $1 AND id = $2 \
                AND (state = 'prepared' AND $3 <> 'prepared' \
                    OR state = 'published' AND $3 = 'undone')",
            &[0, 1, 5, 11],
        )),
        find: Some((
            "SELECT 1 FROM compactions WHERE tenant = $1 AND id = $2",
            &[0, 1],
        )),
    },
    Table {
        name: "changes",
        columns: &[Name, Name, Integer, Name, Text, Text, Integer],
        select: "SELECT tenant, conversation, seq, kind, compaction, body, at_ms FROM changes \
            ORDER BY tenant, conversation, seq",
        insert: "INSERT INTO changes (tenant, conversation, seq, kind, compaction, body, at_ms) \
            SELECT $1, $2, $3, $4, $5, $6, $7 \
            WHERE EXISTS (SELECT 1 FROM conversations AS c WHERE c.tenant = $1 AND c.id = $2) \
            AND ($5 IS NULL OR EXISTS \
                (SELECT 1 FROM compactions AS k WHERE k.tenant = $1 AND k.id = $5)) \
            ON CONFLICT DO NOTHING",
        update: None,
        find: Some((
            "SELECT 1 FROM changes WHERE tenant = $1 AND conversation = $2 AND seq = $3",
            &[0, 1, 2],
        )),
    },
    Table {
        name: PINS,
        columns: &[Name, Name, Text, Name, Integer],
        select: "SELECT tenant, conversation, text, mark, at_ms FROM pins \
            ORDER BY tenant, conversation, text",
        insert: "INSERT INTO pins (tenant, conversation, text, mark, at_ms) \
            SELECT $1, $2, $3, $4, $5 \
            WHERE EXISTS (SELECT 1 FROM conversations AS c WHERE c.tenant = $1 AND c.id = $2) \
            ON CONFLICT DO NOTHING",
        update: Some((
            "UPDATE pins SET mark = $4, at_ms = $5 WHERE tenant = $1 AND conversation = $2 \
                AND text = $3 AND at_ms < $5",
            &[0, 1, 2, 3, 4],
        )),
        find: Some((
            "SELECT 1 FROM pins WHERE tenant = $1 AND conversation = $2 AND text = $3",
            &[0, 1, 2],
        )),
    },
    Table {
        name: "windows",
        columns: &[Text, Text, Integer, Integer],
        select: "SELECT endpoint, model, window_tokens, at_ms FROM windows ORDER BY endpoint, model",
        insert: "INSERT INTO windows (endpoint, model, window_tokens, at_ms) \
            VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        update: Some((
            "UPDATE windows SET window_tokens = $3, at_ms = $4 \
                WHERE endpoint = $1 AND model = $2 AND at_ms < $4",
            &[0, 1, 2, 3],
        )),
        find: None,
    },
    Table {
        name: "beliefs",
        columns: &[Text, Text, Text, Text, Integer],
        select: "SELECT endpoint, model, \"window\", counts, at_ms FROM beliefs \
            ORDER BY endpoint, model",
        insert: "INSERT INTO beliefs (endpoint, model, \"window\", counts, at_ms) \
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        update: Some((
            "UPDATE beliefs SET \"window\" = COALESCE($3, \"window\"), \
                counts = COALESCE($4, counts), at_ms = $5 \
                WHERE endpoint = $1 AND model = $2 AND at_ms < $5",
            &[0, 1, 2, 3, 4],
        )),
        find: None,
    },
    // Written through `save_memory`, which makes its words.
    Table {
        name: MEMORIES,
        columns: &[Name, Text, Bytes, Text, Text, Name, Name, Integer],
        select: "SELECT tenant, id, key, kind, text, conversation, entries, created_ms \
            FROM memories ORDER BY tenant, created_ms, number",
        insert: "",
        update: None,
        find: None,
    },
    Table {
        name: "turns",
        columns: &[Name, Name, Name, Bytes, Name, Integer],
        select: "SELECT tenant, id, previous, items, compaction, at_ms FROM turns \
            ORDER BY tenant, id",
        insert: "INSERT INTO turns (tenant, id, previous, items, compaction, at_ms) \
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        update: None,
        find: None,
    },
    // Behind all that may stand on what goes: a fork that came with the same snapshot keeps its links. Before the notes, which a
    // deletion leaves without a name.
    Table {
        name: DELETED_CONVERSATIONS,
        columns: &[Name, Name, Integer],
        select: "SELECT tenant, id, at_ms FROM deleted_conversations ORDER BY tenant, id",
        insert: "INSERT INTO deleted_conversations (tenant, id, at_ms) VALUES ($1, $2, $3) \
            ON CONFLICT DO NOTHING",
        update: None,
        find: None,
    },
    // What is a link of somebody here is none that was deleted.
    Table {
        name: "deleted_nodes",
        columns: &[Name, Bytes, Integer],
        select: "SELECT tenant, digest, at_ms FROM deleted_nodes ORDER BY tenant, digest",
        insert: "INSERT INTO deleted_nodes (tenant, digest, at_ms) SELECT $1, $2, $3 \
            WHERE NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.tenant = $1 AND n.digest = $2) \
            ON CONFLICT DO NOTHING",
        update: None,
        find: Some((
            "SELECT 1 FROM deleted_nodes WHERE tenant = $1 AND digest = $2",
            &[0, 1],
        )),
    },
    // They have no names: one that says the same of the same moment is the same.
    Table {
        name: "summary_spend",
        columns: &[Name, Integer, Integer],
        select: "SELECT tenant, day, nanodollars FROM summary_spend ORDER BY tenant, day",
        insert: "INSERT INTO summary_spend (tenant, day, nanodollars) VALUES ($1, $2, $3) \
            ON CONFLICT DO NOTHING",
        // Of two stores that were one, the one that went on knows more.
        update: Some((
            "UPDATE summary_spend SET nanodollars = $3 \
                WHERE tenant = $1 AND day = $2 AND nanodollars < $3",
            &[0, 1, 2],
        )),
        find: None,
    },
    Table {
        name: "outcomes",
        columns: &[Name, Name, Integer, Name, Name, Integer, Integer, Text],
        select: "SELECT tenant, conversation, at_ms, action, reason, tokens_before, tokens_after, \
                model FROM outcomes ORDER BY tenant, at_ms, id",
        insert: "INSERT INTO outcomes (tenant, conversation, at_ms, action, reason, \
                tokens_before, tokens_after, model) \
            SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE NOT EXISTS (SELECT 1 FROM outcomes AS o \
                WHERE o.tenant = $1 AND o.at_ms = $3 AND o.action = $4 AND o.reason = $5 \
                    AND o.tokens_before = $6 AND o.tokens_after = $7 AND o.model = $8 \
                    AND COALESCE(o.conversation, '') = COALESCE($2, '')) \
            AND NOT EXISTS (SELECT 1 FROM deleted_conversations AS d \
                WHERE d.tenant = $1 AND d.id = $2)",
        update: None,
        find: Some((
            "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM deleted_conversations AS d \
                WHERE d.tenant = $1 AND d.id = $2)",
            &[0, 1],
        )),
    },
];

pub(crate) const STORE_KEYS: &str = "store_keys";

pub(crate) const SEALED_SECRETS: &str = "sealed_secrets";

pub(crate) const TENANTS: &str = "tenants";

pub(crate) const PINS: &str = "pins";

/// Where a pin has its text.
pub(crate) const PIN_TEXT: usize = 2;

pub(crate) const MEMORIES: &str = "memories";

pub(crate) const DELETED_CONVERSATIONS: &str = "deleted_conversations";

/// Where a snapshot of its rows is known by.
pub(crate) fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

impl SnapshotRow {
    /// The text at a place; empty where there is none.
    pub(crate) fn text(&self, at: usize) -> &str {
        match self.cells.get(at) {
            Some(Cell::Text(text)) => text,
            _ => "",
        }
    }

    /// The bytes at a place; none where there are none.
    pub(crate) fn bytes(&self, at: usize) -> &[u8] {
        match self.cells.get(at) {
            Some(Cell::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    /// The number at a place.
    pub(crate) fn integer(&self, at: usize) -> i64 {
        match self.cells.get(at) {
            Some(Cell::Integer(number)) => *number,
            _ => 0,
        }
    }
}

/// `snapshot`, on a connection whose transaction sees one moment. The statement gives the names of the tables, of which an earlier
/// version may not have all; `$cell` reads a value of a kind.
macro_rules! snapshot {
    ($connection:ty, $tables:expr, $cell:path) => {
        async fn snapshot(
            connection: &mut $connection,
            each: &mut (dyn FnMut(SnapshotRow) -> ControlFlow<()> + Send),
        ) -> Result<()> {
            let rows = query($tables).fetch_all(&mut *connection).await?;
            let there = rows.iter().map(|row| Ok(row.try_get(0)?));
            let there: Vec<String> = there.collect::<Result<_>>()?;
            for table in crate::housekeeping::snapshot::TABLES {
                // A file of an earlier version is read as it is.
                if !there.iter().any(|name| name == table.name) {
                    continue;
                }
                let mut rows = query(table.select).fetch(&mut *connection);
                while let Some(row) = rows.try_next().await? {
                    let columns = table.columns.iter().enumerate();
                    let cells = columns.map(|(at, kind)| $cell(&row, at, *kind));
                    let row = SnapshotRow {
                        table: table.name,
                        cells: cells.collect::<Result<_>>()?,
                    };
                    if each(row).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        }
    };
}
pub(crate) use snapshot;
