//! Manual pages and completions, from what can be typed.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Args;
use crate::terminal::tell;
use crate::{Ending, print_bytes};

/// Prints the completions of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "epitome", &mut script);
    print_bytes(&script)?;
    Ok(Ending::Done)
}

/// Writes a page for the command and one for each of its commands: `epitome.1`, `epitome-compact.1` …
pub(crate) fn write(folder: &Path) -> Result<Ending> {
    let shown = || folder.display().to_string();
    std::fs::create_dir_all(folder).with_context(shown)?;
    clap_mangen::generate_to(Args::command(), folder).with_context(shown)?;
    tell!("epitome: wrote manual pages into {}", shown());
    Ok(Ending::Done)
}
