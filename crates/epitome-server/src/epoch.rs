//! An epoch: a compaction frozen for every request that descends from its node.

mod frozen;
mod need;
mod pruned;

use std::sync::Arc;

use epitome::reference::micro;
use epitome::{
    Compaction, Digest, Layout, Log, Meter, Plan, Role, Session, TaskPlace, Trim, View, ViewItem,
};
use epitome_engine::known_models::SummaryPlacement;
use epitome_engine::record::{
    ChainRecord, FrozenView, LinkTrims, MadeFor, Record, RecordError, StoredTrim,
};
use epitome_store::{CompactionRow, CompactionState, ConversationId};
use epitome_wire::{Body, Conversation};
use frozen::{freeze, last_link, thaw};
pub(crate) use need::Need;
pub(crate) use pruned::{Replacement, ViewForm};

/// A compaction as it is applied to requests. Positions are links of the chain, not indices of a request: a
/// client may add or drop its own notes between two requests.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub(crate) id: String,
    /// The chain up to the last message that the epoch touches.
    pub(crate) node: Digest,
    /// What it was made for.
    pub(crate) class: MadeFor,
    pub(crate) summary: Arc<str>,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    pub(crate) record: ChainRecord,
}

/// What a request becomes under an epoch.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub(crate) view: View,
    /// Estimated tokens that the epoch takes off the request.
    pub(crate) saved_tokens: u64,
    /// Estimated tokens in front that stay as they are.
    pub(crate) kept_tokens: u64,
    /// Sizes and cuts of what is shown, where a design decides by them.
    pub(crate) shown: Option<Log>,
}

impl Epoch {
    /// Freezes a compaction that was made on `conversation`. `None` when it touches nothing that the chain
    /// knows, so that later requests could not be recognised.
    pub(crate) fn freeze(
        id: String,
        class: MadeFor,
        compaction: &Compaction,
        conversation: &Conversation,
    ) -> Option<Self> {
        let cut = compaction.plan.span.end;
        let covered_links = conversation
            .chain
            .partition_point(|(index, _)| *index < cut);
        let link_of = |index: usize| {
            conversation
                .chain
                .binary_search_by_key(&index, |(index, _)| *index)
                .ok()
        };
        let trims: Option<Vec<LinkTrims>> = compaction
            .trims
            .iter()
            .map(|(index, trims)| {
                Some(LinkTrims {
                    link: link_of(*index)?,
                    trims: trims.iter().map(StoredTrim::of).collect(),
                })
            })
            .collect();
        let trims = trims?;
        let last_link = trims
            .iter()
            .map(|trim| trim.link)
            .chain(covered_links.checked_sub(1))
            .max()?;
        let (_, node) = conversation.chain.get(last_link)?;
        Some(Self {
            id,
            node: *node,
            class,
            summary: compaction.summary.text.as_str().into(),
            tokens_before: compaction.plan.tokens_before,
            tokens_after: compaction.tokens_after,
            record: ChainRecord {
                covered_links,
                trims,
                ..ChainRecord::of(compaction)
            },
        })
    }

    /// Freezes what a session shows of `conversation`: see [`Epoch::freeze`].
    pub(crate) fn freeze_view(
        id: String,
        class: MadeFor,
        session: &Session,
        conversation: &Conversation,
    ) -> Option<Self> {
        let compaction = session.compaction()?;
        let plan = &compaction.plan;
        let view = freeze(&session.view(), conversation, plan.notes_cap_tokens)?;
        let (_, node) = conversation.chain.get(last_link(&view)?)?;
        Some(Self {
            id,
            node: *node,
            class,
            summary: compaction.summary.text.as_str().into(),
            tokens_before: plan.tokens_before,
            tokens_after: compaction.tokens_after,
            record: ChainRecord {
                covered_links: view.from_link,
                view: Some(view),
                ..ChainRecord::of(compaction)
            },
        })
    }

    /// What `conversation` becomes in a form that its endpoint takes. `None` when it is not a descendant after all.
    pub(crate) fn apply(
        &self,
        conversation: &Conversation,
        body: &Body,
        form: SummaryPlacement,
    ) -> Option<Applied> {
        if let Some(frozen) = &self.record.view {
            return self.apply_view(frozen, conversation, body, form);
        }
        let Some(last) = self.record.covered_links.checked_sub(1) else {
            return self.apply_trims(conversation);
        };
        let cut = conversation.chain.get(last)?.0 + 1;
        let task = if self.record.task_in_head {
            TaskPlace::Head
        } else {
            TaskPlace::Summary
        };
        let log = &conversation.log;
        let mut plan = Plan::again(log, cut, task, self.record.notes_cap_tokens)?;
        if form == SummaryPlacement::Alternating && task == TaskPlace::Head {
            plan.layout = Layout::Merged;
        }
        let trims: Option<Vec<(usize, Vec<Trim>)>> = self
            .record
            .trims
            .iter()
            .map(|at| {
                let (index, _) = conversation.chain.get(at.link)?;
                Some((*index, at.trims.iter().map(StoredTrim::trim).collect()))
            })
            .collect();
        let kept_notes: u64 = plan.notes.iter().map(|&at| log.tokens(at..at + 1)).sum();
        let removed = log.tokens(plan.span.clone()) + self.record.trimmed_tokens;
        let mut view = View::of(&plan, log.len(), &trims?);
        if form == SummaryPlacement::Alternating && plan.tail_starts_with_user {
            acknowledge(&mut view);
        }
        Some(Applied {
            view,
            kept_tokens: log.tokens(plan.head),
            saved_tokens: removed.saturating_sub(kept_notes + self.record.summary_tokens),
            shown: None,
        })
    }

    fn apply_view(
        &self,
        frozen: &FrozenView,
        conversation: &Conversation,
        body: &Body,
        form: SummaryPlacement,
    ) -> Option<Applied> {
        let mut view = thaw(frozen, conversation)?;
        let log = &conversation.log;
        if form == SummaryPlacement::Alternating && starts_with_user(&view, log) {
            acknowledge(&mut view);
        }
        let message = |item: &ViewItem| item.made(|at| body.decoded(at), &self.summary);
        let shown = view.log(log, Meter::Estimate, message);
        let front = view.items.iter().map_while(|item| match item {
            ViewItem::Entries(range) => Some(log.tokens(range.clone())),
            _ => None,
        });
        Some(Applied {
            kept_tokens: front.sum(),
            saved_tokens: log.total_tokens().saturating_sub(shown.total_tokens()),
            shown: Some(shown),
            view,
        })
    }

    /// Gives it a class of its own, because what is stored under its class does not help where this one does.
    pub(crate) fn set_apart(&mut self) {
        let trims = (&self.record.trims, &self.record.view);
        let shown = format!("{}\n{trims:?}", self.summary);
        let digest = Digest::of(shown.as_bytes()).prefix();
        self.record.again = Some(format!("{digest:016x}"));
    }

    /// Whether it may be shown where the user dropped these pins, and no others.
    pub(crate) fn heeds(&self, dropped: &[String]) -> bool {
        self.record.heeds(&self.summary, dropped)
    }

    /// Its class as it stands in a store.
    pub(crate) fn class_name(&self) -> String {
        self.class.class_of(&self.record)
    }

    /// The epoch as a store keeps it.
    ///
    /// # Errors
    /// When its record cannot be written.
    pub(crate) fn to_row(
        &self,
        conversation: &ConversationId,
        state: CompactionState,
        created_ms: i64,
    ) -> Result<CompactionRow, RecordError> {
        let head_entries = usize::from(self.record.task_in_head);
        // The task is among the covered links, and stands in front of the summary all the same.
        let covered_entries = self.record.covered_links.saturating_sub(head_entries);
        Ok(CompactionRow {
            id: self.id.clone(),
            conversation: conversation.clone(),
            node: self.node,
            model_class: self.class_name(),
            state,
            head_entries: u32::from(self.record.task_in_head),
            covered_entries: u32::try_from(covered_entries).unwrap_or(u32::MAX),
            tokens_before: self.tokens_before,
            tokens_after: self.tokens_after,
            summary: self.summary.to_string(),
            record: self.record.write()?,
            created_ms,
        })
    }

    /// Reads an epoch from a store; `None`, and said, when this version does not know what it is.
    pub(crate) fn from_row(row: CompactionRow) -> Option<Self> {
        let class = MadeFor::read(&row.model_class)?;
        let record = match Record::of(&row) {
            Ok(Record::Chain(record)) => *record,
            Ok(Record::Session(_) | Record::Other(_)) => return None,
            Err(error) => {
                tracing::warn!(%error, "a stored compaction is not used");
                return None;
            }
        };
        Some(Self {
            record,
            id: row.id,
            node: row.node,
            class,
            summary: row.summary.into(),
            tokens_before: row.tokens_before,
            tokens_after: row.tokens_after,
        })
    }
}

/// Whether a message of the user stands right behind the summary.
fn starts_with_user(view: &View, log: &Log) -> bool {
    let mut behind = view
        .items
        .iter()
        .skip_while(|item| **item != ViewItem::Summary);
    let first = match behind.nth(1) {
        Some(ViewItem::Entries(range)) => log.role(range.start),
        Some(ViewItem::Trimmed(at, _)) => log.role(*at),
        _ => None,
    };
    first == Some(Role::User)
}

/// Between a summary and a message of the user, for servers that want the roles to alternate.
fn acknowledge(view: &mut View) {
    let summary = view
        .items
        .iter()
        .position(|item| *item == ViewItem::Summary);
    if let Some(at) = summary {
        let answer = ViewItem::Inserted(Role::Assistant, micro::ACKNOWLEDGEMENT);
        view.items.insert(at + 1, answer);
    }
}
