//! The command line, as data.

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;

use std::path::PathBuf;

use crate::agents::{Extent, Scenario};
use crate::bench;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask <command>

Commands:
  lint                  formatting, clippy, documentation and the house rules; lists everything that fails
  test [FILTER]         installs what the tests need, then runs all of them, or those whose name contains FILTER;
                        without FILTER also every fuzz target for some seconds
  agents [NAME...]      installs real clients (xtask/agents.toml) and drives them, or those named, through epitome and
                        without it; writes their rows of docs/clients.md
  agents [NAME...] --scenario SCENARIO
                        one scenario, such as \"started by wrap\"; the other rows stay as they are
  agents --short        the part of it that `test` has
  bench [NAME]          runs the benchmarks with their gates, or the one called NAME (warm, decide, proxy)
  bench sessions --against FILE
                        recorded sessions through this version and through another, whose command is FILE
  bench instructions --against FILE
                        what compacting them takes, in instructions, beside another version
  fuzz [NAME] [--seconds N]
                        the coverage-guided targets, or the one called NAME, for N seconds each (60)
  soak [--minutes N]    the whole test suite in release mode with many generated cases, again with new seeds for N
                        minutes; then every fuzz target for ten minutes, and `fresh`
  screenshots           every page of the dashboard in a real browser, light and dark, wide and on a phone, into
                        target/screenshots
  docs                  runs every command that the pages in docs/ show
  fresh                 types README's first command and its line with `wrap` in a fresh clone, with the real Claude Code
                        in front of the scripted upstream
  dist                  an archive with the command, manual pages, completions and the service unit, in target/dist
  museum NAME           keeps databases and session files that this version writes, under its name, for the tests of
                        later ones; what is there already is never written again
  help                  this text

Environment:
  CI=true               a suite that could not run fails the run
  EPITOME_SEED=N        seed of generated cases (soak: from the clock when not given)
  EPITOME_CASES=N       number of generated cases (soak: 10000 when not given)
  EPITOME_DATA=DIR      real data for the tests that read some
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Lint,
    Test {
        filter: Option<String>,
    },
    Agents(Extent),
    Bench {
        name: Option<String>,
        against: Option<PathBuf>,
    },
    Fuzz {
        name: Option<String>,
        seconds: u64,
    },
    Soak {
        minutes: u64,
    },
    Museum {
        name: String,
    },
    Screenshots,
    Docs,
    Fresh,
    Dist,
}

/// Reads the arguments after the program name; the error is a sentence for the user.
pub(crate) fn parse(arguments: &[String]) -> Result<Task, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Err("no command given".to_owned()),
        words if words.iter().any(|word| matches!(*word, "-h" | "--help")) => Ok(Task::Help),
        ["help"] => Ok(Task::Help),
        ["lint"] => Ok(Task::Lint),
        ["test"] => Ok(Task::Test { filter: None }),
        ["test", filter] if !filter.starts_with('-') => Ok(Task::Test {
            filter: Some((*filter).to_owned()),
        }),
        ["agents", "--short"] => Ok(Task::Agents(Extent::Short)),
        ["agents", names @ .., "--scenario", scenario] if are_names(names) => {
            let only = Scenario::ALL
                .into_iter()
                .find(|one| one.name() == *scenario);
            match only {
                Some(_) => Ok(agents(names, only)),
                None => Err(format!("`{scenario}` is not a scenario")),
            }
        }
        ["agents", names @ ..] if are_names(names) => Ok(agents(names, None)),
        ["bench"] => Ok(Task::Bench {
            name: None,
            against: None,
        }),
        ["bench", name, "--against", file] if bench::COMPARED.contains(name) => Ok(Task::Bench {
            name: Some((*name).to_owned()),
            against: Some(PathBuf::from(file)),
        }),
        ["bench", name] => match bench::find(name) {
            Some(_) => Ok(Task::Bench {
                name: Some((*name).to_owned()),
                against: None,
            }),
            None => Err(format!("there is no benchmark called `{name}`")),
        },
        ["fuzz", options @ ..] => fuzz(options),
        ["soak"] => Ok(Task::Soak { minutes: 0 }),
        ["soak", "--minutes", minutes] => match minutes.parse() {
            Ok(minutes) => Ok(Task::Soak { minutes }),
            Err(_) => Err(format!("`{minutes}` is not a number of minutes")),
        },
        ["screenshots"] => Ok(Task::Screenshots),
        ["docs"] => Ok(Task::Docs),
        ["fresh"] => Ok(Task::Fresh),
        ["dist"] => Ok(Task::Dist),
        ["museum", name] if is_plain(name) => Ok(Task::Museum {
            name: (*name).to_owned(),
        }),
        words => Err(format!("`{}` is not a command", words.join(" "))),
    }
}

fn are_names(words: &[&str]) -> bool {
    !words.iter().any(|word| word.starts_with('-'))
}

fn agents(names: &[&str], only: Option<Scenario>) -> Task {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Task::Agents(Extent::Clients { names, only })
}

/// Whether a word can name a folder and nothing else.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || matches!(one, '.' | '-' | '_'))
}

/// How long a fuzz target runs when nobody says.
const FUZZ_SECONDS: u64 = 60;

fn fuzz(options: &[&str]) -> Result<Task, String> {
    let (name, rest) = match options {
        [name, rest @ ..] if !name.starts_with('-') => (Some((*name).to_owned()), rest),
        rest => (None, rest),
    };
    let seconds = match rest {
        [] => FUZZ_SECONDS,
        ["--seconds", seconds] => seconds
            .parse()
            .map_err(|_| format!("`{seconds}` is not a number of seconds"))?,
        rest => return Err(format!("`{}` is not an option of fuzz", rest.join(" "))),
    };
    Ok(Task::Fuzz { name, seconds })
}
