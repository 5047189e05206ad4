use epitome::reference::vibe::BeforeTurn::{Compact, Continue, Warn};
use epitome::reference::vibe::{BeforeTurn, Warnings};
use epitome::{Threshold, WarningCycle};

#[test]
fn a_warning_is_given_once_per_cycle() {
    let mut cycle = WarningCycle::new(Threshold::Tokens(200_000), 128_000, Warnings::On);
    assert_eq!(
        cycle.threshold_tokens(),
        Some(200_000),
        "absolute, whatever the window"
    );
    let turns = [99_999, 100_000, 120_000, 90_000, 199_999, 200_000, 250_000];
    let said: Vec<BeforeTurn> = turns
        .iter()
        .map(|&tokens| cycle.before_turn(tokens))
        .collect();
    assert_eq!(
        said,
        [
            Continue, Warn, Continue, Continue, Continue, Compact, Compact
        ]
    );
    cycle.compacted();
    assert_eq!(cycle.before_turn(15_000), Continue);
    assert_eq!(cycle.before_turn(150_000), Warn);
    assert_eq!(cycle.before_turn(150_000), Continue);
}

#[test]
fn no_warning_where_it_is_off() {
    let cases = [
        (Threshold::Tokens(200), Warnings::Off, Some(200)),
        (Threshold::Off, Warnings::On, None),
        (Threshold::Below(20_000), Warnings::On, None),
    ];
    for (threshold, warnings, expect) in cases {
        let mut cycle = WarningCycle::new(threshold, 20_000, warnings);
        assert_eq!(cycle.threshold_tokens(), expect);
        assert_eq!(cycle.before_turn(150), Continue);
        let at_line = if expect.is_some() { Compact } else { Continue };
        assert_eq!(cycle.before_turn(u64::MAX), at_line);
    }
}
