//! `cargo xtask bench`: benchmarks that judge themselves. Each prints its ratios and fails when a gate does.

use std::path::Path;

use anyhow::Result;

use crate::Verdict;
use crate::needs::{self, FOR_BENCHES, Need};
use crate::project::{Project, succeeds};

#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    package: &'static str,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "warm",
        package: "epitome-wire",
    },
    Bench {
        name: "sse",
        package: "epitome-wire",
    },
    Bench {
        name: "decide",
        package: "epitome",
    },
    Bench {
        name: "compact",
        package: "epitome",
    },
    // The same for the command, which reads a file and verifies the summary.
    Bench {
        name: "compact",
        package: "epitome-cli",
    },
    // And what it takes to do so, in instructions.
    Bench {
        name: "instructions",
        package: "epitome-cli",
    },
    Bench {
        name: "session",
        package: "epitome",
    },
    Bench {
        name: "verify",
        package: "epitome",
    },
    Bench {
        name: "memory",
        package: "epitome",
    },
    Bench {
        name: "inspect",
        package: "epitome-cli",
    },
    Bench {
        name: "sessions",
        package: "epitome-cli",
    },
    Bench {
        name: "proxy",
        package: "epitome-server",
    },
    Bench {
        name: "scale",
        package: "epitome-store",
    },
    Bench {
        name: "pages",
        package: "epitome-server",
    },
    Bench {
        name: "fleet",
        package: "epitome-cli",
    },
    Bench {
        name: "stress",
        package: "epitome-cli",
    },
];

/// The benchmarks that can be held against another build of the command.
pub(crate) const COMPARED: &[&str] = &["instructions", "sessions"];

pub(crate) fn find(name: &str) -> Option<&'static Bench> {
    BENCHES.iter().find(|bench| bench.name == name)
}

/// Runs one benchmark, or all; one that could not run counts as failed, since nothing was shown.
pub(crate) fn run(
    project: &Project,
    name: Option<&str>,
    against: Option<&Path>,
) -> Result<Verdict> {
    // The benchmark runs in another folder.
    let against = against.map(std::path::absolute).transpose()?;
    let chosen: Vec<&Bench> = BENCHES
        .iter()
        .filter(|bench| name.is_none_or(|name| bench.name == name))
        .collect();
    let relevant = FOR_BENCHES
        .iter()
        .filter(|need| chosen.iter().any(|bench| need.suites.contains(&bench.name)));
    let unmet = needs::prepare(project, relevant);

    let mut verdict = Verdict::Good;
    let mut rows = Vec::new();
    for bench in chosen {
        let outcome = outcome(project, bench, &unmet, against.as_deref());
        if outcome != "passed" {
            verdict = Verdict::Bad;
        }
        let Bench { name, package } = bench;
        rows.push(format!("  {name:<8} {package:<15} {outcome}"));
    }
    println!("\nbenchmarks\n{}", rows.join("\n"));
    Ok(verdict)
}

fn outcome(project: &Project, bench: &Bench, unmet: &[&Need], against: Option<&Path>) -> String {
    if let Some(need) = unmet.iter().find(|need| need.suites.contains(&bench.name)) {
        return format!("could not run: {}", needs::reason(need));
    }
    let Bench { name, package } = *bench;
    let mut command = project.cargo(&["bench", "--locked", "-p", package, "--bench", name]);
    if let Some(against) = against {
        command.args(["--", "--against"]).arg(against);
    }
    if succeeds(command) {
        "passed".to_owned()
    } else {
        "failed".to_owned()
    }
}
