//! What the shape of a line or of a whole message says.

use crate::letters::{begins, lower};

use super::marks::{ANNOUNCED, OUTPUT_TITLES, OWN_HEADINGS, OWN_WORDS, POINTS, SPEAKERS};

/// Characters of a line that are looked at for how it begins.
const BEGINNING_CHARS: usize = 64;

/// The beginning of a line in small letters.
pub(super) fn beginning(line: &str) -> String {
    let line = line.trim_start();
    // Most lines are plain: their bytes are their characters.
    let start = line.as_bytes();
    let start = start.get(..BEGINNING_CHARS).unwrap_or(start);
    if start.is_ascii()
        && let Some(start) = line.get(..start.len())
    {
        return start.to_ascii_lowercase();
    }
    lower(line.chars().take(BEGINNING_CHARS))
}

/// `Tool output:`, `Contents of notes.md:`, `Search results (2):`. "Log everything: no exceptions" is a sentence.
pub(super) fn is_title(beginning: &str) -> bool {
    const BETWEEN: &[&str] = &[
        "of", "for", "from", "in", "the", "a", "s", "by", "with", "tool", "command", "page",
        "file", "server",
    ];
    let titles = OUTPUT_TITLES
        .iter()
        .filter(|title| begins(beginning, title));
    let behind = |title: &&str| beginning.strip_prefix(*title);
    titles.filter_map(behind).any(|behind| {
        let Some((between, _)) = behind.split_once(':') else {
            return false;
        };
        let is_plain = |word: &str| word.chars().all(char::is_alphabetic);
        between
            .split_whitespace()
            .all(|word| !is_plain(word) || BETWEEN.contains(&word))
    })
}

pub(super) fn is_speaker(beginning: &str) -> bool {
    SPEAKERS.iter().any(|mark| begins(beginning, mark))
}

pub(super) fn is_own_heading(beginning: &str) -> bool {
    let bare = beginning.trim_start_matches(['#', ' ', '*', '>']);
    OWN_HEADINGS
        .iter()
        .any(|mark| begins(beginning, mark) || begins(bare, mark.trim_start_matches(['#', ' '])))
}

/// `[execute_command for 'ls'] Result:`, `[tool call 3] Output:`.
pub(super) fn is_bracketed_result(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('[') else {
        return false;
    };
    let Some((_, behind)) = rest.split_once(']') else {
        return false;
    };
    let behind = behind.trim_start().to_lowercase();
    [
        "result", "output", "response", "returned", "error", "stdout", "stderr",
    ]
    .iter()
    .any(|mark| behind.starts_with(mark) && behind.contains(':'))
}

/// A line of a terminal where somebody types commands.
pub(super) fn is_prompt(line: &str) -> bool {
    let line = line.trim_start();
    let is_command = |rest: &str| rest.starts_with(' ') && rest.trim().len() > 1;
    if let Some(rest) = line.strip_prefix(['$', '%', '❯', '➜', '»']) {
        return is_command(rest);
    }
    if line.starts_with(">>> ") || line.starts_with("PS C:\\") || line.starts_with("C:\\") {
        return true;
    }
    // name@host:~/folder$ command
    let Some((before, sign)) = line
        .find([' ', '$', '#'])
        .and_then(|end| line.split_at_checked(end))
    else {
        return false;
    };
    let behind = sign.strip_prefix(['$', '#']);
    before.contains('@') && behind.is_some_and(is_command)
}

/// A line that sets a part apart: nothing but signs, or words between signs.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let sign = |one: char| matches!(one, '-' | '=' | '*' | '_' | '~' | '#' | '+');
    let Some(first) = line.chars().next().filter(|one| sign(*one)) else {
        return false;
    };
    let run = line.chars().take_while(|one| *one == first).count();
    let behind = line.chars().rev().take_while(|one| *one == first).count();
    let is_all = line.chars().all(sign);
    run >= 3 && (is_all || behind >= 3)
}

/// A line that says that what follows is not the user's own.
pub(super) fn announces(line: &str) -> bool {
    let line = line.trim_end();
    let Some(before) = line
        .strip_suffix([':', '：'])
        .or_else(|| line.strip_suffix(":**"))
    else {
        return false;
    };
    // The last sentence of the line is the one that announces.
    let start = before.rfind(['.', '!', '?']).map_or(0, |at| at + 1);
    let sentence = before.get(start..).unwrap_or(before).to_lowercase();
    let is_word = |one: char| one.is_alphanumeric() || one == '\'';
    let words: Vec<&str> = sentence.split(|one| !is_word(one)).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let is_announced = has(ANNOUNCED) && has(POINTS) && !has(OWN_WORDS);
    let unspaced = ["出力", "输出", "日志", "ログ", "エラー", "报错"];
    is_announced || unspaced.iter().any(|word| sentence.contains(word))
}

/// The head of a mail or of an answer of a server.
pub(super) fn is_header(beginning: &str) -> bool {
    [
        "from: ",
        "subject: ",
        "date: ",
        "to: ",
        "content-type: ",
        "received: ",
        "title: ",
        "url: ",
        "source: ",
    ]
    .iter()
    .any(|name| begins(beginning, name))
}

/// A whole message that is data: an object, a list, a page.
pub(super) fn is_data(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with(['{', '[', '<']) {
        return false;
    }
    let is_json = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    let is_object = is_json('{', '}') && text.contains(':');
    let is_list = is_json('[', ']') && (text.contains('{') || text.contains('"'));
    let lower: String = text.chars().take(16).flat_map(char::to_lowercase).collect();
    is_object
        || is_list
        || lower.starts_with("<!doctype")
        || lower.starts_with("<?xml")
        || lower.starts_with("<html")
}

/// The name of the tag that a line opens.
pub(crate) fn opened_tag(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('<')?;
    tag_name(rest).filter(|_| rest.contains('>'))
}

/// The name that stands behind the bracket of a tag.
pub(super) fn tag_name(rest: &str) -> Option<&str> {
    let is_name = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | ':');
    let end = rest.find(|one| !is_name(one)).unwrap_or(rest.len());
    let name = rest.get(..end)?;
    name.starts_with(|one: char| one.is_ascii_alphabetic())
        .then_some(name)
}

/// The fence that a line begins with.
pub(super) fn fence(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    ["```", "~~~"]
        .into_iter()
        .find(|fence| line.starts_with(fence))
}

/// Whether a line says that it and all behind it is shown, not said.
pub(super) fn begins_output(line: &str) -> bool {
    let beginning = beginning(line);
    is_bracketed_result(line)
        || is_speaker(&beginning)
        || is_own_heading(&beginning)
        || is_prompt(line)
        || is_header(&beginning)
        || beginning.starts_with("diff --git")
        || beginning.starts_with("traceback (most")
}
