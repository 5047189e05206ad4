//! The flags of `epitome wrap`.

use clap::{Args as ClapArgs, ValueEnum};
use epitome::PresetName;

use super::{LogForm, ServeArgs, preset, size};

/// An agent that knows how to be pointed at a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    Claude,
    /// Codex, with an API key
    Codex,
    /// OpenCode
    Opencode,
    /// pi
    Pi,
    /// aider
    Aider,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WrapArgs {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: Agent,
    /// Only say how the agent would be started
    #[arg(long)]
    pub(crate) print: bool,
    /// Where OpenAI-shaped requests go [default: OPENAI_BASE_URL (aider: OPENAI_API_BASE), else the configuration's]
    #[arg(long, value_name = "URL")]
    pub(crate) openai_upstream: Option<http::Uri>,
    /// Where Anthropic-shaped requests go [default: ANTHROPIC_BASE_URL (aider: ANTHROPIC_API_BASE), else the configuration's]
    #[arg(long, value_name = "URL")]
    pub(crate) anthropic_upstream: Option<http::Uri>,
    /// Where conversations are kept: sqlite:PATH, postgres://…, or none [env: EPITOME_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The window in tokens of every model [env: EPITOME_WINDOW]
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) window: Option<u64>,
    /// Which design [env: EPITOME_PRESET]
    #[arg(long, value_parser = preset())]
    pub(crate) preset: Option<PresetName>,
    /// Who writes the summaries [env: EPITOME_SUMMARIZER]
    #[arg(long, value_name = "WHO")]
    pub(crate) summarizer: Option<String>,
    /// Say nothing but what the agent says
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// What the agent is given
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

impl WrapArgs {
    /// What the proxy in front of the agent is told.
    pub(crate) fn serve(&self) -> ServeArgs {
        ServeArgs {
            key_file: None,
            // A port that is free: several agents may run at once.
            listen: Some(([127, 0, 0, 1], 0).into()),
            openai_upstream: self.openai_upstream.clone(),
            anthropic_upstream: self.anthropic_upstream.clone(),
            store: self.store.clone(),
            window: self.window,
            preset: self.preset,
            summarizer: self.summarizer.clone(),
            observe: false,
            inspection_limit: None,
            log_form: LogForm::Text,
            access_log: false,
            verbose: 0,
            quiet: self.quiet,
        }
    }
}
