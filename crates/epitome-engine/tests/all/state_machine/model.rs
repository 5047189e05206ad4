//! The sequential model: what was acknowledged, what is in force, and what is shown, one conversation at a time.

use std::sync::Arc;

use bytes::Bytes;
use epitome::{Change, Message, Reason, Record, Session};
use epitome_engine::Conversation;
use epitome_store::{ChangeKind, CompactionState};
use epitome_wire::{Body, ProblemCode, Wire, decode, json, problems, violations};

/// All that can be seen of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) entries: Vec<Bytes>,
    pub(crate) session: Session,
    pub(crate) request: Bytes,
    /// What the store has noted: the kind, and the compaction with its state.
    pub(crate) log: Vec<(ChangeKind, Option<(String, CompactionState)>)>,
}

impl Seen {
    pub(crate) async fn of(conversation: &Conversation) -> Self {
        let log = conversation.log().await.unwrap().into_iter();
        let log = log.map(|one| {
            let compaction = one.compaction.map(|row| (row.id, row.state));
            (one.change.kind, compaction)
        });
        Self {
            log: log.collect(),
            ..Self::without_log(conversation).await
        }
    }

    /// What an engine has in memory.
    pub(crate) async fn without_log(conversation: &Conversation) -> Self {
        Self {
            entries: conversation.raw_entries().await,
            session: conversation.look(Session::clone).await,
            request: conversation.request().await,
            log: Vec::new(),
        }
    }

    pub(crate) fn view(&self) -> Vec<Arc<Message>> {
        self.session.view_messages()
    }

    /// The compactions in force, oldest first, as numbers of records.
    pub(crate) fn in_force(&self) -> Vec<usize> {
        let mut stack = Vec::new();
        for change in self.session.changes() {
            match change {
                Change::Compacted { record } => stack.push(*record),
                Change::Undone { record } => {
                    assert_eq!(stack.pop(), Some(*record), "only the newest is taken back");
                }
                Change::Forked { .. } => {}
            }
        }
        stack
    }

    /// Whether both know the same entries and the same changes.
    pub(crate) fn is_as_new_as(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self.session.changes().len() == other.session.changes().len()
    }

    /// Same bytes, same view, same request.
    pub(crate) fn assert_same(&self, other: &Self, what: &str) {
        assert_eq!(self.entries, other.entries, "{what}: entries");
        assert_eq!(
            self.session.changes(),
            other.session.changes(),
            "{what}: changes"
        );
        assert_eq!(self.view(), other.view(), "{what}: view");
        assert_eq!(self.request, other.request, "{what}: request");
    }

    /// A provider takes what is shown; a call that waits for its result at the very end is no fault.
    pub(crate) fn assert_valid(&self, wire: Wire) {
        if self.entries.is_empty() {
            return;
        }
        let body = Body::scan(self.request.clone(), wire).unwrap();
        let read = |index| json::read(body.message(index)).unwrap();
        let view: Vec<Message> = (0..body.len())
            .map(|index| decode(wire, &read(index)).unwrap().message)
            .collect();
        let last = view.len() - 1;
        let is_in_flight = view[last].calls().next().is_some();
        let wrong: Vec<_> = violations(wire, &view)
            .into_iter()
            .filter(|one| !(is_in_flight && one.position == last))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?} in {view:#?}");
        let wrong: Vec<_> = problems(&body)
            .into_iter()
            .filter(|one| one.code != ProblemCode::CallInFlight)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?} in {:?}", self.request);
        // Where the provider wants a user's message first, one more may stand there.
        let shown = self.view().len();
        assert!(view.len() == shown || wire == Wire::Anthropic && view.len() == shown + 1);
    }

    /// Every compaction in force stands for something that none before it stood for, and only those are shown.
    pub(crate) fn assert_nothing_twice(&self) {
        let records = self.session.records();
        let in_force = self.in_force();
        for pair in in_force.windows(2) {
            let (earlier, later) = (left(&records[pair[0]]), left(&records[pair[1]]));
            // It may also shorten what stays, and who asks by hand may have a summary summarised once more.
            let compaction = &records[pair[1]].compaction;
            let may_cover_the_same =
                compaction.trimmed_tokens > 0 || compaction.plan.reason == Reason::Manual;
            assert!(
                later.iter().any(|at| !earlier.contains(at))
                    || may_cover_the_same && later == earlier,
                "compaction {} removes what {} removed: {later:?}",
                pair[1],
                pair[0],
            );
        }
        let mut ids: Vec<&str> = Vec::new();
        for (kind, compaction) in &self.log {
            let Some((id, state)) = compaction else {
                continue;
            };
            match kind {
                ChangeKind::Compacted => {
                    assert!(!ids.contains(&id.as_str()), "{id} took effect twice");
                    ids.push(id);
                }
                ChangeKind::Superseded => {
                    assert_eq!(*state, CompactionState::Undone, "{id} came too late");
                }
                ChangeKind::Undone | ChangeKind::Forked => {}
            }
        }
    }
}

/// The entries that are not shown because of a compaction.
fn left(record: &Record) -> Vec<usize> {
    let ranges = record.covers.iter().chain(&record.dropped);
    ranges.cloned().flatten().collect()
}

/// What a conversation should be.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) seen: Seen,
    /// What was shown before each compaction in force, and how many entries there were. `None` where a fork cut it off.
    shown_before: Vec<Option<(Vec<Arc<Message>>, usize)>>,
}

/// What one step may have done: entries, and changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Happened {
    pub(crate) entries: Vec<Bytes>,
    pub(crate) changes: Vec<ChangeKind>,
}

impl Happened {
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn pushed(entry: Bytes) -> Self {
        Self {
            entries: vec![entry],
            changes: Vec::new(),
        }
    }

    pub(crate) fn changed(changes: impl Into<Vec<ChangeKind>>) -> Self {
        Self {
            entries: Vec::new(),
            changes: changes.into(),
        }
    }
}

impl Model {
    pub(crate) fn new(seen: Seen) -> Self {
        let shown_before = vec![None; seen.in_force().len()];
        Self { seen, shown_before }
    }

    /// A branch of this one. It shares a part, and every compaction that stands for nothing outside of it.
    pub(crate) fn fork(forked: &Seen, fork: Seen, entries: usize) -> Self {
        let entries = entries.min(forked.entries.len());
        assert_eq!(fork.entries, forked.entries[..entries], "the shared part");
        let records = forked.session.records();
        let mut expected = forked.in_force();
        while entries < forked.entries.len()
            && let Some(newest) = expected.last()
            && left(&records[*newest]).iter().any(|at| *at >= entries)
        {
            expected.pop();
        }
        assert_eq!(fork.in_force(), expected, "what a fork has in force");
        if entries == forked.entries.len() {
            assert_eq!(fork.view(), forked.view(), "a fork at the end");
        }
        Self::new(fork)
    }

    /// Goes on to what is seen now, which has to be what one of `allowed` makes of the model.
    pub(crate) fn go_on(&mut self, now: Seen, allowed: &[Happened]) {
        let before = &self.seen;
        assert!(
            now.entries.starts_with(&before.entries),
            "an acknowledged entry is gone"
        );
        let entries = &now.entries[before.entries.len()..];
        let kinds = |seen: &Seen| seen.log.iter().map(|one| one.0).collect::<Vec<_>>();
        let (old, new) = (kinds(before), kinds(&now));
        assert!(new.starts_with(&old), "a change is gone");
        let changes = &new[old.len()..];
        let is_allowed = |one: &Happened| one.entries == entries && one.changes == changes;
        assert!(
            allowed.iter().any(is_allowed),
            "{} entries and {changes:?} came, allowed was {allowed:?}",
            entries.len()
        );
        let mut view = before.view();
        for change in changes {
            match change {
                ChangeKind::Compacted => {
                    let shown = (view.clone(), before.entries.len());
                    self.shown_before.push(Some(shown));
                    view = now.view();
                    assert!(now.session.view_tokens() < before.session.view_tokens());
                }
                ChangeKind::Undone => {
                    let restored = self.shown_before.pop().expect("a compaction in force");
                    view = match restored {
                        Some((mut shown, count)) => {
                            let since = now.session.messages()[count..].iter().cloned();
                            shown.extend(since);
                            shown
                        }
                        None => now.view(),
                    };
                }
                ChangeKind::Superseded | ChangeKind::Forked => {}
            }
        }
        let pushed = now.session.messages().iter();
        view.extend(pushed.skip(before.entries.len()).cloned());
        if changes.is_empty() || !entries.is_empty() || changes.contains(&ChangeKind::Undone) {
            assert_shown(&now.view(), &view);
        }
        assert_eq!(now.in_force().len(), self.shown_before.len(), "in force");
        self.seen = now;
    }
}

/// The same messages; a result of a tool may have grown old and short since.
fn assert_shown(now: &[Arc<Message>], expected: &[Arc<Message>]) {
    assert_eq!(now.len(), expected.len(), "messages shown");
    for (now, expected) in now.iter().zip(expected) {
        if now.results().next().is_none() {
            assert_eq!(now, expected);
            continue;
        }
        let ids = |message: &Message| {
            let results = message.results();
            results.map(|one| one.call_id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(now), ids(expected));
    }
}
