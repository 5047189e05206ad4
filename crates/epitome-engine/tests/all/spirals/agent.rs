//! The example agent for 200 turns of 8,000 tokens, seen from its model.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use epitome::{Preset, PresetName, Window};
use epitome_testkit::{
    Call, Counts, ModelConfig, Random, Recorded, Reply, Script, ScriptedModel, Shares,
};
use serde_json::{Value, json};

use super::super::agent_example::example;
use super::super::told::calls_tool;
use super::{LEAST_USE_PERCENT, TURNS, room_tokens};

const TURN_TOKENS: u64 = 8_000;

/// What makes a turn long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// The model reads a file.
    Results,
    /// It writes one.
    Calls,
}

impl Growth {
    /// A model that works on one file after the other.
    fn script(self) -> Script {
        let asked = AtomicU64::new(0);
        Script::by(move |request| {
            if calls_tool(request, "memory_write") {
                return Reply::text("NO_REPLY");
            }
            if !is_turn(request) {
                return Reply::text(SUMMARY);
            }
            let at = asked.fetch_add(1, Ordering::Relaxed);
            if at + 1 >= TURNS {
                return Reply::text("That was the last file.");
            }
            let path = file(at);
            Reply::calls([match self {
                Self::Results => Call::new("read_file", json!({"path": path})),
                Self::Calls => {
                    let content = words(at);
                    Call::new("write_file", json!({"path": path, "content": content}))
                }
            }])
        })
    }
}

const SUMMARY: &str = "File after file was worked on, and each was in order. The next one follows.";

/// Whether a request is one of the agent's own turns: summaries may call no tools, and counting wants a tiny answer.
fn is_turn(request: &Value) -> bool {
    let is_long = request["max_tokens"].as_u64() > Some(1_000);
    is_long && request.get("tool_choice").is_none() && calls_tool(request, "read_file")
}

fn file(number: u64) -> String {
    format!("part_{number:03}.txt")
}

/// Words that nobody else says, which the server counts as [`TURN_TOKENS`].
fn words(seed: u64) -> String {
    const WORDS: [&str; 8] = [
        "anchor", "basin", "copper", "delta", "ember", "fjord", "gravel", "harbor",
    ];
    let mut random = Random::new(seed);
    let mut text = String::new();
    while epitome_testkit::tokens::of_bytes(text.len() as u64) < TURN_TOKENS {
        let end = if random.chance(12) { '\n' } else { ' ' };
        let (one, other) = (*random.pick(&WORDS), *random.pick(&WORDS));
        text.push_str(&format!("{one} {other} {}{end}", random.between(10, 99)));
    }
    text
}

fn run(model: &ScriptedModel, preset: PresetName, window: u64, folder: &Path) -> Output {
    Command::new(example())
        .args(["--url", &model.base_url(), "--model", "scripted"])
        .args(["--preset", preset.as_str(), "--window", &window.to_string()])
        .arg("--folder")
        .arg(folder)
        .arg("Work on every file of the folder, one after the other.")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("the example runs")
}

/// What the model saw of the agent's own turns.
#[derive(Debug, Default)]
struct Seen {
    turns: u64,
    /// The largest request before each compaction, by the model's count.
    peaks: Vec<u64>,
    largest: u64,
}

impl Seen {
    fn of(requests: &[Recorded]) -> Self {
        let mut seen = Self::default();
        let (mut peak, mut shown) = (0, 0);
        for request in requests {
            let body = request.json();
            if !is_turn(&body) {
                continue;
            }
            let tokens = request.input_tokens.expect("a request with messages");
            let messages = body["messages"].as_array().expect("messages").len();
            // A call and its result came, and there are fewer: a summary took their place.
            if messages < shown {
                seen.peaks.push(std::mem::take(&mut peak));
            }
            shown = messages;
            peak = peak.max(tokens);
            seen.largest = seen.largest.max(tokens);
            seen.turns += 1;
        }
        seen
    }
}

async fn play(preset: PresetName, window: u64, growth: Growth, shares: Shares) -> Seen {
    // Shares go by turns of the conversation. Summaries and memories are asked for in between, whenever their time comes:
    // counted as turns, two low counts could follow each other, and the next high one would come as a surprise to anybody.
    let turns = Mutex::new(BTreeMap::new());
    let model = ScriptedModel::start(ModelConfig {
        window_tokens: window,
        counts: Counts::by(move |asked| {
            let mut turns = turns.lock().expect("nobody fails while holding it");
            let next = turns.len() as u64;
            let turn = match is_turn(asked.request) {
                true => *turns.entry(asked.number).or_insert(next),
                false => next,
            };
            let share = shares.at(turn, TURNS);
            (asked.plain_tokens as f64 * share) as u64
        }),
        script: growth.script(),
        ..ModelConfig::default()
    })
    .await;
    let folder = tempfile::tempdir().expect("a folder");
    if growth == Growth::Results {
        for number in 0..TURNS {
            std::fs::write(folder.path().join(file(number)), words(number)).expect("written");
        }
    }
    let output = tokio::task::block_in_place(|| run(&model, preset, window, folder.path()));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let what = format!("{preset} {growth:?} {shares:?}: {told}");
    assert!(output.status.success(), "{what}");
    let requests = model.requests();
    for request in &requests {
        let number = request.number;
        assert_eq!(request.violations, [], "request {number}: {what}");
        let is_own = is_turn(&request.json());
        assert!(
            !is_own || request.status == Some(200),
            "request {number}: {what}"
        );
    }
    let seen = Seen::of(&requests);
    assert_eq!(seen.turns, TURNS, "{what}");
    let compactions = seen.peaks.len();
    assert!(
        told.contains(&format!(", {compactions} compactions, ")),
        "{compactions} seen: {what}"
    );
    seen
}

/// A compaction in `default` comes as seldom as it can, and not before the window is used.
async fn is_rare_in_default(growth: Growth, shares: Shares) {
    let window = 200_000;
    let seen = play(PresetName::Default, window, growth, shares).await;
    let what = format!("{growth:?} {shares:?}: {seen:?}");
    println!("{what}");
    let grown = shares.grown_tokens(TURN_TOKENS, TURNS);
    let needed = (grown / (window as f64 / 4.0)).ceil() as usize;
    assert!(seen.peaks.len() <= 2 * needed, "{needed} needed: {what}");
    for peak in &seen.peaks {
        assert!(peak * 100 >= window * LEAST_USE_PERCENT, "{peak}: {what}");
    }
    assert!(seen.largest <= window, "{what}");
    // Old results make room by themselves, what the model wrote does not.
    assert!(
        growth == Growth::Results || !seen.peaks.is_empty(),
        "{what}"
    );
}

/// A design compacts at its own line.
async fn acts_at_its_line(preset: PresetName) {
    let window = match preset {
        PresetName::Vibe => 400_000,
        _ => 200_000,
    };
    let seen = play(preset, window, Growth::Results, Shares::Constant(1.0)).await;
    let line = Preset::named(preset).threshold_tokens(Window::configured(window), None);
    let line = line.expect("a line of its own");
    let what = format!("{preset}, {line}: {seen:?}");
    println!("{what}");
    let room = room_tokens(preset, line as f64, TURN_TOKENS as f64);
    let needed = ((TURNS * TURN_TOKENS) as f64 / room).ceil() as usize;
    assert!(!seen.peaks.is_empty(), "{what}");
    assert!(seen.peaks.len() <= 2 * needed, "{needed} needed: {what}");
    for peak in &seen.peaks {
        // Where the host waits, the request that reaches the line goes out only afterwards.
        let is_own = peak + TURN_TOKENS >= line;
        let is_used = peak * 100 >= window * LEAST_USE_PERCENT;
        assert!(is_own || is_used, "{peak}: {what}");
    }
    assert!(seen.largest <= window, "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_compacts_rarely_whatever_is_counted() {
    for shares in [0.4, 1.0, 1.8].map(Shares::Constant) {
        is_rare_in_default(Growth::Calls, shares).await;
    }
    is_rare_in_default(Growth::Calls, Shares::Drifting(0.4, 1.8)).await;
    is_rare_in_default(Growth::Calls, Shares::Alternating(0.4, 1.8)).await;
    is_rare_in_default(Growth::Results, Shares::Constant(1.8)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_acts_at_the_line_of_each_design() {
    for preset in PresetName::ALL {
        if preset != PresetName::Default {
            acts_at_its_line(preset).await;
        }
    }
}
