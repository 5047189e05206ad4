//! The whole public surface under arbitrary bytes: any history, any settings, any order of calls. Nothing may panic,
//! and what was pushed is there to the last.

use proptest::collection::vec;
use proptest::prelude::any;

use crate::support::property;

#[path = "fuzz/drive.rs"]
mod drive;

#[test]
fn no_bytes_make_it_panic() {
    property(1, &vec(any::<u8>(), 0..400), |bytes| drive::run(&bytes));
}
