use super::{LastWords, Shown, headline, is_of_this_shell, last_words};

#[test]
fn the_first_block_and_the_line_with_wrap_are_taken_as_they_stand() -> anyhow::Result<()> {
    let page = "# Title\n\n```text\nwrap nothing\n```\n\n```sh\nfirst one\n```\n\n```sh\nserve\n```\n\
                \n```sh\nrun -- wrap claude -- -p \"fix it\"\nrun -- wrap codex\n```\n";
    let expect = Shown {
        first: "first one".to_owned(),
        wrap: "run -- wrap claude -- -p \"fix it\"".to_owned(),
    };
    assert_eq!(Shown::on(page)?, expect);
    Ok(())
}

#[test]
fn a_page_without_commands_is_refused() {
    assert!(Shown::on("# Title\n").is_err());
    assert!(Shown::on("```sh\nepitome log\n```\n").is_err());
    assert!(Shown::on("```\nepitome wrap claude\n```\n").is_err());
}

#[test]
fn readme_has_both() -> anyhow::Result<()> {
    let page = include_str!("../../README.md");
    let shown = Shown::on(page)?;
    assert!(shown.first.contains(" compact "), "{}", shown.first);
    assert!(shown.wrap.contains(" wrap claude "), "{}", shown.wrap);
    Ok(())
}

#[test]
fn a_page_is_one_that_has_all_that_readme_shows() {
    let page = "file: 9 messages\ncompacted to 6 messages\n\ninstructions in force:\n  Ask Ola.\n";
    assert_eq!(headline(page).ok(), Some("compacted to 6 messages"));
    assert!(headline("compacted to 6 messages\n").is_err());
    assert!(headline("nothing to compact\ninstructions in force:\n").is_err());
}

#[test]
fn what_came_through_is_read_from_what_is_said_last() {
    let said = "npm notice\nepitome: 1,204 requests, 3 shortened, 9 tokens less\n";
    let expect = LastWords {
        line: "1,204 requests, 3 shortened, 9 tokens less",
        requests: 1204,
    };
    assert_eq!(last_words(said), Some(expect));
    assert_eq!(
        last_words("epitome: no request came through; the agent may be set to another address"),
        None
    );
}

#[test]
fn settings_of_this_shell_stay_here() {
    for name in [
        "EPITOME_STORE",
        "ANTHROPIC_API_KEY",
        "CARGO_PKG_NAME",
        "XDG_DATA_HOME",
    ] {
        assert!(is_of_this_shell(name), "{name}");
    }
    for name in ["PATH", "CARGO_HOME", "LANG"] {
        assert!(!is_of_this_shell(name), "{name}");
    }
}
