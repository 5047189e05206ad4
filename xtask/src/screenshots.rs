//! `cargo xtask screenshots`: every page of the dashboard in a real browser, light and dark, wide and on a phone.

use anyhow::Result;

use crate::Verdict;
use crate::needs::{self, FOR_TESTS};
use crate::project::{Project, succeeds};

/// Where the pictures go, in the workspace.
const FOLDER: &str = "target/screenshots";

/// The walk of the browser test takes the pictures on its way.
pub(crate) fn run(project: &Project) -> Result<Verdict> {
    let browser = FOR_TESTS.iter().filter(|need| need.suites == ["browser"]);
    if let Some(need) = needs::prepare(project, browser).first() {
        eprintln!("{}", needs::reason(need));
        return Ok(Verdict::Bad);
    }
    let folder = project.root.join(FOLDER);
    let walk = [
        "test",
        "--locked",
        "-p",
        "epitome-server",
        "--test",
        "all",
        "dashboard",
    ];
    let mut command = project.cargo(&walk);
    command.env("EPITOME_SCREENSHOTS", &folder);
    let is_done = succeeds(command);
    if is_done {
        println!("pictures are in {FOLDER}");
    }
    Ok(Verdict::good_if(is_done))
}
