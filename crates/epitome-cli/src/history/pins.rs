//! `epitome pins`.

mod listing;

use anyhow::{Result, bail};
use epitome_store::{AnyStore, Conversations, PinMark, PinRow, Pins, Store};
use serde_json::json;

use super::unknown_session;
use crate::args::PinsArgs;
use crate::terminal::tell;
use crate::{Ending, clock, print};
use listing::{Listed, Listing};

pub(super) async fn run(args: &PinsArgs) -> Result<Ending> {
    let wanted = match (&args.drop, &args.restore) {
        (Some(which), _) => Some((PinMark::Dropped, which)),
        (None, Some(which)) => Some((PinMark::Restored, which)),
        (None, None) => None,
    };
    let store = match wanted {
        Some(_) => args.at.open().await?,
        None => args.at.open_read_only().await?,
    };
    let tenant = &args.at.tenant;
    let id = &args.session;
    if store.conversation(tenant, id).await?.is_none() {
        return Ok(unknown_session(id));
    }
    let listing = Listing::of(&store, tenant, id).await?;
    let text = match wanted {
        None if args.at.json => listing.object(id).to_string() + "\n",
        None => listing.to_string(),
        Some((mark, which)) => {
            let is_meant = |listed: &&Listed| mark == PinMark::Dropped || listed.is_dropped();
            let Some(listed) = listing.find(which).filter(is_meant) else {
                let what = match mark {
                    PinMark::Dropped => "pin",
                    PinMark::Restored => "dropped pin",
                };
                bail!(
                    "{id} has no {what} {which:?}; there is, to be named by its number or word for word:\n{}",
                    listing.or_nothing()
                );
            };
            mark_as(&store, args, listed, mark).await?
        }
    };
    if wanted.is_none() && listing.compaction.is_none() {
        tell!("epitome: no compaction of {id} is in force, so that nothing is pinned yet");
    }
    store.close().await;
    print(&text)?;
    Ok(Ending::Done)
}

async fn mark_as(
    store: &AnyStore,
    args: &PinsArgs,
    listed: &Listed,
    mark: PinMark,
) -> Result<String> {
    let row = PinRow {
        conversation: args.session.clone(),
        text: listed.text.trim().to_owned(),
        mark,
        at_ms: i64::try_from(clock::now_ms()).unwrap_or(i64::MAX),
    };
    store.mark_pin(&args.at.tenant, &row).await?;
    let mark = mark.as_str();
    Ok(match args.at.json {
        true => json!({ "session": args.session.as_str(), mark: listed.text }).to_string() + "\n",
        false => format!("{mark}: {}\n", listed.text),
    })
}
