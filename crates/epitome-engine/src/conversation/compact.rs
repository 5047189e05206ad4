//! Compactions that take effect: written down first, then shown.

use epitome::settings::OnFailure;
use epitome::{CommitError, Compaction, Failure, Reason, Session, ShowNow, Swap};
use epitome_store::{
    Appended, ChangeKind, ChangeRow, Changes, CompactionRow, CompactionState, Memories, MemoryRow,
    NewChange,
};

use super::state::{Ready, State};
use super::{Conversation, ConversationError};
use crate::hooks::{AfterCompaction, BeforeCompaction};
use crate::record::{ChangePlace, RecordError, SessionRecord, StepRecord};
use crate::runner::CalledOff;
use crate::summarise::{LadderRung, Memory, TriedRung, Wish, Written};

/// How a compaction came about, as far as it does not say so itself.
#[derive(Clone, Copy)]
struct Made<'a> {
    /// How many messages it was made from.
    from_messages: usize,
    /// Which summariser held, and what failed before it.
    steps: &'a [TriedRung],
    spent_nanodollars: u64,
    /// The sum it was shown by before it had to be.
    swap: Option<Swap>,
}

impl Conversation {
    /// Compacts now, as `/compact FOCUS` does: with the summariser, and waiting for it. Work in flight is called off.
    ///
    /// # Errors
    /// [`ConversationError::NoPlan`] when there is nothing to gain.
    pub async fn compact(&self, focus: Option<&str>) -> Result<Compaction, ConversationError> {
        self.compact_for(Reason::Manual, focus).await
    }

    pub(super) async fn compact_for(
        &self,
        reason: Reason,
        focus: Option<&str>,
    ) -> Result<Compaction, ConversationError> {
        let (job, request) = {
            let mut state = self.state().await;
            self.heed_pins(&mut state).await?;
            self.call_off(&mut state).await;
            let request = state.request(self.shared().wire);
            (state.session.begin(reason)?, request)
        };
        let written = self
            .written(&job, focus, request, self.shared().stopping.child_token())
            .await?;
        let compaction = {
            let mut state = self.state().await;
            // It holds sessions, and every future that compacts would hold it.
            let is_published = Box::pin(self.publish(&mut state, written, None, None)).await?;
            let compaction = state.session.compaction().filter(|_| is_published);
            compaction.cloned().ok_or(ConversationError::Superseded)?
        };
        self.recount_as_the_design_does().await;
        Ok(compaction)
    }

    /// Compacts with the built-in summariser, at once.
    pub(super) async fn compact_at_once(
        &self,
        state: &mut State,
        reason: Reason,
    ) -> Result<(), ConversationError> {
        self.call_off(state).await;
        let mut next = state.session.clone();
        let done = next.compact(reason).map(|_| ());
        if let Err(no) = done {
            // What was tried is remembered, so that it is not tried again.
            state.session = next;
            return Err(no.into());
        }
        self.settle(state, next).await
    }

    /// Puts a session in force whose newest record is new.
    pub(super) async fn settle(
        &self,
        state: &mut State,
        next: Session,
    ) -> Result<(), ConversationError> {
        let step = TriedRung {
            rung: LadderRung::BuiltIn,
            failed: None,
            message: String::new(),
        };
        // What happens at once waits for no hook: they are told behind it, in order.
        let late = BeforeCompaction {
            message_count: state.session.log().len(),
            token_count: Some(state.session.view_tokens()),
        };
        let from_messages = next.records().last().map_or(0, |made| made.from_messages);
        let made = Made {
            from_messages,
            steps: &[step],
            spent_nanodollars: 0,
            swap: None,
        };
        let is_stored = self.commit(state, next, made, None, Some(late)).await?;
        if is_stored {
            Ok(())
        } else {
            Err(ConversationError::Superseded)
        }
    }

    /// Puts what was written in force, if the conversation still wants it. Otherwise it is kept as a record.
    pub(super) async fn publish(
        &self,
        state: &mut State,
        written: Written,
        fence: Option<u64>,
        shown_now: Option<ShowNow>,
    ) -> Result<bool, ConversationError> {
        // What the built-in summariser or a hook wrote took no call.
        if written.usage != epitome::Usage::default() {
            let prices = self.prices(state);
            state.statistics.summary_call(written.usage, &prices);
        }
        self.save_memories(&written.memories).await?;
        let prepared = match written.prepared {
            Ok(prepared) => prepared,
            Err(no) => {
                let message = written.steps.last().map(|step| step.message.clone());
                state
                    .session
                    .failed(failure(no.reason), message.unwrap_or_default());
                let settings = &self.shared().settings;
                if settings.common.on_failure == OnFailure::Reference
                    && state.session.decide() == epitome::Decision::Compact(Reason::TooManyMessages)
                {
                    self.compact_at_once(state, Reason::TooManyMessages).await?;
                    return Ok(true);
                }
                return Err(no.into());
            }
        };
        let from_messages = prepared.from_messages();
        let compaction = prepared.compaction().clone();
        let mut next = state.session.clone();
        match next.commit(prepared).map(|_| ()) {
            Ok(()) => {
                let made = Made {
                    from_messages,
                    steps: &written.steps,
                    spent_nanodollars: written.spent_nanodollars,
                    swap: shown_now.and_then(ShowNow::swap),
                };
                self.commit(state, next, made, fence, None).await
            }
            Err(CommitError::Superseded) => {
                let made = Made {
                    from_messages,
                    steps: &written.steps,
                    spent_nanodollars: written.spent_nanodollars,
                    swap: None,
                };
                self.keep_dead(state, compaction, made).await?;
                Ok(false)
            }
            Err(error) => {
                state.session.failed(Failure::NotSmaller, error.to_string());
                Err(error.into())
            }
        }
    }

    async fn commit(
        &self,
        state: &mut State,
        next: Session,
        made: Made<'_>,
        fence: Option<u64>,
        late: Option<BeforeCompaction>,
    ) -> Result<bool, ConversationError> {
        let Some(compaction) = next.compaction().cloned() else {
            return Ok(false);
        };
        let compacted_count = compaction.plan.span.len();
        let row = self.row(state, compaction, made, CompactionState::Published)?;
        let id = row.id.clone();
        let new = NewChange {
            change: self.change(state, ChangeKind::Compacted, Some(id.clone()))?,
            compaction: Some(row),
            span: None,
            fence,
        };
        let shared = self.shared();
        match shared.store.append_change(&shared.tenant, &new).await? {
            Appended::Stored => {}
            Appended::Superseded => {
                self.read_again(state).await?;
                return Ok(false);
            }
        }
        state.session = next;
        state.changes += 1;
        state.compactions.push(id);
        let context_tokens = state.session.context_tokens();
        state.statistics.compacted(context_tokens);
        let event = AfterCompaction {
            message_count: state.session.log().len(),
            token_count: Some(state.session.view_tokens()),
            compacted_count,
        };
        let runner = shared.runner.clone();
        let context = self.context();
        shared
            .tasks
            .spawn(async move { runner.tell(late, event, &context).await });
        Ok(true)
    }

    /// A compaction that came too late is kept, but never shown.
    async fn keep_dead(
        &self,
        state: &mut State,
        compaction: Compaction,
        made: Made<'_>,
    ) -> Result<(), ConversationError> {
        let row = self.row(state, compaction, made, CompactionState::Undone)?;
        let new = NewChange {
            change: self.change(state, ChangeKind::Superseded, Some(row.id.clone()))?,
            compaction: Some(row),
            span: None,
            fence: None,
        };
        let shared = self.shared();
        match shared.store.append_change(&shared.tenant, &new).await? {
            Appended::Stored => state.changes += 1,
            Appended::Superseded => self.read_again(state).await?,
        }
        Ok(())
    }

    pub(super) fn change(
        &self,
        state: &State,
        kind: ChangeKind,
        compaction: Option<String>,
    ) -> Result<ChangeRow, RecordError> {
        let place = ChangePlace {
            entries: state.raws.len(),
        };
        Ok(ChangeRow {
            conversation: self.id().clone(),
            seq: state.changes,
            kind,
            compaction,
            body: place.write()?,
            at_ms: self.shared().clock.now_ms(),
        })
    }

    fn row(
        &self,
        state: &State,
        compaction: Compaction,
        made: Made<'_>,
        kind: CompactionState,
    ) -> Result<CompactionRow, ConversationError> {
        let count = |range: &std::ops::Range<usize>| u32::try_from(range.len()).unwrap_or(u32::MAX);
        let tip = state.tip.ok_or(CommitError::Superseded)?;
        Ok(CompactionRow {
            id: crate::clock::new_id(),
            conversation: self.id().clone(),
            node: tip.node,
            model_class: format!("session/{}/{}", self.id(), state.changes),
            state: kind,
            head_entries: count(&compaction.plan.head),
            covered_entries: count(&compaction.plan.span),
            tokens_before: compaction.plan.tokens_before,
            tokens_after: compaction.tokens_after,
            summary: compaction.summary.text.clone(),
            record: SessionRecord {
                shown: made.from_messages,
                compaction,
                hard_tokens: state.session.lines().map(|lines| lines.hard_tokens),
                steps: made.steps.iter().map(StepRecord::from).collect(),
                swap: made.swap,
                spent_nanodollars: made.spent_nanodollars,
            }
            .write()?,
            created_ms: self.shared().clock.now_ms(),
        })
    }

    async fn save_memories(&self, memories: &[Memory]) -> Result<(), ConversationError> {
        let shared = self.shared();
        for memory in memories {
            let key = shared.key_of(&[b"memory", memory.normal_text().as_bytes()]);
            let entries = memory.entries.iter();
            let row = MemoryRow {
                id: crate::clock::new_id(),
                key,
                kind: memory.kind.as_str().to_owned(),
                text: memory.text.clone(),
                conversation: Some(self.id().clone()),
                entries: entries.filter_map(|at| u32::try_from(*at).ok()).collect(),
                created_ms: shared.clock.now_ms(),
            };
            shared.store.save_memory(&shared.tenant, &row).await?;
        }
        Ok(())
    }

    /// Ends work in flight and forgets what is ready: something else takes its place. The lease is given back before
    /// anybody can ask for it again.
    pub(super) async fn call_off(&self, state: &mut State) {
        if let Some(in_flight) = state.in_flight.take() {
            in_flight.cancel.cancel();
            self.release(in_flight.fence).await;
        }
        if let Some(Ready { fence, .. }) = state.ready.take() {
            self.release(fence).await;
        }
    }

    pub(super) async fn written(
        &self,
        job: &epitome::Job,
        focus: Option<&str>,
        request: bytes::Bytes,
        cancel: tokio_util::sync::CancellationToken,
    ) -> Result<Written, ConversationError> {
        let runner = &self.shared().runner;
        let wish = Wish {
            focus,
            request: Some(request),
            asked: runner.asked(self.id().as_str(), cancel),
        };
        let entry = |at: usize| format!("{}/{at}", self.id());
        let written = runner.write(job, wish, entry, &self.context()).await;
        written.map_err(|CalledOff { reason }| ConversationError::Cancelled { reason })
    }
}

/// What a reason means for the ledger of a conversation.
fn failure(reason: Reason) -> Failure {
    match reason {
        Reason::SummaryRejected => Failure::SummaryRejected,
        Reason::SummaryEmpty => Failure::SummaryEmpty,
        Reason::SummaryTimeout => Failure::SummaryTimeout,
        Reason::SummaryOverflow => Failure::SummaryOverflow,
        Reason::SummaryCutOff => Failure::SummaryCutOff,
        Reason::SummaryCalledTools => Failure::SummaryCalledTools,
        Reason::SummaryTooLong => Failure::SummaryTooLong,
        Reason::SummaryRefused => Failure::SummaryRefused,
        Reason::SummaryRateLimited => Failure::SummaryRateLimited,
        Reason::SpendLimit => Failure::SpendLimit,
        Reason::Cancelled => Failure::Cancelled,
        Reason::NotSmaller => Failure::NotSmaller,
        _ => Failure::SummaryFailed,
    }
}
