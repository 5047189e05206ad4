//! `epitome store stats`.

use anyhow::Result;
use epitome_store::{Housekeeping as _, Store as _, StoreStatistics};
use serde_json::{Value, json};

use super::human;
use crate::args::StorePlainArgs;
use crate::{Ending, print};

pub(super) async fn run(args: &StorePlainArgs) -> Result<Ending> {
    let store = args.place().open_read_only().await?;
    let found = store.statistics().await?;
    store.close().await;
    match args.json {
        true => print(&(object(&found).to_string() + "\n"))?,
        false => print(&table(&found))?,
    }
    Ok(Ending::Done)
}

fn object(found: &StoreStatistics) -> Value {
    json!({
        "schema": found.schema,
        "tenants": found.tenants,
        "conversations": found.conversations,
        "entries": found.entries,
        "entry_bytes": found.entry_bytes,
        "nodes": found.nodes,
        "compactions": found.compactions,
        "memories": found.memories,
        "turns": found.turns,
        "outcomes": found.outcomes,
        "deleted_nodes": found.deleted_nodes,
        "disk_bytes": found.disk_bytes,
        "oldest_ms": found.oldest_ms,
        "newest_ms": found.newest_ms,
    })
}

fn table(found: &StoreStatistics) -> String {
    let rows = [
        ("tenants", found.tenants.to_string()),
        ("conversations", found.conversations.to_string()),
        (
            "messages",
            format!("{} ({})", found.entries, human(found.entry_bytes)),
        ),
        ("compactions", found.compactions.to_string()),
        ("memories", found.memories.to_string()),
        ("turns", found.turns.to_string()),
        ("notes of requests", found.outcomes.to_string()),
        ("deleted links", found.deleted_nodes.to_string()),
        ("on disk", human(found.disk_bytes)),
        ("schema", found.schema.to_string()),
    ];
    rows.iter()
        .map(|(name, value)| format!("{name:<18} {value}\n"))
        .collect()
}
