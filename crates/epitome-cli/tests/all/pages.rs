//! The pages that people see, at terminals of three widths, with and without colour.
//!
//! What is expected stands in `tests/pages`, a file for each page; `EPITOME_WRITE_SNAPSHOTS=1` writes them anew, to be looked at
//! and committed. Ids, times and sizes are made the same for every run by what goes in (see `kept`); only how long this
//! computer took is another number every time, and is shown as `N`.

#[path = "pages/kept.rs"]
mod kept;

use std::path::Path;

use crate::support::{epitome, example, stderr, stdout};
use kept::{COMPACTION, CONVERSATION, Kept};

const WIDTHS: [usize; 3] = [60, 80, 120];

/// A page: its name, what is typed for it, and how it ends.
struct Shown {
    name: &'static str,
    typed: &'static [&'static str],
    code: i32,
}

const fn page(name: &'static str, typed: &'static [&'static str]) -> Shown {
    Shown {
        name,
        typed,
        code: 0,
    }
}

const PAGES: [Shown; 17] = [
    page(
        "compact",
        &["compact", "coding-session.jsonl", "--budget", "8k"],
    ),
    page(
        "compact-dry-run",
        &["compact", "support-case.jsonl", "--dry-run"],
    ),
    Shown {
        code: 1,
        ..page(
            "compact-unreachable",
            &["compact", "coding-session.jsonl", "--budget", "100"],
        )
    },
    page("inspect", &["inspect", "coding-session.jsonl"]),
    page("inspect-folder", &["inspect", "."]),
    page(
        "replay",
        &["replay", "coding-session.jsonl", "--window", "24k"],
    ),
    page(
        "compare",
        &["compare", "coding-session.jsonl", "--window", "24k"],
    ),
    page(
        "recall",
        &["recall", "coding-session.jsonl", "brightwell", "signature"],
    ),
    page("log", &["log"]),
    page("log-session", &["log", "--session", CONVERSATION]),
    page("show", &["show", COMPACTION]),
    page(
        "recall-session",
        &["recall", "--session", CONVERSATION, "brightwell"],
    ),
    page("pins", &["pins", "--session", CONVERSATION]),
    page("savings", &["savings"]),
    page("models", &["models"]),
    page("store-stats", &["store", "stats"]),
    Shown {
        code: 1,
        ..page("doctor", &["doctor", "--config", "doctor.toml"])
    },
];

/// What a page looks like at a terminal of this width.
fn at_width(shown: &Shown, folder: &Path, columns: usize, is_coloured: bool) -> String {
    let mut command = epitome();
    command
        .args(shown.typed)
        .env("COLUMNS", columns.to_string());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    // Files are named as they stand there, the same on every machine.
    command.current_dir(folder).env("HOME", "/nonexistent");
    command.env("EPITOME_STORE", "sqlite:log.db");
    if is_coloured {
        command.env("CLICOLOR_FORCE", "1");
    }
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(
        output.status.code(),
        Some(shown.code),
        "{}: {said}",
        shown.name
    );
    stdout(&output)
}

/// The text without the orders that set colours.
fn plain(text: &str) -> String {
    ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"]
        .iter()
        .fold(text.to_owned(), |text, order| text.replace(order, ""))
}

/// How long it took is another number every time.
fn without_time(line: &str) -> String {
    let Some((before, after)) = line.split_once(" ms") else {
        return line.to_owned();
    };
    let number = before.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == ',');
    // In a column the number is set to the right of it.
    let room = before.len() - number.trim_end_matches(' ').len();
    let place = match number.ends_with("  ") {
        true => format!("{:>room$}", "N"),
        false => " N".to_owned(),
    };
    format!("{}{place} ms{after}", number.trim_end_matches(' '))
}

fn all_of(shown: &Shown, folder: &Path) -> String {
    let mut all = String::new();
    for columns in WIDTHS {
        for is_coloured in [false, true] {
            let text = at_width(shown, folder, columns, is_coloured);
            assert!(
                is_coloured || !text.contains('\u{1b}'),
                "{}: {text}",
                shown.name
            );
            for line in plain(&text).lines() {
                // A path or an address has no space to break it at.
                let has_room = line.trim().contains(' ');
                let chars = line.chars().count();
                assert!(chars <= columns || !has_room, "{columns}: {line}");
            }
            let colour = if is_coloured { "coloured" } else { "plain" };
            all.push_str(&format!("=== {columns} columns, {colour}\n"));
            for line in text.replace('\u{1b}', "ESC").lines() {
                all.push_str(without_time(line).trim_end());
                all.push('\n');
            }
        }
    }
    all
}

#[tokio::test]
async fn pages_are_as_wide_as_the_terminal_and_coloured_only_where_that_is_shown() {
    let kept = Kept::new().await;
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let writes = std::env::var_os("EPITOME_WRITE_SNAPSHOTS").is_some();
    let mut others = Vec::new();
    for shown in &PAGES {
        let all = all_of(shown, kept.folder());
        let path = expected.join(shown.name).with_extension("txt");
        if writes {
            std::fs::create_dir_all(&expected).unwrap();
            std::fs::write(&path, &all).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = all
            .lines()
            .zip(known.lines())
            .find(|(now, then)| now != then);
        if all != known {
            others.push((
                shown.name,
                differs.map(|(now, then)| format!("{now}\n    was {then}")),
            ));
        }
    }
    assert!(
        others.is_empty(),
        "these pages look different; if that is meant, EPITOME_WRITE_SNAPSHOTS=1 writes them anew: {others:#?}"
    );
}

#[test]
fn how_long_it_took_is_no_part_of_a_page() {
    for (line, shown) in [
        ("compacted (-89%) in 1,052 ms", "compacted (-89%) in N ms"),
        (
            "default   54 %     0   1052 ms",
            "default   54 %     0      N ms",
        ),
        (
            "default   54 %     0     52 ms",
            "default   54 %     0      N ms",
        ),
        ("nothing took long", "nothing took long"),
    ] {
        assert_eq!(without_time(line), shown);
    }
    assert!(example("coding-session.jsonl").exists());
}
