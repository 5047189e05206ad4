//! Work on a frozen span while the conversation goes on. One piece at a time, over all engines that share a store.

use std::sync::Arc;
use std::time::Duration;

use epitome::{Job, Reason};
use epitome_store::Leases;
use tokio_util::sync::CancellationToken;

use super::state::{InFlight, Ready, State};
use super::{Conversation, ConversationError};
use crate::clock;
use crate::hooks::{BeforeCompaction, Preparation, Verdict};
use crate::model::Asked;
use crate::summarise::{LadderRung, Step, Wish, Written};

/// The longest that background work may take where no endpoint says so.
const LONGEST: Duration = Duration::from_secs(720);

impl Conversation {
    /// Begins to prepare a compaction, unless somebody is at it already.
    pub(super) async fn prepare(
        &self,
        state: &mut State,
        reason: Reason,
    ) -> Result<bool, ConversationError> {
        if state.in_flight.is_some() || state.ready.is_some() {
            return Ok(false);
        }
        let shared = self.shared();
        if shared.stopping.is_cancelled() {
            return Ok(false);
        }
        let now = shared.clock.now_ms();
        let until = now.saturating_add(shared.lease_ms);
        let lease = shared
            .store
            .acquire_lease(&shared.tenant, self.id(), &shared.holder, now, until)
            .await?;
        let Some(fence) = lease else {
            return Ok(false);
        };
        let Ok(job) = state.session.begin(reason) else {
            self.release(fence).await;
            return Ok(false);
        };
        let cancel = shared.stopping.child_token();
        state.works_begun += 1;
        let number = state.works_begun;
        state.in_flight = Some(InFlight {
            cancel: cancel.clone(),
            fence,
            number,
        });
        let request = state.request(self.shared().wire);
        let this = self.clone();
        shared.tasks.spawn(async move {
            let outcome = this.run(&job, request, number, fence, cancel).await;
            if let Err(error) = outcome {
                tracing::warn!(conversation = %this.id(), %error, "background compaction failed");
            }
        });
        Ok(true)
    }

    async fn run(
        &self,
        job: &Job,
        request: bytes::Bytes,
        number: u64,
        fence: u64,
        cancel: CancellationToken,
    ) -> Result<(), ConversationError> {
        let written = tokio::select! {
            written = self.written(job, None, request, cancel.clone()) => Some(written),
            () = self.keep_lease(fence) => None,
            () = cancel.cancelled() => None,
        };
        let mut state = self.state().await;
        // Whoever called it off has given the lease back: by now it may be that of the next piece of work.
        let in_flight = state.in_flight.take_if(|one| one.number == number);
        if in_flight.is_none() {
            return Ok(());
        }
        let written = match written {
            Some(Ok(written)) if !cancel.is_cancelled() => written,
            other => {
                self.release(fence).await;
                return other.transpose().map(|_| ());
            }
        };
        state.ready = Some(Ready { written, fence });
        let is_published = self.publish_if_it_pays(&mut state).await?;
        let waits = state.ready.is_some();
        drop(state);
        if is_published {
            self.recount_as_the_design_does().await;
        }
        if waits {
            self.give_back_at_shutdown(fence, &cancel).await;
        }
        Ok(())
    }

    /// What waits to be shown keeps its lease. It must not outlive the engine: nobody could go on until it runs out.
    async fn give_back_at_shutdown(&self, fence: u64, stopping: &CancellationToken) {
        let lease_ms = u64::try_from(self.shared().lease_ms).unwrap_or(0);
        tokio::select! {
            () = stopping.cancelled() => {}
            () = clock::sleep(Duration::from_millis(lease_ms)) => return,
        }
        let mut state = self.state().await;
        if state.ready.take_if(|ready| ready.fence == fence).is_some() {
            self.release(fence).await;
        }
    }

    /// Puts what is ready in force, if that is wanted now.
    pub(super) async fn publish_if_it_pays(
        &self,
        state: &mut State,
    ) -> Result<bool, ConversationError> {
        let Some(ready) = state.ready.as_ref() else {
            return Ok(false);
        };
        let Some(shown) = self.shows(state, &ready.written) else {
            return Ok(false);
        };
        let Some(Ready { written, fence }) = state.ready.take() else {
            return Ok(false);
        };
        let published = self.publish(state, written, Some(fence), Some(shown)).await;
        self.release(fence).await;
        published
    }

    /// Gives a lease back; if that fails, it ends by itself.
    pub(super) async fn release(&self, fence: u64) {
        let shared = self.shared();
        let released = shared.store.release_lease(&shared.tenant, self.id(), fence);
        if let Err(error) = released.await {
            tracing::warn!(%error, "a lease was not given back");
        }
    }

    /// Prolongs a lease again and again; returns when it is lost.
    async fn keep_lease(&self, fence: u64) {
        let shared = self.shared();
        let third = u64::try_from(shared.lease_ms / 3).unwrap_or(1).max(1);
        let mut ticks = clock::every(Duration::from_millis(third));
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let until = shared.clock.now_ms().saturating_add(shared.lease_ms);
            let renewed = shared
                .store
                .renew_lease(&shared.tenant, self.id(), fence, until)
                .await;
            match renewed {
                Ok(true) => {}
                Ok(false) => return,
                // The store may be back before the lease is over.
                Err(error) => tracing::warn!(%error, "a lease was not prolonged"),
            }
        }
    }

    pub(super) fn asked(&self, cancel: CancellationToken) -> Asked {
        let caller = self.shared().caller.as_ref();
        match caller {
            Some(caller) => Asked {
                cancel,
                ..caller.begin(self.id().as_str())
            },
            None => Asked {
                conversation: self.id().to_string(),
                until: clock::after(LONGEST),
                cancel,
            },
        }
    }

    /// Asks the hooks, then the ladder.
    pub(super) async fn with_hooks(
        &self,
        job: &Job,
        wish: Wish<'_>,
    ) -> Result<Written, ConversationError> {
        let shared = self.shared();
        let context = self.context();
        let event = BeforeCompaction {
            message_count: job.messages().len(),
            token_count: Some(job.plan().tokens_before),
        };
        shared.hooks.before(event, &context).await;
        let verdict = if shared.hooks.has_before_compact() {
            let preparation = self.preparation(job, wish.focus);
            let outcome = shared.hooks.before_compact(Arc::new(preparation), &context);
            outcome.await.verdict
        } else {
            Verdict::Continue
        };
        match verdict {
            Verdict::Continue => {}
            Verdict::Cancel { reason } => return Err(ConversationError::Cancelled { reason }),
            Verdict::Replace { summary } => match job.accept(&summary) {
                Ok(prepared) => {
                    return Ok(Written {
                        prepared: Ok(prepared),
                        steps: vec![Step {
                            rung: LadderRung::Full,
                            failed: None,
                            message: String::from("written by a hook"),
                        }],
                        memories: Vec::new(),
                        usage: epitome::Usage::default(),
                    });
                }
                Err(no) => tracing::warn!(%no, "the summary of a hook cannot stand"),
            },
        }
        Ok(shared.ladder.write(job, wish).await)
    }

    fn preparation(&self, job: &Job, focus: Option<&str>) -> Preparation {
        let prefix = job.turn_prefix();
        let at = |positions: std::ops::Range<usize>| {
            let found = job.messages().get(positions).unwrap_or_default();
            found.to_vec()
        };
        let span = job.plan().span.clone();
        let end = if prefix.is_empty() {
            span.end
        } else {
            prefix.start
        };
        let settings = self.shared().settings.entries();
        let settings = settings.map(|(key, value)| (key.name.to_owned(), value.to_string()));
        Preparation {
            messages_to_summarize: at(span.start..end),
            turn_prefix_messages: at(prefix.clone()),
            first_kept_entry_id: Some(format!("{}/{}", self.id(), span.end)),
            tokens_before: job.plan().tokens_before,
            previous_summary: job.previous_summary().map(str::to_owned),
            file_operations: job.file_operations(),
            settings: settings
                .map(|(name, value)| (name, serde_json::Value::from(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            is_split_turn: !prefix.is_empty(),
            custom_instructions: focus.map(str::to_owned),
        }
    }
}
