use epitome::{LongInput, ModelTable, Prices};

use super::Spent;

const SPENT: Spent = Spent {
    read_tokens: 1_000,
    written_5m_tokens: 200,
    written_1h_tokens: 30,
    fresh_tokens: 4,
    output_tokens: 50,
};

fn prices(model: &str) -> Prices {
    ModelTable::builtin().find(model).unwrap().prices
}

/// Anthropic: 5 dollars a million in, a tenth of it to read, 1.25 times and twice as much to write, 25 out.
#[test]
fn each_kind_of_token_has_its_price() {
    let expected = 1_000 * 500 + 200 * 6_250 + 30 * 10_000 + 4 * 5_000 + 50 * 25_000;
    assert_eq!(SPENT.nanodollars(&prices("claude-opus-5")), Some(expected));
    assert_eq!(SPENT.input_tokens(), 1_234);
    assert_eq!(SPENT.usage().input_tokens(), 1_234);
}

/// OpenAI: above 272,000 tokens the whole request costs twice as much, what is read included.
#[test]
fn long_input_is_dearer_from_its_first_token() {
    let prices = prices("gpt-5.5");
    let request = |read_tokens, fresh_tokens| Spent {
        read_tokens,
        fresh_tokens,
        ..Spent::default()
    };
    let short = request(270_000, 2_000).nanodollars(&prices);
    assert_eq!(short, Some(270_000 * 500 + 2_000 * 5_000));
    let long = request(270_000, 2_001).nanodollars(&prices);
    assert_eq!(long, Some(270_000 * 1_000 + 2_001 * 10_000));
}

#[test]
fn what_is_not_known_is_not_guessed() {
    let unknown = Prices::default();
    assert_eq!(SPENT.nanodollars(&unknown), None);
    assert_eq!(Spent::default().nanodollars(&unknown), Some(0));
    let without_read = Prices {
        cache_read: None,
        ..prices("claude-opus-5")
    };
    assert_eq!(SPENT.nanodollars(&without_read), None);
    let unread = Spent {
        read_tokens: 0,
        ..SPENT
    };
    assert!(unread.nanodollars(&without_read).is_some());
}

#[test]
fn sums_do_not_overflow() {
    let dear = Prices {
        input: Some(u64::MAX),
        output: Some(u64::MAX),
        long_input: Some(LongInput {
            from_tokens: 1,
            nanodollars: u64::MAX,
        }),
        ..Prices::default()
    };
    let large = Spent {
        fresh_tokens: u64::MAX / 2,
        output_tokens: u64::MAX / 2,
        ..Spent::default()
    };
    assert_eq!(large.nanodollars(&dear), Some(u64::MAX));
}
