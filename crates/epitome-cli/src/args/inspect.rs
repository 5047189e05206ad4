//! What can be typed after `epitome inspect`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{Count, Format};

#[derive(Debug, ClapArgs)]
pub(crate) struct InspectArgs {
    /// A session file, a request body, an array of messages, or one message per line; a folder of them; `-` reads
    /// standard input [default: what the agents on this machine recorded in their own folders]
    pub(crate) file: Option<PathBuf>,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Count::Auto)]
    pub(crate) count: Count,
    /// What comes first in the table of a folder [default: name; for the agents' own folders date]
    #[arg(long, value_enum, value_name = "BY")]
    pub(crate) sort: Option<Sort>,
    /// Draw how the context grew; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace the file that `--svg` names if it is there; never an input
    #[arg(long, requires = "svg")]
    pub(crate) force: bool,
    /// Print one JSON object; for a folder one on each line
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing that was not asked for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The order of the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// By their names
    Name,
    /// The newest last word first
    Date,
    /// The largest first
    Tokens,
    /// The most messages first
    Messages,
    /// The dearest first; those whose price is not known last
    Cost,
}
