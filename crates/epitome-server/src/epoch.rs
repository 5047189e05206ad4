//! An epoch: a compaction frozen for every request that descends from its node.

mod class;
mod frozen;
mod report;

use std::sync::Arc;

pub(crate) use class::{EpochClass, Need};
use epitome::reference::micro;
use epitome::{
    Compaction, Digest, Kept, Layout, Log, Message, Meter, Plan, Role, Session, Shown, Swap,
    TaskPlace, Trim, View, ViewItem,
};
use epitome_engine::summarise::Step;
use epitome_store::{CompactionRow, CompactionState, ConversationId};
use epitome_wire::{Body, Conversation, decode};
use frozen::FrozenView;
use report::StoredReport;
use serde::{Deserialize, Serialize};

use crate::models::Form;

/// A compaction as it is applied to requests. Positions are links of the chain, not indices of a request: a
/// client may add or drop its own notes between two requests.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub(crate) id: String,
    /// The chain up to the last message that the epoch touches.
    pub(crate) node: Digest,
    /// What it was made for.
    pub(crate) class: EpochClass,
    pub(crate) summary: Arc<str>,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    pub(crate) detail: Detail,
}

/// What a store keeps of an epoch beside its summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Detail {
    /// How many links of the chain are covered, the task included.
    pub(crate) covered_links: usize,
    pub(crate) task_in_head: bool,
    pub(crate) notes_cap_tokens: u64,
    pub(crate) summary_tokens: u64,
    pub(crate) trimmed_tokens: u64,
    pub(crate) trims: Vec<LinkTrims>,
    pub(crate) reason: String,
    pub(crate) sources: Vec<usize>,
    /// What verification found. Records of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<StoredReport>,
    /// The sum by which it was shown before it had to be, where that was so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) swap: Option<Swap>,
    /// The whole view, where it is more than a head, one summary and the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<FrozenView>,
    /// Who wrote the summary, where it was not the built-in summariser, and what failed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<StepRecord>,
}

/// One rung of the ladder that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepRecord {
    pub(crate) rung: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

impl StepRecord {
    pub(crate) fn of(step: &Step) -> Self {
        Self {
            rung: step.rung.as_str().to_owned(),
            failed: step.failed.map(|reason| reason.as_str().to_owned()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkTrims {
    link: usize,
    trims: Vec<StoredTrim>,
}

/// A trim in few words: block, part, and what is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredTrim {
    /// Characters at the beginning and at the end.
    Ends(usize, usize, usize, usize),
    /// The same, and what is kept between them.
    Kept(usize, usize, usize, usize, Vec<(usize, usize)>),
    Placeholder(usize, usize, String),
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
        class: EpochClass,
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
            detail: Detail {
                covered_links,
                trims,
                ..Detail::of(compaction)
            },
        })
    }

    /// Freezes what a session shows of `conversation`: see [`Epoch::freeze`].
    pub(crate) fn freeze_view(
        id: String,
        class: EpochClass,
        session: &Session,
        conversation: &Conversation,
    ) -> Option<Self> {
        let compaction = session.compaction()?;
        let plan = &compaction.plan;
        let view = FrozenView::freeze(&session.view(), conversation, plan.notes_cap_tokens)?;
        let (_, node) = conversation.chain.get(view.last_link()?)?;
        Some(Self {
            id,
            node: *node,
            class,
            summary: compaction.summary.text.as_str().into(),
            tokens_before: plan.tokens_before,
            tokens_after: compaction.tokens_after,
            detail: Detail {
                covered_links: view.from_link,
                view: Some(view),
                ..Detail::of(compaction)
            },
        })
    }

    /// What `conversation` becomes in a form that its endpoint takes. `None` when it is not a descendant after all.
    pub(crate) fn apply(
        &self,
        conversation: &Conversation,
        body: &Body,
        form: Form,
    ) -> Option<Applied> {
        if let Some(frozen) = &self.detail.view {
            return self.apply_view(frozen, conversation, body, form);
        }
        let last = self.detail.covered_links.checked_sub(1)?;
        let cut = conversation.chain.get(last)?.0 + 1;
        let task = if self.detail.task_in_head {
            TaskPlace::Head
        } else {
            TaskPlace::Summary
        };
        let log = &conversation.log;
        let mut plan = Plan::again(log, cut, task, self.detail.notes_cap_tokens)?;
        if form == Form::Alternating && task == TaskPlace::Head {
            plan.layout = Layout::Merged;
        }
        let trims: Option<Vec<(usize, Vec<Trim>)>> = self
            .detail
            .trims
            .iter()
            .map(|at| {
                let (index, _) = conversation.chain.get(at.link)?;
                Some((*index, at.trims.iter().map(StoredTrim::trim).collect()))
            })
            .collect();
        let kept_notes: u64 = plan.notes.iter().map(|&at| log.tokens(at..at + 1)).sum();
        let removed = log.tokens(plan.span.clone()) + self.detail.trimmed_tokens;
        let mut view = View::of(&plan, log.len(), &trims?);
        if form == Form::Alternating && plan.tail_starts_with_user {
            acknowledge(&mut view);
        }
        Some(Applied {
            view,
            kept_tokens: log.tokens(plan.head),
            saved_tokens: removed.saturating_sub(kept_notes + self.detail.summary_tokens),
            shown: None,
        })
    }

    fn apply_view(
        &self,
        frozen: &FrozenView,
        conversation: &Conversation,
        body: &Body,
        form: Form,
    ) -> Option<Applied> {
        let mut view = frozen.thaw(conversation)?;
        let log = &conversation.log;
        if form == Form::Alternating && starts_with_user(&view, log) {
            acknowledge(&mut view);
        }
        let message = |item: &ViewItem| item.made(|at| read(body, at), &self.summary);
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

    pub(crate) fn to_row(
        &self,
        conversation: &ConversationId,
        state: CompactionState,
        created_ms: i64,
    ) -> Option<CompactionRow> {
        Some(CompactionRow {
            id: self.id.clone(),
            conversation: conversation.clone(),
            node: self.node,
            model_class: self.class.to_string(),
            state,
            head_entries: u32::from(self.detail.task_in_head),
            covered_entries: u32::try_from(self.detail.covered_links).unwrap_or(u32::MAX),
            tokens_before: self.tokens_before,
            tokens_after: self.tokens_after,
            summary: self.summary.to_string(),
            record: self.record()?,
            created_ms,
        })
    }

    /// What a store keeps of it beside the summary; `None`, and said, where that cannot be written.
    pub(crate) fn record(&self) -> Option<String> {
        serde_json::to_string(&self.detail)
            .inspect_err(|error| tracing::error!(%error, "a compaction cannot be written down"))
            .ok()
    }

    /// Reads an epoch from a store; `None` when its record is of a kind this version does not know.
    pub(crate) fn from_row(row: CompactionRow) -> Option<Self> {
        Some(Self {
            detail: serde_json::from_str(&row.record).ok()?,
            id: row.id,
            node: row.node,
            class: EpochClass::read(&row.model_class)?,
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

/// One message of a request.
pub(crate) fn read(body: &Body, index: usize) -> Option<Message> {
    let value = body.read(index).ok()?;
    Some(decode(body.wire(), &value).ok()?.message)
}

impl Detail {
    /// What is the same for every kind of view.
    fn of(compaction: &Compaction) -> Self {
        Self {
            covered_links: 0,
            task_in_head: compaction.plan.task == TaskPlace::Head,
            notes_cap_tokens: compaction.plan.notes_cap_tokens,
            summary_tokens: compaction.summary_tokens,
            trimmed_tokens: compaction.trimmed_tokens,
            trims: Vec::new(),
            reason: compaction.plan.reason.as_str().to_owned(),
            sources: compaction.summary.sources.clone(),
            report: compaction.report.as_deref().map(StoredReport::of),
            swap: None,
            view: None,
            steps: Vec::new(),
        }
    }
}

impl StoredTrim {
    fn of(trim: &Trim) -> Self {
        let (block, part) = (trim.block, trim.part);
        match &trim.shown {
            Shown::Placeholder(line) => Self::Placeholder(block, part, line.clone()),
            Shown::Kept(kept) if kept.between.is_empty() => {
                Self::Ends(block, part, kept.head_chars, kept.tail_chars)
            }
            Shown::Kept(kept) => {
                let between = kept.between.iter().map(|range| (range.start, range.end));
                let (head, tail) = (kept.head_chars, kept.tail_chars);
                Self::Kept(block, part, head, tail, between.collect())
            }
        }
    }

    fn trim(&self) -> Trim {
        let kept = |head_chars: usize, between: &[(usize, usize)], tail_chars: usize| {
            Shown::Kept(Kept {
                head_chars,
                between: between.iter().map(|(start, end)| *start..*end).collect(),
                tail_chars,
            })
        };
        let (block, part, shown) = match self {
            Self::Ends(block, part, head, tail) => (*block, *part, kept(*head, &[], *tail)),
            Self::Kept(block, part, head, tail, between) => {
                (*block, *part, kept(*head, between, *tail))
            }
            Self::Placeholder(block, part, line) => {
                (*block, *part, Shown::Placeholder(line.clone()))
            }
        };
        Trim { block, part, shown }
    }
}

#[cfg(test)]
#[path = "epoch_tests.rs"]
mod tests;
