//! What a single call or line is.

use crate::files::{name_words, plain_name, strings_under};
use crate::message::Call;
use crate::word_cut::clip;

/// Words in the names of tools that ask the user.
const QUESTIONS: &[&str] = &["ask", "question", "questions", "askuserquestion"];
/// How results begin when somebody said no.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed",
    "The user rejected",
    "User rejected",
    "The user declined",
];
/// The longest quotation of what a call says that it is for.
const DESCRIPTION_CHARS: usize = 90;

pub(super) fn is_question(call: &Call) -> bool {
    let words = name_words(&call.name);
    words.iter().any(|word| QUESTIONS.contains(&word.as_str()))
}

pub(super) fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

pub(super) fn is_refused(text: &str) -> bool {
    REFUSALS.iter().any(|opening| text.starts_with(opening))
}

/// The command line of a call, if it runs one.
pub(crate) fn command_line(call: &Call) -> Option<String> {
    let is_command = |name: &str| matches!(plain_name(name).as_str(), "command" | "cmd" | "script");
    let strings = strings_under(&call.arguments, is_command);
    let lines: Vec<&str> = strings.iter().map(|(_, value)| value.as_ref()).collect();
    match lines.as_slice() {
        [] => None,
        // `["bash", "-lc", "make test"]`
        [_, flag, line] if flag.starts_with('-') => Some((*line).to_owned()),
        lines => Some(lines.join(" ")),
    }
}

/// A line that a search shows before or after what it found: `a.go-12-text`, `12-text`.
pub(crate) fn is_around(line: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = line.split('-');
    let first = parts.next().unwrap_or_default();
    if is_number(first) {
        // A date begins like it.
        return parts
            .next()
            .is_some_and(|behind| !behind.starts_with(|one: char| one.is_ascii_digit()));
    }
    let end = first.len() + 1;
    let is_path = |end: usize| {
        line.get(..end)
            .is_some_and(|path| !path.contains([':', ' ']))
    };
    let mut at = end;
    for part in parts.take(8) {
        if is_number(part)
            && is_path(at)
            && line
                .get(at + part.len()..)
                .is_some_and(|rest| rest.starts_with('-'))
        {
            return true;
        }
        at += part.len() + 1;
    }
    false
}

pub(super) fn is_file_name(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_ending = name
        .rsplit_once('.')
        .is_some_and(|(name, ending)| !name.is_empty() && (1..=5).contains(&ending.len()));
    has_ending && !word.starts_with('-') && !word.contains(['\'', '"', '*', '$', ','])
}

/// What a call says by itself that it is for.
pub(super) fn described(call: &Call) -> Option<String> {
    let is_description =
        |name: &str| matches!(plain_name(name).as_str(), "description" | "justification");
    let strings = strings_under(&call.arguments, is_description);
    let (_, text) = strings.first()?;
    Some(clip(text, DESCRIPTION_CHARS)).filter(|text| !text.is_empty())
}
