use super::super::files::File;
use super::outside_its_module;

fn check(path: &str, source: &str, expect: &[&str]) {
    let file = File {
        path: path.to_owned(),
        bytes: source.as_bytes().to_vec(),
    };
    assert_eq!(outside_its_module(&[file]), expect, "{path}: {source}");
}

#[test]
fn reading_waiting_and_naming_are_found_with_their_lines() {
    let path = "crates/epitome-engine/src/model/call.rs";
    let check = |source: &str, expect: &[&str]| {
        let expect: Vec<String> = expect.iter().map(|what| format!("{path}:{what}")).collect();
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        check(path, source, &expect);
    };
    check(
        "fn a() {\n    std::time::SystemTime::now();\n}",
        &["2: SystemTime::now"],
    );
    check(
        "use std::time::Instant;\n\nfn a() { let b = Instant\n    ::now(); b.elapsed(); }",
        &["3: Instant::now", "4: .elapsed("],
    );
    check("fn a() { chrono::Utc::now(); }", &["1: Utc::now"]);
    check(
        "fn a() { jiff::Timestamp::now(); OffsetDateTime::now_utc() }",
        &["1: Timestamp::now", "1: OffsetDateTime::now_utc"],
    );
    check("use tokio::time::{sleep, timeout};", &["1: tokio::time"]);
    check(
        "fn a() { uuid::Uuid::new_v4(); uuid::Uuid::now_v7(); rand::random::<u64>() }",
        &["1: Uuid::new_v4", "1: Uuid::now_v7", "1: rand::"],
    );
}

#[test]
fn spans_and_what_others_hand_over_are_free() {
    let path = "crates/epitome-store/src/store.rs";
    check(path, "use std::time::{Duration, SystemTime};", &[]);
    check(
        path,
        "fn a(now: Instant) -> Instant { now + Duration::from_secs(1) }",
        &[],
    );
    check(path, "fn a(clock: &Clock) -> i64 { clock.now_ms() }", &[]);
    check(path, "fn a() -> Uuid { Uuid::from_u128(1) }", &[]);
    check(path, "struct A { elapsed: Duration }", &[]);
}

#[test]
fn comments_texts_and_tests_are_free() {
    let path = "crates/epitome-store/src/store.rs";
    check(path, "/// Not `Instant::now()`.\nfn a() {}", &[]);
    check(path, "const A: &str = \"Instant::now()\";", &[]);
    check(
        path,
        "#[cfg(test)]\nmod tests { fn a() { Instant::now(); } }",
        &[],
    );
    let offence = "fn a() { Instant::now(); }";
    check("crates/epitome-store/src/store_tests.rs", offence, &[]);
    check("crates/epitome-store/tests/all/log.rs", offence, &[]);
    check("crates/epitome-cli/benches/compact.rs", offence, &[]);
    check("crates/epitome-testkit/src/server.rs", offence, &[]);
    check("xtask/src/soak.rs", offence, &[]);
}

#[test]
fn the_clock_is_a_module_at_the_root_of_its_crate() {
    let source = "fn a() { Instant::now(); }";
    check("crates/epitome-server/src/clock.rs", source, &[]);
    check("crates/epitome-server/src/clock/ids.rs", source, &[]);
    let elsewhere = "crates/epitome-server/src/keeper/clock.rs";
    check(
        elsewhere,
        source,
        &[&format!("{elsewhere}:1: Instant::now")],
    );
    let like_it = "crates/epitome-server/src/clocks.rs";
    check(like_it, source, &[&format!("{like_it}:1: Instant::now")]);
}
