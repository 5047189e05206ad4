use epitome_eval::{Kind, Scan, flat_arguments, idents};

use crate::support::characters;

fn check(text: &str, expected: &[(Kind, &str)]) {
    let mut found: Vec<(Kind, String)> = idents(text)
        .into_iter()
        .map(|ident| (ident.kind, ident.name.into()))
        .collect();
    found.sort();
    let mut expected: Vec<(Kind, String)> = expected
        .iter()
        .map(|(kind, name)| (*kind, (*name).to_owned()))
        .collect();
    expected.sort();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn paths_are_known_by_their_last_two_parts() {
    check(
        "see src/main.rs and ./lib/Util_test.go:12, also C:/tmp/x1/y and ../a/b.txt",
        &[
            (Kind::Path, "src/main.rs"),
            (Kind::Path, "lib/util_test.go"),
            (Kind::Path, "x1/y"),
            (Kind::Path, "a/b.txt"),
        ],
    );
    check(
        "/usr/bin/env ~/.config/app.toml @scope/pkg and a bare README.md",
        &[
            (Kind::Path, ".config/app.toml"),
            (Kind::Path, "@scope/pkg"),
            (Kind::Path, "readme.md"),
        ],
    );
}

#[test]
fn words_with_a_slash_are_no_paths() {
    check(
        "and/or dev/null i/o tcp/ip foo/bar foo/bar-1 a/b/c read/write",
        &[(Kind::Path, "foo/bar-1")],
    );
}

#[test]
fn each_kind_has_its_form() {
    check(
        "deadbeef01 MAX_RETRIES TypeError ENOENT E0382 order_4711 SAVE20 #ABC123",
        &[
            (Kind::Hex, "deadbeef01"),
            (Kind::Env, "MAX_RETRIES"),
            (Kind::Error, "TypeError"),
            (Kind::Symbol, "TypeError"),
            (Kind::Error, "ENOENT"),
            (Kind::Error, "E0382"),
            (Kind::Code, "E0382"),
            (Kind::Id, "order_4711"),
            (Kind::Symbol, "order_4711"),
            (Kind::Code, "SAVE20"),
            (Kind::Code, "#ABC123"),
        ],
    );
    check(
        "mail a.b+c@ex-ample.co.uk. and 123e4567-e89b-12d3-a456-426614174000",
        &[
            (Kind::Email, "a.b+c@ex-ample.co.uk"),
            (Kind::Uuid, "123e4567-e89b-12d3-a456-426614174000"),
        ],
    );
    check(
        "https://Example.com/a/b?c=1. and <http://x.io/>",
        &[
            (Kind::Url, "https://example.com/a/b?c=1"),
            (Kind::Url, "http://x.io"),
        ],
    );
}

#[test]
fn numbers_that_say_nothing_are_left_out() {
    check(
        "v1.2.3 1.2.3abc 10.20 4711 1999 4700 20240315T093000Z 123",
        &[
            (Kind::Version, "v1.2.3"),
            (Kind::Version, "1.2"),
            (Kind::Version, "10.20"),
            (Kind::Number, "4711"),
        ],
    );
}

#[test]
fn blanking_leaves_the_plain_words() {
    let text = characters("use src/main.rs and MAX_SIZE now");
    let blanked: String = Scan::of(&text).blanked(&text).into_iter().collect();
    assert_eq!(blanked, "use             and          now");
}

#[test]
fn arguments_are_their_values() {
    let arguments = r#"{"z":1,"b":[true,null,"x"],"c":{"d":1.50,"e":1e20,"f":0.00001}}"#;
    assert_eq!(flat_arguments(arguments), "1\nTrue\nx\n1.5\n1e+20\n1e-05");
    assert_eq!(flat_arguments("*** Begin Patch"), "*** Begin Patch");
    assert_eq!(flat_arguments(r#"{"a":"1","b":"2","a":"3"}"#), "3\n2");
}
