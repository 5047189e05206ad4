//! `epitome undo`.

use anyhow::{Context, Result, bail};
use epitome_engine::record::{ChangePlace, Record};
use epitome_store::{
    AnyStore, Appended, ChangeKind, ChangeRow, Changes, CompactionRow, CompactionState,
    Compactions, Conversations, NewChange, Store, TenantId,
};
use serde_json::json;

use super::{path, unknown_session};
use crate::args::UndoArgs;
use crate::terminal::tell;
use crate::{Ending, clock, print};

/// How often another writer may be faster.
const ATTEMPTS: usize = 5;

pub(super) async fn run(args: &UndoArgs) -> Result<Ending> {
    let store = args.at.open().await?;
    let tenant = &args.at.tenant;
    let id = &args.session;
    if store.conversation(tenant, id).await?.is_none() {
        return Ok(unknown_session(id));
    }
    let rows = store.compactions_of(tenant, id).await?;
    let in_force = |row: &CompactionRow| row.state == CompactionState::Published;
    let Some(row) = rows.into_iter().rfind(in_force) else {
        tell!("epitome: no compaction of {id} is in force");
        return Ok(Ending::No);
    };
    let record = match Record::of(&row) {
        Ok(record) => Some(record),
        // It is taken back all the same where that is wanted: its summary is no longer shown then, and nothing is lost.
        Err(error) if args.force => {
            tell!("epitome: {error}");
            None
        }
        Err(error) => {
            return Err(error).context(
                "whether the conversation fits without it is not known; undo all the same with --force",
            );
        }
    };
    if let Some(line) = record.and_then(|record| record.hard_tokens())
        && row.tokens_before > line
        && !args.force
    {
        tell!(
            "epitome: without {} the conversation takes {} tokens, and {line} are allowed; compact it again with \
             other settings, or undo all the same with --force",
            row.id,
            row.tokens_before
        );
        return Ok(Ending::No);
    }
    append(&store, tenant, &row).await?;
    store.close().await;
    print(&if args.at.json {
        let undone = json!({ "session": id.as_str(), "undone": row.id,
            "tokens_before": row.tokens_after, "tokens_after": row.tokens_before });
        undone.to_string() + "\n"
    } else {
        let (small, large) = (row.tokens_after, row.tokens_before);
        format!("undone {}: from {small} back to {large} tokens\n", row.id)
    })?;
    Ok(Ending::Done)
}

/// Notes it as a change, so that it can be seen later that it was undone and when.
async fn append(store: &AnyStore, tenant: &TenantId, row: &CompactionRow) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let changes = store.changes(tenant, &row.conversation).await?;
        let entries = path(store, tenant, &row.conversation).await?.len();
        let change = NewChange::from(ChangeRow {
            conversation: row.conversation.clone(),
            seq: u32::try_from(changes.len()).unwrap_or(u32::MAX),
            kind: ChangeKind::Undone,
            compaction: Some(row.id.clone()),
            body: ChangePlace { entries }.write()?,
            at_ms: i64::try_from(clock::now_ms()).unwrap_or(i64::MAX),
        });
        if store.append_change(tenant, &change).await? == Appended::Stored {
            return Ok(());
        }
    }
    bail!("the conversation is being changed by somebody else; try again");
}
