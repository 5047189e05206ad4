use epitome_eval::{
    Corpus, Cut, Entry, History, Needs, Recall, Share, artifacts, found_by_search, rare_needs,
};

use crate::support::{assistant, call, history, names, path, result, system, user};

/// Twenty thousand characters of nothing: five thousand tokens.
fn filler() -> String {
    "lorem ipsum dolor\n".repeat(1_112)
}

/// The agent later writes `src/near.rs`, `src/far.rs` and `src/seen.rs`; the last one a tool names again first, and
/// `src/given.rs` stands in the system prompt.
fn session() -> Vec<Entry> {
    vec![
        system("Always look at src/given.rs."),
        user("Fix the parser in src/far.rs, its lexer loses the newest token."),
        assistant(&filler()),
        assistant("The bug may sit in src/near.rs, src/seen.rs or src/given.rs."),
        user("Go on."),
        result("x", "src/seen.rs"),
        assistant("Editing src/far.rs, src/near.rs, src/seen.rs, src/given.rs and src/new.rs."),
    ]
}

const CUT: usize = 4;

#[test]
fn needs_are_what_the_agent_wrote_and_had_only_seen_before() {
    let history = history(&session());
    let needs = Needs::after(&history, CUT, None);
    assert_eq!(names(&needs.all), ["src/far.rs", "src/near.rs"]);
    assert_eq!(names(&needs.far), ["src/far.rs"]);
    let stopped = Needs::after(&history, CUT, Some(6));
    assert!(stopped.all.is_empty());
}

#[test]
fn rare_needs_are_tokens_of_few_sessions() {
    let histories: Vec<History> = (0..20)
        .map(|number| {
            let shared = if number < 3 { "shared_word" } else { "nothing" };
            history(&[user(shared), user("only_here")])
        })
        .chain([history(&[
            user("shared_word alone_word"),
            user("go on"),
            assistant("shared_word alone_word fresh_word"),
        ])])
        .collect();
    let corpus = Corpus::of(&histories);
    // Of 21 sessions two are a tenth; four have `shared_word`.
    let needs = rare_needs(&histories[20], &corpus, 1, None);
    assert_eq!(needs.into_iter().collect::<Vec<_>>(), ["alone_word"]);
}

#[test]
fn changed_files_come_from_calls_that_write() {
    let patch = r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: doc/b.md\n*** End Patch"}"#;
    let history = history(&[
        user("go"),
        call("1", "Write", r#"{"file_path":"/home/src/main.rs"}"#),
        call(
            "2",
            "str_replace_editor",
            r#"{"command":"view","path":"/home/src/seen.rs"}"#,
        ),
        call(
            "3",
            "str_replace_editor",
            r#"{"command":"create","path":"/home/src/made.rs"}"#,
        ),
        call("4", "read_file", r#"{"path":"/home/src/read.rs"}"#),
        call("5", "shell", patch),
        call("6", "apply_patch", "*** Delete File: src/raw.rs\nx"),
        call("7", "edit", "not json"),
        call("8", "edit", r#"{"path":"src/late.rs"}"#),
    ]);
    assert_eq!(
        names(&artifacts(&history, 8)),
        [
            "doc/b.md",
            "src/a.rs",
            "src/made.rs",
            "src/main.rs",
            "src/raw.rs"
        ]
    );
}

/// Three needs, each with other surroundings.
fn cut_session() -> Vec<Entry> {
    vec![
        user("Repair the broken lexer in src/lexer.rs quickly"),
        assistant("src/a1.rs"),
        call("1", "write", r#"{"file_path":"src/lexer.rs"}"#),
        result("1", "written, see also conf/app.toml with timeout settings"),
        user("And now?"),
        assistant("src/lexer.rs src/a1.rs conf/app.toml"),
    ]
}

fn measured(context: &str) -> epitome_eval::Kept {
    let history = history(&cut_session());
    let corpus = Corpus::of([&history]);
    let cut = Cut::of(&history, &corpus, 4, None, Recall::None).unwrap();
    cut.measure(context)
}

#[test]
fn a_bare_list_is_not_grounded() {
    let kept = measured("src/lexer.rs conf/app.toml src/a1.rs");
    assert_eq!(kept.needs, Share { part: 3, whole: 3 });
    // `src/a1.rs` never had words around it: naming it is enough.
    assert_eq!(kept.grounded, Share { part: 1, whole: 3 });
    assert_eq!(kept.artifacts, Share { part: 1, whole: 1 });
    assert_eq!(kept.far, Share { part: 0, whole: 0 });
}

#[test]
fn two_words_of_the_surroundings_ground_a_name() {
    let kept = measured("the broken lexer: src/lexer.rs");
    assert_eq!(kept.grounded, Share { part: 1, whole: 3 });
    let kept = measured("a lexer: src/lexer.rs");
    assert_eq!(kept.grounded, Share { part: 0, whole: 3 });
}

#[test]
fn sixteen_verbatim_characters_on_both_sides_ground_a_name() {
    let kept = measured("> itten, see also conf/app.toml with timeout se");
    assert_eq!(kept.grounded, Share { part: 1, whole: 3 });
}

#[test]
fn user_words_count_once_each() {
    // repair, broken, lexer, quickly: "And now?" adds nothing; src and lexer.rs give "src" and "lexer".
    let kept = measured("repair repair quickly");
    assert_eq!(kept.user_words, Some(2.0 / 5.0));
    assert_eq!(kept.tokens, 6);
}

#[test]
fn a_search_brings_back_what_its_query_describes() {
    let entries = [
        user("The timeout of the payment gateway is in conf/pay.toml"),
        user("The colour of the logo is in conf/logo.toml"),
        assistant("noted"),
        user("Raise the timeout of the payment gateway please."),
        assistant("Changing the payment gateway timeout in conf/pay.toml"),
    ];
    let history = history(&entries);
    let needs = Needs::after(&history, 3, None).all;
    assert_eq!(names(&needs), ["conf/pay.toml"]);
    let found = found_by_search(&history, 3, &needs);
    assert!(found.contains(&path("conf/pay.toml")));
}

#[test]
fn a_cut_is_legal_where_no_call_is_answered_across_it() {
    let history = history(&[
        user("a"),
        call("1", "read", "{}"),
        user("while it runs"),
        result("1", "done"),
        assistant("b"),
        call("2", "read", "{}"),
        user("never answered"),
    ]);
    let legal: Vec<usize> = (0..8).filter(|at| history.is_legal_cut(*at)).collect();
    assert_eq!(legal, [4, 5, 6]);
    assert_eq!(history.cut_at_share(0.1), Some(4));
}
