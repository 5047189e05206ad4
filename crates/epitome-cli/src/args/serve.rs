//! The flags of `epitome serve` and `epitome doctor`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use epitome::PresetName;

use super::listen::listen;
use super::preset;
use super::size::size;

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Where to listen [env: EPITOME_LISTEN] [default: 127.0.0.1:7700]
    #[arg(long, value_name = "ADDRESS", value_parser = listen)]
    pub(crate) listen: Option<SocketAddr>,
    /// Where OpenAI-shaped requests go [env: EPITOME_OPENAI_UPSTREAM] [default: https://api.openai.com]
    #[arg(long, value_name = "URL")]
    pub(crate) openai_upstream: Option<http::Uri>,
    /// Where Anthropic-shaped requests go [env: EPITOME_ANTHROPIC_UPSTREAM] [default: https://api.anthropic.com]
    #[arg(long, value_name = "URL")]
    pub(crate) anthropic_upstream: Option<http::Uri>,
    /// Where conversations are kept: sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, or none [env: EPITOME_STORE]
    /// [default: sqlite in the user's data folder]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The file with the key that values are encrypted with, or EPITOME_STORE_KEY [env: EPITOME_STORE_KEY_FILE] [default:
    /// they are kept in clear]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// The window in tokens of every model, whatever the table and providers say [env: EPITOME_WINDOW] [default: what
    /// is known of each model, else 128000]
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) window: Option<u64>,
    /// Which design [env: EPITOME_PRESET] [default: default]
    #[arg(long, value_parser = preset())]
    pub(crate) preset: Option<PresetName>,
    /// Who writes the summaries, in the background: extractive, a provider (openai, openai-responses, anthropic, ollama,
    /// llamacpp, vllm), an address, or borrow: each client's own model with its own key, which is never stored
    /// [env: EPITOME_SUMMARIZER] [default: extractive]
    #[arg(long, value_name = "WHO")]
    pub(crate) summarizer: Option<String>,
    /// Touch nothing; report what would be done [env: EPITOME_OBSERVE]
    #[arg(long)]
    pub(crate) observe: bool,
    /// Bodies above this many bytes, such as 10M, are streamed through unread [env: EPITOME_INSPECTION_LIMIT]
    /// [default: 67108864]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) inspection_limit: Option<u64>,
    /// How log lines are written
    #[arg(long, value_enum, value_name = "FORM", default_value_t = LogForm::Text, env = "EPITOME_LOG_FORM")]
    pub(crate) log_form: LogForm,
    /// Log every request: method, path, status, what was done and how long it took
    #[arg(long, env = "EPITOME_ACCESS_LOG", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) access_log: bool,
    /// Log more, every request included; twice: still more
    #[arg(long, short, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Log only warnings
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}
