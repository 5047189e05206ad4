//! What a reader of a long output looks for between its ends: errors, then totals.

use std::collections::HashSet;
use std::ops::Range;

use super::json;

/// The longest stretch kept for one line.
const LINE_BYTES: usize = 240;
/// How much of a long line is kept before the word that makes it notable.
const BEFORE_BYTES: usize = 80;
/// The longest line that is taken for a total.
const TOTAL_BYTES: usize = 200;
/// How many stretches of one kind are looked at from the front, and as many from the back.
const MOST: usize = 16;

/// Words that report a failure, in small letters. Another word for it in any language belongs here.
const FAILURES: &[&str] = &[
    "abort",
    "aborted",
    "assertion",
    "błąd",
    "denied",
    "erreur",
    "erro",
    "error",
    "errore",
    "errors",
    "exception",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "fatal",
    "fehler",
    "fehlgeschlagen",
    "fout",
    "hata",
    "panic",
    "panicked",
    "refused",
    "segfault",
    "traceback",
    "ошибка",
    "сбой",
];
/// The same in scripts without spaces between words, and as marks.
const FAILURE_MARKS: &[&str] = &[
    "✗",
    "✘",
    "✖",
    "❌",
    "错误",
    "錯誤",
    "失败",
    "失敗",
    "エラー",
    "오류",
    "실패",
];
/// Words that nobody writes unless something broke, wherever they stand.
const CRASHES: &[&str] = &["panicked", "segfault", "traceback"];
/// How names of exceptions end.
const EXCEPTIONS: &[&str] = &["Error", "Exception", "Failure"];
/// Words that announce a total, in small letters.
const TOTALS: &[&str] = &[
    "count",
    "gesamt",
    "insgesamt",
    "razem",
    "result",
    "results",
    "sum",
    "summary",
    "summe",
    "toplam",
    "total",
    "totaal",
    "totale",
    "totals",
    "всего",
    "итого",
    "合计",
    "合計",
    "总计",
    "합계",
];
/// Words with which a program tells how it ended.
const ENDINGS: &[&str] = &[
    "completed",
    "duration",
    "elapsed",
    "exit",
    "exited",
    "finished",
    "ran",
    "returncode",
    "took",
];

/// What was found, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) errors: Vec<Range<usize>>,
    pub(super) totals: Vec<Range<usize>>,
    /// Worth a place where there is room left.
    pub(super) others: Vec<Range<usize>>,
}

/// Stretches of `text` worth keeping, most important first: the first error, the last total, the last error, and so
/// on inwards.
pub(super) fn ranked(text: &str) -> Vec<Range<usize>> {
    let found = json::members(text).unwrap_or_else(|| lines(text));
    let mut errors = inwards(&found.errors).into_iter();
    let mut totals = found.totals.into_iter().rev().take(MOST);
    let mut out = Vec::new();
    loop {
        let pair = [errors.next(), totals.next()];
        let len = out.len();
        out.extend(pair.into_iter().flatten());
        if out.len() == len {
            break;
        }
    }
    out.extend(inwards(&found.others));
    out
}

/// From both ends to the middle; the middle of very many is left out.
fn inwards(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let half = ranges.len().div_ceil(2);
    let (front, back) = ranges.split_at_checked(half).unwrap_or((ranges, &[]));
    let mut back = back.iter().rev();
    front
        .iter()
        .flat_map(|first| [Some(first), back.next()])
        .flatten()
        .take(2 * MOST)
        .cloned()
        .collect()
}

fn lines(text: &str) -> Found {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    let mut start = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(whole) = lines.next() {
        let line = whole.trim_end();
        let range = start..start + line.len();
        start += whole.len();
        if let Some(at) = failure(line) {
            if seen.insert(line) {
                // Where it happened often stands on the next line, indented.
                let detail = lines.peek().map(|next| next.trim_end()).filter(|next| {
                    next.starts_with([' ', '\t']) && next.len() + line.len() < LINE_BYTES
                });
                let end = detail.map_or(range.end, |detail| start + detail.len());
                found.errors.push(window(text, range.start..end, at));
            }
        } else if line.len() <= TOTAL_BYTES && is_total(line) && seen.insert(line) {
            found.totals.push(range);
        }
    }
    found
}

/// The part of a line to keep, with what stands `at` in it.
fn window(text: &str, line: Range<usize>, at: usize) -> Range<usize> {
    if line.len() <= LINE_BYTES {
        return line;
    }
    let start = line.start + at.saturating_sub(BEFORE_BYTES);
    let start = text.ceil_char_boundary(start).min(line.end);
    start..text.floor_char_boundary(start + LINE_BYTES).min(line.end)
}

/// Where a line reports a failure. A word for it that merely occurs, as it does in code and in prose, does not count.
fn failure(line: &str) -> Option<usize> {
    let mut before = "";
    let mut is_first = true;
    for (at, word) in words(line) {
        let is_last = line.len() == at + word.len();
        let after = line.get(at + word.len()..).unwrap_or_default();
        let is_marked =
            is_last || after.starts_with([':', '[', ']', '!']) && !after.starts_with("::");
        let is_loud = word.len() > 2 && word.chars().all(char::is_uppercase);
        let is_denied = before == "0"
            || ["no", "without"]
                .iter()
                .any(|n| before.eq_ignore_ascii_case(n));
        let is_report = is_marked || is_loud || is_first;
        if is_report && !is_denied && is_failure_word(word) || is_among(word, CRASHES) {
            return Some(at);
        }
        is_first = false;
        before = word;
    }
    if line.is_ascii() {
        return None;
    }
    FAILURE_MARKS.iter().find_map(|mark| line.find(mark))
}

fn is_failure_word(word: &str) -> bool {
    is_among(word, FAILURES)
        || EXCEPTIONS
            .iter()
            .any(|ending| word.len() > ending.len() && word.ends_with(ending))
}

/// Whether a line sums something up: numbers that are named one after another, or a word that says so.
fn is_total(line: &str) -> bool {
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let named = |item: &&str| {
        let mut words = item.split_whitespace();
        let number = words.next().is_some_and(|word| {
            word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(char::is_alphabetic)
        });
        let name = words
            .next()
            .is_some_and(|word| word.starts_with(char::is_alphabetic));
        number && name && words.count() <= 3
    };
    let items = || {
        line.split([',', ';', '|'])
            .map(|item| item.trim_matches(|c: char| matches!(c, ' ' | '=' | '-' | '*' | '#')))
    };
    if items().filter(named).count() >= 2 {
        return true;
    }
    let mut is_first = true;
    for (at, word) in words(line) {
        let after = line.get(at + word.len()..).unwrap_or_default();
        let is_told = after.trim_start().starts_with([':', '=']);
        if is_told && is_among(word, TOTALS) || (is_first || is_told) && is_among(word, ENDINGS) {
            return true;
        }
        let counts = |next: &str| {
            ["code", "status"]
                .iter()
                .any(|w| next.eq_ignore_ascii_case(w))
        };
        if word.eq_ignore_ascii_case("exit") && words(after).next().is_some_and(|(_, n)| counts(n))
        {
            return true;
        }
        is_first = false;
    }
    false
}

/// Whether a member of that name reports a failure.
pub(super) fn names_failure(name: &str) -> bool {
    words_of_name(name).any(|word| is_failure_word(word) || word.eq_ignore_ascii_case("stderr"))
}

/// Whether a member of that name holds a total, or tells how something ended.
pub(super) fn names_total(name: &str) -> bool {
    words_of_name(name).any(|word| {
        is_among(word, TOTALS)
            || is_among(word, ENDINGS)
            || is_among(
                word,
                &[
                    "code",
                    "cursor",
                    "next",
                    "page",
                    "pages",
                    "status",
                    "truncated",
                ],
            )
    })
}

/// `total_count` and `totalCount` are two words each.
fn words_of_name(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).flat_map(|word| {
        let border = word.char_indices().skip(1).find(|(_, c)| c.is_uppercase());
        let (first, second) = border
            .and_then(|(at, _)| word.split_at_checked(at))
            .unwrap_or((word, ""));
        [first, second]
    })
}

/// Words and where they stand; an underscore is a letter, as in names.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line.get(at..)?.find(is_letter)?;
        let rest = line.get(start..)?;
        let length = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        at = start + length;
        Some((start, rest.get(..length)?))
    })
}

fn is_among(word: &str, list: &[&str]) -> bool {
    if word.is_ascii() {
        return list.iter().any(|known| known.eq_ignore_ascii_case(word));
    }
    let small = word.to_lowercase();
    list.contains(&small.as_str())
}
