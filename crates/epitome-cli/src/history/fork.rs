//! `epitome fork`.

use anyhow::{Result, bail};
use epitome_engine::archive::path;
use epitome_engine::record::ForkPlace;
use epitome_store::{
    Append, Appended, ChangeKind, ChangeRow, Changes, ConversationId, NewChange, NewConversation,
    Store,
};
use serde_json::json;

use super::{full_session, unknown_session};
use crate::args::ForkArgs;
use crate::{Ending, clock, print};

pub(super) async fn run(args: &ForkArgs) -> Result<Ending> {
    let store = args.store.open().await?;
    let tenant = &args.store.tenant;
    let Some(parent) = full_session(&store, tenant, &args.session).await? else {
        return Ok(unknown_session(&args.session));
    };
    let path = path(&store, tenant, &parent).await?;
    if path.is_empty() {
        return Ok(unknown_session(&parent));
    }
    let entries = usize::try_from(args.at).unwrap_or(usize::MAX);
    if entries > path.len() {
        let there = path.len();
        bail!("{parent} has {there} entries; --at is one of them");
    }
    let changes = store.changes(tenant, &parent).await?;
    let place = ForkPlace {
        parent: parent.to_string(),
        parent_entries: path.len(),
        parent_changes: u32::try_from(changes.len()).unwrap_or(u32::MAX),
        entries,
    };
    let now_ms = i64::try_from(clock::now_ms()).unwrap_or(i64::MAX);
    let id = ConversationId::new(&clock::new_id())?;
    let mut forked = NewChange::from(ChangeRow {
        conversation: id.clone(),
        seq: 0,
        kind: ChangeKind::Forked,
        compaction: None,
        body: place.write()?,
        at_ms: now_ms,
    });
    forked.span = Some(Append {
        conversation: NewConversation {
            id: id.clone(),
            parent: Some(parent.clone()),
            label: None,
            created_ms: now_ms,
        },
        entries: Vec::new(),
        nodes: Vec::new(),
        words: Vec::new(),
        touched_ms: now_ms,
    });
    if store.append_change(tenant, &forked).await? == Appended::Superseded {
        bail!("the new name {id} is taken; try again");
    }
    store.close().await;
    print(&if args.store.json {
        let forked = json!({ "session": id.as_str(), "parent": parent.as_str(),
            "entries": args.at });
        forked.to_string() + "\n"
    } else {
        format!("{id}\n")
    })?;
    Ok(Ending::Done)
}
