//! House rule: the modules of a crate import each other in one direction.
//!
//! A module here is one that stands directly below the root of its crate, with everything inside it. What the root
//! re-exports counts as an import of the module that it comes from; the root itself counts as nobody's.

#[cfg(test)]
#[path = "cycles_tests.rs"]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::files::{File, product_source};
use super::imports::{at_root, from_root, place};

/// Crates in which modules still import each other in circles. An entry whose crate has none left is against the rule
/// itself, so that the list only shrinks.
const NOT_YET_FREE: &[&str] = &[];

/// The modules of a crate, each with the modules that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

pub(super) fn between_modules(files: &[File]) -> Vec<String> {
    judge(&crates(files), NOT_YET_FREE)
}

fn judge(crates: &BTreeMap<String, Imports>, not_yet_free: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut in_circles = BTreeSet::new();
    for (name, imports) in crates {
        for knot in knots(imports) {
            in_circles.insert(name.as_str());
            if !not_yet_free.contains(&name.as_str()) {
                problems.push(format!("{name}: {}", knot.described()));
            }
        }
    }
    let free = not_yet_free
        .iter()
        .filter(|listed| !in_circles.contains(**listed));
    problems.extend(free.map(|listed| {
        format!(
            "{listed} has no import cycle any more: take it off the list in xtask/src/lint/cycles.rs"
        )
    }));
    problems
}

/// Modules that all lead to each other.
#[derive(Debug, PartialEq, Eq)]
struct Knot<'a> {
    modules: Vec<&'a str>,
    /// The way from one of them back to itself that takes the fewest steps; the first is not said again at the end.
    shortest: Vec<&'a str>,
}

impl Knot<'_> {
    fn described(&self) -> String {
        let mut circle = self.shortest.clone();
        circle.extend(self.shortest.first());
        let circle = circle.join(" → ");
        if self.modules.len() == self.shortest.len() {
            return circle;
        }
        let count = self.modules.len();
        format!(
            "{circle}, of {count} that lead to each other: {}",
            self.modules.join(", ")
        )
    }
}

fn knots(imports: &Imports) -> Vec<Knot<'_>> {
    let ways: BTreeMap<&str, BTreeMap<&str, &str>> = imports
        .keys()
        .map(|module| (module.as_str(), reached(imports, module)))
        .collect();
    let leads = |from: &str, to: &str| ways.get(from).is_some_and(|way| way.contains_key(to));
    let mut knots = Vec::new();
    let mut seen = BTreeSet::new();
    for module in imports.keys().map(String::as_str) {
        if !leads(module, module) || seen.contains(module) {
            continue;
        }
        let modules: Vec<&str> = imports
            .keys()
            .map(String::as_str)
            .filter(|other| leads(module, other) && leads(other, module))
            .collect();
        seen.extend(modules.iter().copied());
        let circles = modules.iter().map(|start| circle(&ways, start));
        let shortest = circles.min_by_key(Vec::len).unwrap_or_default();
        knots.push(Knot { modules, shortest });
    }
    knots
}

/// Every module that `start` leads to in one step or more, with the one before it on a shortest way.
fn reached<'a>(imports: &'a Imports, start: &'a str) -> BTreeMap<&'a str, &'a str> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(module) = waiting.pop_front() {
        for next in imports.get(module).into_iter().flatten() {
            if !before.contains_key(next.as_str()) {
                before.insert(next.as_str(), module);
                waiting.push_back(next);
            }
        }
    }
    before
}

/// The shortest way from `start` back to it.
fn circle<'a>(
    ways: &BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
    start: &'a str,
) -> Vec<&'a str> {
    let mut circle = Vec::new();
    let mut at = start;
    while let Some(before) = ways.get(start).and_then(|way| way.get(at)) {
        circle.push(*before);
        at = before;
        if at == start {
            break;
        }
    }
    circle.reverse();
    circle
}

/// The modules of every product crate, by the crate's folder.
fn crates(files: &[File]) -> BTreeMap<String, Imports> {
    let mut crates: BTreeMap<String, Sources> = BTreeMap::new();
    for file in product_source(files) {
        let Some((folder, path)) = place(&file.path) else {
            continue;
        };
        let sources = crates.entry(folder.to_owned()).or_default();
        let text = String::from_utf8_lossy(&file.bytes);
        match path.split_once('/').map_or(path, |(module, _)| module) {
            "lib" | "main" => {
                let offered = at_root(&text).into_iter();
                sources
                    .offered
                    .extend(offered.map(|import| (import.name, import.first)));
            }
            module => {
                let named = from_root(&text, path.split('/').count());
                let of_module = sources.named.entry(module.to_owned()).or_default();
                of_module.extend(named.into_iter().map(|import| import.first));
            }
        }
    }
    crates
        .into_iter()
        .map(|(name, sources)| (name, sources.imports()))
        .collect()
}

/// What the files of one crate say.
#[derive(Default)]
struct Sources {
    /// What each module names from the root.
    named: BTreeMap<String, BTreeSet<String>>,
    /// Names that the root re-exports, with their modules.
    offered: BTreeMap<String, String>,
}

impl Sources {
    fn imports(&self) -> Imports {
        let module_of = |name: &String| {
            if self.named.contains_key(name) {
                return Some(name.clone());
            }
            let module = self.offered.get(name)?;
            self.named.contains_key(module).then(|| module.clone())
        };
        self.named
            .iter()
            .map(|(module, names)| {
                let others = names.iter().filter_map(module_of);
                let others = others.filter(|other| other != module);
                (module.clone(), others.collect())
            })
            .collect()
    }
}
