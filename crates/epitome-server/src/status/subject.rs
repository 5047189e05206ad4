//! Of whom something is said: all tenants together, or one of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::journal::CrewFigures;
use crate::proxy::Proxy;
use crate::quota::Excess;
use crate::tally::{Reached, Totals};
use crate::tenants::{Register, Tenant};

/// Of whom something is said.
#[derive(Debug)]
pub(crate) struct Subject<'s> {
    pub(super) tenants: &'s [Arc<Tenant>],
    pub(super) reached: &'s Reached,
    /// Requests of nobody that is known, where requests are told apart.
    pub(super) strangers: Option<u64>,
}

impl<'s> Subject<'s> {
    /// Of all together.
    pub(crate) fn all(proxy: &'s Proxy, register: &'s Register) -> Self {
        let strangers = proxy.strangers.load(Ordering::Relaxed);
        Self {
            tenants: register.all(),
            reached: &proxy.reached,
            strangers: register.tells_apart().then_some(strangers),
        }
    }

    /// Of one, as if there were nobody else.
    pub(crate) fn one(tenant: &'s [Arc<Tenant>; 1]) -> Self {
        let [own] = tenant;
        Self {
            tenants: tenant,
            reached: own.tally.reached(),
            strangers: None,
        }
    }

    pub(super) fn totals(&self) -> Totals {
        Totals::of(self.tenants.iter().map(|tenant| &*tenant.tally))
    }

    pub(super) fn store(&self) -> StoreTotals {
        let mut sum = StoreTotals::default();
        for tenant in self.tenants {
            let keeper = tenant.keeper();
            let health = keeper.store_health();
            sum.failures += health.failures();
            sum.deadlines += health.deadlines();
            sum.dropped += health.dropped();
            sum.late_commits += health.late_commits() as u64;
            sum.queued_bytes += health.queued_bytes() as u64;
            sum.is_failing |= health.is_failing();
            sum.is_gone |= keeper.is_store_gone();
        }
        sum
    }

    /// What is done in the background for all of them.
    pub(super) fn crew(&self) -> CrewFigures {
        let mut sum = CrewFigures::default();
        for tenant in self.tenants {
            sum += tenant.keeper().crew();
        }
        sum
    }

    /// Requests beyond a quota, and whether one is used up now.
    pub(super) fn beyond(&self, excess: Excess) -> (u64, bool) {
        let tenants = self.tenants.iter();
        tenants.fold((0, false), |(count, is_used_up), tenant| {
            let quota = &tenant.quota;
            let is_now = quota.used_up().contains(&excess);
            (count + quota.exceeded(excess), is_used_up || is_now)
        })
    }
}

/// How the store has been doing for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoreTotals {
    pub(super) failures: u64,
    pub(super) deadlines: u64,
    pub(super) dropped: u64,
    pub(super) late_commits: u64,
    pub(super) queued_bytes: u64,
    pub(super) is_failing: bool,
    pub(super) is_gone: bool,
}
