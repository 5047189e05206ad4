//! What can be typed after `epitome store`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use epitome_store::{ConversationId, TenantId};

use super::size::size;

#[derive(Debug, ClapArgs)]
pub(crate) struct StoreCommandArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Say how much there is
    Stats(StorePlainArgs),
    /// Remove what nobody needs, and conversations by age or size where that is asked for
    Gc(StoreGcArgs),
    /// Delete one conversation with all that belongs to it; what branched off stays whole
    Delete(StoreDeleteArgs),
    /// Write everything to a file, as it is at one moment, while the proxy runs
    Export(StoreExportArgs),
    /// Bring an export or another store in, while the proxy runs; doing it again brings what is new
    Import(StoreImportArgs),
    /// Bring the schema up to date
    Migrate(StorePlainArgs),
    /// Give free room back to the disk
    Vacuum(StorePlainArgs),
    /// Encrypt everything with the first key, whatever it was encrypted with before
    Rotate(StorePlainArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StorePlainArgs {
    /// The store: sqlite:PATH or postgres://… [default: where `epitome serve` keeps conversations]
    #[arg(long, value_name = "URL", env = "EPITOME_STORE")]
    pub(crate) store: Option<String>,
    /// The file with the key that values are encrypted with, or EPITOME_STORE_KEY [default: they are kept in clear]
    #[arg(long, value_name = "FILE", env = "EPITOME_STORE_KEY_FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing that was not asked for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StoreGcArgs {
    /// Delete conversations that nobody has touched for so long: 90d, 12h, 30m
    #[arg(long, value_name = "AGE", value_parser = age_ms)]
    pub(crate) older_than: Option<i64>,
    /// Delete the oldest conversations until all messages together take at most so many bytes: 500M. What that takes is only
    /// known when they are gone, since conversations share messages
    #[arg(long, value_name = "BYTES", value_parser = size, conflicts_with_all = ["dry_run", "tenant"])]
    pub(crate) max_bytes: Option<u64>,
    /// Only what is of this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<TenantId>,
    /// Remove notes of requests, and turns of histories that providers keep, that are older than this
    #[arg(long, value_name = "AGE", value_parser = age_ms)]
    pub(crate) notes_older_than: Option<i64>,
    /// Forget what was deleted longer ago than this: who sends it again then begins a new conversation
    #[arg(long, value_name = "AGE", value_parser = age_ms)]
    pub(crate) forget_deleted_after: Option<i64>,
    /// Say which conversations would go, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) at: StorePlainArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StoreDeleteArgs {
    /// The conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: ConversationId,
    /// Whose it is
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) tenant: TenantId,
    /// Delete the forks too that an engine puts together from it
    #[arg(long)]
    pub(crate) with_forks: bool,
    #[command(flatten)]
    pub(crate) at: StorePlainArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StoreExportArgs {
    /// Write to a file and not to standard output, which is `-`
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
    /// Replace the file that `--out` names if it is there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) at: StorePlainArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StoreImportArgs {
    /// What `epitome store export` wrote, `-` for standard input, or a store: sqlite:PATH, postgres://…
    #[arg(value_name = "FILE|URL")]
    pub(crate) from: String,
    #[command(flatten)]
    pub(crate) at: StorePlainArgs,
}

/// Reads an age as people write it: `90d`, `12h`, `30m`, `45s`.
fn age_ms(text: &str) -> Result<i64, String> {
    let unit_ms = match text.chars().last() {
        Some('d') => 86_400_000,
        Some('h') => 3_600_000,
        Some('m') => 60_000,
        Some('s') => 1_000,
        _ => return Err("an age is a number with d, h, m or s behind it, such as 90d".to_owned()),
    };
    let digits = text.get(..text.len() - 1).unwrap_or_default();
    let number: u32 = digits.parse().map_err(|error| format!("{error}"))?;
    i64::from(number)
        .checked_mul(unit_ms)
        .ok_or_else(|| "number too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::age_ms;

    #[test]
    fn ages_are_read_as_people_write_them() {
        for (text, expected) in [("90d", 7_776_000_000), ("12h", 43_200_000), ("0s", 0)] {
            assert_eq!(age_ms(text), Ok(expected));
        }
        for text in ["", "d", "5", "-1d", "1.5h", "99999999999d", "5ü"] {
            assert!(age_ms(text).is_err(), "{text}");
        }
    }
}
