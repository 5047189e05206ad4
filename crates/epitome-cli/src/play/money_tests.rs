use super::dollars;

#[test]
fn money_is_written_as_people_write_it() {
    for (nanodollars, expected) in [
        (Some(0), "$0.0000"),
        (Some(49_999), "$0.0000"),
        (Some(50_000), "$0.0001"),
        (Some(999_949_999), "$0.9999"),
        (Some(1_000_000_000), "$1.00"),
        (Some(1_005_000_000), "$1.01"),
        (Some(123_456_789_012), "$123.46"),
        (None, "not known"),
    ] {
        assert_eq!(dollars(nanodollars), expected);
    }
    assert!(dollars(Some(u64::MAX)).starts_with("$18446744073."));
}
