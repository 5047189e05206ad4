//! House rules about who may depend on whom.

#[cfg(test)]
#[path = "dependencies_tests.rs"]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::metadata::{Metadata, Package};

/// The pure crate, and what must not be anywhere below it.
const CORE: &str = "epitome";
const FORBIDDEN_BELOW_CORE: &[&str] = &["axum", "hyper", "reqwest", "sqlx", "tokio"];

/// For tests: never part of a build that users get.
const TESTKIT: &str = "epitome-testkit";

#[derive(Debug)]
enum Allowed {
    These(&'static [&'static str]),
    Any,
}

/// Which crates of the workspace each one may build upon.
const BORDERS: &[(&str, Allowed)] = &[
    (CORE, Allowed::These(&[])),
    ("epitome-wire", Allowed::These(&[CORE])),
    ("epitome-files", Allowed::These(&[CORE, "epitome-wire"])),
    ("epitome-store", Allowed::These(&[CORE])),
    ("epitome-eval", Allowed::These(&[CORE])),
    ("epitome-cost", Allowed::These(&[CORE])),
    ("epitome-config", Allowed::These(&[CORE])),
    (
        "epitome-engine",
        Allowed::These(&[CORE, "epitome-config", "epitome-wire", "epitome-store"]),
    ),
    (
        "epitome-server",
        Allowed::These(&[
            CORE,
            "epitome-config",
            "epitome-wire",
            "epitome-store",
            "epitome-engine",
        ]),
    ),
    ("epitome-cli", Allowed::Any),
    (TESTKIT, Allowed::Any),
    ("xtask", Allowed::These(&[])),
];

pub(super) fn across_borders(metadata: &Metadata) -> Vec<String> {
    let ours: BTreeSet<&str> = metadata
        .members()
        .map(|member| member.name.as_str())
        .collect();
    let mut problems = Vec::new();
    for member in metadata.members() {
        let Package { name, .. } = member;
        let Some((_, allowed)) = BORDERS.iter().find(|(known, _)| known == name) else {
            problems.push(format!("{name} has no row in the table of crate borders"));
            continue;
        };
        let built = member
            .dependencies
            .iter()
            .filter(|dependency| !dependency.is_for_tests());
        for dependency in built.map(|dependency| dependency.name.as_str()) {
            let is_allowed = match allowed {
                Allowed::These(names) => names.contains(&dependency),
                Allowed::Any => true,
            };
            if dependency == TESTKIT {
                problems.push(format!("{name} may have {TESTKIT} for its tests only"));
            } else if ours.contains(dependency) && !is_allowed {
                problems.push(format!("{name} may not depend on {dependency}"));
            }
        }
        if name == CORE {
            let below = metadata.everything_below(member);
            let forbidden = FORBIDDEN_BELOW_CORE
                .iter()
                .filter(|crate_name| below.contains(**crate_name));
            problems.extend(forbidden.map(|found| format!("{CORE} may not have {found} below it")));
        }
    }
    problems
}

/// Third-party crates in some manifest of ours that ARCHITECTURE.md does not name in backticks.
pub(super) fn unexplained(metadata: &Metadata, architecture: &str) -> Vec<String> {
    let ours: BTreeSet<&str> = metadata
        .members()
        .map(|member| member.name.as_str())
        .collect();
    let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for member in metadata.members() {
        for dependency in &member.dependencies {
            users
                .entry(&dependency.name)
                .or_default()
                .insert(&member.name);
        }
    }
    let third_party = users.iter().filter(|(name, _)| !ours.contains(**name));
    third_party
        .filter(|(name, _)| !architecture.contains(&format!("`{name}`")))
        .map(|(name, users)| {
            let users: Vec<&str> = users.iter().copied().collect();
            format!("{name} (used by {})", users.join(", "))
        })
        .collect()
}
