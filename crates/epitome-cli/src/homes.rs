//! Where the agents on this machine keep what they record.

#[cfg(test)]
#[path = "homes_tests.rs"]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::folder;

/// An agent's folder of conversations.
struct Place {
    agent: &'static str,
    /// The variable that moves the agent's things, and where below it they are.
    variable: Option<(&'static str, &'static str)>,
    /// Where they are otherwise, below the user's home.
    home: &'static str,
    /// Where its conversations are among them.
    below: &'static str,
}

const PLACES: &[Place] = &[
    Place {
        agent: "Claude Code",
        variable: Some(("CLAUDE_CONFIG_DIR", "")),
        home: ".claude",
        below: "projects",
    },
    Place {
        agent: "Codex",
        variable: Some(("CODEX_HOME", "")),
        home: ".codex",
        below: "sessions",
    },
    Place {
        agent: "pi",
        variable: Some(("PI_CODING_AGENT_DIR", "")),
        home: ".pi/agent",
        below: "sessions",
    },
    Place {
        agent: "OpenClaw",
        variable: None,
        home: ".openclaw",
        below: "agents",
    },
    Place {
        agent: "Gemini CLI",
        variable: None,
        home: ".gemini",
        below: "tmp",
    },
    Place {
        agent: "Copilot CLI",
        variable: None,
        home: ".copilot",
        below: "session-state",
    },
    Place {
        agent: "OpenCode",
        variable: Some(("XDG_DATA_HOME", "opencode")),
        home: ".local/share/opencode",
        below: "storage/session",
    },
    Place {
        agent: "Goose",
        variable: Some(("XDG_DATA_HOME", "goose")),
        home: ".local/share/goose",
        below: "sessions",
    },
];

/// The files in all folders of agents that are there.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let home = std::env::home_dir();
    let found = found(home.as_deref(), |name| {
        std::env::var_os(name).map(PathBuf::from)
    });
    let mut files = Vec::new();
    for folder in &found {
        // An agent that was installed and never used is none.
        files.extend(folder::files(folder).unwrap_or_default());
    }
    if files.is_empty() {
        let agents: Vec<&str> = PLACES.iter().map(|place| place.agent).collect();
        bail!(
            "no conversation of {} in this home: name a file or a folder",
            agents.join(", ")
        );
    }
    Ok(files)
}

/// A name as people write it: the home is `~`.
pub(crate) fn shown(path: &Path) -> String {
    let home = std::env::home_dir();
    let below = home
        .as_deref()
        .and_then(|home| path.strip_prefix(home).ok());
    match below {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

fn found(home: Option<&Path>, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let place = |place: &Place| {
        let moved = place.variable.and_then(|(name, below)| {
            let folder = variable(name)?;
            Some(match below {
                "" => folder,
                below => folder.join(below),
            })
        });
        let folder = moved.or_else(|| Some(home?.join(place.home)))?;
        Some(folder.join(place.below)).filter(|folder| folder.is_dir())
    };
    PLACES.iter().filter_map(place).collect()
}
