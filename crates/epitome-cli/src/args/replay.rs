//! `replay` and `compare`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use epitome::PresetName;

use super::size::size;
use super::{Count, Format, preset};

#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// A session file, a request body, an array of messages, or one message per line; `-` reads standard input
    pub(crate) file: PathBuf,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Which one, from 1, in a file that holds several
    #[arg(long, value_name = "N")]
    pub(crate) conversation: Option<usize>,
    /// Which design [env: EPITOME_PRESET] [default: default]
    #[arg(long, value_parser = preset())]
    pub(crate) preset: Option<PresetName>,
    /// The context window in tokens [env: EPITOME_WINDOW] [default: that of the model]
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) window: Option<u64>,
    /// Whose prices, cache and window [default: the model that FILE names]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Count::Auto)]
    pub(crate) count: Count,
    /// Draw the context, request by request; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace the file that `--svg` names if it is there; never an input
    #[arg(long, requires = "svg")]
    pub(crate) force: bool,
    /// Print one JSON object for each request
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing that was not asked for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompareArgs {
    /// A session file, a request body, an array of messages, or one message per line; a folder of them; `-` reads
    /// standard input
    pub(crate) file: PathBuf,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// The context window in tokens, the same for all designs [env: EPITOME_WINDOW] [default: that of the model]
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) window: Option<u64>,
    /// Whose prices, cache and window [default: the model that each file names]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Count::Auto)]
    pub(crate) count: Count,
    /// Print one JSON object for each design, and one for none
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing that was not asked for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
