//! The lines of a typed text that say something: not a stray line of code, output or markup.
//!
//! What stands apart (blocks, quotations, output that is announced) is no typed text to begin with: that is
//! `provenance`. Here are the single lines that nothing around them tells apart.

use crate::letters::lower;
use crate::provenance::opened_tag;

/// The lines that somebody may have typed.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| {
        let line = line.trim_start();
        opened_tag(line).is_none() && !is_quotation(line) && !is_output(line)
    })
}

fn is_quotation(line: &str) -> bool {
    line.starts_with('>') || line.starts_with("| ")
}

/// Whether a line is output of a program or source, by how it begins or ends.
fn is_output(line: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "error",
        "warning:",
        "fatal:",
        "info:",
        "debug:",
        "traceback",
        "caused by",
        "panic",
        "thread '",
        "npm ",
        "$ ",
        "diff --git",
        "@@",
        "+++",
        "[info",
        "[error",
        "[warn",
        "[debug",
        "[20",
        "20",
        "at ",
        "file \"",
        "assertionerror",
        "typeerror",
        "exception",
        "e   ",
        "#include",
        "import ",
        "def ",
        "fn ",
        "const ",
        "let ",
        "var ",
        "return ",
        "//",
        "/*",
    ];
    let start = lower(line.chars().take(12));
    let looks_so = OPENINGS.iter().any(|opening| start.starts_with(opening));
    let is_timed = start.starts_with("20") && start.get(4..5) == Some("-");
    let is_code = line.ends_with([';', '{', '}'])
        || line.ends_with("();")
        || line.contains(" => ")
        || line.contains(" == ");
    match start.as_str() {
        start if start.starts_with("20") => is_timed,
        start
            if start.starts_with("let ")
                || start.starts_with("import ")
                || start.starts_with("return ") =>
        {
            is_code
        }
        start
            if start.starts_with("error")
                || start.starts_with("panic")
                || start.starts_with("exception") =>
        {
            line.contains(':') || is_code
        }
        start if start.starts_with("at ") => line.contains('(') && line.contains(':'),
        start if start.starts_with("npm ") => {
            start.starts_with("npm err") || start.starts_with("npm warn")
        }
        start if start.starts_with("const ") || start.starts_with("var ") => line.contains('='),
        _ => looks_so || is_code,
    }
}
