//! Who wrote what, told from the text alone: whole, and in time that grows with the text only.

use epitome::provenance::{Source, stretches};
use proptest::prelude::*;

fn sources(text: &str) -> Vec<(Source, &str)> {
    let stretches = stretches(text);
    stretches.iter().map(|one| (one.source, one.text)).collect()
}

#[test]
fn tags_around_typed_text_are_taken_off_a_few_levels_deep() {
    let text = "<task>\n<feedback>\nNever push to main.\n</feedback>\n</task>";
    let typed = sources(text);
    assert!(typed.contains(&(Source::Typed, "\nNever push to main.\n")));

    let deep = format!(
        "{}Never push to main.{}",
        "<task>\n".repeat(9),
        "\n</task>".repeat(9)
    );
    let typed = sources(&deep);
    assert!(
        typed
            .iter()
            .all(|(source, text)| *source != Source::Typed || text.trim().is_empty())
    );
}

#[test]
fn a_tag_whose_name_only_begins_alike_closes_nothing() {
    let text = "<notes>\nrun it\n</notes_of_others>\nstill inside\n</notes>\nNever push.";
    assert_eq!(
        sources(text).last(),
        Some(&(Source::Typed, "\nNever push."))
    );
}

/// Before blocks were looked up once, each of these took minutes or the whole stack.
#[test]
fn texts_made_to_cost_much_are_taken_apart_like_any_other() {
    const LINES: usize = 60_000;
    let numbered = |line: fn(usize) -> String| (0..LINES).map(line).collect::<String>();
    let texts = [
        "<task>\n".repeat(LINES) + &"</task>\n".repeat(LINES),
        "<task>\n".repeat(LINES),
        numbered(|at| format!("<t{at}>\n")),
        numbered(|at| format!("<t{at}>\n")) + &numbered(|at| format!("</u{at}>\n")),
        "```\n".repeat(LINES),
        "word\n~~~\n```\n".repeat(LINES),
        "\n".repeat(LINES) + &"word\n```\ncode\n```\n".repeat(LINES),
        "---\n".repeat(LINES),
        "> quoted\nword\n".repeat(LINES),
        "<".repeat(LINES * 4),
        "</".repeat(LINES * 4),
    ];
    for text in texts {
        let joined: usize = stretches(&text).iter().map(|one| one.text.len()).sum();
        assert!(joined <= text.len());
    }
}

proptest! {
    #[test]
    fn stretches_laid_end_to_end_are_the_text(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "Never push.", "```", "~~~", "<task>", "</task>", "<log>", "</log>", "---", "> said",
                "Here is the log:", "$ ls", "", "  ", "<task>do it</task>", "user: no", "漢字。", "\r",
            ]),
            0..24,
        ),
    ) {
        let text = lines.join("\n");
        let joined: String = stretches(&text).iter().map(|one| one.text).collect();
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(bare(&joined), bare(&text));
    }
}
