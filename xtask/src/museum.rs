//! `cargo xtask museum`: keeps what this version writes, for the tests of all later ones.

use anyhow::{Context, Result};

use crate::Verdict;
use crate::project::{Project, succeeds};

const MUSEUM: &str = "crates/epitome-testkit/museum";

/// Builds the command, then has the generator write a new folder with it.
pub(crate) fn run(project: &Project, name: &str) -> Result<Verdict> {
    let folder = project.root.join(MUSEUM).join(name);
    let folder = folder.to_string_lossy();
    let built = succeeds(project.cargo(&["build", "--package", "epitome-cli"]));
    if !built {
        return Ok(Verdict::Bad);
    }
    let metadata = project.cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: serde_json::Value = serde_json::from_slice(&project.output(metadata)?)?;
    let target = metadata.get("target_directory");
    let target = target.and_then(serde_json::Value::as_str);
    let target = target.context("cargo names no target folder")?;
    let epitome = format!("{target}/debug/epitome");
    let generator = ["run", "--package", "epitome-testkit", "--example", "museum"];
    let arguments = ["--", epitome.as_str(), folder.as_ref()];
    let written = succeeds(project.cargo(&[&generator[..], &arguments[..]].concat()));
    Ok(Verdict::good_if(written))
}
