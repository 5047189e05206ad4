//! Tenants and their secrets.

use crate::{Result, TenantId};

/// What is kept for a tenant as such.
pub trait Tenants {
    /// The tenant's secret. Stores `fresh` when the tenant has none; all callers get the same one, also in a race.
    fn tenant_key(
        &self,
        tenant: &TenantId,
        fresh: [u8; 32],
    ) -> impl Future<Output = Result<[u8; 32]>> + Send;
}
