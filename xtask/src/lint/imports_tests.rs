use super::{Import, at_root, from_root};

/// What is found, as `first` or `first as name`.
fn short(imports: &[Import]) -> Vec<String> {
    let short = |import: &Import| {
        if import.first == import.name {
            import.first.clone()
        } else {
            format!("{} as {}", import.first, import.name)
        }
    };
    imports.iter().map(short).collect()
}

fn check(source: &str, depth: usize, expect: &[&str]) {
    assert_eq!(short(&from_root(source, depth)), expect, "{source}");
}

#[test]
fn paths_from_the_root_are_found_wherever_they_stand() {
    check("use crate::json;", 1, &["json"]);
    check("use crate::json::Value;", 1, &["json as Value"]);
    check("use crate::Wire;", 1, &["Wire"]);
    check(
        "pub(crate) use crate::json::{self, Value as V};",
        1,
        &["json as self", "json as V"],
    );
    check(
        "use crate::{\n    body::{Body, Field},\n    wire,\n};",
        1,
        &["body as Body", "body as Field", "wire"],
    );
    check(
        "fn f() { crate::json::read::<u8>(x); }",
        1,
        &["json as read"],
    );
    check("let x: &crate::sse::Decoder = y;", 1, &["sse as Decoder"]);
    check(
        "use crate::body::*; use crate::*; use std::fmt;",
        1,
        &["body"],
    );
    check("pub(crate) fn f() {} pub(super) fn g() {}", 1, &[]);
}

#[test]
fn parents_count_where_they_are_the_root() {
    check("use super::json::Value;", 1, &["json as Value"]);
    check("use super::{json, wire};", 1, &["json", "wire"]);
    check("use super::sibling::Value;", 2, &[]);
    check("use super::super::json::Value;", 2, &["json as Value"]);
    check(
        "mod inner { use super::own; use super::super::json; } use super::wire;",
        1,
        &["json", "wire"],
    );
}

#[test]
fn comments_texts_and_tests_import_nothing() {
    check(
        "// crate::a::b\n/// [`x`](crate::a::x)\n/* crate::b::c /* crate::d::e */ crate::f::g */",
        1,
        &[],
    );
    check(
        r###"let x = "crate::a::b \" crate::c::d"; let y = r#"crate::"e::f"#;"###,
        1,
        &[],
    );
    check(
        "fn f<'a>(x: &'a str) { let q = '\"'; crate::json::read(x) }",
        1,
        &["json as read"],
    );
    check(
        "let q = '\\''; use crate::wire::Wire;",
        1,
        &["wire as Wire"],
    );
    check(
        "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\nuse crate::wire::Wire;",
        1,
        &["wire as Wire"],
    );
    check(
        "#[cfg(test)] mod tests { use crate::a::b; fn f() {} } use crate::c;",
        1,
        &["c"],
    );
}

#[test]
fn a_root_offers_what_it_imports() {
    let root = "//! Text.\nmod body;\npub use body::{Body, parts::Field as Member};\npub use crate::wire::Wire;\npub use json::*;";
    assert_eq!(
        short(&at_root(root)),
        ["body as Body", "body as Member", "wire as Wire", "json"]
    );
}
