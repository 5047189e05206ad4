//! `epitome config trust`: which projects' files are obeyed in everything.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use epitome_config::{FILE_NAME, Sources, Standing, Trusted};

use crate::Ending;
use crate::args::ConfigTrustArgs;
use crate::terminal::tell;
use crate::writing::{Existing, Target};

pub(super) fn run(args: &ConfigTrustArgs) -> Result<Ending> {
    let folder = std::env::current_dir().ok();
    // The list is the same whichever configuration is named for this process.
    let variables = std::env::vars_os().filter(|(name, _)| name != "EPITOME_CONFIG");
    let sources = Sources::of_process(None, variables, folder);
    let list = sources
        .trusted()
        .filter(|list| list.is_absolute())
        .context("no place for the list of trusted files: set HOME or XDG_CONFIG_HOME")?;
    let name = || list.display().to_string();
    let mut trusted = Trusted::read(list)
        .map_err(anyhow::Error::msg)
        .with_context(name)?;
    if args.list {
        return show(&trusted);
    }
    let file = match &args.folder {
        Some(folder) => std::path::absolute(folder.join(FILE_NAME))?,
        None => nearest().context("no epitome.toml in the working folder or above it")?,
    };
    let shown = file.display();
    if args.revoke {
        if !trusted.remove(&file) {
            tell!("epitome: {shown} was not trusted");
            return Ok(Ending::No);
        }
        write(list, &trusted)?;
        tell!("epitome: {shown} is no longer trusted");
        return Ok(Ending::Done);
    }
    let owned = trusted
        .add(&file)
        .map_err(anyhow::Error::msg)
        .with_context(|| shown.to_string())?;
    write(list, &trusted)?;
    tell!("epitome: {shown} is trusted until it changes");
    for line in owned {
        tell!("  {line}");
    }
    Ok(Ending::Done)
}

/// The nearest file to the working folder, upwards.
fn nearest() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    let mut files = folder.ancestors().map(|folder| folder.join(FILE_NAME));
    files.find(|file| file.symlink_metadata().is_ok())
}

fn show(trusted: &Trusted) -> Result<Ending> {
    let mut text = String::new();
    for file in trusted.files() {
        let word = match std::fs::read_to_string(file) {
            Err(_) => "gone",
            Ok(content) => match trusted.standing(file, &content) {
                Standing::Trusted => "trusted",
                _ => "changed",
            },
        };
        text.push_str(&format!("{word:<8} {}\n", file.display()));
    }
    crate::print(&text)?;
    Ok(Ending::Done)
}

fn write(list: &Path, trusted: &Trusted) -> Result<()> {
    if let Some(folder) = list.parent() {
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    Target::checked(list, [], Existing::IsReplaced)?.write(trusted.text().as_bytes())
}
