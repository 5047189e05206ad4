//! `cargo xtask museum`: keeps what this version writes, for the tests of all later ones.

use anyhow::Result;

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
    let epitome = project.target_folder()?.join("debug/epitome");
    let epitome = epitome.to_string_lossy();
    let generator = ["run", "--package", "epitome-testkit", "--example", "museum"];
    let arguments = ["--", epitome.as_ref(), folder.as_ref()];
    let written = succeeds(project.cargo(&[&generator[..], &arguments[..]].concat()));
    Ok(Verdict::good_if(written))
}
