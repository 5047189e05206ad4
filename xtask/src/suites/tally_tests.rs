use super::{Suite, SuiteNames, Tally};

fn check(output: &str, expect: &[Suite]) {
    let names = [
        ("epitome-0a1b", "epitome"),
        ("all-77cc", "epitome-wire tests/all"),
    ];
    let names: SuiteNames = names
        .iter()
        .map(|(file, name)| ((*file).to_owned(), (*name).to_owned()))
        .collect();
    let mut tally = Tally::new(names);
    output.lines().for_each(|line| tally.line(line));
    assert_eq!(tally.finish(), expect);
}

fn suite(name: &str, passed: u64, failed: u64, ignored: u64) -> Suite {
    Suite {
        name: name.to_owned(),
        passed,
        failed,
        ignored,
        is_broken: false,
    }
}

#[test]
fn counts_belong_to_the_binary_that_was_announced_last() {
    let output = "
     Running unittests src/lib.rs (target/debug/deps/epitome-0a1b)
test a ... ok
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s
     Running tests/all.rs (/elsewhere/debug/deps/all-77cc)
test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
error: test failed, to rerun pass `-p epitome-wire --test all`
";
    let wire = Suite {
        is_broken: true,
        ..suite("epitome-wire tests/all", 4, 2, 0)
    };
    check(output, &[suite("epitome", 12, 0, 1), wire]);
}

#[test]
fn documentation_tests_may_give_several_results() {
    let output = "
   Doc-tests epitome_wire
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";
    check(output, &[suite("epitome-wire documentation", 3, 0, 0)]);
}

#[test]
fn a_binary_that_died_is_failed_without_counts() {
    let output = "
     Running unittests src/lib.rs (target/debug/deps/epitome-0a1b)
error: test failed, to rerun pass `-p epitome --lib`
";
    let broken = Suite {
        is_broken: true,
        ..suite("epitome", 0, 0, 0)
    };
    assert!(broken.is_failed() && !broken.is_empty());
    check(output, &[broken]);
}

#[test]
fn what_a_test_prints_does_not_open_a_suite() {
    check("Running away (from/unknown-0000)\nRunning (\n", &[]);
}
