//! One worker at a time, over all processes that share a store.

use std::time::Duration;

use epitome_store::{ConversationId, Leases, Result, TenantId};

use crate::clock::{self, Clock};

/// How long background work may go without a sign of life, unless told otherwise.
pub const LEASE_MS: i64 = 30_000;

/// The right to do the background work of a conversation, while it is held.
#[derive(Debug)]
pub struct Lease<'a, S> {
    store: &'a S,
    tenant: &'a TenantId,
    conversation: &'a ConversationId,
    lease_ms: i64,
    clock: &'a Clock,
    fence: u64,
}

impl<'a, S: Leases> Lease<'a, S> {
    /// Asks for it; `None` while `holder` is somebody else.
    ///
    /// # Errors
    /// What the store says.
    pub async fn acquire(
        store: &'a S,
        tenant: &'a TenantId,
        conversation: &'a ConversationId,
        holder: &str,
        lease_ms: i64,
        clock: &'a Clock,
    ) -> Result<Option<Self>> {
        let now = clock.now_ms();
        let until = now.saturating_add(lease_ms);
        let fence = store.acquire_lease(tenant, conversation, holder, now, until);
        Ok(fence.await?.map(|fence| Self {
            store,
            tenant,
            conversation,
            lease_ms,
            clock,
            fence,
        }))
    }

    /// One that is held already.
    #[must_use]
    pub const fn held(
        store: &'a S,
        tenant: &'a TenantId,
        conversation: &'a ConversationId,
        lease_ms: i64,
        clock: &'a Clock,
        fence: u64,
    ) -> Self {
        Self {
            store,
            tenant,
            conversation,
            lease_ms,
            clock,
            fence,
        }
    }

    /// The number of this holding; it grows with every new one.
    #[must_use]
    pub const fn fence(&self) -> u64 {
        self.fence
    }

    /// Prolongs it again and again; returns when it is lost.
    pub async fn keep(&self) {
        let third = u64::try_from(self.lease_ms / 3).unwrap_or(1).max(1);
        let mut ticks = clock::every(Duration::from_millis(third));
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let until = self.clock.now_ms().saturating_add(self.lease_ms);
            let renewed = self
                .store
                .renew_lease(self.tenant, self.conversation, self.fence, until);
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
        let released = self
            .store
            .release_lease(self.tenant, self.conversation, self.fence);
        if let Err(error) = released.await {
            tracing::warn!(%error, "a lease was not given back");
        }
    }
}
