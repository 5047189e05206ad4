//! What an assistant says, sentence by sentence and item by item, and how much of a story each is.

mod asked;
mod cues;
mod words;

pub(crate) use asked::asked;

use memchr::memmem;

use self::words::{CUES, FILLERS, INTENTS, POINTING, REASONS, WAITS};
use crate::letters::{begins, is_letter, lower_text};
use crate::lines::lines;

/// A sentence, an item of a list or a row of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit<'a> {
    pub(crate) text: &'a str,
    /// How much it tells: what was found, decided, changed, is open. What only announces the next step tells little.
    pub(crate) worth: f64,
}

/// Longer sentences are cut.
const LONGEST: usize = 420;
/// Shorter ones say nothing by themselves.
const SHORTEST: usize = 12;
/// How code blocks begin that hold commands.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh", "console"];
/// A line of code is told up to this length, and is worth this.
const LONGEST_CODE: usize = 160;
const CODE: f64 = 0.6;
/// Sentences as short as this that name nothing only announce the next one, which gets this part of their worth.
const ANNOUNCING_BYTES: usize = 44;
const ANNOUNCING_WORDS: usize = 7;
const HANDED_ON: f64 = 0.7;
/// What a sentence is worth that says nothing.
const LEAST: f64 = 0.05;

/// What a sentence may be worth by its words, at most.
const MOST: f64 = 6.0;
/// What a cue is worth in an intent, with and without a reason.
const REASONED: f64 = 0.8;
const BARE: f64 = 0.35;

/// The units of a text in order, with their numbers; code blocks are left out.
pub(crate) fn units<'a>(text: &'a str, each: impl FnMut(usize, Unit<'a>)) {
    units_with(Code::LeftOut, text, each);
}

/// Whether the lines of a shell's code blocks are told: in a plan they say what is to be run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Told,
    LeftOut,
}

/// The units of a text in order, with such lines or without.
pub(crate) fn units_with<'a>(code: Code, text: &'a str, mut each: impl FnMut(usize, Unit<'a>)) {
    let mut place = 0;
    let (mut is_code, mut is_shell) = (false, false);
    // What a sentence announces is said by the next one.
    let mut announced = 0.0;
    for line in lines(text) {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            let language = line.trim_start_matches(['`', '~']).trim();
            is_shell = is_code && SHELLS.contains(&language);
            place += 1;
            continue;
        }
        if is_shell && code == Code::Told && (SHORTEST..LONGEST_CODE).contains(&line.len()) {
            place += 1;
            let worth = CODE;
            each(place, Unit { text: line, worth });
        }
        if is_code || line.is_empty() || !line.chars().any(is_letter) {
            continue;
        }
        if is_tag(line) {
            continue;
        }
        let item = without_mark(line);
        for sentence in sentences(item) {
            place += 1;
            if sentence.len() >= SHORTEST {
                let worth = worth(sentence, place == 1, item.len() < line.len());
                let (worth, next) = match is_announcement(sentence) {
                    true => (LEAST, (worth * HANDED_ON).max(announced)),
                    false => (worth + announced, 0.0),
                };
                announced = next;
                each(
                    place,
                    Unit {
                        text: sentence,
                        worth,
                    },
                );
            }
        }
    }
}

/// Whether a sentence only says that something was found: "I see the issue!"
fn is_announcement(sentence: &str) -> bool {
    let names = |one: char| one.is_ascii_digit() || "`/_#=".contains(one);
    sentence.len() < ANNOUNCING_BYTES
        && sentence.split_whitespace().count() <= ANNOUNCING_WORDS
        && !sentence.contains(names)
}

/// A line that only opens or closes something: `<thinking>`.
pub(crate) fn is_tag(line: &str) -> bool {
    let line = line.trim();
    let name = line
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'));
    name.is_some_and(|name| {
        name.chars()
            .all(|one| one.is_ascii_alphanumeric() || "/_-".contains(one))
    })
}

/// A line without the mark of a list, a heading or a row.
pub(crate) fn without_mark(line: &str) -> &str {
    let bare = line.trim_start_matches(['-', '*', '+', '•', '#', '|', '>', ' ']);
    let digits = bare.len()
        - bare
            .trim_start_matches(|one: char| one.is_ascii_digit())
            .len();
    let numbered = bare
        .get(digits..)
        .and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")));
    // What is set in bold begins with the same sign as a list.
    let is_bold = line.starts_with("**");
    match numbered.filter(|_| digits > 0) {
        Some(rest) => rest,
        None if is_bold => line,
        None => bare,
    }
}

/// The sentences of a line; a long one ends where it must.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = sentence_end(rest);
        let (sentence, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some(sentence.trim_end())
    })
}

/// Whether a character that begins with this byte may end a sentence.
const fn may_end(byte: &u8) -> bool {
    matches!(byte, b'.' | b'!' | b'?' | 0xE3 | 0xEF)
}

fn sentence_end(text: &str) -> usize {
    // Most lines are short, and little of them may end a sentence.
    if text.len() <= LONGEST {
        let ends = text.bytes().enumerate().filter(|(_, byte)| may_end(byte));
        let mut ends = ends.filter_map(|(at, _)| ends_at(text, at));
        return ends.next().unwrap_or(text.len());
    }
    let mut space = None;
    for (at, character) in text.char_indices() {
        if at > LONGEST
            && let Some(space) = space
        {
            return space;
        }
        if let Some(end) = ends_at(text, at) {
            return end;
        }
        if character.is_whitespace() {
            space = Some(at);
        }
    }
    text.len()
}

/// Where a sentence ends, if the character at `at` ends it.
fn ends_at(text: &str, at: usize) -> Option<usize> {
    let mut characters = text.get(at..)?.chars();
    let character = characters.next()?;
    let ends = match character {
        '.' | '!' | '?' => characters.next().is_some_and(char::is_whitespace) && at > 3,
        '。' | '！' | '？' => true,
        _ => false,
    };
    let end = at + character.len_utf8();
    // "e.g. this", "1. that": a sentence goes on with a capital, a digit or a sign.
    let goes_on = |behind: &str| behind.trim_start().starts_with(char::is_lowercase);
    (ends && !text.get(end..).is_some_and(goes_on)).then_some(end)
}

fn worth(sentence: &str, is_first: bool, is_item: bool) -> f64 {
    let lower = lower_text(sentence);
    let said = cues::found(&lower);
    let mut worth = 0.0;
    for ((weight, _), hits) in CUES.iter().zip(said.hits) {
        worth += weight * if hits >= 2 { 1.4 } else { f64::from(hits) };
    }
    worth = worth.min(MOST);
    if is_intent(&lower) {
        let has_reason = REASONS.iter().any(|reason| lower.contains(reason));
        worth = match has_reason {
            true => worth * REASONED,
            false => worth * BARE - 0.4,
        };
    }
    if said.offers {
        worth -= 1.5;
    }
    if lower.ends_with(':') {
        worth -= 0.8;
    }
    if lower.ends_with('?') {
        worth -= 0.3;
    }
    if is_item {
        worth += 0.3;
    }
    if is_first {
        worth += 0.3;
    } else if POINTING.iter().any(|word| begins(&lower, word)) {
        worth -= 0.4;
    }
    worth.max(LEAST)
}

/// Whether a sentence, in small letters, only says what comes next.
pub(crate) fn is_intent(lower: &str) -> bool {
    let mut rest = lower;
    for _ in 0..3 {
        let filler = FILLERS.iter().find_map(|filler| {
            let behind = rest.strip_prefix(filler)?;
            behind
                .starts_with([' ', ',', '.', '!', ':', '—'])
                .then_some(behind)
        });
        match filler {
            Some(behind) => {
                rest = behind.trim_start_matches([' ', ',', '.', '!', ':', '—', '–', '-']);
            }
            None => break,
        }
    }
    let mut openings = INTENTS.iter().chain(WAITS);
    openings.any(|opening| begins(rest, opening))
}

/// What a sentence before a call says that the call is for: "Let me check how it is stored:" → "check how it is stored".
pub(crate) fn purpose(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let sentence = sentences(without_mark(line)).last()?;
    let lower = sentence.to_ascii_lowercase();
    let at = INTENTS.iter().filter(|intent| !intent.ends_with(','));
    let at = at
        .filter_map(|intent| {
            Some(memmem::find(lower.as_bytes(), intent.as_bytes())? + intent.len())
        })
        .min()?;
    let purpose = sentence
        .get(at..)?
        .trim()
        .trim_end_matches([':', '.', '…', ' ']);
    let words = purpose.split_whitespace().count();
    (at < 40 && words >= 3 && purpose.len() <= 120).then_some(purpose)
}
