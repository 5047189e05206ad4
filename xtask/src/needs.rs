//! Programs from outside cargo that suites and benchmarks rely on: found, or installed from Debian, or named.

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;

use std::process::Stdio;

use crate::project::{Project, succeeds};

/// One program or module, and who relies on it.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) name: &'static str,
    /// A shell command that succeeds when the thing is there.
    detect: &'static str,
    packages: &'static [&'static str],
    /// Names as they stand in the closing table of `cargo xtask test` or `bench`.
    pub(crate) suites: &'static [&'static str],
}

/// What `cargo xtask test` prepares. A suite that needs something new gets a row here.
pub(crate) const FOR_TESTS: &[Need] = &[
    Need {
        name: "Python with venv",
        // Debian ships `venv` without `ensurepip` unless python3-venv is installed; only both together make an environment.
        detect: "python3 -c 'import venv, ensurepip'",
        packages: &["python3", "python3-venv"],
        suites: &["sdk"],
    },
    Need {
        name: "Chromium",
        detect: "command -v chromium",
        packages: &["chromium"],
        suites: &["browser"],
    },
    Need {
        name: "a PostgreSQL server",
        // The package keeps it out of every PATH. Another server will do as well.
        detect: "test -n \"$EPITOME_TEST_POSTGRES\" || ls /usr/lib/postgresql/*/bin/initdb",
        packages: &["postgresql"],
        suites: &["postgres"],
    },
    Need {
        name: "PgBouncer",
        // Debian puts it where only root's PATH looks.
        detect: "PATH=$PATH:/usr/sbin command -v pgbouncer",
        packages: &["pgbouncer"],
        suites: &["pgbouncer"],
    },
];

/// What `cargo xtask agents` prepares, and `test` for its part of it.
pub(crate) const FOR_AGENTS: &[Need] = &[
    Need {
        name: "Python with venv",
        detect: "python3 -c 'import venv, ensurepip'",
        packages: &["python3", "python3-venv"],
        suites: &["agents"],
    },
    Need {
        name: "Node with npm",
        detect: "command -v node && command -v npm",
        packages: &["nodejs", "npm"],
        suites: &["agents"],
    },
    Need {
        name: "git",
        detect: "command -v git",
        packages: &["git"],
        suites: &["agents"],
    },
];

/// What `cargo xtask bench` prepares.
pub(crate) const FOR_BENCHES: &[Need] = &[
    Need {
        name: "nginx",
        // Debian puts it where only root's PATH looks.
        detect: "PATH=$PATH:/usr/sbin command -v nginx",
        packages: &["nginx-light"],
        suites: &["proxy"],
    },
    Need {
        name: "valgrind",
        detect: "command -v valgrind",
        packages: &["valgrind"],
        suites: &["instructions"],
    },
    Need {
        name: "a PostgreSQL server",
        detect: "test -n \"$EPITOME_TEST_POSTGRES\" || ls /usr/lib/postgresql/*/bin/initdb",
        packages: &["postgresql"],
        suites: &["scale", "fleet", "pages"],
    },
];

/// What `cargo xtask fuzz` prepares.
pub(crate) const FOR_FUZZ: &[Need] = &[Need {
    name: "a C++ compiler",
    detect: "command -v c++",
    packages: &["g++"],
    suites: &["fuzz"],
}];

/// Installs what is missing when this is root; returns what is still missing after that.
pub(crate) fn prepare<'a>(
    project: &Project,
    needs: impl IntoIterator<Item = &'a Need>,
) -> Vec<&'a Need> {
    let missing: Vec<&Need> = needs
        .into_iter()
        .filter(|need| !is_present(project, need))
        .collect();
    if missing.is_empty() {
        return missing;
    }
    let packages = packages_of(&missing);
    let names: Vec<&str> = missing.iter().map(|need| need.name).collect();
    if !is_root(project) {
        eprintln!(
            "missing: {}; install with: apt-get install {}",
            names.join(", "),
            packages.join(" ")
        );
        return missing;
    }
    println!("missing: {}; installing", names.join(", "));
    install(project, &packages);
    missing
        .into_iter()
        .filter(|need| !is_present(project, need))
        .collect()
}

/// Why a suite of this need could not run, with the way out.
pub(crate) fn reason(need: &Need) -> String {
    format!(
        "{} is missing (Debian: apt-get install {})",
        need.name,
        need.packages.join(" ")
    )
}

fn packages_of(needs: &[&Need]) -> Vec<&'static str> {
    let mut packages: Vec<&str> = needs
        .iter()
        .flat_map(|need| need.packages.iter().copied())
        .collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn is_present(project: &Project, need: &Need) -> bool {
    project
        .command("sh")
        .args(["-c", need.detect])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn is_root(project: &Project) -> bool {
    project
        .command("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// A failure shows itself in the detection that follows, so none is returned here.
fn install(project: &Project, packages: &[&str]) {
    let apt = |arguments: &[&str]| {
        let mut command = project.command("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null());
        succeeds(command)
    };
    if !apt(&["-q", "update"]) {
        eprintln!("apt-get update failed; trying with the package lists that are there");
    }
    let mut arguments = vec!["-q", "install", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments);
}
