//! House rule: what is a design's own stands in the room of the designs, and nobody else asks which design it is.
//!
//! Product source outside that room names no variant of `PresetName` or `DesignSettings`. A design is reached by
//! `PresetName::design`, and what it does differently is a field of `Design`. Comments and tests may name what they like.

#[cfg(test)]
#[path = "designs_tests.rs"]
mod tests;

use super::files::{File, product_source};
use super::imports::product_tokens;

/// The list of the names itself.
const NAMES: &str = "crates/epitome/src/design/name.rs";

/// Where designs may be named: their room, the list of names in it, and the steps of the references.
const ROOMS: &[&str] = &[
    "crates/epitome/src/design.rs",
    "crates/epitome/src/design/",
    "crates/epitome/src/reference/",
];

/// Types with one variant for each design.
const TYPES: [&str; 2] = ["PresetName", "DesignSettings"];

pub(super) fn named_outside(files: &[File]) -> Vec<String> {
    let names = names(files);
    if names.is_empty() {
        return vec![format!("{NAMES}: there is no `enum PresetName` in it")];
    }
    let is_inside = |file: &&File| ROOMS.iter().any(|room| file.path.starts_with(room));
    product_source(files)
        .filter(|file| !is_inside(file))
        .flat_map(|file| in_source(file, &names))
        .collect()
}

/// The variants of `PresetName`.
fn names(files: &[File]) -> Vec<String> {
    let Some(list) = files.iter().find(|file| file.path == NAMES) else {
        return Vec::new();
    };
    let source = String::from_utf8_lossy(&list.bytes);
    let tokens = product_tokens(&source);
    let start = tokens
        .windows(3)
        .position(|three| three == ["enum", "PresetName", "{"]);
    let inside = start.and_then(|at| tokens.get(at + 3..));
    let variants = inside.unwrap_or_default();
    variants
        .iter()
        .take_while(|token| **token != "}")
        .filter(|token| token.starts_with(char::is_uppercase))
        .map(|token| (*token).to_owned())
        .collect()
}

fn in_source(file: &File, names: &[String]) -> Vec<String> {
    let source = String::from_utf8_lossy(&file.bytes);
    let tokens = product_tokens(&source);
    let mut found: Vec<String> = Vec::new();
    for three in tokens.windows(3) {
        let [named, "::", behind] = three else {
            continue;
        };
        // Variants that are imported, one by one or all together, would be named without their type.
        let is_variant = matches!(*behind, "{" | "*") || names.iter().any(|name| name == behind);
        if TYPES.contains(named) && is_variant {
            found.push(format!(
                "{}: {named}::{behind}: make it a field of Design, in crates/epitome/src/design.rs",
                file.path
            ));
        }
    }
    found.dedup();
    found
}
