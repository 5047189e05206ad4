//! Results that are law because the task names what was read.

use epitome::{
    Block, Call, Message, Meter, NamedResult, Preset, PresetName, Reason, Role, Session, Share,
    Window, named_results, share_named,
};

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

const CRITERIA: &str =
    "# Scoring\n\n  salary: 25 %\n  remote only\n## Reject\nanything with on-call duty";

/// A search whose rules stand in a file that the task names, with `steps` pages read after it.
fn search(criteria: &str, steps: usize) -> Vec<Message> {
    let mut messages = vec![
        user("Execute the job search in search-prompt.txt and write the best ten to jobs.md"),
        call("c0", "read_file", r#"{"path":"search-prompt.txt"}"#),
        result("c0", criteria),
    ];
    messages.extend(pages(0, steps));
    messages
}

fn pages(from: usize, steps: usize) -> impl Iterator<Item = Message> {
    (from..from + steps).flat_map(|step| {
        let id = format!("p{step}");
        let page = format!("{{\"url\":\"https://jobs.example/{step}\"}}");
        let text = format!("Vacancy {step}: engineer in town {step}, {step}0 days. ").repeat(60);
        [call(&id, "fetch", &page), result(&id, &text)]
    })
}

fn shown(session: &Session) -> String {
    let messages = session.view_messages();
    let texts = messages.iter().flat_map(|message| message.spoken());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_the_task_names_stays_whole_in_every_preset_and_round() {
    for name in PresetName::ALL.iter().copied() {
        let mut session = Session::new(Window::configured(40_000), Meter::Estimate)
            .with_preset(Preset::named(name));
        session = session.without_guard();
        for message in search(CRITERIA, 12) {
            session.push(message);
        }
        for round in 1..4 {
            session.compact(Reason::Manual).unwrap();
            let shown = shown(&session).replace("\n  ", "\n");
            for line in CRITERIA.lines() {
                assert!(shown.contains(line.trim()), "{name}, round {round}: {line}");
            }
            for message in pages(round * 100, 14) {
                session.push(message);
            }
        }
    }
}

#[test]
fn what_is_too_long_is_kept_in_parts_with_where_the_rest_is() {
    let long: String = (0..3_000)
        .map(|n| format!("Rule {n}: weigh town {n} with {n} points.\n"))
        .collect();
    let mut session = Session::new(Window::configured(200_000), Meter::Estimate);
    for message in search(&long, 12) {
        session.push(message);
    }
    session.compact(Reason::Manual).unwrap();
    let shown = shown(&session);
    assert!(shown.contains("search-prompt.txt\n  [in parts; the whole is in message 3]"));
    assert!(shown.contains("Rule 0: weigh") && shown.contains("Rule 2999: weigh"));
}
