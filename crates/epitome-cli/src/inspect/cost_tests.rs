use epitome::ModelTable;
use epitome_files::{CacheUsage, Usage};

use super::Cost;

const MODEL: &str = "claude-sonnet-5";

#[test]
fn cached_input_costs_what_the_cache_costs() {
    let prices = ModelTable::builtin().find(MODEL).unwrap().prices;
    let usage = Usage {
        input_tokens: 1_000,
        output_tokens: 10,
        cache: Some(CacheUsage {
            read_tokens: 700,
            write_tokens: 200,
            write_1h_tokens: 50,
        }),
        ..Usage::default()
    };
    let mut cost = Cost::default();
    cost.add(Some(MODEL), &usage);
    let expected = 100 * prices.input.unwrap()
        + 700 * prices.cache_read.unwrap()
        + 150 * prices.cache_write_5m.unwrap()
        + 50 * prices.cache_write_1h.unwrap()
        + 10 * prices.output.unwrap();
    assert_eq!(cost.nanodollars(), Some(expected));
}

#[test]
fn one_request_without_a_price_makes_the_sum_unknown() {
    let usage = Usage {
        input_tokens: 1_000,
        ..Usage::default()
    };
    for unknown in [None, Some("a-model-nobody-knows")] {
        let mut cost = Cost::default();
        cost.add(Some(MODEL), &usage);
        assert!(cost.nanodollars().is_some());
        cost.add(unknown, &usage);
        assert_eq!(cost.nanodollars(), None);
    }
}
