//! What `compact --out` writes, loaded by the agents themselves: their requests are looked at.
//!
//! The agents are no part of the repository: `EPITOME_AGENTS` names the folder where they are. `cargo xtask test` installs
//! them into `target/agents/npm.agents`, in the versions of `xtask/agents.toml`, and names it. Their provider is a server
//! on loopback, and their homes are temporary.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests stop the test, and say what they skip"
)]

#[path = "agents/agent.rs"]
mod agent;
#[path = "agents/server.rs"]
mod server;

use serde_json::Value;

use self::agent::Agent;
use self::server::{CALLS, LONG, PARALLEL, answer};

fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// The agent sends the summary once, everything that stays with every call and result, and nothing of what went.
fn judge(request: &Value, result: &Value) -> usize {
    let mut sent = Vec::new();
    texts(request, &mut sent);
    let mut kept = Vec::new();
    texts(&result["messages"], &mut kept);
    let summary = result["summary"].as_str().unwrap();
    let head = summary.lines().next().unwrap();
    let times = sent.iter().filter(|text| text.contains(head)).count();
    assert_eq!(times, 1, "{head}");
    let has = |texts: &[&str], text: &str| texts.iter().any(|one| one.contains(text.trim()));
    for number in 0..64 {
        let answer = answer(number);
        assert_eq!(has(&sent, &answer), has(&kept, &answer), "answer {number}");
    }
    let messages = result["messages"].as_array().unwrap();
    let ids = messages
        .iter()
        .filter_map(|message| message["tool_call_id"].as_str());
    let ids: Vec<&str> = ids.collect();
    for id in &ids {
        // Some agents add to an id, but none gives another one.
        let times = sent.iter().filter(|text| text.starts_with(id)).count();
        assert_eq!(times, 2, "{id}: a call and its result");
    }
    ids.len()
}

/// A session of several turns is compacted, goes on, is compacted again and goes on.
fn drive(agent: &Agent) {
    agent.begin(&format!("Look at the till {LONG}, number one."));
    for number in ["two", "three"] {
        agent.turn(
            &agent.goes_on,
            &format!("Look at {PARALLEL}, number {number}."),
        );
    }
    agent.check();
    for (first, second) in [("four", "five"), ("six", "seven")] {
        goes_on(agent, first, second);
    }
    // Theirs on top of ours, and ours on top of theirs.
    if let Some((arguments, prompt)) = &agent.native {
        agent.run(arguments, prompt);
        agent.check();
        agent.turn(&agent.goes_on, &format!("Look around {LONG}."));
        agent.turn(
            &agent.goes_on,
            &format!("Look at {PARALLEL}, number eight."),
        );
        goes_on(agent, "nine", "ten");
    }
}

/// A compaction, and two turns behind it.
fn goes_on(agent: &Agent, first: &str, second: &str) {
    let result = agent.compact();
    let request = agent.turn(&agent.goes_on, &format!("Go on {LONG}, number {first}."));
    let kept = judge(&request, &result);
    let span = &result["span"];
    assert!(kept >= CALLS, "{first}: no parallel calls stayed: {span}");
    agent.turn(
        &agent.goes_on,
        &format!("Look at {PARALLEL}, number {second}."),
    );
    agent.check();
}

#[test]
fn claude_code_loads_what_we_write() {
    Agent::claude_code().iter().for_each(drive);
}

#[test]
fn codex_loads_what_we_write() {
    Agent::codex().iter().for_each(drive);
}

#[test]
fn pi_loads_what_we_write() {
    Agent::pi().iter().for_each(drive);
}

#[test]
fn each_agent_goes_on_with_what_another_one_began() {
    let make: [fn() -> Option<Agent>; 3] = [Agent::claude_code, Agent::codex, Agent::pi];
    for (from, begin) in make.iter().enumerate() {
        let Some(agent) = begin() else {
            continue;
        };
        agent.begin(&format!("Look at the till {LONG}, number one."));
        for number in ["two", "three"] {
            let prompt = format!("Look at {PARALLEL}, number {number}.");
            agent.turn(&agent.goes_on, &prompt);
        }
        let result = agent.compact();
        for (to, take) in make.iter().enumerate() {
            let Some(mut other) = take().filter(|_| from != to) else {
                continue;
            };
            // It works where the session was held.
            other.work.clone_from(&agent.work);
            let arguments = other.adopt(&agent.session());
            let request = other.turn(&arguments, "Go on, number four.");
            let kept = judge(&request, &result);
            assert!(kept >= CALLS, "{} to {}", agent.format, other.format);
        }
    }
}
