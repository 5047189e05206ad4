//! One worker at a time, over all processes that share a store.

use std::time::Duration;

use epitome_store::{ConversationId, Leases, Result, TenantId};

use crate::clock::{self, Clock};

/// How long background work may go without a sign of life, unless told otherwise.
pub const LEASE_MS: i64 = 30_000;

/// Whose lease it is, of what, and for how long.
#[derive(Debug)]
pub struct LeaseTerms<'a, S> {
    /// Who grants it.
    pub store: &'a S,
    /// The tenant.
    pub tenant: &'a TenantId,
    /// The conversation whose background work is to be done.
    pub conversation: &'a ConversationId,
    /// How long it may go without a sign of life.
    pub lease_ms: i64,
    /// What the time is.
    pub clock: &'a Clock,
}

/// The right to do the background work of a conversation, while it is held.
#[derive(Debug)]
pub struct Lease<'a, S> {
    terms: LeaseTerms<'a, S>,
    fence: u64,
}

impl<'a, S: Leases> Lease<'a, S> {
    /// Asks for it; `None` while `holder` is somebody else.
    ///
    /// # Errors
    /// What the store says.
    pub async fn acquire(terms: LeaseTerms<'a, S>, holder: &str) -> Result<Option<Self>> {
        let now = terms.clock.now_ms();
        let until = now.saturating_add(terms.lease_ms);
        let LeaseTerms {
            store,
            tenant,
            conversation,
            ..
        } = terms;
        let fence = store.acquire_lease(tenant, conversation, holder, now, until);
        Ok(fence.await?.map(|fence| Self { terms, fence }))
    }

    /// One that is held already.
    #[must_use]
    pub const fn held(terms: LeaseTerms<'a, S>, fence: u64) -> Self {
        Self { terms, fence }
    }

    /// The number of this holding; it grows with every new one.
    #[must_use]
    pub const fn fence(&self) -> u64 {
        self.fence
    }

    /// Prolongs it again and again; returns when it is lost.
    pub async fn keep(&self) {
        let third = u64::try_from(self.terms.lease_ms / 3).unwrap_or(1).max(1);
        let mut ticks = clock::every(Duration::from_millis(third));
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let now = self.terms.clock.now_ms();
            let until = now.saturating_add(self.terms.lease_ms);
            let LeaseTerms {
                store,
                tenant,
                conversation,
                ..
            } = self.terms;
            let renewed = store.renew_lease(tenant, conversation, self.fence, now, until);
            match renewed.await {
                Ok(true) => {}
                Ok(false) => return,
                // The store may be back before the lease is over.
                Err(error) => tracing::warn!(%error, "a lease was not prolonged"),
            }
        }
    }

    /// Gives it back; if that fails, it ends by itself.
    pub async fn release(self) {
        let LeaseTerms {
            store,
            tenant,
            conversation,
            ..
        } = self.terms;
        let released = store.release_lease(tenant, conversation, self.fence);
        if let Err(error) = released.await {
            tracing::warn!(%error, "a lease was not given back");
        }
    }
}
