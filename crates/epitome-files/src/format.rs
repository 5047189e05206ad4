//! Which agent wrote a file.

use std::fmt;
use std::str::FromStr;

/// The format of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// pi's sessions, versions 1 to 3, and OpenClaw's dialect of them.
    Pi,
    /// Claude Code's project logs.
    ClaudeCode,
    /// Codex's rollouts.
    Codex,
    /// OpenCode's session exports.
    OpenCode,
    /// OpenHands' event histories.
    OpenHands,
    /// SWE-agent's trajectories.
    SweAgent,
    /// Lists of conversations of tau-bench and tau2-bench.
    Tau,
    /// The event logs of GitHub Copilot's command line.
    Copilot,
    /// The chats of Gemini's command line.
    Gemini,
    /// aider's chat history in Markdown.
    Aider,
    /// Goose's sessions: its files of lines, and its exports.
    Goose,
    /// The tasks of Cline and Roo Code.
    Cline,
    /// One chat shape for all of them.
    Unified,
}

impl FileFormat {
    /// Every format.
    pub const ALL: &[Self] = &[
        Self::Pi,
        Self::ClaudeCode,
        Self::Codex,
        Self::OpenCode,
        Self::OpenHands,
        Self::SweAgent,
        Self::Tau,
        Self::Copilot,
        Self::Gemini,
        Self::Aider,
        Self::Goose,
        Self::Cline,
        Self::Unified,
    ];

    /// The name users write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::OpenHands => "openhands",
            Self::SweAgent => "swe-agent",
            Self::Tau => "tau",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::Aider => "aider",
            Self::Goose => "goose",
            Self::Cline => "cline",
            Self::Unified => "unified",
        }
    }

    /// Whether files of this format are one JSON object per line, so that an entry can be appended.
    #[must_use]
    pub const fn is_appendable(self) -> bool {
        matches!(self, Self::Pi | Self::ClaudeCode | Self::Codex)
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name is none of [`FileFormat::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no format of a session file")]
pub struct UnknownFormat(String);

impl FromStr for FileFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.as_str() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
