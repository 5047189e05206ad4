//! A command line as a reader wants it: what it does, without where it ran and how its output was paged.

use crate::word_cut::clip;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CommandKind {
    /// It tells whether the work is right.
    Check(Check),
    /// It changes what version control knows.
    Versions,
    /// It changes files.
    Files,
    /// It looks for something.
    Search,
    /// It shows a file.
    Read,
    /// Anything else.
    Run,
}

/// What a check looks at: a later success of the same kind answers an earlier failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Check {
    Tests,
    Lints,
    Types,
    Build,
    Other,
}

/// A command line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// It, without `cd`, settings, redirections and paging, on one line.
    pub(crate) head: String,
    pub(crate) kind: CommandKind,
    /// Every check of a line of several, so that its success answers for each of them.
    pub(crate) checks: Vec<Check>,
    /// What the call says that it is for.
    pub(crate) purpose: Option<String>,
}

/// Of a command that is too long to be quoted, this much is enough beside what it is for.
const BESIDE_PURPOSE_CHARS: usize = 48;

/// Programs, or a program and what it is told first, by the kind of check they are.
const CHECKS: &[(Check, &[&str])] = &[
    (
        Check::Tests,
        &[
            "pytest",
            "py.test",
            "tox",
            "nox",
            "go test",
            "cargo test",
            "cargo nextest",
            "jest",
            "vitest",
            "mocha",
            "ctest",
            "rspec",
            "phpunit",
            "mix test",
            "unittest",
            "node --test",
            "bun test",
            "deno test",
            "swift test",
            "dotnet test",
            "gradle test",
            "mvn test",
            "npm test",
            "pnpm test",
            "yarn test",
            "make test",
            "just test",
        ],
    ),
    (
        Check::Lints,
        &[
            "ruff",
            "flake8",
            "pylint",
            "eslint",
            "biome",
            "clippy",
            "cargo clippy",
            "go vet",
            "golangci-lint",
            "shellcheck",
            "pre-commit",
            "cargo fmt",
            "prettier",
            "black",
            "make lint",
            "just lint",
            "gofmt",
        ],
    ),
    (
        Check::Types,
        &[
            "tsc",
            "tsgo",
            "mypy",
            "pyright",
            "cargo check",
            "flow check",
            "deno check",
        ],
    ),
    (
        Check::Build,
        &[
            "go build",
            "cargo build",
            "cmake",
            "ninja",
            "make",
            "dotnet build",
            "swift build",
            "gradle",
            "gradlew",
            "mvn",
            "vite build",
            "webpack",
        ],
    ),
];
/// Programs that run what a project calls by a name.
const RUNNERS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "mise", "just", "make", "task", "deno",
];
/// What stands before a program and is not it.
const BEFORE: &[&str] = &[
    "sudo", "time", "timeout", "nohup", "env", "npx", "bunx", "uv", "poetry", "run", "exec",
    "python", "python3", "-m",
];
const READS: &[&str] = &[
    "cat", "head", "tail", "nl", "less", "more", "bat", "jq", "xxd", "wc", "awk",
];
const SEARCHES: &[&str] = &[
    "grep", "egrep", "rg", "ag", "find", "fd", "ls", "tree", "which", "pwd", "env", "printenv",
    "du", "stat", "file", "ps", "pgrep", "lsof", "date", "echo", "type", "command", "test",
];
const GIT_LOOKS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "grep",
    "blame",
    "branch",
    "remote",
    "rev-parse",
    "ls-files",
    "config",
    "cat-file",
    "reflog",
    "rev-list",
    "merge-base",
    "fetch",
    "describe",
    "--version",
];
const FILE_TOOLS: &[&str] = &["mv", "cp", "rm", "mkdir", "touch", "chmod", "ln", "tee"];

impl Command {
    pub(crate) fn of(line: &str) -> Self {
        let head = head(line);
        let checks: Vec<Check> = parts(&head).filter_map(check).collect();
        let kind = match checks.iter().min_by_key(|check| **check as u8) {
            Some(check) => CommandKind::Check(*check),
            None => kind(line, &head),
        };
        Self {
            head,
            kind,
            checks,
            purpose: None,
        }
    }

    /// It within so many characters; a longer one by what it is for and how it begins.
    pub(crate) fn quoted(&self, chars: usize) -> String {
        let is_long = self.head.chars().count() > chars;
        match self.purpose.as_ref().filter(|_| is_long) {
            Some(purpose) => format!("{purpose}: `{}`", clip(&self.head, BESIDE_PURPOSE_CHARS)),
            None => format!("`{}`", clip(&self.head, chars)),
        }
    }
}

/// A command line without what stands around the command.
fn head(line: &str) -> String {
    let mut rest = line.trim_start_matches(['\\', '\n', ' ']).trim_end();
    loop {
        let before = rest;
        if rest.starts_with('#')
            && let Some((_, behind)) = rest.split_once('\n')
        {
            rest = behind.trim_start();
        }
        rest = without_change_of_folder(rest);
        rest = without_setting(rest);
        if rest.len() == before.len() {
            break;
        }
    }
    let mut head = String::new();
    let mut lines = rest.lines();
    while let Some(line) = lines.next() {
        if !head.is_empty() {
            head.push(' ');
        }
        // What a program is given on its input is no part of the command.
        if let Some((command, behind)) = line.split_once("<<") {
            let mark = behind.trim_start_matches(['-', ' ', '\'', '"']);
            let mark: String = mark
                .chars()
                .take_while(|one| one.is_alphanumeric() || *one == '_')
                .collect();
            head.push_str(command.trim_end());
            head.push_str(" <<…");
            if !mark.is_empty() && lines.clone().any(|line| line.trim() == mark) {
                lines.by_ref().find(|line| line.trim() == mark);
            }
            continue;
        }
        head.push_str(line.trim());
    }
    let mut head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    for noise in [
        " 2>&1",
        " 2>/dev/null",
        " 2> /dev/null",
        " >/dev/null",
        " || true",
    ] {
        if head.contains(noise) {
            head = head.replace(noise, "");
        }
    }
    without_paging(&head).to_owned()
}

fn without_change_of_folder(line: &str) -> &str {
    let behind = line.strip_prefix("cd ").and_then(|rest| {
        let end = rest.find(['&', ';', '\n'])?;
        rest.get(end..)
    });
    behind.map_or(line, |rest| rest.trim_start_matches(['&', ';', '\n', ' ']))
}

/// `export A=1`, `A=1 command`, `set -e;`.
fn without_setting(line: &str) -> &str {
    let bare = line.strip_prefix("export ").unwrap_or(line);
    let (word, rest) = bare.split_once([' ', ';', '\n']).unwrap_or((bare, ""));
    let name = word.split_once('=').map(|(name, _)| name);
    let is_setting = name.is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|one| one.is_ascii_uppercase() || one == '_' || one.is_ascii_digit())
    });
    if is_setting && !rest.is_empty() && !word.contains(['"', '\'', '(']) {
        return rest.trim_start_matches(['&', ';', ' ', '\n']);
    }
    match line
        .strip_prefix("set -")
        .and_then(|rest| rest.split_once([';', '\n']))
    {
        Some((_, rest)) => rest.trim_start(),
        None => line,
    }
}

fn without_paging(head: &str) -> &str {
    let mut rest = head;
    while let Some((before, last)) = rest.rsplit_once(" | ") {
        let program = last.split_whitespace().next().unwrap_or_default();
        if !matches!(program, "head" | "tail" | "less" | "more" | "cat") {
            break;
        }
        rest = before;
    }
    rest
}

/// The commands of a line.
fn parts(head: &str) -> impl Iterator<Item = &str> {
    head.split(['&', ';', '|'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// What a line is for that holds no check.
fn kind(line: &str, head: &str) -> CommandKind {
    let first = parts(head).next().unwrap_or_default();
    let mut words = first.split_whitespace();
    let (program, told) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let writes = line.contains("sed -i")
        || line.contains("perl -pi")
        || line.contains("cat >")
        || line.contains("cat <<");
    match program {
        _ if writes && !matches!(program, "git" | "gh") => CommandKind::Files,
        "git" if GIT_LOOKS.contains(&told) && !head.contains("branch -") => CommandKind::Search,
        "git" | "gh" => CommandKind::Versions,
        _ if parts(head)
            .any(|part| part.starts_with("git commit") || part.starts_with("git push")) =>
        {
            CommandKind::Versions
        }
        _ if FILE_TOOLS.contains(&program) => CommandKind::Files,
        "sed" if told == "-n" => CommandKind::Read,
        _ if READS.contains(&program) => CommandKind::Read,
        _ if SEARCHES.contains(&program) => CommandKind::Search,
        _ => CommandKind::Run,
    }
}

/// The check that one command of a line is.
fn check(command: &str) -> Option<Check> {
    let words: Vec<&str> = command
        .split_whitespace()
        .skip_while(|word| {
            BEFORE.contains(word)
                || word.contains('=')
                || word.chars().all(|one| one.is_ascii_digit())
        })
        .collect();
    let program = words.first()?.rsplit('/').next()?;
    let told = words.get(1).copied().unwrap_or_default();
    let pair = format!("{program} {told}");
    let listed = CHECKS
        .iter()
        .find(|(_, names)| names.contains(&pair.as_str()) || names.contains(&program));
    if RUNNERS.contains(&program) {
        // What a project calls a check by: `npm run lint`, `mise run test:unit`.
        let named = words
            .iter()
            .skip(1)
            .find(|word| !word.starts_with('-') && **word != "run");
        return named
            .and_then(|name| by_name(name))
            .or_else(|| listed.map(|(check, _)| *check));
    }
    listed.map(|(check, _)| *check)
}

fn by_name(name: &str) -> Option<Check> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match () {
        () if has(&["lint", "fmt", "format"]) => Some(Check::Lints),
        () if has(&["typecheck", "type-check", "tsc", "types"]) => Some(Check::Types),
        () if has(&["test", "spec", "e2e"]) => Some(Check::Tests),
        () if has(&["build", "compile"]) => Some(Check::Build),
        () if has(&["check", "verify", "validate", "ci"]) => Some(Check::Other),
        () => None,
    }
}
