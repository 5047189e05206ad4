//! What an assistant says, sentence by sentence and item by item, and how much of a story each is.

mod asked;
mod cues;

pub(crate) use asked::asked;

use crate::letters::begins;

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
/// Sentences as short as this that name nothing only announce the next one, which gets this part of their worth.
const ANNOUNCING_BYTES: usize = 44;
const ANNOUNCING_WORDS: usize = 7;
const HANDED_ON: f64 = 0.7;
/// What a sentence is worth that says nothing.
const LEAST: f64 = 0.05;

/// How much words say of what a sentence is, the most telling first.
const CUES: &[(f64, &[&str])] = &[
    (
        3.0,
        &[
            "root cause",
            "culprit",
            "the problem",
            "the issue",
            "the bug",
            "the fix",
            "the reason",
            "the real",
            "the actual",
            "ursache",
            "das problem",
            "la causa",
            "el problema",
            "le problème",
            "原因",
            "根本",
        ],
    ),
    (
        1.8,
        &[
            "turns out",
            "found ",
            "confirm",
            "discovered",
            "this means",
            "decid",
            "decision",
            "chose ",
            "instead",
            "rather than",
            "went with",
            "trade-off",
            "approach",
            "recommend",
            "option ",
            "remaining",
            "left to",
            "todo",
            "next step",
            "pending",
            "still ",
            "not yet",
            "blocked",
            "follow-up",
            "open question",
            "uncommitted",
            "unpushed",
            "in progress",
            "good point",
            "good catch",
            "fair point",
            "you're right",
            "you’re right",
            "simpler",
            "overkill",
            "complexity",
            "entschieden",
            "stattdessen",
            "decidido",
            "en lugar",
            "décidé",
            "au lieu",
            "決定",
            "决定",
            "改用",
        ],
    ),
    (
        1.5,
        &[
            "because",
            "due to",
            "caused by",
            "so that",
            "which means",
            "as a result",
            "fixed",
            "resolved",
            "implemented",
            "added",
            "removed",
            "renamed",
            "closed",
            "replaced",
            "created",
            "changed",
            "updated",
            "moved",
            "refactored",
            "extracted",
            "merged",
            "committed",
            "pushed",
            "weil ",
            "porque",
            "parce que",
            "deshalb",
        ],
    ),
    (
        1.4,
        &[
            "must ",
            "never",
            "always",
            "should not",
            "shouldn't",
            "do not ",
            "don't ",
            "required",
            "requirement",
            "constraint",
            "convention",
            "only ",
            "no longer",
            "not allowed",
            "muss ",
            "niemals",
            "siempre",
            "nunca",
            "jamais",
            "toujours",
            "必须",
            "不要",
            "必ず",
        ],
    ),
    (
        0.9,
        &[
            "doesn't",
            "does not",
            "didn't",
            "cannot",
            "can't",
            "not supported",
            "isn't",
            "fail",
            "broken",
            "error",
            "missing",
            "bug",
            "regression",
            "wrong",
            "passes",
            "passed",
            "verified",
            "works",
            "tests pass",
            "green",
            "is clean",
            "conflict",
            "draft",
            "ahead of",
            "consistent",
            "note that",
            "important",
            "caveat",
            "expects",
            "default",
            "assum",
            "backward",
        ],
    ),
];
/// What a sentence may be worth by its words, at most.
const MOST: f64 = 6.0;
/// How sentences begin that only say what comes next, in small letters.
const INTENTS: &[&str] = &[
    "let me",
    "let's",
    "let’s",
    "i'll",
    "i’ll",
    "i will",
    "i'm going to",
    "i need to check",
    "i need to look",
    "i need to read",
    "i need to see",
    "i need to find",
    "now let me",
    "now i'll",
    "now i need",
    "next,",
    "first, let",
    "now,",
    "ich werde",
    "lass mich",
    "voy a",
    "je vais",
];
/// The same of those that only say what goes on.
const WAITS: &[&str] = &[
    "i'm checking",
    "i’m checking",
    "i'm waiting",
    "i’m waiting",
    "i'm running",
    "i’m running",
    "i'm reading",
    "i’m reading",
    "still running",
    "still waiting",
    "waiting for",
];
/// Words behind which an intent says why.
const REASONS: &[&str] = &[
    "because",
    "rather than",
    "instead of",
    "so that",
    "to avoid",
    "otherwise",
    "weil ",
    "porque",
    "parce que",
];
/// What a cue is worth in an intent, with and without a reason.
const REASONED: f64 = 0.8;
const BARE: f64 = 0.35;
/// Words before what is said, which say nothing.
const FILLERS: &[&str] = &[
    "ok",
    "okay",
    "good",
    "great",
    "perfect",
    "excellent",
    "sure",
    "right",
    "alright",
    "now",
    "so",
    "yes",
    "got it",
    "also",
    "finally",
    "certainly",
    "and",
    "then",
];
const OFFERS: &[&str] = &[
    "want me to",
    "would you like",
    "shall i",
    "should i",
    "let me know",
    "do you want",
    "feel free",
    "anything else",
    "happy to",
    "hope this helps",
];
/// Words that point at the sentence before.
const POINTING: &[&str] = &[
    "this ", "that ", "it ", "these ", "those ", "they ", "both ",
];

/// The units of a text in order, with their numbers; code blocks are left out.
pub(crate) fn units<'a>(text: &'a str, mut each: impl FnMut(usize, Unit<'a>)) {
    let mut place = 0;
    let mut is_code = false;
    // What a sentence announces is said by the next one.
    let mut announced = 0.0;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            place += 1;
            continue;
        }
        if is_code || line.is_empty() || line.chars().all(|one| !one.is_alphanumeric()) {
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
    let words = sentence.split_whitespace().count();
    sentence.len() < ANNOUNCING_BYTES && words <= ANNOUNCING_WORDS && !sentence.contains(names)
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

fn sentence_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let mut space = None;
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if at > LONGEST
            && let Some(space) = space
        {
            return space;
        }
        let ends = match character {
            '.' | '!' | '?' => next.is_some_and(char::is_whitespace) && at > 3,
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            let end = at + character.len_utf8();
            // "e.g. this", "1. that": a sentence goes on with a capital, a digit or a sign.
            let behind = text.get(end..).unwrap_or_default().trim_start();
            if !behind.starts_with(|one: char| one.is_lowercase()) {
                return end;
            }
        }
        if character.is_whitespace() {
            space = Some(at);
        }
    }
    text.len()
}

fn worth(sentence: &str, is_first: bool, is_item: bool) -> f64 {
    let lower = sentence.to_lowercase();
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
        .filter_map(|intent| Some(lower.find(intent)? + intent.len()))
        .min()?;
    let purpose = sentence
        .get(at..)?
        .trim()
        .trim_end_matches([':', '.', '…', ' ']);
    let words = purpose.split_whitespace().count();
    (at < 40 && words >= 3 && purpose.len() <= 120).then_some(purpose)
}
