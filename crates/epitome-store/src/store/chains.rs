//! What is known of a chain.

use crate::{ChainQuestion, KnownChain, Result, TenantId};

/// What a request asks before it is sent: all of it in one go, because whoever sent it waits.
pub trait Chains {
    /// Whether the newest links of a chain are known, whose they are, and what is known along it.
    fn look_up(
        &self,
        tenant: &TenantId,
        question: &ChainQuestion<'_>,
    ) -> impl Future<Output = Result<KnownChain>> + Send;
}
