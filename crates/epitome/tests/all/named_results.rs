//! Results that are law because the task names what was read.

use epitome::{Block, Call, Message, Meter, NamedResult, Role, Share, named_results, share_named};

use crate::support::{assistant, result, user};

fn call(id: &str, tool: &str, arguments: &str) -> Message {
    Message {
        role: Role::Assistant,
        blocks: vec![Block::Call(Call::new(id, tool, arguments))],
    }
}

/// The names of the results that `order` makes law, for one read with these arguments.
fn named(order: &str, tool: &str, arguments: &str) -> Vec<String> {
    let messages = [
        user(order),
        call("c1", tool, arguments),
        result("c1", "Score salary with 25 %."),
    ];
    let results = named_results(messages.iter().enumerate(), [order]);
    assert!(results.iter().all(|found| found.position == 2));
    results.into_iter().map(|found| found.name).collect()
}

#[test]
fn a_read_that_the_task_names_is_found() {
    let task = "Execute the job search prompt from search-prompt.txt";
    for (order, tool, arguments) in [
        (task, "read_file", r#"{"path":"search-prompt.txt"}"#),
        (
            task,
            "Read",
            r#"{"file_path":"/home/anna/jobs/search-prompt.txt"}"#,
        ),
        (
            task,
            "mcp__fs__read_text_file",
            r#"{"path":"./search-prompt.txt"}"#,
        ),
        (task, "bash", r#"{"command":"cat search-prompt.txt"}"#),
        (
            task,
            "shell",
            r#"{"command":["bash","-lc","cd jobs && cat search-prompt.txt | head -50"]}"#,
        ),
        (
            "Follow \"docs/rules.md\", always.",
            "view",
            r#"{"path":"/repo/docs/rules.md"}"#,
        ),
        (
            "Follow /repo/docs/rules.md.",
            "view",
            r#"{"path":"docs/rules.md"}"#,
        ),
        (
            "Rules: https://example.org/a/rules?v=2",
            "WebFetch",
            r#"{"url":"https://example.org/a/rules"}"#,
        ),
    ] {
        assert_eq!(
            named(order, tool, arguments).len(),
            1,
            "{order} {arguments}"
        );
    }
    for (order, tool, arguments) in [
        (task, "read_file", r#"{"path":"other.txt"}"#),
        (task, "read_file", r#"{"path":"my-search-prompt.txt"}"#),
        (
            task,
            "write_file",
            r#"{"path":"search-prompt.txt","content":"x"}"#,
        ),
        (task, "bash", r#"{"command":"echo x > search-prompt.txt"}"#),
        (task, "bash", r#"{"command":"rm search-prompt.txt"}"#),
        ("Fix the build.", "read_file", r#"{"path":"build"}"#),
        (
            "Read the rules at https://example.org/a",
            "fetch",
            r#"{"url":"https://example.org/b"}"#,
        ),
        (
            "Never exceed 3.5 seconds.",
            "read_file",
            r#"{"path":"3.5"}"#,
        ),
    ] {
        assert_eq!(
            named(order, tool, arguments),
            [""; 0],
            "{order} {arguments}"
        );
    }
}

#[test]
fn failed_reads_and_older_ones_of_the_same_do_not_count() {
    let task = "Follow rules.md and notes.md.";
    let read = |id: &str, path: &str| call(id, "read_file", &format!("{{\"path\":\"{path}\"}}"));
    let messages = [
        user(task),
        read("a", "rules.md"),
        result("a", "Error: no such file"),
        read("b", "rules.md"),
        result("b", "first version"),
        read("c", "notes.md"),
        result("c", "notes"),
        assistant("I changed it."),
        read("d", "rules.md"),
        result("d", "second version"),
    ];
    let found = named_results(messages.iter().enumerate(), [task]);
    let found: Vec<_> = found
        .iter()
        .map(|f| (f.position, f.text.as_str()))
        .collect();
    assert_eq!(found, [(6, "notes"), (9, "second version")]);
}

#[test]
fn a_quarter_of_the_pin_budget_is_shared_out() {
    let result = |position: usize, words: usize| NamedResult {
        position,
        call_id: Box::default(),
        name: "rules.md".to_owned(),
        text: "rule ".repeat(words),
    };
    let meter = Meter::Estimate;
    let small = meter.text(&result(0, 40).text);
    let fits = share_named(&[result(0, 40)], small * 4, meter);
    assert_eq!(fits, [Share::Whole]);
    let one_less = share_named(&[result(0, 40)], (small - 1) * 4, meter);
    assert_eq!(one_less, [Share::Extract { tokens: small - 1 }]);
    let shares = share_named(
        &[result(0, 9_000), result(2, 40), result(4, 9_000)],
        2_000,
        meter,
    );
    let each = (500 - small) / 2;
    assert_eq!(
        shares,
        [
            Share::Extract { tokens: each },
            Share::Whole,
            Share::Extract { tokens: each }
        ]
    );
    assert_eq!(share_named(&[], 2_000, meter), []);
}
