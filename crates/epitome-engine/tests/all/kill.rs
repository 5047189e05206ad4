//! A process that writes conversations is killed at any moment, again and again, over one store. What it had
//! acknowledged is there, what is shown is valid, and the next one goes on.

mod chance;
mod child;
mod inspection;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use epitome_testkit::stores;

use super::support::number;
use chance::Chance;
use inspection::Known;

/// The killed process is this same program, told to run one test.
const CHILD: &str = "all::kill::a_process_that_is_killed";

/// What the killed process calls itself at a database server.
const VICTIM: &str = "victim";

/// The latest moment of a kill, from the start of the process.
const LATEST_MS: u64 = 300;
/// How many processes work on one conversation, and its forks, before the next begins.
const LIVES_OF_A_CONVERSATION: u64 = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_killed() {
    if let Ok(location) = std::env::var(child::STORE) {
        child::work(&location).await;
    }
}

#[test]
fn nothing_acknowledged_is_lost_whenever_the_process_dies() {
    let folder = tempfile::tempdir().unwrap();
    let store = stores::location(&folder.path().join("log.db"));
    let seed: u64 = number("EPITOME_SEED").unwrap_or(2_026);
    let mut chance = Chance(seed);
    // 50 kills in a normal run, 500 in a soak.
    let kills = (number("EPITOME_CASES").unwrap_or(1_000_u64) / 20).max(1);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut known = Known::default();
    for kill in 0..kills {
        let begin = kill % LIVES_OF_A_CONVERSATION == 0;
        if begin {
            known.entries.clear();
            let name = format!("conversation-{kill}");
            known.entries.insert(name, Vec::new());
        }
        println!("seed {seed}, kill {kill}");
        let names: Vec<String> = known.entries.keys().cloned().collect();
        run_and_kill(&store, &names, &mut chance, &mut known);
        let names: Vec<String> = known.entries.keys().cloned().collect();
        runtime.block_on(known.inspect(&store, &names));
    }
    let Known {
        pushes,
        forks,
        compactions,
        undone,
        begun_anew,
        ..
    } = known;
    println!(
        "{:?}, {kills} kills: {pushes} messages, {forks} forks, {compactions} compactions and {undone} taken back were seen, \
         {begun_anew} times work was begun anew",
        stores::kind()
    );
    // Whoever dies before doing anything proves nothing.
    assert!(kills < 50 || pushes > 500 && compactions > 0 && undone > 0 && forks > 0);
}

/// Starts the process, ends it by a signal that it cannot catch, and takes note of what it said.
fn run_and_kill(store: &str, names: &[String], chance: &mut Chance, known: &mut Known) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([CHILD, "--exact", "--nocapture", "--test-threads=1"])
        .env(child::STORE, stores::opened_by(store, VICTIM))
        .env(child::SEED, chance.below(u64::MAX).to_string())
        .env(child::CONVERSATIONS, names.join(","))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut lines = Vec::new();
        let mut line = String::new();
        // What is cut off in the middle was never said.
        while output.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        lines
    });
    std::thread::sleep(Duration::from_millis(chance.below(LATEST_MS + 1)));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "it ended by itself: {status}");
    stores::wait_until_gone(store, VICTIM);
    for line in reader.join().unwrap() {
        known.hear(&line);
    }
}
