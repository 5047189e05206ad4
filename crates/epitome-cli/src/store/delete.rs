//! `epitome store delete`.

use anyhow::Result;
use epitome_store::{
    AnyStore, ConversationId, Deleted, Error, Housekeeping as _, Store as _, TenantId,
};
use serde_json::{Value, json};

use super::{human, now_ms};
use crate::args::StoreDeleteArgs;
use crate::history::unknown_session;
use crate::{Ending, print};

pub(super) async fn run(args: &StoreDeleteArgs) -> Result<Ending> {
    let store = args.at.place().open().await?;
    let ending = delete(args, &store).await;
    store.close().await;
    ending
}

async fn delete(args: &StoreDeleteArgs, store: &AnyStore) -> Result<Ending> {
    let mut waiting = vec![args.session.clone()];
    let mut gone = Vec::new();
    while let Some(id) = waiting.last().cloned() {
        match store.delete_conversation(&args.tenant, &id, now_ms()).await {
            Ok(Some(deleted)) => gone.push((id, deleted)),
            Ok(None) if gone.is_empty() => return Ok(unknown_session(&id)),
            Ok(None) => {}
            Err(Error::Forked { forks, .. }) if args.with_forks => {
                let forks: Result<Vec<_>, _> =
                    forks.iter().map(|id| ConversationId::new(id)).collect();
                waiting.extend(forks?);
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        waiting.pop();
    }
    match args.at.json {
        true => {
            let rows = gone.iter().map(|(id, one)| object(&args.tenant, id, one));
            print(&(json!({ "deleted": rows.collect::<Vec<_>>() }).to_string() + "\n"))?;
        }
        false => {
            let lines: String = gone.iter().map(|(id, one)| line(id, one)).collect();
            print(&lines)?;
        }
    }
    Ok(Ending::Done)
}

pub(super) fn object(tenant: &TenantId, id: &ConversationId, deleted: &Deleted) -> Value {
    json!({
        "tenant": tenant.as_str(),
        "session": id.as_str(),
        "nodes": deleted.nodes,
        "rehomed_nodes": deleted.rehomed_nodes,
        "entries": deleted.entries,
        "entry_bytes": deleted.entry_bytes,
        "compactions": deleted.compactions,
        "memories": deleted.memories,
    })
}

pub(super) fn line(id: &ConversationId, deleted: &Deleted) -> String {
    let kept = match deleted.rehomed_nodes {
        0 => String::new(),
        count => format!(", {count} stay for what branched off"),
    };
    format!(
        "deleted {id}: {} messages ({}), {} compactions{kept}\n",
        deleted.entries,
        human(deleted.entry_bytes),
        deleted.compactions,
    )
}
