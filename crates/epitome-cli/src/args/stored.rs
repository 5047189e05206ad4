//! What can be typed after the commands on stored conversations.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use epitome_store::{ConversationId, TenantId};

/// Which store, and whose part of it.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreArgs {
    /// Where conversations are kept: sqlite:PATH or postgres://… [default: where `epitome serve` keeps them]
    #[arg(long, value_name = "URL", env = "EPITOME_STORE")]
    pub(crate) store: Option<String>,
    /// The file with the key that values are encrypted with, or EPITOME_STORE_KEY [default: they are kept in clear]
    #[arg(long, value_name = "FILE", env = "EPITOME_STORE_KEY_FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Whose conversations
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) tenant: TenantId,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LogArgs {
    /// The conversation whose compactions are listed, or the beginning of its name [default: list the conversations]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<ConversationId>,
    /// How many conversations are listed at most
    #[arg(long = "limit", short = 'n', value_name = "N", default_value_t = 100)]
    pub(crate) count: u32,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// The compaction, as `epitome log` names it
    #[arg(required_unless_present = "entry", conflicts_with = "entry")]
    pub(crate) id: Option<String>,
    /// Write an entry to standard output, byte for byte as it came in; `epitome recall` names its key
    #[arg(long, value_name = "KEY")]
    pub(crate) entry: Option<String>,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UndoArgs {
    /// The conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: ConversationId,
    /// Undo also what leaves the conversation larger than its window allows
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ForkArgs {
    /// The conversation to branch off
    #[arg(long, value_name = "ID")]
    pub(crate) session: ConversationId,
    /// How many of its first entries both share
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) at: u32,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PinsArgs {
    /// The conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: ConversationId,
    /// This one is no pin, here and in what branches off: no later compaction carries it. The next request of a running
    /// proxy and the next step of an open conversation go out without it
    #[arg(long, value_name = "TEXT|NUMBER", conflicts_with = "restore")]
    pub(crate) drop: Option<String>,
    /// Take the drop back
    #[arg(long, value_name = "TEXT|NUMBER")]
    pub(crate) restore: Option<String>,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsArgs {
    /// Forget what was learned about this model, at every endpoint; a running proxy forgets it when it starts anew
    #[arg(long, value_name = "MODEL")]
    pub(crate) forget: Option<String>,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SavingsArgs {
    /// Only conversations that were used in the last N days
    #[arg(long, value_name = "N")]
    pub(crate) days: Option<u16>,
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) at: StoreArgs,
}
