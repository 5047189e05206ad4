//! What can be typed after `epitome recall`.

use clap::Args as ClapArgs;
use epitome_store::ConversationId;

use super::{Format, StoreArgs};

#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "epitome recall [OPTIONS] FILE QUERY…\n       epitome recall [OPTIONS] --session ID QUERY…"
)]
pub(crate) struct RecallArgs {
    /// A session file, a request body, an array of messages, or one message per line (`-` reads standard input);
    /// then the words to look for. With --session only the words
    #[arg(required = true, value_name = "FILE|QUERY")]
    pub(crate) named: Vec<String>,
    /// Look in a stored conversation: in what it can have seen, not in branches that were abandoned
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<ConversationId>,
    /// How many entries are shown at most
    #[arg(short = 'k', value_name = "N", default_value_t = 5)]
    pub(crate) most: u32,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}
