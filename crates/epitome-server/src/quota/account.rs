//! Counting what a tenant has used, beside the path of requests.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use epitome_engine::model::Purse;
use epitome_store::{Result, TenantId, Usage as _};
use tokio::sync::{Notify, Semaphore};
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

/// One count of rows at a time on a node, however many tenants it has.
#[derive(Clone, Debug)]
pub(crate) struct Counter(Arc<Semaphore>);

impl Default for Counter {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

/// Books what summaries cost and counts what is stored, as long as somebody may spend or store: also what is still being done when
/// its tenant is one no more.
pub(crate) fn keep_account(
    store: OpenStore,
    quota: &Arc<Quota>,
    counter: Counter,
) -> impl Future<Output = ()> + Send + 'static {
    let account = Account {
        tenant: quota.tenant.clone(),
        purse: Arc::clone(&quota.purse),
        hurry: Arc::clone(&quota.hurry),
        ending: quota.ending.token().clone(),
        quota: Arc::downgrade(quota),
        store,
        first_day: i64::MIN,
    };
    account.keep(counter)
}

/// What outlives a quota, so that what was spent last is booked.
struct Account {
    tenant: TenantId,
    quota: Weak<Quota>,
    purse: Arc<Purse>,
    hurry: Arc<Notify>,
    ending: CancellationToken,
    store: OpenStore,
    /// That of the period that is paid for now.
    first_day: i64,
}

/// What a look at the store is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Something may have been spent.
    Booking,
    /// All is counted anew.
    Count,
}

impl Account {
    async fn keep(mut self, counter: Counter) {
        let (hurry, ending) = (Arc::clone(&self.hurry), self.ending.clone());
        let mut pause = Duration::ZERO;
        'account: loop {
            // Who has no limit is only asked again when there is something to book.
            let was_limited = self.is_limited();
            let (counter, wait) = (&counter, pause);
            let due = async move {
                match was_limited {
                    true => clock::sleep(wait).await,
                    false => std::future::pending().await,
                }
                counter.0.acquire().await
            };
            tokio::pin!(due);
            // What is booked in between puts the count off no further.
            let turn = loop {
                tokio::select! {
                    () = ending.cancelled() => break 'account,
                    () = hurry.notified() => {
                        self.settle(Due::Booking).await;
                        if self.is_limited() != was_limited {
                            pause = Duration::ZERO;
                            continue 'account;
                        }
                    }
                    turn = &mut due => break turn,
                }
            };
            let stopwatch = Stopwatch::start();
            self.settle(Due::Count).await;
            pause = (stopwatch.taken() * SHARE).clamp(EVERY, SELDOM);
            drop(turn);
        }
        if let Err(error) = self.book().await {
            let tenant = self.tenant.as_str();
            tracing::warn!(tenant, %error, "what summaries cost last cannot be booked");
        }
        self.store.done().await;
    }

    fn is_limited(&self) -> bool {
        let quota = self.quota.upgrade();
        quota.is_some_and(|quota| quota.is_limited.load(Ordering::Relaxed))
    }

    async fn settle(&mut self, due: Due) {
        if let Err(error) = self.settled(due).await {
            let tenant = self.tenant.as_str();
            tracing::warn!(tenant, %error, "what a tenant uses cannot be counted; it counts as it was");
        }
    }

    /// Books what was spent here, and counts what is used everywhere, where that is due.
    async fn settled(&mut self, due: Due) -> Result<()> {
        self.book().await?;
        let Some(quota) = self.quota.upgrade() else {
            return Ok(());
        };
        let (store, limits) = (self.store.store(), quota.limits());
        if let Some(limit_usd) = limits.summary_usd {
            let first_day = limits.period.first_day(now_ms());
            let spent = store.summary_spend(&self.tenant, first_day).await?;
            quota.spent.store(spent, Ordering::Relaxed);
            let limit = (limit_usd * 1e9).round() as u64;
            let used = spent.saturating_add(quota.purse.unbooked());
            quota.purse.leave(Some(limit.saturating_sub(used)));
            if first_day != self.first_day {
                self.first_day = first_day;
                quota.purse.try_again();
            }
        }
        if due == Due::Count && (limits.conversations.is_some() || limits.bytes.is_some()) {
            let before = |counted: &super::Counted| counted.since.load(Ordering::Relaxed);
            let (conversations, bytes) = (before(&quota.conversations), before(&quota.bytes));
            let usage = store.usage(&self.tenant).await?;
            quota.conversations.set(usage.conversations, conversations);
            quota.bytes.set(usage.bytes, bytes);
        }
        Ok(())
    }

    /// Books what summaries cost since the last time.
    async fn book(&self) -> Result<()> {
        let spent = self.purse.take_unbooked();
        if spent == 0 {
            return Ok(());
        }
        let (store, day) = (self.store.store(), now_ms() / DAY_MS);
        let booked = store.add_summary_spend(&self.tenant, day, spent).await;
        booked.inspect_err(|_| self.purse.put_back_unbooked(spent))
    }
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
