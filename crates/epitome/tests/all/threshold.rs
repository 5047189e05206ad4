use epitome::{Reason, Threshold, ThresholdError};
use proptest::prelude::{Strategy, any, prop_oneof};

use crate::support::property;

fn check(text: &str, window: u64, expect: Result<u64, Reason>) {
    let threshold: Threshold = text.parse().unwrap();
    assert_eq!(threshold.resolve(window), expect, "{text} of {window}");
    assert_eq!(threshold.tokens(window), expect.ok());
    assert_eq!(threshold.to_string().parse(), Ok(threshold), "{text}");
}

#[test]
fn three_forms_and_off() {
    check("90%", 200_000, Ok(180_000));
    check("87.5 %", 1_000, Ok(875));
    check("33.33%", 10_000, Ok(3_333));
    check("0.05%", 10_000, Ok(5));
    check("100%", u64::MAX, Ok(u64::MAX));
    check("100000", 50, Ok(100_000));
    check(" 100_000 ", 50, Ok(100_000));
    check("-20000", 200_000, Ok(180_000));
    check("-20_000", 20_001, Ok(1));
    check("OFF", 200_000, Err(Reason::SwitchedOff));
}

#[test]
fn a_configured_zero_is_off_and_a_computed_one_is_a_no_op() {
    for text in ["0", "-0", "0%", "0.00%", "off"] {
        check(text, 200_000, Err(Reason::SwitchedOff));
    }
    check("-20000", 20_000, Err(Reason::WindowBelowReserves));
    check("-20000", 0, Err(Reason::WindowBelowReserves));
    check("1%", 99, Err(Reason::WindowBelowReserves));
    assert_eq!(Threshold::from_number(0), Threshold::Off);
    assert_eq!(Threshold::from_number(-20_000), Threshold::Off);
    assert_eq!(Threshold::from_number(i64::MIN), Threshold::Off);
    assert_eq!(Threshold::from_number(80_000), Threshold::Tokens(80_000));
}

#[test]
fn a_wrong_text_is_told_what_is_allowed() {
    for text in [
        "", "%", "-", "--5", "+5", "5k", "0x10", "1e5", "9 0", "_1", "1_", "-5%", "1.5", ".5%",
        "5.%", "٣",
    ] {
        let error = text.parse::<Threshold>().unwrap_err();
        assert!(
            matches!(&error, ThresholdError::Form { text: given } if given == text),
            "{text}: {error}"
        );
        let said = error.to_string();
        for form in ["`90%`", "`100000`", "`-20000`", "`off`"] {
            assert!(said.contains(form), "{said}");
        }
    }
    for text in ["100.01%", "101%", "700%", "99999999999999999999%"] {
        let error = text.parse::<Threshold>().unwrap_err();
        assert!(
            matches!(error, ThresholdError::ShareAboveWindow { .. }),
            "{text}"
        );
    }
    let fine = "87.125%".parse::<Threshold>().unwrap_err();
    assert!(matches!(fine, ThresholdError::ShareTooFine { .. }));
    assert!("99999999999999999999".parse::<Threshold>().is_err());
}

#[test]
fn what_is_printed_reads_the_same() {
    let threshold = prop_oneof![
        (1_u16..=10_000).prop_map(Threshold::Share),
        (1..u64::MAX).prop_map(Threshold::Tokens),
        (1..u64::MAX).prop_map(Threshold::Below),
    ];
    property(1, &(threshold, any::<u64>()), |(threshold, window)| {
        assert_eq!(threshold.to_string().parse(), Ok(threshold));
        if !matches!(threshold, Threshold::Tokens(_)) {
            assert!(
                threshold
                    .tokens(window)
                    .is_none_or(|tokens| tokens <= window)
            );
        }
    });
}
