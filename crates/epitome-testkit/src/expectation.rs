//! Tests of what does not hold yet: they must fail until it does, and then they must be struck off a list.

use std::any::Any;

use tokio::task::JoinSet;

/// Runs a test and compares what became of it with what the list says. A test fails by panicking.
///
/// # Panics
///
/// When it fails and is not listed, and when it holds and is listed.
#[expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "this is how a test fails, and how one that may fail says why"
)]
pub async fn check(
    name: &str,
    expected_failures: &[&str],
    test: impl Future<Output = ()> + Send + 'static,
) {
    let mut task = JoinSet::new();
    task.spawn(test);
    let failure = match task.join_next().await {
        Some(Err(error)) => Some(words_of(error.into_panic())),
        Some(Ok(())) | None => None,
    };
    match (failure, expected_failures.contains(&name)) {
        (None, false) => {}
        (Some(words), true) => println!("{name} does not hold yet: {words}"),
        (Some(words), false) => panic!("{name}: {words}"),
        (None, true) => panic!("{name} holds: strike it off EXPECTED_FAILURES"),
    }
}

fn words_of(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(words) => *words,
        Err(other) => other.downcast::<&str>().map_or_else(
            |_| String::from("a panic without words"),
            |words| (*words).to_owned(),
        ),
    }
}
