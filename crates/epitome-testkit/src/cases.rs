//! How many cases a property has, and from which seed.

#![expect(clippy::panic, reason = "a test that fails stops")]

use proptest::prelude::{Just, Strategy, any};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use crate::random::Random;

/// Cases of a property, unless `EPITOME_CASES` says otherwise.
const CASES: u32 = 1_000;
const SEED: u64 = 2_026;

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is not a number")),
    )
}

/// The seed of everything random: `EPITOME_SEED`, or always the same one.
///
/// # Panics
/// When `EPITOME_SEED` is no number.
#[must_use]
pub fn seed() -> u64 {
    number("EPITOME_SEED").unwrap_or(SEED)
}

/// The number of cases for a property whose cases cost `cost` times a cheap one.
///
/// # Panics
/// When `EPITOME_CASES` is no number.
#[must_use]
pub fn cases(cost: u32) -> u32 {
    (number("EPITOME_CASES").unwrap_or(CASES) / cost).max(1)
}

/// Runs `test` on many seeds and sizes. A failure is shrunk to the smallest size that still fails.
///
/// # Panics
/// When the test does.
pub fn property(cost: u32, largest: usize, test: impl Fn(&mut Random, usize)) {
    let config = Config {
        cases: cases(cost),
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        ..Config::default()
    };
    let seeds = any::<u64>().prop_flat_map(Just).no_shrink();
    let outcome = TestRunner::new(config).run(&(seeds, 0..=largest), |(seed, size)| {
        test(&mut Random::new(seed), size);
        Ok::<(), TestCaseError>(())
    });
    if let Err(failure) = outcome {
        panic!("(seed, size): {failure}");
    }
}
