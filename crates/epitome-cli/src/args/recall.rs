//! What can be typed after `epitome recall`.

use clap::{Args as ClapArgs, ValueEnum};
use epitome_store::ConversationId;

use super::{Format, StoreArgs};

#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "epitome recall [OPTIONS] FILE|FOLDER QUERY…\n       epitome recall [OPTIONS] --agents QUERY…\n       epitome recall [OPTIONS] --session ID QUERY…"
)]
pub(crate) struct RecallArgs {
    /// A session file, a request body, an array of messages, or one message per line (`-` reads standard input), or a
    /// folder of them; then the words to look for. With --session and --agents only the words
    #[arg(required = true, value_name = "FILE|QUERY")]
    pub(crate) named: Vec<String>,
    /// Look in a stored conversation: in what it can have seen, not in branches that were abandoned
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<ConversationId>,
    /// Look in what the agents on this machine recorded in their own folders
    #[arg(long, conflicts_with = "session")]
    pub(crate) agents: bool,
    /// What comes first
    #[arg(long, value_enum, value_name = "BY", default_value_t = RecallSort::Fit)]
    pub(crate) sort: RecallSort,
    /// How many entries are shown at most
    #[arg(
        long = "limit",
        short = 'k',
        visible_short_alias = 'n',
        value_name = "N",
        default_value_t = 5
    )]
    pub(crate) most: u32,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

/// The order of what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecallSort {
    /// What fits the words best
    Fit,
    /// The newest of what fits best
    Date,
}
