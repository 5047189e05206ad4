//! Agents that are installed, each with a home of its own and a provider on loopback.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::server::{Requests, start};
use crate::support::{json, run, stderr};

/// An agent that can be run.
pub(super) struct Agent {
    pub(super) format: &'static str,
    program: PathBuf,
    /// What it is given before the prompt: in a new session, and in one that goes on.
    options: Vec<String>,
    pub(super) goes_on: Vec<String>,
    /// How it is made to compact by itself, if it can be told to.
    pub(super) native: Option<(Vec<String>, &'static str)>,
    variables: Vec<(&'static str, String)>,
    folder: tempfile::TempDir,
    /// Where it works.
    pub(super) work: PathBuf,
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

fn work(folder: &tempfile::TempDir) -> PathBuf {
    let work = folder.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    work
}

impl Agent {
    pub(super) fn claude_code() -> Option<Self> {
        let program = program("claude")?;
        let (port, requests) = start();
        let folder = tempfile::tempdir().unwrap();
        let options = words("-p --allowedTools Bash --model claude-sonnet-4-5");
        Some(Self {
            format: "claude-code",
            options: options.clone(),
            program,
            goes_on: [options.clone(), words("-c")].concat(),
            native: Some(([options, words("-c")].concat(), "/compact")),
            variables: vec![
                ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
                ("ANTHROPIC_API_KEY", "none".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ],
            work: work(&folder),
            folder,
            requests,
        })
    }

    pub(super) fn codex() -> Option<Self> {
        let program = program("codex")?;
        let (port, requests) = start();
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let config = format!(
            "model = \"gpt-5\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
        );
        std::fs::write(home.join("config.toml"), config).unwrap();
        let options =
            words("exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox");
        Some(Self {
            format: "codex",
            options: options.clone(),
            program,
            goes_on: [options.clone(), words("resume --last")].concat(),
            native: Some((
                [
                    options,
                    words("-c model_auto_compact_token_limit=50 resume --last"),
                ]
                .concat(),
                "Go on at length.",
            )),
            variables: vec![
                ("CODEX_HOME", home.to_str().unwrap().to_owned()),
                ("SCRIPTED_KEY", "none".to_owned()),
            ],
            work: work(&folder),
            folder,
            requests,
        })
    }

    pub(super) fn pi() -> Option<Self> {
        let program = program("pi")?;
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
        Some(Self {
            format: "pi",
            options: options.clone(),
            program,
            goes_on: [options, words("-c")].concat(),
            native: None,
            variables: vec![("PI_OFFLINE", "1".to_owned())],
            work: work(&folder),
            folder,
            requests,
        })
    }

    /// The first turn of a session.
    pub(super) fn begin(&self, prompt: &str) {
        self.turn(&self.options, prompt);
    }

    /// Takes over the session of another agent, which is converted; how it goes on with it comes back.
    pub(super) fn adopt(&self, session: &Path) -> Vec<String> {
        let converted = self.folder.path().join("converted");
        let (from, to) = (session.to_str().unwrap(), converted.to_str().unwrap());
        let output = run(&["convert", from, "--to", self.format, "--out", to, "--force"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(&converted).unwrap();
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        let (path, more) = match self.format {
            "claude-code" => {
                let work = self.work.to_str().unwrap();
                let work = work.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
                let name = format!(".claude/projects/{work}/{}.jsonl", id(&first["sessionId"]));
                (self.home().join(name), words("-c"))
            }
            "codex" => {
                let id = id(&first["payload"]["id"]);
                let name = format!("sessions/2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl");
                (self.home().join(name), vec!["resume".to_owned(), id])
            }
            _ => {
                let path = self.home().join("sessions/taken.jsonl");
                let name = path.to_str().unwrap().to_owned();
                (path, vec!["--session".to_owned(), name])
            }
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::rename(converted, path).unwrap();
        [self.options.clone(), more].concat()
    }

    /// Their own runtime comes before the one of this machine.
    fn path(&self) -> OsString {
        let mut path = self.program.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        path
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The session file, of which there is one.
    pub(super) fn session(&self) -> PathBuf {
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
    pub(super) fn run(&self, arguments: &[String], prompt: &str) -> String {
        let output = Command::new(&self.program)
            .args(arguments)
            .arg(prompt)
            .env_clear()
            .env("PATH", self.path())
            .env("HOME", self.home())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.work)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(output.status.success(), "{prompt}: {said}");
        said
    }

    /// One turn: the first request that it made.
    pub(super) fn turn(&self, arguments: &[String], prompt: &str) -> Value {
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
    pub(super) fn compact(&self) -> Value {
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

    pub(super) fn check(&self) {
        let session = self.session();
        let output = run(&["check", session.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
    }
}
