use std::time::{Duration, UNIX_EPOCH};

use super::{is_over, seed_from};

#[test]
fn the_seed_is_the_second() {
    assert_eq!(seed_from(UNIX_EPOCH + Duration::from_millis(77_900)), 77);
}

#[test]
fn rounds_go_on_until_the_minutes_are_over() {
    let begin = UNIX_EPOCH + Duration::from_secs(1_000);
    let after = |seconds| begin + Duration::from_secs(seconds);
    assert!(is_over(begin, after(0), 0));
    assert!(!is_over(begin, after(119), 2));
    assert!(is_over(begin, after(120), 2));
    assert!(is_over(begin, UNIX_EPOCH, 2), "the clock was set back");
}
