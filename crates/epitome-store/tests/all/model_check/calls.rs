//! What clients ask of a store, as data: the same call for the store and for the model.

use epitome_store::{
    Append, ChangeKind, ChangeRow, Committed, CompactionRow, CompactionState, ConversationId,
    Digest, NewChange, Result, Store, TenantId,
};
use epitome_testkit::Random;

use super::model::{Answer, Model, Refusal};
use super::{Client, Clock};
use crate::fixtures::{chain, compaction, conversation, node};

/// Longer than any run.
pub(super) const HOUR_MS: i64 = 3_600_000;

pub(super) const PLACES: [&str; 3] = ["a", "b", "c"];

/// Conversations that begin alike and part: what is said at each place, whoever says it.
const LETTERS: [&str; 2] = ["x", "y"];
const LONGEST: usize = 5;

#[derive(Debug, Clone)]
pub(super) enum Call {
    Push(Append),
    Extend(Append, Option<Digest>),
    Commit(Append, CompactionRow),
    Publish(String, String),
    Undo(String),
    Change(Box<NewChange>),
    Acquire(ConversationId, String, i64, i64),
    Renew(ConversationId, u64, i64, i64),
    Release(ConversationId, u64),
    Delete(ConversationId),
}

/// Every node's name is all that was said up to it.
fn history(random: &mut Random) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    for _ in 0..random.between(1, LONGEST) {
        let letter: &&str = random.pick(&LETTERS);
        name.push_str(letter);
        names.push(name.clone());
    }
    names
}

pub(super) fn every_node() -> Vec<Digest> {
    let mut names = vec![String::new()];
    let mut all = Vec::new();
    for _ in 0..LONGEST {
        let longer = |name: &String| LETTERS.map(|letter| format!("{name}{letter}"));
        names = names.iter().flat_map(longer).collect();
        all.extend(names.iter().map(|name| node(name)));
    }
    all
}

/// What a client sends: all again, or only what it believes to be new.
fn piece(random: &mut Random, place: &str, names: &[String], step: i64) -> Append {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let known = match random.chance(40) {
        true => random.below(names.len()),
        false => 0,
    };
    let mut append = chain(place, &names, known);
    append.touched_ms = step;
    if random.chance(15) {
        let parent = *random.pick(&PLACES);
        append.conversation.parent = (parent != place).then(|| conversation(parent));
    }
    append
}

impl Call {
    pub(super) fn any(random: &mut Random, client: &Client, model: &Model, step: i64) -> Self {
        let place = *random.pick(&PLACES);
        let id = conversation(place);
        let now_ms = client.now_ms(step);
        let lasts_ms = *random.pick(&[0, HOUR_MS]);
        let fence = client.fences.get(&id).copied().unwrap_or(1);
        let names = history(random);
        match random.below(100) {
            0..30 => Self::Push(piece(random, place, &names, step)),
            30..38 => {
                let after = match random.chance(80) {
                    true => model.tip(&id).map(|node| node.digest),
                    false => None,
                };
                Self::Extend(piece(random, place, &names, step), after)
            }
            38..53 => {
                let span = piece(random, place, &names, step);
                let row = new_compaction(random, model, place, &names, step);
                Self::Commit(span, row)
            }
            53..60 => Self::Publish(some_compaction(random, model), format!("{{\"n\":{step}}}")),
            60..65 => Self::Undo(some_compaction(random, model)),
            65..77 => Self::Change(Box::new(new_change(
                random, model, client, place, &names, step,
            ))),
            77..88 => Self::Acquire(id, client.name.clone(), now_ms, now_ms + lasts_ms),
            88..92 => Self::Renew(id, fence, now_ms, now_ms + lasts_ms),
            92..95 => Self::Release(id, fence),
            _ => Self::Delete(id),
        }
    }

    /// What the store answers.
    pub(super) async fn ask(&self, store: &impl Store, tenant: &TenantId, step: i64) -> Answer {
        let answered: Result<Answer> = match self {
            Self::Push(piece) => store.append(tenant, piece).await.map(|()| Answer::Done),
            Self::Extend(piece, after) => {
                let extended = store.extend(tenant, piece, *after).await;
                extended.map(Answer::Appended)
            }
            Self::Commit(span, row) => {
                let committed = store.commit_compaction(tenant, span, row).await;
                committed.map(|committed| match committed {
                    Committed::New(_) => Answer::New,
                    Committed::Existing(first) => Answer::Existing(first.id),
                })
            }
            Self::Publish(id, record) => {
                let published = store.publish(tenant, id, Some(record)).await;
                published.map(|()| Answer::Done)
            }
            Self::Undo(id) => store.undo(tenant, id).await.map(|()| Answer::Done),
            Self::Change(new) => store.append_change(tenant, new).await.map(Answer::Appended),
            Self::Acquire(id, holder, now_ms, until_ms) => {
                let asked = store.acquire_lease(tenant, id, holder, *now_ms, *until_ms);
                asked.await.map(Answer::Fence)
            }
            Self::Renew(id, fence, now_ms, until_ms) => {
                let asked = store.renew_lease(tenant, id, *fence, *now_ms, *until_ms);
                asked.await.map(Answer::Renewed)
            }
            Self::Release(id, fence) => {
                let released = store.release_lease(tenant, id, *fence).await;
                released.map(|()| Answer::Done)
            }
            Self::Delete(id) => {
                let deleted = store.delete_conversation(tenant, id, step).await;
                let counts =
                    |one: epitome_store::Deleted| (one.nodes, one.rehomed_nodes, one.compactions);
                deleted.map(|deleted| Answer::Deleted(deleted.map(counts)))
            }
        };
        answered.unwrap_or_else(|error| Answer::Refused(Refusal::of(&error)))
    }

    /// What it must answer.
    pub(super) fn play(&self, model: &mut Model, clock: &Clock) -> Answer {
        match self {
            Self::Push(piece) => model.append(piece),
            Self::Extend(piece, after) => model.extend(piece, *after),
            Self::Commit(span, row) => model.commit(span, row),
            Self::Publish(id, record) => model.publish(id, record),
            Self::Undo(id) => model.undo(id),
            Self::Change(new) => model.change(new),
            Self::Acquire(id, holder, now_ms, until_ms) => {
                let at_ms = clock.at_ms(*now_ms);
                model.acquire(id, holder, at_ms, at_ms + until_ms - now_ms)
            }
            Self::Renew(id, fence, now_ms, until_ms) => {
                let at_ms = clock.at_ms(*now_ms);
                model.renew(id, *fence, at_ms + until_ms - now_ms)
            }
            Self::Release(id, fence) => model.release(id, *fence),
            Self::Delete(id) => model.delete(id),
        }
    }
}

fn some_compaction(random: &mut Random, model: &Model) -> String {
    let ids: Vec<&String> = model.compactions.keys().collect();
    match ids.is_empty() || random.chance(5) {
        true => "nobody's".to_owned(),
        false => (*random.pick(&ids)).clone(),
    }
}

/// A new one, or, as whoever does not know whether it was stored, one that is there already.
fn new_compaction(
    random: &mut Random,
    model: &Model,
    place: &str,
    names: &[String],
    step: i64,
) -> CompactionRow {
    if let Some(row) = model.compactions.get(&some_compaction(random, model))
        && random.chance(25)
    {
        return CompactionRow {
            conversation: conversation(place),
            state: CompactionState::Prepared,
            ..row.clone()
        };
    }
    let last = names.last().map_or("", String::as_str);
    let mut row = compaction(&format!("k{step}"), place, last);
    row.model_class = (*random.pick(&["large", "small"])).to_owned();
    row.created_ms = step;
    row
}

fn new_change(
    random: &mut Random,
    model: &Model,
    client: &Client,
    place: &str,
    names: &[String],
    step: i64,
) -> NewChange {
    let id = conversation(place);
    let count = model.changes.get(&id).map_or(0, Vec::len);
    // One in five comes too late or too early.
    let seq = match random.chance(80) {
        true => count,
        false => random.below(4),
    };
    let mut new = NewChange::from(ChangeRow {
        conversation: id.clone(),
        seq: u32::try_from(seq).unwrap(),
        kind: ChangeKind::Superseded,
        compaction: None,
        body: format!("{{\"n\":{step}}}"),
        at_ms: step,
    });
    if random.chance(60) {
        new.fence = client.fences.get(&id).copied();
    }
    // Engines take back only what is their own.
    let own: Vec<String> = model
        .compactions_of(&id)
        .into_iter()
        .map(|row| row.id)
        .collect();
    match random.below(4) {
        0 => {
            let mut row = new_compaction(random, model, place, names, step);
            row.id = format!("k{step}");
            row.state = CompactionState::Published;
            new.change.kind = ChangeKind::Compacted;
            new.change.compaction = Some(row.id.clone());
            new.compaction = Some(row);
            new.span = Some(piece(random, place, names, step));
        }
        1 if !own.is_empty() => {
            new.change.kind = ChangeKind::Undone;
            new.change.compaction = Some(random.pick(&own).clone());
        }
        2 => {
            new.change.kind = ChangeKind::Forked;
            new.span = Some(piece(random, place, names, step));
        }
        _ => {}
    }
    new
}
