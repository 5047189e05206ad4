//! `epitome show`.

use std::io::Write;

use anyhow::{Result, bail};
use epitome_store::{CompactionRow, Compactions, Entries, Store};
use serde_json::Value;

use super::digest;
use super::log::{compaction_object, headline};
use crate::args::ShowArgs;
use crate::{Ending, print};

pub(super) async fn run(args: &ShowArgs) -> Result<Ending> {
    let store = args.at.open_read_only().await?;
    let tenant = &args.at.tenant;
    if let Some(key) = &args.entry {
        let Some(key) = digest(key) else {
            bail!("{key:?} is no key: 64 hexadecimal digits, as `epitome recall` prints them");
        };
        let Some(entry) = store.entry(tenant, key).await? else {
            eprintln!("epitome: no entry {key} in this store");
            return Ok(Ending::No);
        };
        return match std::io::stdout().lock().write_all(&entry.raw) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(Ending::Done),
        };
    }
    let id = args.id.as_deref().unwrap_or_default();
    let Some(row) = store.compaction(tenant, id).await? else {
        eprintln!(
            "epitome: no compaction {id} in this store; `epitome log --session ID` lists them"
        );
        return Ok(Ending::No);
    };
    store.close().await;
    let record = serde_json::from_str(&row.record).unwrap_or(Value::Null);
    print(&if args.at.json {
        object(&row, record).to_string() + "\n"
    } else {
        text(&row, &record)
    })?;
    Ok(Ending::Done)
}

fn object(row: &CompactionRow, record: Value) -> Value {
    let mut object = compaction_object(row);
    if let Value::Object(members) = &mut object {
        members.insert("record".to_owned(), record);
        members.insert("node".to_owned(), row.node.to_string().into());
        members.insert("model_class".to_owned(), row.model_class.clone().into());
    }
    object
}

fn text(row: &CompactionRow, record: &Value) -> String {
    let record = serde_json::to_string_pretty(record).unwrap_or_default();
    format!(
        "{}\nof {}\n\n{}\n\nrecord: {record}\n",
        headline(row),
        row.conversation,
        row.summary.trim_end()
    )
}
