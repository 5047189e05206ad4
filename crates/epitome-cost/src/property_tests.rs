//! Properties with a seed and a number of cases.

use proptest::prelude::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let parsed = value.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name}={value} is not a number")))
}

/// Runs `test` on `EPITOME_CASES` (1,000) values.
pub(crate) fn property<S: Strategy>(strategy: &S, test: impl Fn(S::Value))
where
    S::Value: std::fmt::Debug,
{
    let config = Config {
        cases: u32::try_from(number("EPITOME_CASES").unwrap_or(1_000)).unwrap_or(u32::MAX),
        rng_seed: RngSeed::Fixed(number("EPITOME_SEED").unwrap_or(2_026)),
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok::<(), TestCaseError>(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
