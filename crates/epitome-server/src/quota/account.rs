//! Counting what a tenant has used, beside the path of requests.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use epitome_store::{AnyStore, Result, TenantId, Usage};
use tokio_util::sync::CancellationToken;

use super::Quota;
use crate::clock::{self, Stopwatch, now_ms};
use crate::config::Period;
use crate::open_store::OpenStore;

/// How often it is counted; where counting takes long, less often: it takes no more than a hundredth of the time.
const EVERY: Duration = Duration::from_secs(2);
const SELDOM: Duration = Duration::from_secs(600);
const SHARE: u32 = 100;

const DAY_MS: i64 = 86_400_000;

/// Books what summaries cost and counts what is stored, until `ending`.
pub(crate) async fn keep_account(store: OpenStore, quota: Arc<Quota>, ending: CancellationToken) {
    let tenant = quota.tenant.clone();
    let mut is_due = true;
    loop {
        let stopwatch = Stopwatch::start();
        if let Err(error) = settle(store.store(), &tenant, &quota, is_due).await {
            tracing::warn!(tenant = tenant.as_str(), %error, "what a tenant uses cannot be counted; it counts as it was");
        }
        let pause = (stopwatch.taken() * SHARE).clamp(EVERY, SELDOM);
        // Who has no limit is only asked again when there is something to book.
        let paused = async {
            match quota.is_limited.load(Ordering::Relaxed) {
                true => clock::sleep(pause).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = ending.cancelled() => break,
            () = quota.hurry.notified() => is_due = false,
            () = paused => is_due = true,
        }
    }
    if let Err(error) = book(store.store(), &tenant, &quota).await {
        tracing::warn!(tenant = tenant.as_str(), %error, "what summaries cost last cannot be booked");
    }
    store.done().await;
}

/// Books what was spent here, and counts what is used everywhere, where that is due.
async fn settle(store: &AnyStore, tenant: &TenantId, quota: &Quota, is_due: bool) -> Result<()> {
    book(store, tenant, quota).await?;
    let limits = quota.limits();
    if let Some(limit_usd) = limits.summary_usd {
        let from_day = limits.period.first_day(now_ms());
        let spent = store.summary_spend(tenant, from_day).await?;
        quota.spent.store(spent, Ordering::Relaxed);
        let limit = (limit_usd * 1e9).round() as u64;
        let used = spent.saturating_add(quota.purse.unbooked());
        quota.purse.leave(Some(limit.saturating_sub(used)));
    }
    if is_due && (limits.conversations.is_some() || limits.bytes.is_some()) {
        let before = |counted: &super::Counted| counted.since.load(Ordering::Relaxed);
        let (conversations, bytes) = (before(&quota.conversations), before(&quota.bytes));
        let usage = store.usage(tenant).await?;
        quota.conversations.set(usage.conversations, conversations);
        quota.bytes.set(usage.bytes, bytes);
    }
    Ok(())
}

/// Books what summaries cost since the last time.
async fn book(store: &AnyStore, tenant: &TenantId, quota: &Quota) -> Result<()> {
    let spent = quota.purse.take_unbooked();
    if spent == 0 {
        return Ok(());
    }
    let booked = store
        .add_summary_spend(tenant, now_ms() / DAY_MS, spent)
        .await;
    booked.inspect_err(|_| quota.purse.put_back_unbooked(spent))
}

impl Period {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// The first day of the period in which a moment is, counted from 1970-01-01.
    pub(super) fn first_day(self, at_ms: i64) -> i64 {
        let day = at_ms.div_euclid(DAY_MS);
        let moment = jiff::Timestamp::from_millisecond(at_ms);
        match (self, moment) {
            (Self::Month, Ok(moment)) => {
                let date = moment.to_zoned(jiff::tz::TimeZone::UTC).date();
                day + 1 - i64::from(date.day())
            }
            (Self::Day, _) | (Self::Month, Err(_)) => day,
        }
    }
}
