use std::path::Path;

use super::{filled, links_to_nowhere, script};

#[test]
fn only_blocks_of_commands_are_run() -> Result<(), String> {
    let page = "# Title\n\n```sh\nepitome one\nepitome two\n```\n\n```text\nnot run\n```\n```rust\nlet x = 1;\n```\n\n```sh\nthree\n```\n";
    assert_eq!(script(page)?.lines, "epitome one\nepitome two\nthree\n");
    assert_eq!(script("no code")?.lines, "");
    Ok(())
}

#[test]
fn what_is_not_run_is_named_with_its_reason() -> Result<(), String> {
    let script = script("```sh\ncargo xtask lint     # fast\nepitome log\n```\n")?;
    assert_eq!(script.lines, "epitome log\n");
    let [(line, reason)] = script.passed_over.as_slice() else {
        return Err(format!("{script:?}"));
    };
    assert_eq!(line, "cargo xtask lint");
    assert!(!reason.is_empty());
    Ok(())
}

#[test]
fn a_block_without_a_mark_is_refused() {
    assert!(script("```\nepitome log\n```\n").is_err());
}

#[test]
fn names_that_stand_for_something_are_filled_in() {
    assert_eq!(
        filled("epitome undo --session ID"),
        "epitome undo --session $ID"
    );
    assert_eq!(filled("a VOID ID."), "a VOID ID.");
}

#[test]
fn links_to_files_that_are_not_there_are_found() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page.md");
    let text = "[a](Cargo.toml) ![b](src/nowhere.png) [c](https://example.com/x) [d](#here) [e](none.md#part)";
    assert_eq!(
        links_to_nowhere(&page, text),
        ["src/nowhere.png", "none.md"]
    );
}
