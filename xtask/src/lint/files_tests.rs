use super::{
    FORBIDDEN_WORDS, File, MACHINE_PATHS, MAX_BYTES, forbidden_words, length_summary,
    machine_paths, too_heavy, too_long,
};

fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

#[test]
fn only_product_source_has_a_length_limit() {
    let lines = "x\n".repeat(501);
    let files = [
        file("crates/epitome/src/cut.rs", &lines),
        file("crates/epitome/src/plan.rs", &"x\n".repeat(500)),
        file("crates/epitome/src/view.rs", "x\n"),
        file("crates/epitome/src/cut_tests.rs", &lines),
        file("crates/epitome/tests/all.rs", &lines),
        file("crates/epitome/benches/decide.rs", &lines),
        file("crates/epitome-testkit/src/server.rs", &lines),
        file("examples/embed.rs", &lines),
        file("xtask/src/main.rs", &lines),
        file("README.md", &lines),
    ];
    assert_eq!(too_long(&files), ["crates/epitome/src/cut.rs: 501 lines"]);
    assert_eq!(
        length_summary(&files),
        "3 files, median 500 lines, longest 501"
    );
    assert_eq!(length_summary(&[]), "0 files, median 0 lines, longest 0");
}

#[test]
fn forbidden_words_are_found_in_rust_files_only() {
    for word in FORBIDDEN_WORDS {
        let text = format!("fn f() {{}}\n    {word}x)\n");
        let files = [file("tests/a.rs", &text), file("a.md", &text)];
        assert_eq!(forbidden_words(&files), [format!("tests/a.rs:2: {word}")]);
    }
    let fine = "#[expect(dead_code)]\n// nothing to do here\n";
    assert!(forbidden_words(&[file("a.rs", fine)]).is_empty());
}

#[test]
fn machine_paths_are_found_in_every_text_but_the_lock_file() {
    for path in MACHINE_PATHS {
        let text = format!("see {path}main");
        let files = [
            file("docs/a.md", &text),
            file("Cargo.lock", &text),
            file("picture.png", &format!("\0{text}")),
        ];
        assert_eq!(machine_paths(&files), [format!("docs/a.md:1: {path}")]);
    }
    assert!(machine_paths(&[file("a.md", "the framework, ../shared/data")]).is_empty());
}

#[test]
fn weight_is_counted_in_bytes() {
    let files = [
        file("fits.jsonl", &"x".repeat(MAX_BYTES)),
        file("heavy.jsonl", &"x".repeat(MAX_BYTES + 1)),
    ];
    assert_eq!(too_heavy(&files), ["heavy.jsonl: 800001 bytes"]);
}
