//! What came of a command, told from what it printed: pipes hide exit codes, and clients wrap what they return.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::background;
use super::command::{Command, CommandKind};
use crate::letters::begins;
use crate::word_cut::clip;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether it did what it should; `None` where nothing says so.
    pub(crate) is_good: Option<bool>,
    /// In a few words.
    pub(crate) words: String,
    /// The lines that tell what is wrong, where something is.
    pub(crate) errors: Vec<String>,
}

/// A commit that a command made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) branch: String,
    pub(crate) id: String,
    pub(crate) subject: String,
}

/// Lines that are looked at, at either end of what was printed.
const EDGE_LINES: usize = 400;
/// Lines that tell what is wrong.
const ERROR_LINES: usize = 8;
/// The longest of them, in characters.
const ERROR_CHARS: usize = 200;
/// The longest account of what went well.
const WORDS_CHARS: usize = 120;

/// What came of a command so far that goes on and printed nothing.
const STILL_RUNNING: &str = "still running";

/// What clients put around what a program printed.
const WRAPPERS: &[&str] = &[
    "exit code",
    "chunk id:",
    "wall time:",
    "original token count:",
    "process exited with code",
    "process running with session id",
    "command running in background with id",
    "<retrieval_status>",
    "<task_id>",
    "<task_type>",
    "<status>",
    "<exit_code>",
    "output:",
    "<returncode>",
    "[the command completed",
    "command exited with code",
    "shell cwd was reset",
    "total output lines:",
];
/// The bytes that these begin with.
const BEGINNINGS: [bool; 256] = {
    let mut beginnings = [false; 256];
    let mut at = 0;
    while at < WRAPPERS.len() {
        // None of them is empty; a constant cannot use anything else.
        #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
        {
            beginnings[WRAPPERS[at].as_bytes()[0] as usize] = true;
        }
        at += 1;
    }
    beginnings
};
/// How what a client adds begins. Every result is searched for it, however long it is.
static REMINDERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("<system-reminder>"));
const EXITS: &[&str] = &[
    "exit code:",
    "exit code",
    "process exited with code",
    "command exited with code",
    "completed with exit code",
    "<exit_code>",
    "<returncode>",
];

/// What a program printed, without what the client put around it.
pub(crate) fn printed(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    // What a client adds for the model comes last.
    let end = REMINDERS.find(text.as_bytes()).unwrap_or(text.len());
    text.get(..end)
        .unwrap_or(text)
        .lines()
        .filter(|line| !is_wrapper(line) && !line.trim().is_empty())
}

pub(super) fn is_wrapper(line: &str) -> bool {
    let line = line.trim_start();
    // Every line is asked, and hardly any begins like one of them.
    let first = line.bytes().next().map(|first| first.to_ascii_lowercase());
    let begins = |first: u8| BEGINNINGS.get(usize::from(first)) == Some(&true);
    first.is_some_and(begins)
        && WRAPPERS.iter().any(|mark| {
            line.get(..mark.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(mark))
        })
}

/// The exit code that a client tells.
fn exit_code(text: &str) -> Option<i32> {
    let edges = text.lines().take(6).chain(text.lines().rev().take(3));
    edges.map(str::trim_start).find_map(|line| {
        let lower = line.to_ascii_lowercase();
        if !lower.contains("exit") && !lower.contains("<returncode") {
            return None;
        }
        let behind = EXITS
            .iter()
            .find_map(|mark| lower.split_once(mark).map(|(_, behind)| behind))?;
        let digits = behind.trim_start_matches([':', ' ']);
        let end = digits
            .find(|one: char| one != '-' && !one.is_ascii_digit())
            .unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    })
}

impl Outcome {
    /// What came of `command`, which printed `text`.
    pub(crate) fn of(command: &Command, text: &str, is_error: bool) -> Self {
        let code = exit_code(text);
        let is_check = matches!(command.kind, CommandKind::Check(_));
        let lines: Vec<&str> = match is_check || is_error || code.is_some_and(|code| code != 0) {
            true => edges(text),
            // Only how it begins is told of what went well.
            false => printed(text).take(EDGE_LINES).collect(),
        };
        let may_hide = code != Some(0) || command.head.contains('|');
        let is_bad = is_error
            || code.is_some_and(|code| code != 0) && !matches!(command.kind, CommandKind::Search)
            || is_check && may_hide && lines.iter().any(|line| reports_failure(line));
        // Nobody knows yet how that ends.
        let goes_on = code.is_none() && background::goes_on(text);
        let is_good = match is_bad {
            true => Some(false),
            false if goes_on => None,
            false if code == Some(0) || is_check => Some(true),
            false => None,
        };
        let errors = match is_bad {
            true => error_lines(&lines),
            false => Vec::new(),
        };
        let words = match (is_bad, errors.first()) {
            (true, Some(_)) => errors
                .iter()
                .take(2)
                .cloned()
                .collect::<Vec<_>>()
                .join(" / "),
            (true, None) => clip(lines.last().unwrap_or(&""), ERROR_CHARS),
            (false, _) if goes_on && lines.is_empty() => String::from(STILL_RUNNING),
            (false, _) if command.kind == CommandKind::Versions => good_words(
                command,
                &printed(text).next_back().into_iter().collect::<Vec<_>>(),
            ),
            (false, _) => good_words(command, &lines),
        };
        Self {
            is_good,
            words,
            errors,
        }
    }
}

fn edges(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = printed(text).collect();
    if let Some(last) = lines
        .len()
        .checked_sub(EDGE_LINES)
        .filter(|last| *last > EDGE_LINES)
    {
        lines.drain(EDGE_LINES..last);
    }
    lines
}

/// What a success says of itself.
fn good_words(command: &Command, lines: &[&str]) -> String {
    let packages = lines
        .iter()
        .filter(|line| line.starts_with("ok  \t") || line.starts_with("ok \t"))
        .count();
    if packages > 1 && !lines.iter().any(|line| reports_failure(line)) {
        return String::from("all packages ok");
    }
    let told = |line: &&&str| {
        let lower = line.to_lowercase();
        let counts =
            lower.contains(" passed") || lower.contains(" passing") || lower.contains("0 issues");
        let ends = [
            "success",
            "no issues",
            "0 errors",
            "test result: ok",
            "compiled",
            "finished",
            "up to date",
        ];
        counts || ends.iter().any(|word| lower.contains(word))
    };
    let line = match command.kind {
        CommandKind::Check(_) => lines.iter().rev().take(15).find(told),
        CommandKind::Versions => lines.last(),
        _ => None,
    };
    match (line, command.kind) {
        (Some(line), _) => clip(line.trim_matches(['=', '-', ' ']), WORDS_CHARS),
        (None, CommandKind::Check(_)) => String::from("ok"),
        (None, _) => beginning(lines, WORDS_CHARS),
    }
}

/// How what was printed begins, on one line: of data as much as fits, of text two lines, if both fit.
pub(crate) fn beginning(lines: &[&str], chars: usize) -> String {
    let first = lines.first().map_or("", |line| line.trim());
    if first.starts_with(['{', '[']) {
        return clip(&lines.join(" "), chars);
    }
    let second = lines.get(1).map_or("", |line| line.trim());
    match first.len() + second.len() < chars && !second.is_empty() {
        true => clip(&format!("{first} / {second}"), chars),
        false => clip(first, chars),
    }
}

/// The lines that tell what is wrong, in order, each once. Where one only names the test, the next one says what.
pub(crate) fn error_lines(lines: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_named = false;
    for line in lines {
        let tells = tells_error(line) || is_named && !line.trim_start().starts_with("FAIL");
        is_named = line.trim_start().starts_with("--- FAIL");
        if !tells {
            continue;
        }
        let line = clip(line, ERROR_CHARS);
        if !found.contains(&line) {
            found.push(line);
        }
        if found.len() == ERROR_LINES {
            break;
        }
    }
    found
}

/// Whether a line says that a check failed.
fn reports_failure(line: &str) -> bool {
    let bare = line.trim_start();
    // One of these stands in all that is looked for inside, and in few other lines.
    let may_fail = || {
        ["ail", "AIL", "rror"]
            .iter()
            .any(|part| line.contains(part))
    };
    STARTS.iter().any(|mark| begins(bare, mark))
        || has_place(bare)
        || may_fail() && (INSIDE.iter().any(|mark| line.contains(mark)) || fails(bare))
}

/// How lines begin that say that a check failed.
const STARTS: [&str; 19] = [
    "--- FAIL",
    "FAIL\t",
    "FAIL ",
    "FAILED",
    "error:",
    "error[",
    "npm ERR!",
    "npm error",
    "fatal:",
    "panic:",
    "Traceback (most recent",
    "make: ***",
    "BUILD FAILED",
    "(fail)",
    "E   ",
    "✗",
    "✖",
    "× ",
    "Error:",
];
/// What stands in such lines.
const INSIDE: [&str; 5] = [
    "error TS",
    ": error: ",
    "test result: FAILED",
    "[build failed]",
    "SyntaxError",
];

/// `3 failed`, `1 failing`; not `0 failed`.
fn fails(line: &str) -> bool {
    let mut words = line.split(|one: char| !one.is_alphanumeric());
    let mut last = "";
    words.any(|word| {
        let counts = matches!(word, "failed" | "failing" | "failures" | "errors");
        let before = std::mem::replace(&mut last, word);
        counts && before.parse::<u32>().is_ok_and(|count| count > 0)
    })
}

/// `src/a.go:12:3: message`, as compilers say it.
fn has_place(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let (Some(path), Some(row), Some(column), Some(_)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|one| one.is_ascii_digit());
    path.contains('.') && !path.contains(' ') && is_number(row) && is_number(column)
}

/// Whether a line tells what is wrong.
fn tells_error(line: &str) -> bool {
    let bare = line.trim_start();
    if ["ok ", "PASS", "=== ", "--- PASS"]
        .iter()
        .any(|mark| begins(bare, mark))
    {
        return false;
    }
    let inside = [
        "Error:",
        "Exception:",
        "error:",
        "undefined:",
        ": undefined",
        "not found",
        "No such file",
        "cannot ",
        "Cannot ",
        "AssertionError",
        "ermission denied",
        "imed out",
        "rejected",
        "panicked at",
        "expected",
    ];
    let says_none = || {
        let mut none = ["0 errors", "0 failed", "no error"].iter();
        none.any(|none| line.contains(none))
    };
    (reports_failure(line) || inside.iter().any(|mark| line.contains(mark))) && !says_none()
}

impl Commit {
    /// The commit that git says it made: `[main 1a2b3c4] subject`.
    pub(crate) fn told(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let (place, subject) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
            let (branch, id) = place.rsplit_once(' ')?;
            let is_id = id.len() >= 7 && id.chars().all(|one| one.is_ascii_hexdigit());
            let branch = branch.split(' ').next()?;
            is_id.then(|| Self {
                branch: branch.to_owned(),
                id: id.to_owned(),
                subject: subject.trim().to_owned(),
            })
        })
    }
}

/// Whether git says that it sent commits off, or that there were none to send.
pub(crate) fn tells_push(text: &str) -> bool {
    let mut is_sent = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("! [") || line.starts_with("error: failed to push") {
            return false;
        }
        is_sent |= line == "Everything up-to-date" || line.contains(" -> ") && is_update(line);
    }
    is_sent
}

/// `1a2b3c4..5d6e7f8 main -> main`, `* [new branch] work -> work`.
fn is_update(line: &str) -> bool {
    let bare = line.trim_start_matches(['+', '*', ' ']);
    let first = bare.split(' ').next().unwrap_or_default();
    let is_id = |id: &str| id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    bare.starts_with("[new ")
        || first
            .split_once("..")
            .is_some_and(|(from, to)| is_id(from) && is_id(to.trim_start_matches('.')))
}

/// Whether git says that nothing is uncommitted.
pub(crate) fn tells_clean(text: &str) -> bool {
    let is_said = |line: &str| line.trim().ends_with("working tree clean");
    text.lines().any(is_said)
}

/// The address of what was put up for review.
pub(crate) fn review_told(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    words.rfind(|word| {
        word.starts_with("https://")
            && (word.contains("/pull/") || word.contains("/merge_requests/"))
    })
}

/// The branch that git says one is on.
pub(crate) fn branch_told(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let line = line.trim();
        // `git status --short --branch`.
        if let Some((branch, _)) = line
            .strip_prefix("## ")
            .and_then(|line| line.split_once("..."))
        {
            return (!branch.contains(' ')).then_some(branch);
        }
        let quoted = line
            .strip_prefix("Switched to branch '")
            .or_else(|| line.strip_prefix("Switched to a new branch '"))
            .and_then(|rest| rest.strip_suffix('\''));
        let branch = quoted.or_else(|| line.strip_prefix("On branch "))?;
        (!branch.is_empty() && !branch.contains(' ')).then_some(branch)
    })
}
