//! Work on a frozen span while the conversation goes on. One piece at a time, over all engines that share a store.

use std::time::Duration;

use epitome::{Job, Reason};
use epitome_store::AnyStore;
use tokio_util::sync::CancellationToken;

use super::state::{InFlight, Ready, State};
use super::{Conversation, ConversationError};
use crate::clock;
use crate::model::Asked;
use crate::runner::{Lease, LeaseTerms};

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
        let lease = Lease::acquire(self.lease_terms(), &shared.holder);
        let Some(fence) = lease.await?.map(|lease| lease.fence()) else {
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
        let lease = self.lease(fence);
        let written = tokio::select! {
            written = self.written(job, None, request, cancel.clone()) => Some(written),
            () = lease.keep() => None,
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
        // It holds sessions, and every future that compacts would hold it.
        let published = Box::pin(self.publish(state, written, Some(fence), Some(shown))).await;
        self.release(fence).await;
        published
    }

    /// Gives a lease back; if that fails, it ends by itself.
    pub(super) async fn release(&self, fence: u64) {
        self.lease(fence).release().await;
    }

    /// A call to a model on behalf of this conversation; it ends with the engine.
    pub(super) fn asked(&self) -> Asked {
        let shared = self.shared();
        let cancel = shared.stopping.child_token();
        shared.runner.asked(self.id().as_str(), cancel)
    }

    fn lease(&self, fence: u64) -> Lease<'_, AnyStore> {
        Lease::held(self.lease_terms(), fence)
    }

    fn lease_terms(&self) -> LeaseTerms<'_, AnyStore> {
        let shared = self.shared();
        LeaseTerms {
            store: &shared.store,
            tenant: &shared.tenant,
            conversation: self.id(),
            lease_ms: shared.lease_ms,
            clock: &shared.clock,
        }
    }
}
