//! What `compact --out` writes, loaded by the agents themselves: their requests are looked at.
//!
//! The agents are no part of the repository: `EPITOME_AGENTS` names a folder into which `npm install --prefix DIR
//! @anthropic-ai/claude-code @openai/codex @mariozechner/pi-coding-agent` put them. Their provider is a server on
//! loopback, and their homes are temporary.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests stop the test, and say what they skip"
)]

#[path = "agents/server.rs"]
mod server;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use self::server::{CALLS, LONG, PARALLEL, Requests, answer, start};
use crate::support::{json, run, stderr};

/// An agent that can be run.
struct Agent {
    program: PathBuf,
    /// What it is given before the prompt: in a new session, and in one that goes on.
    begins: Vec<String>,
    goes_on: Vec<String>,
    /// How it is made to compact by itself, if it can be told to.
    native: Option<(Vec<String>, &'static str)>,
    variables: Vec<(&'static str, String)>,
    folder: tempfile::TempDir,
    requests: Requests,
}

/// The program of an agent; where it is not there, that is said and reported.
fn program(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("EPITOME_AGENTS").map(PathBuf::from);
    let program = folder.map(|folder| folder.join("node_modules/.bin").join(name));
    if let Some(program) = program.filter(|program| program.exists()) {
        return Some(program);
    }
    let line = format!("DATA-ABSENT agents: {name} is not installed in EPITOME_AGENTS");
    eprintln!("{line}");
    if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.create(true).append(true).open(report).unwrap();
        writeln!(file, "{line}").unwrap();
    }
    None
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Agent {
    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The session file, of which there is one.
    fn session(&self) -> PathBuf {
        fn files(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let is_session = path.extension().is_some_and(|name| name == "jsonl")
                    && path
                        .to_string_lossy()
                        .replace("projects", "sessions")
                        .contains("sessions/");
                if path.is_dir() {
                    files(&path, found);
                } else if is_session {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        files(&self.home(), &mut found);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    /// Runs it once; what it said comes back.
    fn run(&self, arguments: &[String], prompt: &str) -> String {
        let work = self.folder.path().join("work");
        std::fs::create_dir_all(&work).unwrap();
        let output = Command::new(&self.program)
            .args(arguments)
            .arg(prompt)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(work)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(output.status.success(), "{prompt}: {said}");
        said
    }

    /// One turn: the first request that it made.
    fn turn(&self, arguments: &[String], prompt: &str) -> Value {
        let before = self.requests.lock().unwrap().len();
        let said = self.run(arguments, prompt);
        let requests = self.requests.lock().unwrap();
        let is_turn = |body: &&Value| body.to_string().contains(prompt);
        let request = requests.iter().skip(before).find(is_turn);
        request
            .unwrap_or_else(|| panic!("{prompt}: no request: {said}"))
            .clone()
    }

    /// Puts a compaction into the session file; what it made of the conversation comes back.
    fn compact(&self) -> Value {
        let session = self.session();
        let out = self.folder.path().join("compacted");
        let (from, to) = (session.to_str().unwrap(), out.to_str().unwrap());
        let seen = json(&run(&["compact", from, "--json", "--dry-run"]));
        // Room for the summary and for the newest turns.
        let budget = seen["tokens_before"].as_u64().unwrap() / 2;
        let output = run(&[
            "compact",
            from,
            "--json",
            "--out",
            to,
            "--force",
            "--budget",
            &budget.to_string(),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        let result = json(&output);
        assert_eq!(result["compacted"], true, "{result}");
        std::fs::rename(out, session).unwrap();
        result
    }

    fn check(&self) {
        let session = self.session();
        let output = run(&["check", session.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
    }
}

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
    agent.turn(
        &agent.begins,
        &format!("Look at the till {LONG}, number one."),
    );
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
    let Some(program) = program("claude") else {
        return;
    };
    let (port, requests) = start();
    let options = words("-p --allowedTools Bash --model claude-sonnet-4-5");
    drive(&Agent {
        program,
        goes_on: [options.clone(), words("-c")].concat(),
        native: Some(([options.clone(), words("-c")].concat(), "/compact")),
        begins: options,
        variables: vec![
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("ANTHROPIC_API_KEY", "none".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ],
        folder: tempfile::tempdir().unwrap(),
        requests,
    });
}

#[test]
fn codex_loads_what_we_write() {
    let Some(program) = program("codex") else {
        return;
    };
    let (port, requests) = start();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    let config = format!(
        "model = \"gpt-5\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    let options = words("exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox");
    drive(&Agent {
        program,
        goes_on: [options.clone(), words("resume --last")].concat(),
        native: Some((
            [
                options.clone(),
                words("-c model_auto_compact_token_limit=50 resume --last"),
            ]
            .concat(),
            "Go on at length.",
        )),
        begins: options,
        variables: vec![
            ("CODEX_HOME", home.to_str().unwrap().to_owned()),
            ("SCRIPTED_KEY", "none".to_owned()),
        ],
        folder,
        requests,
    });
}

#[test]
fn pi_loads_what_we_write() {
    let Some(program) = program("pi") else {
        return;
    };
    let (port, requests) = start();
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("home/.pi/agent");
    std::fs::create_dir_all(&settings).unwrap();
    let cost = serde_json::json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
    let model = serde_json::json!({"id": "m", "name": "m", "reasoning": true, "input": ["text"], "contextWindow": 200_000,
        "maxTokens": 8_000, "cost": cost});
    let models = serde_json::json!({"providers": {"scripted": {"baseUrl": format!("http://127.0.0.1:{port}"),
        "api": "anthropic-messages", "apiKey": "none", "models": [model]}}});
    std::fs::write(settings.join("models.json"), models.to_string()).unwrap();
    let options = words("-p --provider scripted --model m --thinking low");
    drive(&Agent {
        program,
        goes_on: [options.clone(), words("-c")].concat(),
        native: None,
        begins: options,
        variables: vec![("PI_OFFLINE", "1".to_owned())],
        folder,
        requests,
    });
}
