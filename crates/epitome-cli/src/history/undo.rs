//! `epitome undo`.

use anyhow::{Context, Result};
use epitome_engine::archive::{Regardless, Undo, undo};
use epitome_store::Store;
use serde_json::json;

use super::{full_session, unknown_session};
use crate::args::UndoArgs;
use crate::terminal::tell;
use crate::{Ending, clock, print};

pub(super) async fn run(args: &UndoArgs) -> Result<Ending> {
    let store = args.at.open().await?;
    let Some(id) = full_session(&store, &args.at.tenant, &args.session).await? else {
        return Ok(unknown_session(&args.session));
    };
    let id = &id;
    let regardless = match args.force {
        true => Regardless::OfSize,
        false => Regardless::No,
    };
    let now_ms = i64::try_from(clock::now_ms()).unwrap_or(i64::MAX);
    let undone = match undo(&store, &args.at.tenant, id, regardless, now_ms).await? {
        Undo::Done(undone) => undone,
        Undo::UnknownConversation => return Ok(unknown_session(id)),
        Undo::NothingInForce => {
            tell!("epitome: no compaction of {id} is in force");
            return Ok(Ending::No);
        }
        Undo::DoesNotFit {
            id,
            tokens,
            allowed_tokens,
        } => {
            tell!(
                "epitome: without {id} the conversation takes {tokens} tokens, and {allowed_tokens} are allowed; compact it \
                 again with other settings, or undo all the same with --force"
            );
            return Ok(Ending::No);
        }
        Undo::Unreadable(error) => {
            return Err(error).context(
                "whether the conversation fits without it is not known; undo all the same with --force",
            );
        }
    };
    store.close().await;
    let (small, large) = (undone.tokens_before, undone.tokens_after);
    print(&if args.at.json {
        let undone = json!({ "session": id.as_str(), "undone": undone.id,
            "tokens_before": small, "tokens_after": large });
        undone.to_string() + "\n"
    } else {
        format!(
            "undone {}: from {small} back to {large} tokens\n",
            undone.id
        )
    })?;
    Ok(Ending::Done)
}
