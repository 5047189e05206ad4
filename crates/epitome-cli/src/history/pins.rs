//! `epitome pins`.

mod listing;

use anyhow::{Result, bail};
use epitome_engine::archive::{self, ListedPin, PinList};
use epitome_store::{AnyStore, ConversationId, PinMark, Store};
use serde_json::json;

use super::{full_session, unknown_session};
use crate::args::PinsArgs;
use crate::terminal::{Page, tell};
use crate::{Ending, clock, print};
use listing::Lines;

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
    let Some(id) = full_session(&store, tenant, &args.session).await? else {
        return Ok(unknown_session(&args.session));
    };
    let id = &id;
    let Some(list) = archive::pins(&store, tenant, id).await? else {
        return Ok(unknown_session(id));
    };
    if let Some(error) = &list.unreadable {
        tell!("epitome: {error}");
    }
    let text = match wanted {
        None if args.at.json => {
            let (pins, compaction) = (list.objects(), &list.compaction);
            json!({ "session": id.as_str(), "compaction": compaction, "pins": pins }).to_string()
                + "\n"
        }
        None => return listed(&store, &list, id).await,
        Some((mark, which)) => {
            let is_meant = |listed: &&ListedPin| mark == PinMark::Dropped || listed.is_dropped();
            let Some(listed) = list.find(which).filter(is_meant) else {
                let what = match mark {
                    PinMark::Dropped => "pin",
                    PinMark::Restored => "dropped pin",
                };
                bail!(
                    "{id} has no {what} {which:?}; there is, to be named by its number or word for word:\n{}",
                    Lines(&list).or_nothing()
                );
            };
            let now_ms = i64::try_from(clock::now_ms()).unwrap_or(i64::MAX);
            archive::mark_pin(&store, tenant, id, listed, mark, now_ms).await?;
            let mark = mark.as_str();
            match args.at.json {
                true => json!({ "session": id.as_str(), mark: listed.text }).to_string() + "\n",
                false => format!("{mark}: {}\n", listed.text),
            }
        }
    };
    if wanted.is_none() {
        told(&list, id);
    }
    store.close().await;
    print(&text)?;
    Ok(Ending::Done)
}

async fn listed(store: &AnyStore, list: &PinList, id: &ConversationId) -> Result<Ending> {
    store.close().await;
    Page::of(&Lines(list).to_string()).print()?;
    told(list, id);
    Ok(Ending::Done)
}

fn told(list: &PinList, id: &ConversationId) {
    if list.compaction.is_none() {
        tell!("epitome: no compaction of {id} is in force, so that nothing is pinned yet");
    }
}
