//! `cargo xtask fuzz`: the coverage-guided targets of `fuzz/`, each for a bounded time.
//!
//! They are built with the coverage instrumentation that a stable compiler offers, apart from the workspace.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::Verdict;
use crate::needs::{self, FOR_FUZZ};
use crate::project::{Project, succeeds};

/// What every target gets in the normal test run.
pub(crate) const SECONDS_IN_TEST: u64 = 8;
/// What every target gets in a soak.
pub(crate) const SECONDS_IN_SOAK: u64 = 600;

/// One input may take this long, in seconds, and this much memory, in megabytes.
const LONGEST_INPUT: u64 = 10;
const LARGEST_MEMORY: u64 = 2_048;
const LONGEST_BYTES: u64 = 4_096;

const INSTRUMENTATION: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs one target, or all, for `seconds` each. What could not run counts as failed, since nothing was shown.
pub(crate) fn run(project: &Project, name: Option<&str>, seconds: u64) -> Result<Verdict> {
    if let Some(need) = needs::prepare(project, FOR_FUZZ).first() {
        eprintln!("fuzz: could not run: {}", needs::reason(need));
        return Ok(Verdict::Bad);
    }
    let Some(targets) = build(project)? else {
        eprintln!("fuzz: the targets did not build");
        return Ok(Verdict::Bad);
    };
    let chosen: Vec<&Target> = targets
        .iter()
        .filter(|target| name.is_none_or(|name| target.name == name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        eprintln!(
            "fuzz: there is no such target; there are {}",
            names.join(", ")
        );
        return Ok(Verdict::Bad);
    }
    let mut verdict = Verdict::Good;
    let mut rows = Vec::new();
    for target in chosen {
        let outcome = if explore(project, target, seconds)? {
            format!("passed ({seconds} s)")
        } else {
            verdict = Verdict::Bad;
            "failed".to_owned()
        };
        rows.push(format!("  {:<18} {outcome}", target.name));
    }
    println!("\nfuzz targets\n{}", rows.join("\n"));
    Ok(verdict)
}

struct Target {
    name: String,
    program: PathBuf,
}

#[derive(Deserialize)]
struct Built {
    target: Option<Name>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// `None` when something did not compile; the compiler has said what.
fn build(project: &Project) -> Result<Option<Vec<Target>>> {
    let host = host(project)?;
    let mut command = project.cargo(&[
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
        "target/fuzz",
        // With a target named, build scripts are not instrumented.
        "--target",
        &host,
        "--message-format=json-render-diagnostics",
    ]);
    command.env("RUSTFLAGS", INSTRUMENTATION);
    println!("$ cargo build --manifest-path fuzz/Cargo.toml (with coverage instrumentation)");
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        return Ok(None);
    }
    let mut targets = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let built: Built =
            serde_json::from_str(line).context("could not read cargo's build messages")?;
        if let (Some(Name { name }), Some(program)) = (built.target, built.executable) {
            targets.push(Target { name, program });
        }
    }
    Ok(Some(targets))
}

/// The platform this compiler runs on.
fn host(project: &Project) -> Result<String> {
    let mut command = project.command("rustc");
    command.arg("-vV");
    let output = project.output(command)?;
    String::from_utf8_lossy(&output)
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc does not say which platform it runs on")
}

/// The corpus stays under `target/`, so that a next run goes on where this one ended; what makes a target fail is
/// written beside it, and the program says where.
fn explore(project: &Project, target: &Target, seconds: u64) -> Result<bool> {
    let folder = |kind: &str| -> Result<PathBuf> {
        let path = project
            .root
            .join("target/fuzz")
            .join(kind)
            .join(&target.name);
        std::fs::create_dir_all(&path)
            .with_context(|| format!("could not create {}", path.display()))?;
        Ok(path)
    };
    let corpus = folder("corpus")?;
    let seeds = project.root.join("fuzz/seeds").join(&target.name);
    let failures = folder("failures")?;
    let mut command = project.command(&target.program.to_string_lossy());
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={LONGEST_INPUT}"))
        .arg(format!("-rss_limit_mb={LARGEST_MEMORY}"))
        .arg(format!("-max_len={LONGEST_BYTES}"))
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .args(["-verbosity=0", "-print_funcs=0", "-print_final_stats=1"]);
    if let Ok(seed) = std::env::var("EPITOME_SEED") {
        command.arg(format!("-seed={seed}"));
    }
    command.arg(corpus);
    if seeds.is_dir() {
        command.arg(seeds);
    }
    Ok(succeeds(command))
}
