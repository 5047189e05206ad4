use std::collections::BTreeMap;

use super::super::files::File;
use super::{Imports, crates, judge, knots};

/// Modules in lines of `module: import import`.
fn modules(lines: &[&str]) -> Imports {
    lines
        .iter()
        .map(|line| {
            let (module, imports) = line.split_once(':').expect("a colon after the module");
            let imports = imports.split_whitespace().map(str::to_owned).collect();
            (module.to_owned(), imports)
        })
        .collect()
}

fn check(lines: &[&str], expect: &[&str]) {
    let modules = modules(lines);
    let found: Vec<String> = knots(&modules)
        .iter()
        .map(|knot| knot.described())
        .collect();
    assert_eq!(found, expect);
}

#[test]
fn one_direction_is_free_of_cycles() {
    check(&[], &[]);
    check(&["a: b c", "b: c", "c:"], &[]);
    check(
        &["top: left right", "left: base", "right: base", "base:"],
        &[],
    );
}

#[test]
fn circles_are_named_with_their_shortest_way() {
    check(&["a: b", "b: a"], &["a → b → a"]);
    check(&["a: b", "b: c", "c: a", "d: a"], &["a → b → c → a"]);
    check(
        &["a: b", "b: c", "c: a d", "d: c"],
        &["c → d → c, of 4 that lead to each other: a, b, c, d"],
    );
    check(
        &["a: b", "b: a", "c: a d", "d: c"],
        &["a → b → a", "c → d → c"],
    );
}

#[test]
fn the_list_of_crates_only_shrinks() {
    let crates = BTreeMap::from([
        ("free".to_owned(), modules(&["a: b", "b:"])),
        ("tied".to_owned(), modules(&["a: b", "b: a"])),
    ]);
    let check = |listed: &[&str], expect: &[&str]| assert_eq!(judge(&crates, listed), expect);
    check(&["tied"], &[]);
    check(&[], &["tied: a → b → a"]);
    check(
        &["free", "gone", "tied"],
        &[
            "free has no import cycle any more: take it off the list in xtask/src/lint/cycles.rs",
            "gone has no import cycle any more: take it off the list in xtask/src/lint/cycles.rs",
        ],
    );
}

#[test]
fn files_become_modules_with_their_imports() {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let files = [
        file(
            "crates/x/src/lib.rs",
            "mod a; mod b; mod c; pub use b::Thing;",
        ),
        file("crates/x/src/a.rs", "use crate::Thing; use crate::a::own;"),
        file("crates/x/src/a/inner.rs", "use super::Own; use crate::c;"),
        file("crates/x/src/a_tests.rs", "use crate::c::forgotten;"),
        file("crates/x/src/b.rs", "use super::c::Thing; use std::fmt;"),
        file("crates/x/src/c.rs", "// use crate::a;"),
        file("crates/x/tests/all.rs", "use crate::a;"),
        file("xtask/src/main.rs", "mod task;"),
    ];
    let expect = modules(&["a: b c", "b: c", "c:"]);
    assert_eq!(crates(&files), BTreeMap::from([("x".to_owned(), expect)]));
}
