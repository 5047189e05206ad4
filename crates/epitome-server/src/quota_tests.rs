use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use epitome_engine::model::SpendLedger;
use epitome_store::{AnyStore, ConversationId, TenantId, Usage as _};

use super::{Allowance, Counter, Excess, Quota, keep_account};
use crate::clock::{sleep, within};
use crate::config::{Period, QuotaLimits};
use crate::open_store::OpenStore;

fn quota(limits: QuotaLimits) -> Quota {
    Quota::new(TenantId::local(), limits)
}

fn named(number: u128) -> ConversationId {
    ConversationId::from_number(number)
}

const LEFT_OUT: Allowance = Allowance {
    stores: false,
    asks_models: false,
};

#[test]
fn without_limits_all_is_allowed_and_nothing_is_counted() {
    let quota = quota(QuotaLimits::default());
    for number in 0..100 {
        assert_eq!(quota.allows(&named(number), true), Allowance::ALL);
    }
    quota.stores(1 << 40);
    assert!(quota.has_bytes() && quota.used_up().is_empty());
    assert_eq!(quota.conversations.total(), 0);
}

#[test]
fn the_conversations_that_are_stored_go_on_and_no_other_begins() {
    let quota = quota(QuotaLimits {
        conversations: Some(2),
        ..QuotaLimits::default()
    });
    for number in [1, 2] {
        assert_eq!(quota.allows(&named(number), true), Allowance::ALL);
    }
    assert_eq!(quota.allows(&named(3), true), LEFT_OUT);
    assert_eq!(
        quota.allows(&named(3), false),
        LEFT_OUT,
        "its second request"
    );
    assert_eq!(quota.allows(&named(1), false), Allowance::ALL);
    assert_eq!(quota.exceeded(Excess::Conversations), 2);
    assert_eq!(quota.used_up(), [Excess::Conversations]);
    // One was deleted: there is room for the one that was left out, and it counts from then on.
    quota.conversations.set(1, 2);
    assert_eq!(
        quota.allows(&named(3), false),
        LEFT_OUT,
        "they may be on their way"
    );
    quota.conversations.set(1, 0);
    assert_eq!(quota.allows(&named(3), false), Allowance::ALL);
    assert_eq!(quota.conversations.total(), 2);
    assert_eq!(quota.allows(&named(4), true), LEFT_OUT);
}

#[test]
fn beyond_its_bytes_nothing_is_stored() {
    let quota = quota(QuotaLimits {
        bytes: Some(1_000),
        ..QuotaLimits::default()
    });
    assert_eq!(quota.allows(&named(1), true), Allowance::ALL);
    quota.stores(999);
    assert!(quota.has_bytes());
    quota.stores(1);
    assert!(!quota.has_bytes());
    assert_eq!(quota.allows(&named(1), false), LEFT_OUT);
    assert_eq!(quota.used_up(), [Excess::Bytes]);
}

#[test]
fn without_money_no_model_is_asked_and_all_is_stored() {
    let quota = quota(QuotaLimits {
        summary_usd: Some(1.0),
        ..QuotaLimits::default()
    });
    assert!(quota.allows(&named(1), true).asks_models);
    quota.purse.leave(Some(0));
    let allowed = quota.allows(&named(1), false);
    assert_eq!((allowed.stores, allowed.asks_models), (true, false));
    // Without the limit there is nothing to keep to.
    quota.limit(QuotaLimits::default());
    assert_eq!(quota.allows(&named(1), false), Allowance::ALL);
}

#[test]
fn a_sum_that_no_summary_fits_into_is_used_up() {
    let quota = quota(QuotaLimits {
        summary_usd: Some(1.0),
        ..QuotaLimits::default()
    });
    let ledger = SpendLedger::default().paid_from(Arc::clone(&quota.purse));
    let asks = || quota.allows(&named(1), false).asks_models;
    quota.purse.leave(Some(1_000_000));
    assert!(ledger.allows("c", 0.0005, 0).is_ok());
    assert!(asks() && quota.used_up().is_empty());
    assert!(ledger.allows("c", 0.05, 0).is_err());
    assert!(!asks());
    assert_eq!(quota.used_up(), [Excess::SummarySpend]);
    assert_eq!(quota.exceeded(Excess::SummarySpend), 1);
    quota.purse.leave(Some(900_000));
    assert!(!asks(), "no more is left than there was");
    quota.purse.leave(Some(1_000_000));
    assert!(asks(), "somebody may spend more");
    assert!(ledger.allows("c", 0.05, 0).is_err());
    quota.purse.try_again();
    assert!(asks(), "another period");
}

async fn store() -> OpenStore {
    let store = AnyStore::open("sqlite::memory:").await.unwrap();
    OpenStore::new(Arc::new(store))
}

#[tokio::test]
async fn what_is_spent_after_its_tenant_is_booked() {
    let open = store().await;
    let quota = Arc::new(quota(QuotaLimits::default()));
    let account = keep_account(open.clone(), &quota, Counter::default());
    // As a summary that is still being written.
    let background = async move {
        sleep(Duration::from_millis(50)).await;
        let ledger = SpendLedger::default().paid_from(Arc::clone(&quota.purse));
        ledger.spent("c", 0.5, 0);
        drop(quota);
    };
    let both = async { tokio::join!(account, background) };
    within(Duration::from_secs(30), both).await.unwrap();
    let spent = open.store().summary_spend(&TenantId::local(), 0).await;
    assert_eq!(spent.unwrap(), 500_000_000);
}

#[tokio::test]
async fn what_is_booked_puts_no_count_off() {
    let quota = Arc::new(quota(QuotaLimits {
        conversations: Some(9),
        ..QuotaLimits::default()
    }));
    // They never come to the store, which only the second count believes.
    quota.conversations.add(5);
    let account = keep_account(store().await, &quota, Counter::default());
    let summaries = async {
        while quota.conversations.total() > 0 {
            quota.hurry.notify_one();
            sleep(Duration::from_millis(100)).await;
        }
    };
    let both = async {
        tokio::select! {
            () = account => {}
            () = summaries => {}
        }
    };
    within(Duration::from_secs(30), both).await.unwrap();
    assert_eq!(quota.conversations.total(), 0);
}

#[test]
fn what_comes_while_it_is_counted_is_not_lost() {
    let quota = quota(QuotaLimits {
        bytes: Some(100),
        ..QuotaLimits::default()
    });
    quota.stores(10);
    let before = quota.bytes.since.load(Ordering::Relaxed);
    quota.stores(5);
    quota.bytes.set(10, before);
    assert_eq!(quota.bytes.total(), 15);
}

#[test]
fn periods_begin_with_their_day_or_their_month() {
    let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let day = |text: &str| at(text) / 86_400_000;
    let moment = at("2026-03-17T23:59:59Z");
    assert_eq!(Period::Day.first_day(moment), day("2026-03-17T00:00:00Z"));
    assert_eq!(Period::Month.first_day(moment), day("2026-03-01T00:00:00Z"));
    let first = at("2024-02-01T00:00:00Z");
    assert_eq!(Period::Month.first_day(first), first / 86_400_000);
}
