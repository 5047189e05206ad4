//! Licences and sources of all packages, against the allow-list that cargo-deny reads too.

#[cfg(test)]
#[path = "licences_tests.rs"]
mod tests;

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::expression;
use super::metadata::{Metadata, Package};

const DEFAULT_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[derive(Deserialize)]
struct DenyFile {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

pub(super) fn refused(metadata: &Metadata, deny_file: &str) -> Result<Vec<String>> {
    let deny: DenyFile =
        toml::from_str(deny_file).context("could not read [licenses] allow in deny.toml")?;
    let mut problems = Vec::new();
    for package in &metadata.packages {
        problems.extend(licence_problem(package, &deny.licenses.allow));
        problems.extend(source_problem(package, metadata));
    }
    Ok(problems)
}

fn licence_problem(package: &Package, allow: &BTreeSet<String>) -> Option<String> {
    let Package { name, version, .. } = package;
    let Some(license) = &package.license else {
        return Some(format!("{name} {version} states no licence"));
    };
    match expression::is_satisfied(license, &|id| allow.contains(id)) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name} {version} is under {license}")),
        Err(error) => Some(format!("{name} {version}: `{license}`: {error}")),
    }
}

fn source_problem(package: &Package, metadata: &Metadata) -> Option<String> {
    let Package { name, version, .. } = package;
    match package.source.as_deref() {
        Some(DEFAULT_REGISTRY) => None,
        Some(source) => Some(format!("{name} {version} comes from {source}")),
        None if metadata.workspace_members.contains(&package.id) => None,
        None => Some(format!(
            "{name} {version} lies in a folder outside the workspace"
        )),
    }
}
