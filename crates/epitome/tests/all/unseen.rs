//! Constraints in wordings that no rule was written for: whether or not they are taken for instructions, they are still
//! there, word for word, after a compaction to 4,000 tokens, and after four.

use epitome::{Basis, Compaction, Message, Meter, Plan, Reason, ViewItem, find_pins, trimmed};

use crate::support::{assistant, calls, log_of, result, system, user};

const BUDGET_TOKENS: u64 = 4_000;
const FIRST: &str = include_str!("../vectors/pins/constraints_6.txt");
const SECOND: &str = include_str!("../vectors/pins/constraints_7.txt");
const ORDINARY: [&str; 3] = [
    include_str!("../vectors/pins/ordinary_1.txt"),
    include_str!("../vectors/pins/ordinary_2.txt"),
    include_str!("../vectors/pins/ordinary_3.txt"),
];
/// Planted together in one session.
const TOGETHER: usize = 10;
/// What people say between two constraints.
const TALK: [&str; 12] = [
    "Can you take a look at the login page?",
    "Thanks, that looks better already.",
    "The build of the worker hangs since yesterday evening.",
    "What does the retry loop do when the queue is empty?",
    "Fix the failing test in parser.rs and run it again.",
    "Hm, I see the same error on my machine.",
    "Okay, go on with the next part.",
    "Could you add a column for the invoice number to the report?",
    "I was away for two days, what happened in the meantime?",
    "Great, commit this.",
    "The customer wrote again, they see empty pages after the update.",
    "Show me the diff of the ledger module.",
];

fn sentences(table: &'static str) -> Vec<&'static str> {
    table
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(_, sentence)| sentence)
        .collect()
}

/// A session of work with the constraints in it, alone or in the middle of a message.
fn session(constraints: &[&str]) -> Vec<Message> {
    let mut messages = vec![
        system("You are careful."),
        user("Make the nightly export of the ledger twice as fast."),
    ];
    for turn in 0..40 {
        let talk = TALK[turn % TALK.len()];
        let constraint = constraints.get(turn / 4).filter(|_| turn % 4 == 2);
        messages.push(user(match constraint {
            Some(constraint) if turn % 8 == 2 => format!("{talk} {constraint} And thanks!"),
            Some(constraint) => (*constraint).to_owned(),
            None => talk.to_owned(),
        }));
        messages.extend(steps(turn));
        messages.push(assistant(format!(
            "Part {turn} is done: src/export/stage_{turn}.rs is {turn} ms faster now."
        )));
    }
    messages
}

/// A chat of which 4,000 tokens hold a small part, with the constraints in it.
fn chat(constraints: &[&str]) -> Vec<Message> {
    let mut ordinary = ORDINARY.into_iter().flat_map(sentences).cycle();
    let mut messages = vec![user("Let us go through the open questions, one by one.")];
    for turn in 0..120 {
        let mut talk: Vec<&str> = ordinary.by_ref().take(4).collect();
        let constraint = constraints.get(turn / 12).filter(|_| turn % 12 == 5);
        talk.splice(2..2, constraint.copied());
        messages.push(user(talk.join(" ")));
        messages.push(assistant(format!(
            "Here is what I think about question {turn}. It depends on the release of part {turn}, on how many people \
             read the page, and on what was agreed in the meeting about topic_{turn}. "
        ).repeat(4)));
    }
    messages
}

fn steps(turn: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    for step in 0..3 {
        let id = format!("t{turn}s{step}");
        messages.push(calls(&[&id]));
        let line = |row: usize| {
            format!(
                "src/export/stage_{turn}.rs:{}: let rows_{row} = read_block(ledger_{step}, {});\n",
                row * 7,
                turn * 100 + row
            )
        };
        messages.push(result(&id, (0..25).map(line).collect::<String>()));
    }
    messages
}

fn compacted(messages: &[Message]) -> Vec<Message> {
    let log = log_of(messages);
    let plan = Plan::make(&log, BUDGET_TOKENS, Reason::Manual).unwrap();
    let compaction =
        Compaction::extract(plan, &Basis::new(&log, messages, Meter::Estimate)).unwrap();
    let mut out = Vec::new();
    for item in compaction.view(messages.len()).items {
        match item {
            ViewItem::Entries(range) => out.extend_from_slice(&messages[range]),
            ViewItem::Trimmed(at, trims) => out.push(trimmed(&messages[at], &trims)),
            ViewItem::Summary => out.push(user(compaction.summary.text.clone())),
            other => panic!("not in the default layout: {other:?}"),
        }
    }
    out
}

fn missing<'a>(messages: &[Message], constraints: &[&'a str]) -> Vec<&'a str> {
    let spoken: Vec<&str> = messages.iter().flat_map(Message::spoken).collect();
    let is_gone = |constraint: &&&str| !spoken.iter().any(|text| text.contains(**constraint));
    constraints.iter().filter(is_gone).copied().collect()
}

type Make = fn(&[&str]) -> Vec<Message>;

/// What became of the constraints of a table.
#[derive(Debug, Default)]
struct Survival {
    all: usize,
    /// Taken for instructions.
    pinned: usize,
    /// Lost after one round, and after four.
    once: Vec<&'static str>,
    four: Vec<&'static str>,
}

fn survival(make: Make) -> Survival {
    let constraints: Vec<&'static str> = [FIRST, SECOND].into_iter().flat_map(sentences).collect();
    let is_pin = |sentence: &&&str| !find_pins([(0, &user(**sentence))]).is_empty();
    let mut survival = Survival {
        all: constraints.len(),
        pinned: constraints.iter().filter(is_pin).count(),
        ..Survival::default()
    };
    for group in constraints.chunks(TOGETHER) {
        let mut view = compacted(&make(group));
        survival.once.extend(missing(&view, group));
        for round in 1..4 {
            for turn in 0..12 {
                view.push(user(TALK[(turn + round) % TALK.len()]));
                view.extend(steps(round * 100 + turn));
            }
            view.push(user("Good. And the next part?"));
            view = compacted(&view);
        }
        survival.four.extend(missing(&view, group));
    }
    survival
}

#[expect(clippy::print_stdout, reason = "the rate is what one wants to see")]
fn check(make: Make) {
    let survival = survival(make);
    println!("pinned {} of {}", survival.pinned, survival.all);
    assert!(survival.once.len() * 100 <= survival.all, "{survival:#?}");
    assert!(survival.four.len() * 100 <= survival.all, "{survival:#?}");
}

#[test]
fn unseen_wordings_survive_in_work() {
    check(session);
}

#[test]
fn unseen_wordings_survive_in_a_long_chat() {
    check(chat);
}
