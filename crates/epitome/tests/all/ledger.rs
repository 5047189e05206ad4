use epitome::{Attempt, Breaker, Failure, Growth, Ledger, LedgerSettings, Need, Reason, Rung};
use proptest::collection::vec;
use proptest::prelude::any;

use crate::support::property;

fn attempt(span_end: usize) -> Attempt {
    Attempt {
        span_end,
        target_tokens: 50_000,
        rung: Rung::ShorterTail,
    }
}

fn ledger() -> Ledger {
    Ledger::new(LedgerSettings::default())
}

#[test]
fn the_same_try_is_made_once_whatever_the_need() {
    let mut ledger = ledger();
    assert_eq!(ledger.begin(attempt(10), Need::Required, 100), Ok(()));
    for need in [Need::Wanted, Need::Required] {
        assert_eq!(
            ledger.begin(attempt(10), need, 1_000_000),
            Err(Reason::AlreadyTried)
        );
    }
    ledger.compacted(100);
    assert_eq!(
        ledger.begin(attempt(10), Need::Required, 1_000_000),
        Err(Reason::AlreadyTried),
        "also after it succeeded: an undone compaction does not come back by itself"
    );
}

#[test]
fn the_next_rung_is_another_try_and_the_ladder_ends() {
    let mut ledger = ledger();
    let mut rung = Some(Rung::ShorterTail);
    let mut tries = 0;
    while let Some(now) = rung {
        let attempt = Attempt {
            rung: now,
            ..attempt(10)
        };
        assert_eq!(ledger.begin(attempt, Need::Required, 100), Ok(()));
        ledger.failed(Failure::NotSmaller, 100);
        tries += 1;
        rung = now.next();
    }
    assert_eq!(tries, 5);
    assert_eq!(ledger.tried().count(), 5);
}

#[test]
fn three_failures_in_a_row_open_the_breaker_and_growth_lets_one_through() {
    let mut ledger = ledger();
    for at in 0..3 {
        assert_eq!(ledger.begin(attempt(at), Need::Wanted, 100_000), Ok(()));
        let expect = if at == 2 {
            Breaker::Opened { failures: 3 }
        } else {
            Breaker::Closed
        };
        assert_eq!(ledger.failed(Failure::SummaryTimeout, 100_000), expect);
    }
    assert_eq!(ledger.open_because(), Some(Failure::SummaryTimeout));
    assert_eq!(
        Reason::from(Failure::SummaryTimeout),
        Reason::SummaryTimeout
    );
    assert_eq!(
        ledger.begin(attempt(9), Need::Wanted, 109_999),
        Err(Reason::BreakerOpen)
    );
    assert_eq!(ledger.begin(attempt(10), Need::Wanted, 110_000), Ok(()));
    assert_eq!(
        ledger.begin(attempt(11), Need::Wanted, 110_000),
        Err(Reason::BreakerOpen),
        "half open is one try, even when its outcome is never told"
    );
    assert_eq!(
        ledger.failed(Failure::SummaryEmpty, 110_000),
        Breaker::StaysOpen
    );
    assert_eq!(
        ledger.begin(attempt(12), Need::Wanted, 120_999),
        Err(Reason::BreakerOpen)
    );
    assert_eq!(ledger.begin(attempt(12), Need::Wanted, 121_000), Ok(()));
    ledger.compacted(20_000);
    assert_eq!(ledger.open_because(), None);
}

#[test]
fn a_success_in_between_starts_the_count_again() {
    let mut ledger = ledger();
    for round in 0..10 {
        for try_number in 0..2 {
            let attempt = attempt(round * 10 + try_number);
            assert_eq!(ledger.begin(attempt, Need::Required, 100_000), Ok(()));
            assert_eq!(
                ledger.failed(Failure::SummaryRejected, 100_000),
                Breaker::Closed
            );
        }
        ledger.compacted(30_000);
    }
}

#[test]
fn after_a_compaction_the_conversation_rests_until_it_has_grown() {
    let mut ledger = ledger();
    ledger.compacted(30_000);
    assert_eq!(
        ledger.begin(attempt(1), Need::Wanted, 32_999),
        Err(Reason::NotGrown)
    );
    assert_eq!(ledger.begin(attempt(1), Need::Wanted, 33_000), Ok(()));
    ledger.compacted(900_000);
    assert_eq!(
        ledger.begin(attempt(2), Need::Wanted, 919_999),
        Err(Reason::NotGrown)
    );
    assert_eq!(
        ledger.begin(attempt(2), Need::Wanted, 920_000),
        Ok(()),
        "tokens come first"
    );
    ledger.compacted(0);
    assert_eq!(
        ledger.begin(attempt(3), Need::Wanted, 0),
        Err(Reason::NotGrown)
    );
    assert_eq!(ledger.begin(attempt(3), Need::Wanted, 1), Ok(()));
}

#[test]
fn what_is_required_waits_for_neither() {
    let mut ledger = ledger();
    ledger.compacted(30_000);
    for at in 0..3 {
        assert_eq!(ledger.begin(attempt(at), Need::Required, 30_000), Ok(()));
        ledger.failed(Failure::SummaryFailed, 30_000);
    }
    assert_eq!(
        ledger.begin(attempt(4), Need::Wanted, 30_000),
        Err(Reason::BreakerOpen)
    );
    assert_eq!(ledger.begin(attempt(4), Need::Required, 30_000), Ok(()));
}

#[test]
fn after_a_rewind_growth_counts_from_there() {
    let mut ledger = ledger();
    ledger.compacted(100_000);
    assert_eq!(
        ledger.begin(attempt(1), Need::Wanted, 50_000),
        Err(Reason::NotGrown)
    );
    assert_eq!(ledger.begin(attempt(1), Need::Wanted, 55_000), Ok(()));
}

#[test]
fn a_conversation_that_does_not_grow_comes_to_an_end() {
    let settings = LedgerSettings {
        rest_growth: Growth {
            percent: 0,
            tokens: 0,
        },
        ..LedgerSettings::default()
    };
    let tries = vec((0_usize..5, 0_u64..3, any::<bool>()), 0..200);
    property(10, &tries, |tries| {
        let mut ledger = Ledger::new(settings);
        let mut granted = 0;
        for (span_end, target_tokens, failed) in tries {
            let attempt = Attempt {
                span_end,
                target_tokens,
                rung: Rung::Floor,
            };
            if ledger.begin(attempt, Need::Required, 1_000).is_ok() {
                granted += 1;
                if failed {
                    ledger.failed(Failure::NotSmaller, 1_000);
                } else {
                    ledger.compacted(1_000);
                }
            }
        }
        assert!(granted <= 15, "five ends, three targets, one rung");
    });
}
