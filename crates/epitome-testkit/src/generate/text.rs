//! Words that look like work: paths, code, logs, requests and reports.

use std::fmt::Write as _;

use crate::random::Random;

const DIRECTORIES: &[&str] = &[
    "src/parser",
    "src/server",
    "crates/core/src",
    "crates/store/src",
    "tests/integration",
    "web/components",
    "docs/guides",
    "tools/release",
    "internal/billing",
    "lib/данные",
    "packages/ui/日本語",
];
const STEMS: &[&str] = &[
    "session",
    "window",
    "ledger",
    "router",
    "token_count",
    "retry_policy",
    "invoice",
    "schema",
    "cursor",
    "upload",
    "snapshot",
    "permission",
];
const EXTENSIONS: &[&str] = &["rs", "ts", "py", "go", "toml", "sql", "md"];
const VERBS: &[&str] = &[
    "parse", "load", "merge", "flush", "verify", "render", "resolve", "acquire", "drain",
];
const NOUNS: &[&str] = &[
    "entry", "batch", "header", "lease", "chunk", "record", "payload", "index", "queue",
];
const WORDS: &[&str] = &[
    "the",
    "request",
    "handler",
    "returns",
    "before",
    "lock",
    "is",
    "released",
    "so",
    "that",
    "second",
    "caller",
    "sees",
    "stale",
    "state",
    "when",
    "cache",
    "misses",
    "we",
    "should",
    "check",
    "whether",
    "migration",
    "ran",
    "and",
    "then",
    "compare",
    "both",
    "values",
    "because",
    "timeout",
    "only",
    "covers",
    "first",
    "attempt",
    "which",
    "explains",
    "failure",
    "in",
    "nightly",
    "build",
    "after",
    "rename",
    "of",
    "this",
    "module",
];
const RARE: &[&str] = &[
    "naïve",
    "Zürich",
    "設定",
    "変更しました",
    "проверка",
    "✅",
    "🚧",
    "→",
    "“quoted”",
    "C:\\build\\out",
    "\"as is\"",
    "https://example.org/issues/4711?tab=log#L20",
    "v2.14.0-rc.3",
    "0x7ffe9c40",
    "99.97%",
    "👩‍💻",
];
const INSTRUCTIONS: &[&str] = &[
    "Always run the linter before committing.",
    "Never touch the generated files under vendor/.",
    "Answer in German when I write in German, bitte.",
    "Do not add new dependencies without asking me first.",
    "Keep the public API unchanged.",
    "Use tabs in Makefiles and nothing else.",
    "From now on, every migration needs a rollback.",
    "Please use at most 80 columns in comments.",
];
const TASKS: &[&str] = &[
    "Find out why the nightly job fails and fix it:",
    "Please add a test for the empty case in",
    "Rename the field everywhere, starting with",
    "Speed up the slow query behind",
    "Review my change and tell me what is missing in",
    "Write the release notes and check",
    "The upload still breaks for 大きなファイル 📎, look at",
    "Explain how the retry works in",
];

pub(crate) fn directory(random: &mut Random) -> String {
    (*random.pick(DIRECTORIES)).to_owned()
}

pub(crate) fn path(random: &mut Random) -> String {
    let directory = random.pick(DIRECTORIES);
    let stem = random.pick(STEMS);
    let number = random.below(40);
    let extension = random.pick(EXTENSIONS);
    format!("{directory}/{stem}_{number}.{extension}")
}

pub(crate) fn symbol(random: &mut Random) -> String {
    format!("{}_{}", random.pick(VERBS), random.pick(NOUNS))
}

pub(crate) fn command(random: &mut Random) -> String {
    let path = path(random);
    let symbol = symbol(random);
    match random.below(4) {
        0 => format!("cargo test --workspace {symbol} -- --nocapture 2>&1 | tail -n 40"),
        1 => format!("git diff HEAD~{} -- \"{path}\"", random.between(1, 9)),
        2 => format!("sed -n '{},+30p' {path}", random.between(1, 500)),
        _ => format!("rg -n \"{symbol}\\(\" {path} && echo 'done ✓'"),
    }
}

/// Sentences of about this many words, with a path or a rare word now and then.
pub(crate) fn prose(random: &mut Random, words: usize) -> String {
    let mut prose = String::new();
    let mut starts_sentence = true;
    for position in 0..words.max(1) {
        if position > 0 {
            prose.push(' ');
        }
        let word = match random.below(40) {
            0 => path(random),
            1 => format!("`{}`", symbol(random)),
            2 => (*random.pick(RARE)).to_owned(),
            3 => random.between(2, 90_000).to_string(),
            _ => (*random.pick(WORDS)).to_owned(),
        };
        if starts_sentence {
            let mut letters = word.chars();
            prose.extend(letters.next().into_iter().flat_map(char::to_uppercase));
            prose.push_str(letters.as_str());
        } else {
            prose.push_str(&word);
        }
        starts_sentence = position > 3 && random.chance(8);
        if starts_sentence {
            prose.push('.');
        }
    }
    if !prose.ends_with('.') {
        prose.push('.');
    }
    prose
}

/// An assistant's longer answer: paragraphs, a list and sometimes code.
pub(super) fn report(random: &mut Random, words: usize) -> String {
    let mut report = prose(random, words / 2);
    report.push_str("\n\n");
    for _ in 0..random.between(2, 5) {
        let _ = writeln!(
            report,
            "- **{}**: {}",
            path(random),
            prose(random, words / 10 + 3)
        );
    }
    if random.chance(40) {
        let lines = random.between(3, 12);
        let _ = write!(report, "\n```rust\n{}```\n", code(random, lines));
    }
    report
}

/// What a user types to an agent.
pub(super) fn request(random: &mut Random) -> String {
    let mut request = format!("{} {}.", random.pick(TASKS), path(random));
    if random.chance(50) {
        let _ = write!(request, " {}", random.pick(INSTRUCTIONS));
    }
    if random.chance(35) {
        let lines = random.between(2, 20);
        let _ = write!(request, "\n\nThis is what I see:\n\n{}", log(random, lines));
    }
    if random.chance(40) {
        let words = random.between(10, 80);
        let _ = write!(request, "\n\n{}", prose(random, words));
    }
    request
}

/// What a user types when no tool can look things up.
pub(super) fn long_question(random: &mut Random) -> String {
    let words = random.between(40, 300);
    format!("{}\n\n{}", request(random), prose(random, words))
}

/// Source text with line breaks, tabs and quotes.
pub(super) fn code(random: &mut Random, lines: usize) -> String {
    let mut code = String::new();
    for _ in 0..lines {
        let symbol = symbol(random);
        let noun = random.pick(NOUNS);
        let number = random.between(1, 9_999);
        let _ = match random.below(7) {
            0 => writeln!(
                code,
                "pub fn {symbol}({noun}: &str) -> Result<u64, Error> {{"
            ),
            1 => writeln!(code, "    let {noun} = {symbol}(\"{noun}\\n\", {number})?;"),
            2 => writeln!(
                code,
                "\tif {noun}.len() > {number} {{ return Err(Error::TooLong({number})); }}"
            ),
            3 => writeln!(code, "    // {}", prose(random, 8)),
            4 => writeln!(
                code,
                "    assert_eq!({symbol}(&{noun}), {number}, \"unexpected {noun}\");"
            ),
            5 => writeln!(code, "}}\n"),
            _ => writeln!(
                code,
                "    self.{noun}.{symbol}(Duration::from_millis({number}));"
            ),
        };
    }
    code
}

/// Lines as a test run or a server prints them.
pub(super) fn log(random: &mut Random, lines: usize) -> String {
    let mut log = String::new();
    for _ in 0..lines {
        let path = path(random);
        let symbol = symbol(random);
        let number = random.between(1, 4_000);
        let _ = match random.below(6) {
            0 => writeln!(
                log,
                "error[E{number:04}]: mismatched types\n  --> {path}:{number}:17"
            ),
            1 => writeln!(
                log,
                "\u{1b}[33mwarning\u{1b}[0m: unused variable `{symbol}` at {path}:{number}"
            ),
            2 => writeln!(log, "test {symbol}::case_{number} ... FAILED"),
            3 => writeln!(
                log,
                "2026-03-{:02}T09:{:02}:14Z INFO {symbol} took {number} ms",
                number % 28 + 1,
                number % 60
            ),
            4 => writeln!(
                log,
                "thread 'main' panicked at {path}:{number}: index out of bounds"
            ),
            _ => writeln!(log, "test {symbol}::case_{number} ... ok"),
        };
    }
    log
}

/// Lines as a search prints them.
pub(super) fn matches(random: &mut Random, lines: usize) -> String {
    let mut matches = String::new();
    for _ in 0..lines {
        let line = code(random, 1);
        let _ = writeln!(
            matches,
            "{}:{}:{}",
            path(random),
            random.between(1, 2_000),
            line.trim_end()
        );
    }
    matches
}

pub(super) fn listing(random: &mut Random, lines: usize) -> String {
    let mut listing = String::new();
    for _ in 0..lines {
        let size = random.between(100, 400_000);
        let _ = writeln!(listing, "-rw-r--r-- {size:>8} {}", path(random));
    }
    listing
}

pub(super) fn failure(random: &mut Random) -> String {
    match random.below(3) {
        0 => format!(
            "Error: {}: No such file or directory (os error 2)",
            path(random)
        ),
        1 => format!(
            "Command failed with exit code {}\n{}",
            random.between(1, 127),
            log(random, 6)
        ),
        _ => String::from(
            "Error: the text to replace was not found, or it is not unique: \"\\u0000\"\u{2028}",
        ),
    }
}

/// A system prompt; it depends on the seed only in one line.
pub(super) fn system(seed: u64) -> String {
    format!(
        "You are a careful engineer who works in a repository through tools.\n\
         Read before you change. Keep changes small. Say what you did and what you did not do.\n\
         Paths are relative to the project. Never print secrets.\n\n\
         <environment>\nproject: /home/dev/project-{}\nplatform: linux\n</environment>",
        seed % 1_000
    )
}
