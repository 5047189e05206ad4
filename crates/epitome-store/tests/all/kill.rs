//! A process that writes is killed at any moment, again and again, over one store. What it said is stored is there, byte for
//! byte, and nothing is there in part.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use epitome_store::{AnyStore, Compactions, Conversations, Entries, Search, SearchScope, Store};
use epitome_testkit::{Random, cases, postgres};

use crate::fixtures::{chain, compaction, conversation, entry, tenant, with_words};

/// The killed process is this same program, told to run one test.
const CHILD: &str = "kill::a_process_that_is_killed";

/// Where the store is and where to begin; only with them the process does anything.
const STORE: &str = "EPITOME_KILL_STORE";
const BEGIN: &str = "EPITOME_KILL_BEGIN";

/// The latest moment of a kill, from the first word of the process.
const LATEST_US: usize = 60_000;

fn name(number: usize) -> String {
    format!("message {number}")
}

/// Three at a time, each time with a compaction, in one conversation.
async fn write(location: &str, begin: usize) {
    let store = AnyStore::open(location).await.unwrap();
    let mut number = begin;
    // It ends by itself if nobody kills it.
    while number < begin + 3_000 {
        let end = number + 3;
        let names: Vec<String> = (0..end).map(name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let span = with_words(chain("c", &names, number), &format!("zebra{number}"));
        let row = compaction(&format!("k{number}"), "c", names[end - 1]);
        store
            .commit_compaction(&tenant("t"), &span, &row)
            .await
            .unwrap();
        let mut output = std::io::stdout();
        writeln!(output, "stored {end}").unwrap();
        output.flush().unwrap();
        number = end;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_killed() {
    if let (Ok(location), Ok(begin)) = (std::env::var(STORE), std::env::var(BEGIN)) {
        write(&location, begin.parse().unwrap()).await;
    }
}

/// Runs the process and kills it; returns how much it said is stored.
fn run_and_kill(location: &str, begin: usize, random: &mut Random) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([CHILD, "--exact", "--nocapture", "--test-threads=1"])
        .env(STORE, location)
        .env(BEGIN, begin.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut stored = begin;
    let mut line = String::new();
    let mut hear = |line: &mut String| {
        line.clear();
        // What is cut off in the middle was never said.
        let is_whole = output.read_line(line).unwrap() > 0 && line.ends_with('\n');
        if let Some(number) = line.trim_end().strip_prefix("stored ")
            && is_whole
        {
            stored = number.parse().unwrap();
            return Some(true);
        }
        is_whole.then_some(false)
    };
    // Before its first word it only starts; one in four dies there.
    if !random.chance(25) {
        while hear(&mut line) == Some(false) {}
    }
    let moment = u64::try_from(random.below(LATEST_US)).unwrap();
    std::thread::sleep(Duration::from_micros(moment));
    child.kill().unwrap();
    child.wait().unwrap();
    while hear(&mut line).is_some() {}
    stored
}

/// Everything that was said to be stored is there, and nothing in part.
async fn inspect(store: &AnyStore, stored: usize) -> usize {
    let (tenant, id) = (tenant("t"), conversation("c"));
    loop {
        let Some(tip) = store.tip(&tenant, &id).await.unwrap() else {
            assert_eq!(stored, 0);
            return 0;
        };
        let there = usize::try_from(tip.position).unwrap() + 1;
        let history = store.history(&tenant, tip.digest).await.unwrap();
        let compactions = store.compactions_of(&tenant, &id).await.unwrap();
        let scope = SearchScope::Branch(tip.digest);
        let word = format!("zebra{}", there.saturating_sub(3));
        let hits = store.search(&tenant, &scope, &word, 9).await.unwrap();
        let unindexed = store.unindexed(&tenant, None, 9).await.unwrap();
        if store.tip(&tenant, &id).await.unwrap().as_ref() != Some(&tip) {
            // A server may still be busy with the last words of the dead.
            continue;
        }
        assert!(
            there >= stored,
            "{stored} were acknowledged, {there} are there"
        );
        assert_eq!(there % 3, 0, "torn at {there}");
        let expected: Vec<_> = (0..there).map(|number| entry(&name(number))).collect();
        assert_eq!(history, expected);
        assert_eq!(compactions.len(), there / 3);
        assert_eq!(hits.len(), 3);
        assert_eq!(unindexed, []);
        return there;
    }
}

async fn kill_again_and_again(location: &str) {
    let mut random = Random::new(cases::seed());
    // 50 kills in a normal run, 500 in a soak.
    let kills = cases::cases(20);
    let store = AnyStore::open(location).await.unwrap();
    let (mut there, mut said) = (0, 0);
    for kill in 0..kills {
        let stored = run_and_kill(location, there, &mut random);
        said += stored - there;
        there = inspect(&store, stored).await;
        assert!(there >= stored, "kill {kill}");
    }
    println!("{kills} kills: {said} messages acknowledged, {there} there");
    assert!(
        kills < 20 || said > 0,
        "who dies before doing anything proves nothing"
    );
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let location = format!("sqlite:{}", folder.path().join("log.db").display());
    kill_again_and_again(&location).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_in_postgres() {
    if let Some(database) = postgres::database().await {
        kill_again_and_again(database.url()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_behind_pgbouncer() {
    if let Some(database) = postgres::pooled_database().await {
        kill_again_and_again(database.url()).await;
    }
}
