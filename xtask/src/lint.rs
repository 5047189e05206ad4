//! `cargo xtask lint`: cargo's own checks, then the house rules. Everything runs; the failures are listed at the end.
//!
//! Layout: [`tracked`] lists the files, [`files`] judges each, [`cycles`] and [`designs`] what [`imports`] finds in them, [`clock`] who
//! reads the time, [`front_pages`] whether the README says the same as the libraries; [`metadata`] reads
//! the dependency graph, [`dependencies`] and [`licences`] judge it.

mod clock;
mod cycles;
mod dependencies;
mod designs;
mod expression;
mod files;
mod front_pages;
mod imports;
mod licences;
mod metadata;
mod tracked;

use anyhow::{Context, Result};

use crate::Verdict;
use crate::lint::metadata::Metadata;
use crate::project::{Project, succeeds};

/// One house rule: its name, and what is against it.
type Finding = (&'static str, Result<Vec<String>>);

pub(crate) fn run(project: &Project) -> Result<Verdict> {
    let mut failed = failed_commands(project);
    for (rule, problems) in house_rules(project)? {
        match problems {
            Ok(problems) if problems.is_empty() => println!("ok: {rule}"),
            Ok(problems) => {
                println!("against the rule: {rule}");
                problems.iter().for_each(|problem| println!("  {problem}"));
                failed.push(rule);
            }
            Err(error) => {
                println!("could not check: {rule}: {error:#}");
                failed.push(rule);
            }
        }
    }
    if failed.is_empty() {
        println!("\nlint: everything passed");
    } else {
        println!("\nlint: {} failed\n  {}", failed.len(), failed.join("\n  "));
    }
    Ok(Verdict::good_if(failed.is_empty()))
}

fn failed_commands(project: &Project) -> Vec<&'static str> {
    let commands: [(&str, &[&str]); 3] = [
        ("cargo fmt", &["fmt", "--all", "--check"]),
        (
            "cargo clippy",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ],
        ),
        (
            "cargo doc",
            &["doc", "--workspace", "--no-deps", "--locked"],
        ),
    ];
    let mut failed = Vec::new();
    for (name, arguments) in commands {
        let mut command = project.cargo(arguments);
        command.env("RUSTDOCFLAGS", "-D warnings");
        if !succeeds(command) {
            failed.push(name);
        }
    }
    failed
}

fn house_rules(project: &Project) -> Result<Vec<Finding>> {
    let files = tracked::read(project)?;
    println!("\nhouse rules over {} files", files.len());
    println!("product source: {}", files::length_summary(&files));
    let mut findings: Vec<Finding> = vec![
        (
            "source files of at most 500 lines",
            Ok(files::too_long(&files)),
        ),
        (
            "no allowed lints, unfinished code or ignored tests",
            Ok(files::forbidden_words(&files)),
        ),
        ("no paths of one machine", Ok(files::machine_paths(&files))),
        ("no file over 800 KB", Ok(files::too_heavy(&files))),
        (
            "modules of a crate do not import each other in circles",
            Ok(cycles::between_modules(&files)),
        ),
        (
            "designs are named in their own room only",
            Ok(designs::named_outside(&files)),
        ),
        (
            "the README says what the libraries' front pages say",
            Ok(front_pages::not_in_the_readme(&files)),
        ),
        (
            "the time is read, waited for and made names of only in `clock`",
            Ok(clock::outside_its_module(&files)),
        ),
    ];

    let text = |name: &str| {
        std::fs::read_to_string(project.root.join(name))
            .with_context(|| format!("could not read {name}"))
    };
    let metadata = metadata::read(project).map_err(|error| format!("{error:#}"));
    let with_metadata = |rule: &dyn Fn(&Metadata) -> Result<Vec<String>>| match &metadata {
        Ok(metadata) => rule(metadata),
        Err(error) => Err(anyhow::anyhow!("{error}")),
    };
    findings.push((
        "crate borders",
        with_metadata(&|metadata| Ok(dependencies::across_borders(metadata))),
    ));
    findings.push((
        "every direct dependency has its reason in ARCHITECTURE.md",
        with_metadata(&|metadata| {
            Ok(dependencies::unexplained(
                metadata,
                &text("ARCHITECTURE.md")?,
            ))
        }),
    ));
    findings.push((
        "licences and sources allowed by deny.toml",
        with_metadata(&|metadata| licences::refused(metadata, &text("deny.toml")?)),
    ));
    Ok(findings)
}
