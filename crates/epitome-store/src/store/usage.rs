//! What tenants have used of what they may use.

use crate::{Result, TenantId, TenantUsage};

/// What tenants have used of what they may use.
pub trait Usage {
    /// How much is kept for a tenant. It is counted row by row, so that nobody should wait for it.
    fn usage(&self, tenant: &TenantId) -> impl Future<Output = Result<TenantUsage>> + Send;

    /// Adds to what summaries by models have cost a tenant on a day, counted from 1970-01-01.
    fn add_summary_spend(
        &self,
        tenant: &TenantId,
        day: i64,
        nanodollars: u64,
    ) -> impl Future<Output = Result<()>> + Send;

    /// What summaries by models have cost a tenant from a day on, in billionths of a dollar.
    fn summary_spend(
        &self,
        tenant: &TenantId,
        from_day: i64,
    ) -> impl Future<Output = Result<u64>> + Send;
}
