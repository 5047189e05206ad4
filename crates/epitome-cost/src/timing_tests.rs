use epitome::{CachePrices, Swap};
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
    let mut waited_tokens = 0;
    let mut requests = phase.waits.iter();
    let found = requests.position(|wait| {
        let left = line.saturating_sub(wait.before_tokens);
        let swap = Swap {
            before_tokens: wait.before_tokens,
            after_tokens: wait.after_tokens,
            rewritten_tokens: wait.again_tokens + wait.new_tokens,
            waited_tokens,
            requests: left / wait.new_tokens.max(1),
            prices,
            window_tokens,
        };
        waited_tokens += swap.excess_tokens();
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

/// The bound, whatever the sizes, the prices, the growth, the line and the end are.
#[test]
fn break_even_costs_at_most_twice_the_best_in_hindsight() {
    let sizes = (0_u64..50_000, 0_u64..200_000, 0_u64..400_000);
    let news = prop::collection::vec(0_u64..30_000, 1..60);
    let line = prop::option::of(0_u64..900_000);
    property(
        &(sizes, news, line, prices()),
        |(sizes, news, line, prices)| {
            let (kept, again, excess) = sizes;
            let phase = phase(kept, again, excess, &news, line);
            let spent = phase.spent(prices, phase.break_even(prices));
            let best = phase.best(prices);
            assert!(spent <= 2 * best, "{spent} of {best}");
        },
    );
}

/// What the product does costs at most twice the best too, wherever its line was at most eight requests away when the
/// compaction lay ready and each request brings about as much as the one before. Farther away it waits for the line to
/// come near, by choice: a conversation that ends before its line is not rewritten for money. That may cost more than
/// twice the best.
#[test]
fn the_products_rule_is_within_the_bound_near_the_line() {
    let sizes = (500_u64..50_000, 20_000_u64..90_000, 20_000_u64..120_000);
    let growth = (500_u64..8_000, 1_u64..9, 1_usize..40);
    property(&(sizes, growth, prices()), |(sizes, growth, prices)| {
        let (kept, again, excess) = sizes;
        let (new, requests, ends) = growth;
        let line = kept + again + excess + new * requests;
        let news = vec![new; ends];
        let phase = phase(kept, again, excess, &news, Some(line));
        let window = phase.waits[0].before_tokens;
        let spent = phase.spent(prices, product(&phase, prices, line, window));
        let best = phase.best(prices);
        assert!(spent <= 2 * best, "{spent} of {best}");
    });
}

/// How far that may be, said as a number: a hundred short requests, with the line forty thousand tokens away.
#[test]
fn the_products_rule_far_from_the_line_waits_longer_than_break_even() {
    let phase = phase(5_000, 55_000, 80_000, &[100; 100], Some(200_000));
    let window = 200_000;
    let shown = product(&phase, ANTHROPIC, 180_000, window);
    assert_eq!(shown, None, "the line is four hundred requests away");
    let ratio = phase.spent(ANTHROPIC, shown) as f64 / phase.best(ANTHROPIC) as f64;
    assert!((1.0..3.0).contains(&ratio), "{ratio}");
    let even = phase.spent(ANTHROPIC, phase.break_even(ANTHROPIC)) as f64;
    assert!(even / phase.best(ANTHROPIC) as f64 <= 2.0);
}
