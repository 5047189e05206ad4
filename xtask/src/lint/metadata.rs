//! The part of `cargo metadata` that the rules read.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::project::Project;

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    pub(super) workspace_members: Vec<String>,
    pub(super) resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    /// `None` for packages that lie in a folder.
    pub(super) source: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
}

/// A line of a manifest.
#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Option<Kind>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Normal,
    Dev,
    Build,
}

/// What the manifest lines came to.
#[derive(Debug, Deserialize)]
pub(super) struct Resolve {
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Edge {
    pub(super) pkg: String,
    pub(super) dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
pub(super) struct EdgeKind {
    pub(super) kind: Option<Kind>,
}

pub(super) fn read(project: &Project) -> Result<Metadata> {
    let command = project.cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--all-features",
    ]);
    let json = project.output(command)?;
    serde_json::from_slice(&json).context("could not read the output of cargo metadata")
}

impl Dependency {
    pub(super) fn is_for_tests(&self) -> bool {
        self.kind == Some(Kind::Dev)
    }
}

impl Metadata {
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }

    /// Names of all packages that end up in a build of this member, tests aside.
    pub(super) fn everything_below(&self, member: &Package) -> BTreeSet<&str> {
        let names: BTreeMap<&str, &str> = self
            .packages
            .iter()
            .map(|package| (package.id.as_str(), package.name.as_str()))
            .collect();
        let mut seen = BTreeSet::new();
        let mut open = vec![member.id.as_str()];
        while let Some(id) = open.pop() {
            let edges = self
                .resolve
                .nodes
                .iter()
                .filter(|node| node.id == id)
                .flat_map(|node| &node.deps);
            for edge in edges {
                let is_built = edge
                    .dep_kinds
                    .iter()
                    .any(|edge| edge.kind != Some(Kind::Dev));
                if is_built && seen.insert(edge.pkg.as_str()) {
                    open.push(&edge.pkg);
                }
            }
        }
        seen.iter()
            .filter_map(|id| names.get(id).copied())
            .collect()
    }
}
