//! What can be typed after `epitome config`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use epitome::PresetName;

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Write a configuration in which every setting stands as a comment with its default
    Init(ConfigInitArgs),
    /// Show every value and where it comes from
    Show(ConfigShowArgs),
    /// List everything that is wrong; exit 1 if anything is
    Check(ConfigCheckArgs),
    /// Obey all of a project's epitome.toml as it is now, also where it sends, what it reads and what it runs
    Trust(ConfigTrustArgs),
    /// Print the JSON Schema of epitome.toml
    Schema,
    /// Make a key for a tenant, and print it with its digest, which is all that a configuration holds of it
    Key(ConfigKeyArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigKeyArgs {
    /// Print the digest of a key that is there already, such as a provider's: it is read from standard input
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigTrustArgs {
    /// The folder of the file [default: the working folder, or the nearest above it that has one]
    pub(crate) folder: Option<PathBuf>,
    /// List the files that are trusted, and whether they changed
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    pub(crate) list: bool,
    /// Trust it no longer
    #[arg(long)]
    pub(crate) revoke: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigInitArgs {
    /// Whose settings
    #[arg(long, value_parser = super::preset(), default_value_t = PresetName::default())]
    pub(crate) preset: PresetName,
    /// The file to write; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = epitome_config::FILE_NAME)]
    pub(crate) out: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigShowArgs {
    /// The settings as this agent has them
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The settings as they are with this model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigCheckArgs {
    /// The file [default: those that would be read]
    pub(crate) file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
