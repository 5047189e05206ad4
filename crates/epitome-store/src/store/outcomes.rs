//! What was done with requests.

use crate::{Outcome, Result, TenantId};

/// What was done with requests.
pub trait Outcomes {
    /// Notes what was done with a request.
    fn record_outcome(
        &self,
        tenant: &TenantId,
        outcome: &Outcome,
    ) -> impl Future<Output = Result<()>> + Send;

    /// At most `limit` outcomes, the newest first.
    fn outcomes(
        &self,
        tenant: &TenantId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Outcome>>> + Send;
}
