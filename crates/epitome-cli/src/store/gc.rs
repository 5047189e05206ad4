//! `epitome store gc`: conversations by age and by size, and what nobody needs.

use anyhow::Result;
use epitome_store::{
    AnyStore, Deleted, Error, Housekeeping as _, Oldest, OwnedConversation, Store as _,
    SweepBefore, Swept,
};
use serde_json::json;

use super::progress::Progress;
use super::{delete, human, now_ms};
use crate::args::StoreGcArgs;
use crate::terminal::tell;
use crate::{Ending, print};

/// How many conversations are asked for at a time.
const PIECE: u32 = 500;

/// Before every moment: nothing is that old.
const NEVER_MS: i64 = i64::MIN;

pub(super) async fn run(args: &StoreGcArgs) -> Result<Ending> {
    let store = match args.dry_run {
        true => args.at.place().open_read_only().await?,
        false => args.at.place().open().await?,
    };
    let done = collect(args, &store).await;
    store.close().await;
    done
}

/// What went, or would go.
#[derive(Default)]
struct Gone {
    conversations: Vec<(OwnedConversation, Deleted)>,
    /// Those that engines put others together from.
    kept: Vec<OwnedConversation>,
}

async fn collect(args: &StoreGcArgs, store: &AnyStore) -> Result<Ending> {
    let now_ms = now_ms();
    let mut progress = Progress::start(args.at.quiet);
    let mut gone = Gone::default();
    if let Some(age_ms) = args.older_than {
        let before_ms = now_ms.saturating_sub(age_ms);
        delete_oldest(args, store, before_ms, |_| false, &mut gone, &mut progress).await?;
    }
    if let Some(most) = args.max_bytes {
        let taken = store.statistics().await?.entry_bytes;
        let is_enough = |freed| taken.saturating_sub(freed) <= most;
        delete_oldest(args, store, i64::MAX, is_enough, &mut gone, &mut progress).await?;
    }
    let before = |age_ms: Option<i64>| age_ms.map_or(NEVER_MS, |age| now_ms.saturating_sub(age));
    let swept = match args.dry_run {
        true => Swept::default(),
        false => {
            let before = SweepBefore {
                tenant: args.tenant.as_ref(),
                outcomes_ms: before(args.notes_older_than),
                turns_ms: before(args.notes_older_than),
                deleted_ms: before(args.forget_deleted_after),
            };
            store.sweep(before).await?
        }
    };
    progress.end();
    for one in &gone.kept {
        let (id, tenant) = (&one.id, &one.tenant);
        tell!(
            "epitome: {id} of {} stays: a fork is put together from it",
            tenant.as_str()
        );
    }
    match args.at.json {
        true => print(&(object(args, &gone, swept).to_string() + "\n"))?,
        false => print(&lines(args, &gone, swept))?,
    }
    Ok(Ending::Done)
}

/// Deletes the oldest ones until so many bytes were given free.
async fn delete_oldest(
    args: &StoreGcArgs,
    store: &AnyStore,
    before_ms: i64,
    is_enough: impl Fn(u64) -> bool,
    gone: &mut Gone,
    progress: &mut Progress,
) -> Result<()> {
    let mut freed = 0;
    let mut last: Option<OwnedConversation> = None;
    loop {
        let wanted = Oldest {
            tenant: args.tenant.as_ref(),
            before_ms,
            behind: last.as_ref(),
        };
        let found = store.oldest_conversations(wanted, PIECE).await?;
        let Some(newest) = found.last().cloned() else {
            return Ok(());
        };
        for one in found {
            if is_enough(freed) {
                return Ok(());
            }
            freed += remove(args, store, one, gone).await?;
            progress.tell(|| format!("{} conversations", gone.conversations.len()));
        }
        last = Some(newest);
    }
}

/// The bytes that this gave free.
async fn remove(
    args: &StoreGcArgs,
    store: &AnyStore,
    one: OwnedConversation,
    gone: &mut Gone,
) -> Result<u64> {
    if args.dry_run {
        gone.conversations.push((one, Deleted::default()));
        return Ok(0);
    }
    // Whoever has touched it since it was listed keeps it.
    let before_ms = one.touched_ms.saturating_add(1);
    match store
        .delete_idle_conversation(&one.tenant, &one.id, before_ms)
        .await
    {
        Ok(Some(deleted)) => {
            gone.conversations.push((one, deleted));
            Ok(deleted.entry_bytes)
        }
        Ok(None) => Ok(0),
        Err(Error::Forked { .. }) => {
            if !gone.kept.contains(&one) {
                gone.kept.push(one);
            }
            Ok(0)
        }
        Err(error) => Err(error.into()),
    }
}

fn object(args: &StoreGcArgs, gone: &Gone, swept: Swept) -> serde_json::Value {
    let rows = gone.conversations.iter();
    let rows = rows.map(|(one, deleted)| delete::object(&one.tenant, &one.id, deleted));
    let kept = gone.kept.iter().map(|one| one.id.as_str());
    json!({
        "dry_run": args.dry_run,
        "deleted": rows.collect::<Vec<_>>(),
        "kept_for_forks": kept.collect::<Vec<_>>(),
        "swept": {
            "entries": swept.entries,
            "entry_bytes": swept.entry_bytes,
            "outcomes": swept.outcomes,
            "turns": swept.turns,
            "deleted_marks": swept.deleted_marks,
        },
    })
}

fn lines(args: &StoreGcArgs, gone: &Gone, swept: Swept) -> String {
    if args.dry_run && gone.conversations.is_empty() {
        return "no conversation would be deleted; --older-than AGE deletes old ones\n".to_owned();
    }
    if args.dry_run {
        let one = |(one, _): &(OwnedConversation, Deleted)| format!("would delete {}\n", one.id);
        return gone.conversations.iter().map(one).collect();
    }
    let rows = gone.conversations.iter();
    let mut text: String = rows
        .map(|(one, deleted)| delete::line(&one.id, deleted))
        .collect();
    text.push_str(&format!(
        "swept {} messages that no conversation has ({}), {} notes, {} turns, {} marks\n",
        swept.entries,
        human(swept.entry_bytes),
        swept.outcomes,
        swept.turns,
        swept.deleted_marks,
    ));
    text
}
