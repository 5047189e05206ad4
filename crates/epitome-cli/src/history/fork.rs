//! `epitome fork`.

use anyhow::{Result, bail};
use epitome_engine::archive::path;
use epitome_engine::record::ForkPlace;
use epitome_store::{
    Append, Appended, ChangeKind, ChangeRow, Changes, ConversationId, NewChange, NewConversation,
    Store,
};
use serde_json::json;

use super::unknown_session;
use crate::args::ForkArgs;
use crate::{Ending, clock, print};

pub(super) async fn run(args: &ForkArgs) -> Result<Ending> {
    let store = args.store.open().await?;
    let tenant = &args.store.tenant;
    let path = path(&store, tenant, &args.session).await?;
    if path.is_empty() {
        return Ok(unknown_session(&args.session));
    }
    let entries = usize::try_from(args.at).unwrap_or(usize::MAX);
    if entries > path.len() {
        let there = path.len();
        bail!("{} has {there} entries; --at is one of them", args.session);
    }
    let changes = store.changes(tenant, &args.session).await?;
    let place = ForkPlace {
        parent: args.session.to_string(),
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
            parent: Some(args.session.clone()),
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
        let forked = json!({ "session": id.as_str(), "parent": args.session.as_str(),
            "entries": args.at });
        forked.to_string() + "\n"
    } else {
        format!("{id}\n")
    })?;
    Ok(Ending::Done)
}
