//! How each agent is pointed at a proxy.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use crate::args::Agent;

/// How an agent is started.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// What it is called here.
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) variables: Vec<(&'static str, String)>,
    /// What stands before the user's own arguments.
    pub(super) arguments: Vec<OsString>,
    /// A file that it reads, and what is in it.
    pub(super) file: Option<(PathBuf, String)>,
}

impl Start {
    pub(super) fn of(agent: Agent, address: SocketAddr, file: &Path) -> Self {
        let bare = format!("http://{address}");
        let versioned = format!("{bare}/v1");
        let start = |name, program, variables| Self {
            name,
            program,
            variables,
            arguments: Vec::new(),
            file: None,
        };
        match agent {
            Agent::Claude => start("claude", "claude", vec![("ANTHROPIC_BASE_URL", bare)]),
            Agent::Codex => Self {
                arguments: vec![
                    "-c".into(),
                    format!("openai_base_url=\"{versioned}\"").into(),
                ],
                ..start("codex", "codex", vec![])
            },
            Agent::Opencode => {
                let at = json!({"options": {"baseURL": versioned}});
                let configuration = json!({"provider": {"openai": at, "anthropic": at}});
                let variables = vec![("OPENCODE_CONFIG_CONTENT", configuration.to_string())];
                start("opencode", "opencode", variables)
            }
            Agent::Pi => {
                let text = format!(
                    "export default function (pi) {{\n  pi.registerProvider(\"anthropic\", {{ baseUrl: {} }});\n  \
                     pi.registerProvider(\"openai\", {{ baseUrl: {} }});\n}}\n",
                    json!(bare),
                    json!(versioned)
                );
                Self {
                    arguments: vec!["-e".into(), file.into()],
                    file: Some((file.to_owned(), text)),
                    ..start("pi", "pi", vec![])
                }
            }
            Agent::Aider => start(
                "aider",
                "aider",
                vec![
                    ("OPENAI_API_BASE", versioned),
                    ("ANTHROPIC_API_BASE", bare.clone()),
                    ("ANTHROPIC_BASE_URL", bare),
                ],
            ),
        }
    }

    /// Writes the file that the agent reads.
    pub(super) fn prepare(&self) -> Result<()> {
        let Some((path, text)) = &self.file else {
            return Ok(());
        };
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }

    /// The same as lines for a shell, with a proxy that runs at its usual place.
    pub(super) fn told(&self, given: &[OsString]) -> String {
        let mut out = String::from("epitome serve &\n");
        if let Some((path, text)) = &self.file {
            out += &format!("cat > {} <<'END'\n{text}END\n", path.display());
        }
        for (name, value) in &self.variables {
            out += &format!("export {name}={}\n", quoted(value));
        }
        let words = self.arguments.iter().chain(given);
        let words = words.map(|word| quoted(&word.to_string_lossy()));
        let words: Vec<String> = std::iter::once(self.program.to_owned())
            .chain(words)
            .collect();
        out + &words.join(" ") + "\n"
    }
}

/// The variables that say where the agent's OpenAI-shaped requests go; the first that is set is heard.
pub(super) const fn names_of_openai(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Aider => &["OPENAI_API_BASE", "OPENAI_BASE_URL"],
        Agent::Claude | Agent::Codex | Agent::Opencode | Agent::Pi => &["OPENAI_BASE_URL"],
    }
}

/// The same for those in Anthropic's shape.
pub(super) const fn names_of_anthropic(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Aider => &["ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"],
        Agent::Claude | Agent::Codex | Agent::Opencode | Agent::Pi => &["ANTHROPIC_BASE_URL"],
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=@%+,".contains(one);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
