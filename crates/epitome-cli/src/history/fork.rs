//! `epitome fork`.

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use epitome_store::{
    Append, Appended, ChangeKind, ChangeRow, ConversationId, NewChange, NewConversation, Store,
};
use serde_json::json;

use super::{StoreArgs, tip, unknown_session};
use crate::{Ending, print, source};

#[derive(Debug, ClapArgs)]
pub(crate) struct ForkArgs {
    /// The conversation to branch off
    #[arg(long, value_name = "ID")]
    session: ConversationId,
    /// How many of its first entries both share
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    at: u32,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) async fn run(args: &ForkArgs) -> Result<Ending> {
    let store = args.store.open().await?;
    let tenant = &args.store.tenant;
    let Some(end) = tip(&store, tenant, &args.session).await? else {
        return Ok(unknown_session(&args.session));
    };
    let path = store.path(tenant, end.digest).await?;
    let wanted = usize::try_from(args.at - 1).unwrap_or(usize::MAX);
    let Some(node) = path.get(wanted) else {
        bail!(
            "{} has {} entries; --at is one of them",
            args.session,
            path.len()
        );
    };
    let now_ms = i64::try_from(source::now_ms()).unwrap_or(i64::MAX);
    let id = ConversationId::new(&uuid::Uuid::now_v7().simple().to_string())?;
    let mut forked = NewChange::from(ChangeRow {
        conversation: id.clone(),
        seq: 0,
        kind: ChangeKind::Forked,
        compaction: None,
        body: json!({ "from": args.session.as_str(), "entries": args.at,
            "node": node.digest.to_string() })
        .to_string(),
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
