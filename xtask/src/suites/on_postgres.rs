//! The tests that run a second time, with their stores in PostgreSQL (`EPITOME_TEST_STORE`).

#[cfg(test)]
#[path = "on_postgres_tests.rs"]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::build_and_run::{Binary, Selection, run};
use super::notices;
use super::tally::{Suite, Tally};
use crate::project::Project;

/// How many cases a property has then, unless `EPITOME_CASES` is set: most of them know nothing of stores.
const CASES: &str = "200";

/// How much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// The modules of the table.
    Short,
    /// Every test of their suites.
    Whole,
    /// There is no server, which is a notice already.
    Not,
}

/// A suite of which a part depends on the store.
#[derive(Debug)]
struct Part {
    suite: &'static str,
    /// What the names of the tests in question begin with.
    modules: &'static [&'static str],
    /// Modules that keep stores as well, and run on PostgreSQL under `soak` only: they take minutes, or need what few have.
    soak_only: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part {
        suite: "epitome-engine tests/all",
        modules: &[
            "all::kill::",
            "all::known_models::",
            "all::rounds::",
            "all::seventh_design::",
            "all::state_machine::",
            "all::stories::",
        ],
        soak_only: &[],
    },
    Part {
        suite: "epitome-server",
        modules: &["histories::", "journal::"],
        soak_only: &[],
    },
    Part {
        suite: "epitome-server tests/all",
        modules: &[
            "continued::",
            "control::",
            "conversations::",
            "dashboard::",
            "identity::",
            "neighbours::",
            "recall::",
            "recovery::",
            "reports::",
            "status::",
            "tenants::",
            "traces::",
        ],
        soak_only: &["browser::", "sdk::", "stress::"],
    },
];

/// Runs the very binary again, in the folder in which cargo would run it; `None` when nothing of it is asked for.
pub(super) fn again(
    project: &Project,
    selection: &Selection<'_>,
    notice_file: &Path,
    binary: &Binary,
    again: Again,
) -> Result<Option<Suite>> {
    let part = PARTS.iter().find(|part| part.suite == binary.suite);
    let (Some(part), Again::Short | Again::Whole) = (part, again) else {
        return Ok(None);
    };
    let mut command = project.command(&binary.executable.to_string_lossy());
    command.current_dir(&binary.folder);
    let mut name = format!("{} on PostgreSQL", binary.suite);
    match again {
        Again::Whole => {
            command.args(selection.filter);
        }
        _ => {
            let names = part.names(&list(project, binary)?, selection.filter)?;
            if names.is_empty() {
                return Ok(None);
            }
            command.arg("--exact").args(names);
            println!("{name}: {}", part.said());
            name.push_str(" (a part)");
        }
    }
    command
        .env(notices::VARIABLE, notice_file)
        .envs(selection.environment.iter().copied())
        .env("EPITOME_TEST_STORE", "postgres");
    let mut chosen = selection.environment.iter();
    let is_chosen = chosen.any(|(name, _)| *name == "EPITOME_CASES");
    if !is_chosen && std::env::var_os("EPITOME_CASES").is_none() {
        command.env("EPITOME_CASES", CASES);
    }
    let mut tally = Tally::of_one(name);
    let status = run(command, &mut tally)?;
    let mut suite = tally.finish().pop().unwrap_or_default();
    suite.is_broken |= !status.success();
    Ok(Some(suite))
}

impl Part {
    /// The tests that depend on a store, of all that the suite has.
    fn names(&self, all: &[String], filter: Option<&str>) -> Result<Vec<String>> {
        let of = |module: &str| {
            let names = all.iter().filter(|name| name.starts_with(module));
            names.cloned().collect::<Vec<_>>()
        };
        let mut names = Vec::new();
        for module in self.modules {
            let found = of(module);
            if found.is_empty() {
                bail!(
                    "{} has no test {module}*, which is to run on PostgreSQL",
                    self.suite
                );
            }
            names.extend(found);
        }
        names.retain(|name| filter.is_none_or(|filter| name.contains(filter)));
        Ok(names)
    }

    /// Which part it is.
    fn said(&self) -> String {
        let short = |module: &&str| {
            let module = module.trim_start_matches("all::");
            module.trim_end_matches("::").to_owned()
        };
        let modules: Vec<String> = self.modules.iter().map(short).collect();
        let rest: Vec<String> = self.soak_only.iter().map(short).collect();
        match rest.is_empty() {
            true => modules.join(", "),
            false => format!(
                "{}; under soak also {}",
                modules.join(", "),
                rest.join(", ")
            ),
        }
    }
}

/// The names of all tests of a binary.
fn list(project: &Project, binary: &Binary) -> Result<Vec<String>> {
    let mut command = project.command(&binary.executable.to_string_lossy());
    let output = command
        .current_dir(&binary.folder)
        .args(["--list", "--format", "terse"])
        .output()
        .with_context(|| format!("could not start {}", binary.executable.display()))?;
    let output = String::from_utf8_lossy(&output.stdout);
    let names = output
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(ToOwned::to_owned).collect())
}
