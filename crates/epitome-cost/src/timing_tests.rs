use epitome::{CachePrices, Swap, Waited};
use proptest::prelude::{Strategy, prop};

use super::{Phase, Wait};
use crate::property::property;

const ANTHROPIC: CachePrices = CachePrices {
    read: 100,
    write: 1_250,
};

/// A conversation that grows by these steps, after a compaction that takes this much off lay ready.
fn phase(kept: u64, again: u64, excess: u64, news: &[u64], line: Option<u64>) -> Phase {
    let mut phase = Phase::default();
    let mut since = 0;
    for new in news {
        let after_tokens = kept + again + since + new;
        let before_tokens = after_tokens + excess;
        phase.waits.push(Wait {
            before_tokens,
            after_tokens,
            again_tokens: again + since,
            new_tokens: *new,
        });
        since += new;
        if line.is_some_and(|line| before_tokens > line) {
            phase.is_forced = true;
            break;
        }
    }
    phase
}

/// What the product's own rule does: [`Swap::pays`], or the line.
fn product(phase: &Phase, prices: CachePrices, line: u64, window_tokens: u64) -> Option<usize> {
    let first = phase.waits.first();
    let mut waited = Waited::since(first.map_or(0, |wait| wait.before_tokens - wait.new_tokens));
    let mut requests = phase.waits.iter();
    let found = requests.position(|wait| {
        let left = line.saturating_sub(wait.before_tokens);
        let swap = Swap {
            before_tokens: wait.before_tokens,
            after_tokens: wait.after_tokens,
            rewritten_tokens: wait.again_tokens + wait.new_tokens,
            new_tokens: waited.new_in(wait.before_tokens),
            waited_tokens: waited.excess_tokens,
            sent_tokens: waited.sent_tokens,
            written_tokens: waited.new_tokens,
            requests: left / wait.new_tokens.max(1),
            prices,
            window_tokens,
        };
        waited.add(wait.before_tokens, swap.excess_tokens());
        swap.pays()
    });
    found.or_else(|| phase.last_forced())
}

fn prices() -> impl Strategy<Value = CachePrices> {
    (1_u64..5_000, 0_u64..50_000).prop_map(|(read, more)| CachePrices {
        read,
        write: read + more,
    })
}

#[test]
fn a_request_costs_what_it_reads_and_writes() {
    let phase = phase(1_000, 50_000, 80_000, &[500, 500], None);
    let small = 51_500 * 100 + 500 * 1_150 + 52_000 * 100 + 500 * 1_150;
    assert_eq!(
        phase.spent(ANTHROPIC, None),
        small + 2 * 80_000 * 100,
        "both on the large view"
    );
    assert_eq!(phase.spent(ANTHROPIC, Some(0)), small + 50_000 * 1_150);
    assert_eq!(
        phase.spent(ANTHROPIC, Some(1)),
        small + 80_000 * 100 + 50_500 * 1_150
    );
    assert_eq!(phase.best(ANTHROPIC), small + 16_000_000);
    assert_eq!(phase.break_even(ANTHROPIC), None, "it ended before");
}

#[test]
fn break_even_is_where_waiting_has_cost_as_much_as_showing() {
    // 50,000 × 11.5 is 575,000 tokens read: seven requests are less, the eighth makes it more.
    let long = phase(1_000, 50_000, 80_000, &[100; 40], None);
    assert_eq!(long.break_even(ANTHROPIC), Some(7));
    assert_eq!(long.best(ANTHROPIC), long.spent(ANTHROPIC, Some(0)));
    let forced = phase(1_000, 50_000, 80_000, &[10_000; 40], Some(170_000));
    assert_eq!(forced.waits.len(), 4);
    assert_eq!(
        forced.break_even(ANTHROPIC),
        Some(3),
        "the line comes first"
    );
    let free = CachePrices { read: 1, write: 1 };
    assert_eq!(
        long.break_even(free),
        Some(0),
        "writing is no dearer than reading"
    );
}

/// Whatever the sizes, the prices, the growth, the line and the end are.
fn phases() -> impl Strategy<Value = (Phase, CachePrices)> {
    let sizes = (0_u64..50_000, 0_u64..200_000, 0_u64..400_000);
    let news = prop::collection::vec(0_u64..30_000, 1..60);
    let line = prop::option::of(0_u64..900_000);
    (sizes, news, line, prices()).prop_map(|(sizes, news, line, prices)| {
        let (kept, again, excess) = sizes;
        (phase(kept, again, excess, &news, line), prices)
    })
}

#[test]
fn break_even_costs_at_most_twice_the_best_in_hindsight() {
    property(&phases(), |(phase, prices)| {
        let spent = phase.spent(prices, phase.break_even(prices));
        let best = phase.best(prices);
        assert!(spent <= 2 * best, "{spent} of {best}");
    });
}

#[test]
fn spent_even_costs_at_most_twice_the_best_in_hindsight() {
    property(&phases(), |(phase, prices)| {
        let spent = phase.spent(prices, phase.spent_even(prices));
        let best = phase.best(prices);
        assert!(spent <= 2 * best, "{spent} of {best}");
        let (sooner, later) = (phase.spent_even(prices), phase.break_even(prices));
        assert!(later.is_none() || sooner <= later, "{sooner:?} {later:?}");
    });
}

/// The product's rule stands between the two: no sooner than the one, no later than the other, and bounded like both.
#[test]
fn the_products_rule_costs_at_most_twice_the_best_in_hindsight() {
    property(&phases(), |(phase, prices)| {
        let line = phase.waits.last().map_or(0, |wait| wait.before_tokens);
        // The window is used from the first request on: before that nothing is shown for money.
        let shown = product(&phase, prices, line, 0);
        let (spent, best) = (phase.spent(prices, shown), phase.best(prices));
        assert!(spent <= 2 * best, "{spent} of {best}");
        let sooner = phase.spent_even(prices);
        assert!(shown.is_none() || sooner <= shown, "{sooner:?} {shown:?}");
    });
}

/// A conversation that ends before half of the price was paid too much is left alone.
#[test]
fn who_ends_soon_is_left_alone() {
    let phase = phase(5_000, 55_000, 80_000, &[100; 100], Some(180_000));
    let shown = product(&phase, ANTHROPIC, 180_000, 200_000);
    // 55,000 × 11.5 are 632,500 tokens read: half of it is 80,000 four times.
    assert_eq!(shown, Some(4));
    let times = |shown| phase.spent(ANTHROPIC, shown) as f64 / phase.best(ANTHROPIC) as f64;
    assert!(times(shown) < 1.2, "{}", times(shown));
    let few = Phase {
        waits: phase.waits[..4].to_vec(),
        ..Phase::default()
    };
    assert_eq!(product(&few, ANTHROPIC, 180_000, 200_000), None);
}
