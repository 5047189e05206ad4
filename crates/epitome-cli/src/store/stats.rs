//! `epitome store stats`.

use anyhow::Result;
use epitome_store::{Housekeeping as _, Store as _, StoreStatistics};
use serde_json::{Value, json};

use super::human;
use crate::args::StorePlainArgs;
use crate::terminal::{Page, Table, grouped, left};
use crate::{Ending, print};

pub(super) async fn run(args: &StorePlainArgs) -> Result<Ending> {
    let store = args.place().open_read_only().await?;
    let found = store.statistics().await?;
    store.close().await;
    match args.json {
        true => print(&(object(&found).to_string() + "\n"))?,
        false => page(&found).print()?,
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

fn page(found: &StoreStatistics) -> Page {
    let rows = [
        ("tenants", grouped(found.tenants)),
        ("conversations", grouped(found.conversations)),
        (
            "messages",
            format!("{} ({})", grouped(found.entries), human(found.entry_bytes)),
        ),
        ("compactions", grouped(found.compactions)),
        ("memories", grouped(found.memories)),
        ("turns", grouped(found.turns)),
        ("notes of requests", grouped(found.outcomes)),
        ("deleted links", grouped(found.deleted_nodes)),
        ("on disk", human(found.disk_bytes)),
        ("schema", found.schema.to_string()),
    ];
    let mut table = Table::new([left(""), left("")]);
    for (name, value) in rows {
        table.row([name.to_owned(), value]);
    }
    let mut page = Page::default();
    page.table(table);
    page
}
