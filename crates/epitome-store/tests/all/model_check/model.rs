//! What a store must do, said plainly: one caller after the other, maps, no SQL.

use std::collections::{BTreeMap, BTreeSet};

use epitome_store::{
    Append, Appended, ChangeKind, ChangeRow, CompactionRow, CompactionState, ConversationId,
    ConversationRow, Digest, Error, NewChange, NodeRow,
};

/// What a call answers, as far as a caller can act on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Done,
    Appended(Appended),
    New,
    Existing(String),
    Fence(Option<u64>),
    Renewed(bool),
    Deleted(Option<(u64, u64, u64)>),
    Refused(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Deleted,
    Dangling,
    IdTaken,
    Unknown,
    Undone,
    Forked,
}

impl Refusal {
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::Deleted => Self::Deleted,
            Error::Dangling(_) => Self::Dangling,
            Error::IdTaken { .. } => Self::IdTaken,
            Error::UnknownCompaction { .. } => Self::Unknown,
            Error::Undone { .. } => Self::Undone,
            Error::Forked { .. } => Self::Forked,
            error => panic!("nothing that a model knows: {error:?}"),
        }
    }
}

#[derive(Debug, Clone)]
struct Lease {
    holder: Option<String>,
    fence: u64,
    until_ms: i64,
}

/// One tenant's part of a store.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) conversations: BTreeMap<ConversationId, ConversationRow>,
    pub(super) nodes: BTreeMap<Digest, NodeRow>,
    pub(super) compactions: BTreeMap<String, CompactionRow>,
    pub(super) changes: BTreeMap<ConversationId, Vec<ChangeRow>>,
    leases: BTreeMap<ConversationId, Lease>,
    deleted_conversations: BTreeSet<ConversationId>,
    deleted_nodes: BTreeSet<Digest>,
}

type Outcome<T> = Result<T, Refusal>;

impl Model {
    pub(super) fn append(&mut self, piece: &Append) -> Answer {
        if self.is_dead(piece) {
            self.spread(piece);
            return Answer::Done;
        }
        answer(self.add(piece).map(|()| Answer::Done))
    }

    pub(super) fn extend(&mut self, piece: &Append, after: Option<Digest>) -> Answer {
        if self.is_dead(piece) {
            return Answer::Refused(Refusal::Deleted);
        }
        let tip = self.tip(&piece.conversation.id).map(|node| node.digest);
        if tip != after {
            return Answer::Appended(Appended::Superseded);
        }
        answer(self.add(piece).map(|()| Answer::Appended(Appended::Stored)))
    }

    pub(super) fn commit(&mut self, span: &Append, row: &CompactionRow) -> Answer {
        if self.is_dead(span) {
            self.spread(span);
            return Answer::Refused(Refusal::Deleted);
        }
        answer(self.whole(|model| {
            model.add(span)?;
            Ok(match model.insert(row)? {
                Some(first) => Answer::Existing(first),
                None => Answer::New,
            })
        }))
    }

    pub(super) fn publish(&mut self, id: &str, record: &str) -> Answer {
        answer(self.set_state(id, CompactionState::Published).map(|()| {
            if let Some(row) = self.compactions.get_mut(id) {
                row.record = record.to_owned();
            }
            Answer::Done
        }))
    }

    pub(super) fn undo(&mut self, id: &str) -> Answer {
        let undone = self.set_state(id, CompactionState::Undone);
        answer(undone.map(|()| Answer::Done))
    }

    pub(super) fn change(&mut self, new: &NewChange) -> Answer {
        let place = &new.change.conversation;
        let fork = new.change.kind == ChangeKind::Forked;
        let parent = new
            .span
            .as_ref()
            .and_then(|one| one.conversation.parent.as_ref());
        let is_orphan = parent.is_some_and(|one| fork && !self.conversations.contains_key(one));
        if is_orphan || new.span.as_ref().is_some_and(|span| self.is_dead(span)) {
            return Answer::Refused(Refusal::Deleted);
        }
        let lease = self.leases.get(place);
        let held = |fence| lease.is_some_and(|one| one.fence == fence && one.holder.is_some());
        let count = self.changes.get(place).map_or(0, Vec::len);
        if !new.fence.is_none_or(held) || count != new.change.seq as usize {
            return Answer::Appended(Appended::Superseded);
        }
        answer(self.whole(|model| {
            if let Some(span) = &new.span {
                model.add(span)?;
            }
            if let Some(row) = &new.compaction
                && model.insert(row)?.is_some()
            {
                return Ok(Answer::Appended(Appended::Superseded));
            }
            if let (ChangeKind::Undone, Some(id)) = (new.change.kind, &new.change.compaction) {
                model.set_state(id, CompactionState::Undone)?;
            }
            if !model.conversations.contains_key(place) {
                return Err(Refusal::Dangling);
            }
            let changes = model.changes.entry(place.clone()).or_default();
            changes.push(new.change.clone());
            Ok(Answer::Appended(Appended::Stored))
        }))
    }

    /// `now_ms` is by the clock that the store goes by.
    pub(super) fn acquire(
        &mut self,
        place: &ConversationId,
        holder: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> Answer {
        let Some(lease) = self.leases.get_mut(place) else {
            let lease = Lease {
                holder: Some(holder.to_owned()),
                fence: 1,
                until_ms,
            };
            self.leases.insert(place.clone(), lease);
            return Answer::Fence(Some(1));
        };
        let is_own = lease.holder.as_deref() == Some(holder);
        let is_over = lease.until_ms <= now_ms;
        if lease.holder.is_some() && !is_own && !is_over {
            return Answer::Fence(None);
        }
        if !is_own || is_over {
            lease.fence += 1;
        }
        lease.until_ms = match is_own {
            true => lease.until_ms.max(until_ms),
            false => until_ms,
        };
        lease.holder = Some(holder.to_owned());
        Answer::Fence(Some(lease.fence))
    }

    pub(super) fn renew(&mut self, place: &ConversationId, fence: u64, until_ms: i64) -> Answer {
        let held = self.held(place, fence);
        Answer::Renewed(held.is_some_and(|lease| {
            lease.until_ms = lease.until_ms.max(until_ms);
            true
        }))
    }

    pub(super) fn release(&mut self, place: &ConversationId, fence: u64) -> Answer {
        if let Some(lease) = self.held(place, fence) {
            lease.holder = None;
        }
        Answer::Done
    }

    fn held(&mut self, place: &ConversationId, fence: u64) -> Option<&mut Lease> {
        let lease = self.leases.get_mut(place)?;
        (lease.fence == fence && lease.holder.is_some()).then_some(lease)
    }

    pub(super) fn tip(&self, place: &ConversationId) -> Option<&NodeRow> {
        let own = self
            .nodes
            .values()
            .filter(|node| node.conversation == *place);
        own.min_by_key(|node| (std::cmp::Reverse(node.position), node.digest))
    }

    pub(super) fn path(&self, tip: Digest) -> Vec<NodeRow> {
        let first = self.nodes.get(&tip);
        let up = |node: &&NodeRow| node.parent.and_then(|parent| self.nodes.get(&parent));
        let mut path: Vec<_> = std::iter::successors(first, up).cloned().collect();
        path.reverse();
        path
    }

    /// As it is listed, with what is counted when it is asked for.
    pub(super) fn listed(&self, place: &ConversationId) -> Option<ConversationRow> {
        let mut row = self.conversations.get(place)?.clone();
        row.nodes = self.own(place).count() as u64;
        row.compactions = self.compactions_of(place).len() as u64;
        Some(row)
    }

    pub(super) fn compactions_of(&self, place: &ConversationId) -> Vec<CompactionRow> {
        let rows = self
            .compactions
            .values()
            .filter(|row| row.conversation == *place);
        in_order(rows.cloned().collect())
    }

    pub(super) fn in_force(&self) -> Vec<CompactionRow> {
        let rows = self.compactions.values();
        let rows = rows.filter(|row| row.state != CompactionState::Undone);
        in_order(rows.cloned().collect())
    }

    fn own(&self, place: &ConversationId) -> impl Iterator<Item = &NodeRow> {
        self.nodes
            .values()
            .filter(move |node| node.conversation == *place)
    }

    /// All of it or nothing.
    fn whole(&mut self, write: impl FnOnce(&mut Self) -> Outcome<Answer>) -> Outcome<Answer> {
        let mut after = self.clone();
        let answer = write(&mut after)?;
        if answer != Answer::Appended(Appended::Superseded) {
            *self = after;
        }
        Ok(answer)
    }

    fn is_dead(&self, piece: &Append) -> bool {
        let is_dead = |link: &Digest| self.deleted_nodes.contains(link);
        let links =
            |node: &NodeRow| is_dead(&node.digest) || node.parent.as_ref().is_some_and(is_dead);
        self.deleted_conversations.contains(&piece.conversation.id) || piece.nodes.iter().any(links)
    }

    fn spread(&mut self, piece: &Append) {
        for node in &piece.nodes {
            if node
                .parent
                .is_some_and(|parent| self.deleted_nodes.contains(&parent))
            {
                self.deleted_nodes.insert(node.digest);
            }
        }
    }

    fn add(&mut self, piece: &Append) -> Outcome<()> {
        let mut nodes = self.nodes.clone();
        for node in &piece.nodes {
            nodes.entry(node.digest).or_insert_with(|| node.clone());
        }
        let hangs = |node: &NodeRow| {
            node.parent
                .is_some_and(|parent| !nodes.contains_key(&parent))
        };
        if nodes.values().any(hangs) {
            return Err(Refusal::Dangling);
        }
        self.nodes = nodes;
        let new = &piece.conversation;
        let row = self.conversations.entry(new.id.clone());
        let row = row.or_insert_with(|| ConversationRow {
            id: new.id.clone(),
            parent: None,
            label: None,
            created_ms: new.created_ms,
            touched_ms: piece.touched_ms,
            nodes: 0,
            compactions: 0,
        });
        row.parent = row.parent.take().or_else(|| new.parent.clone());
        row.label = new.label.clone().or_else(|| row.label.take());
        row.touched_ms = row.touched_ms.max(piece.touched_ms);
        Ok(())
    }

    /// The one that was first for its epoch, if another was.
    fn insert(&mut self, row: &CompactionRow) -> Outcome<Option<String>> {
        let live = self.in_force();
        let mut epoch = live.iter().filter(|one| one.node == row.node);
        if let Some(first) = epoch.find(|one| one.model_class == row.model_class) {
            return Ok(Some(first.id.clone()));
        }
        if self.compactions.contains_key(&row.id) {
            return Err(Refusal::IdTaken);
        }
        if !self.nodes.contains_key(&row.node)
            || !self.conversations.contains_key(&row.conversation)
        {
            return Err(Refusal::Dangling);
        }
        self.compactions.insert(row.id.clone(), row.clone());
        Ok(None)
    }

    fn set_state(&mut self, id: &str, state: CompactionState) -> Outcome<()> {
        let row = self.compactions.get_mut(id).ok_or(Refusal::Unknown)?;
        if row.state == CompactionState::Undone && state != row.state {
            return Err(Refusal::Undone);
        }
        row.state = state;
        Ok(())
    }

    pub(super) fn delete(&mut self, place: &ConversationId) -> Answer {
        if !self.conversations.contains_key(place) {
            return Answer::Deleted(None);
        }
        let is_fork = |row: &&ConversationRow| {
            let mut changes = self.changes.get(&row.id).into_iter().flatten();
            row.parent.as_ref() == Some(place) && changes.any(|one| one.kind == ChangeKind::Forked)
        };
        if self.conversations.values().any(|row| is_fork(&row)) {
            return Answer::Refused(Refusal::Forked);
        }
        let rehomed = self.rehome(place);
        self.relink(place);
        for row in self.compactions.values_mut() {
            if let Some(node) = self.nodes.get(&row.node)
                && row.conversation == *place
            {
                row.conversation = node.conversation.clone();
            }
        }
        let compactions = self.compactions_of(place).len() as u64;
        self.compactions.retain(|_, row| row.conversation != *place);
        self.changes.remove(place);
        self.leases.remove(place);
        let parents: BTreeSet<Digest> =
            self.nodes.values().filter_map(|node| node.parent).collect();
        let own: Vec<(Digest, u32)> = self
            .own(place)
            .map(|one| (one.digest, one.position))
            .collect();
        for (digest, position) in &own {
            if *position > 0 && !parents.contains(digest) {
                self.deleted_nodes.insert(*digest);
            }
            self.nodes.remove(digest);
        }
        self.deleted_conversations.insert(place.clone());
        self.conversations.remove(place);
        Answer::Deleted(Some((own.len() as u64, rehomed, compactions)))
    }

    /// What others stand on becomes theirs, by the order of their names.
    fn rehome(&mut self, place: &ConversationId) -> u64 {
        let mut standing: BTreeMap<ConversationId, Vec<Digest>> = BTreeMap::new();
        let links = self
            .nodes
            .values()
            .filter_map(|node| Some((&node.conversation, node.parent?)));
        let compactions = self
            .compactions
            .values()
            .map(|row| (&row.conversation, row.node));
        for (home, on) in links.chain(compactions) {
            let is_his = self
                .nodes
                .get(&on)
                .is_some_and(|node| node.conversation == *place);
            if home != place && is_his {
                standing.entry(home.clone()).or_default().push(on);
            }
        }
        let mut rehomed = 0;
        for (home, from) in standing {
            for mut at in from.into_iter().map(Some) {
                while let Some(node) = at.and_then(|digest| self.nodes.get_mut(&digest))
                    && node.conversation == *place
                {
                    node.conversation = home.clone();
                    rehomed += 1;
                    at = node.parent;
                }
            }
        }
        rehomed
    }

    /// A branch hangs on whoever owns its first strange link now.
    fn relink(&mut self, place: &ConversationId) {
        let above = self
            .conversations
            .get(place)
            .and_then(|row| row.parent.clone())
            .filter(|above| above != place);
        let mut links: Vec<&NodeRow> = self.nodes.values().collect();
        links.sort_by_key(|node| node.position);
        for row in self.conversations.values_mut() {
            if row.parent.as_ref() == Some(place) && row.id != *place {
                let mut strange = links.iter().filter(|node| node.conversation == row.id);
                let strange = strange.find_map(|node| {
                    let parent = self.nodes.get(&node.parent?)?;
                    (parent.conversation != row.id).then(|| parent.conversation.clone())
                });
                let above = above.clone().filter(|above| *above != row.id);
                row.parent = strange.or(above);
            }
        }
    }
}

fn answer(outcome: Outcome<Answer>) -> Answer {
    outcome.unwrap_or_else(Answer::Refused)
}

fn in_order(mut rows: Vec<CompactionRow>) -> Vec<CompactionRow> {
    rows.sort_by(|one, other| (one.created_ms, &one.id).cmp(&(other.created_ms, &other.id)));
    rows
}
