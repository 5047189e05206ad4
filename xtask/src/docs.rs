//! `cargo xtask docs`: runs the commands that README and the pages in `docs/` show; `cargo xtask test` does it too.
//!
//! A block between fences marked `sh` is run line for line as it stands, all blocks of a page in one shell and one folder, with the command
//! that the tests built. `docs/stage.sh` of this crate lays out what a reader has at hand: examples, a session file, an agent, a store.
//! A block that says what is printed is marked `text` and is not run.

mod blocks;
#[cfg(test)]
#[path = "docs_tests.rs"]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};

pub(crate) use self::blocks::commands;
use crate::Verdict;
use crate::project::{Project, succeeds};

/// What is laid out before the first command of a page, and how `cargo run` finds what is built already.
const STAGE: &str = include_str!("docs/stage.sh");

/// Beginnings of commands that are shown and not run, each with the reason.
const NOT_RUN: [(&str, &str); 1] = [(
    "cargo xtask ",
    "it builds and runs the workspace, and this is a part of it",
)];

/// A page after its commands were run.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) is_good: bool,
}

/// Builds the command as its own tests do, and runs every page.
pub(crate) fn run(project: &Project) -> Result<Verdict> {
    let build = [
        "test",
        "--locked",
        "--package",
        "epitome-cli",
        "--test",
        "all",
        "--no-run",
    ];
    if !succeeds(project.cargo(&build)) {
        return Ok(Verdict::Bad);
    }
    let pages = run_pages(project)?;
    Ok(Verdict::good_if(pages.iter().all(|page| page.is_good)))
}

/// Runs every page with the command that is there.
pub(crate) fn run_pages(project: &Project) -> Result<Vec<Page>> {
    let target = project.target_folder()?;
    let mut done = Vec::new();
    println!("documentation");
    for path in pages(project)? {
        let shown = path.strip_prefix(&project.root).unwrap_or(&path);
        let name = shown.display().to_string();
        let text = std::fs::read_to_string(&path).with_context(|| name.clone())?;
        let Script { lines, passed_over } = match script(&text) {
            Ok(script) => script,
            Err(complaint) => {
                println!("  {name:<20} {complaint}");
                done.push(Page {
                    name,
                    is_good: false,
                });
                continue;
            }
        };
        let nowhere = links_to_nowhere(&path, &text);
        for link in &nowhere {
            println!("  {name:<20} leads to {link}, which is not there");
        }
        if !nowhere.is_empty() {
            done.push(Page {
                name: format!("links of {name}"),
                is_good: false,
            });
        }
        if lines.is_empty() {
            println!("  {name:<20} no commands");
        } else {
            let is_good = run_page(project, &lines, &target)?;
            let outcome = if is_good { "passed" } else { "failed" };
            println!("  {name:<20} {outcome}, {} lines", lines.lines().count());
            done.push(Page {
                name: name.clone(),
                is_good,
            });
        }
        for (line, reason) in passed_over {
            println!("  {name:<20} not run: {line} ({reason})");
        }
    }
    Ok(done)
}

fn pages(project: &Project) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(project.root.join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|kind| kind == "md") {
            pages.push(path);
        }
    }
    pages.push(project.root.join("README.md"));
    pages.sort();
    Ok(pages)
}

/// Links and pictures of a page whose files are not there. What leads out of the project is not looked at.
fn links_to_nowhere(page: &Path, text: &str) -> Vec<String> {
    let folder = page.parent().unwrap_or(page);
    let links = text.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split([')', '#']).next());
    links
        .filter(|link| !link.is_empty() && !link.contains("://"))
        .filter(|link| !folder.join(link).exists())
        .map(str::to_owned)
        .collect()
}

/// What a page would have its reader type.
#[derive(Debug, Default, PartialEq, Eq)]
struct Script {
    lines: String,
    passed_over: Vec<(String, &'static str)>,
}

fn script(page: &str) -> Result<Script, String> {
    let mut script = Script::default();
    for line in commands(page)?.into_iter().flatten() {
        match NOT_RUN.iter().find(|(begin, _)| line.starts_with(begin)) {
            Some((_, reason)) => {
                let command = line.split('#').next().unwrap_or(line).trim();
                script.passed_over.push((command.to_owned(), reason));
            }
            None => {
                script.lines.push_str(&filled(line));
                script.lines.push('\n');
            }
        }
    }
    Ok(script)
}

/// A command with the names that the stage has for what a reader would put in.
fn filled(line: &str) -> String {
    let words = line.split(' ').map(|word| match word {
        "ID" => "$ID",
        "COMPACTION" => "$COMPACTION",
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn run_page(project: &Project, script: &str, target: &Path) -> Result<bool> {
    let folder = target.join("docs-run");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let mut path = OsString::from(folder.join("bin"));
    path.push(":");
    path.push(target.join("debug"));
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    let whole = format!("{STAGE}\n{script}");
    let mut command = project.command("bash");
    command
        .args(["-c", &whole])
        .current_dir(&folder)
        .env("PATH", path)
        .env("PROJECT", &project.root)
        .env("HOME", &folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("EPITOME_") {
            command.env_remove(name);
        }
    }
    let output = command.output().context("could not start bash")?;
    if !output.status.success() {
        // What every page says of itself is of interest only where something failed.
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success())
}
