//! From chosen pieces to lines for a reader.

use std::collections::{BTreeSet, HashSet};

use super::coverage::Coverage;
use super::pieces::{Piece, Voice};
use super::survey::{Candidate, Survey};
use super::{log, unbroken};
use crate::anchor::scan;
use crate::pin::{self, Pin, PinKind};
use crate::summary::{Line, LineKind, Parts, SUPERSEDED};
use crate::word_cut::clip;
use crate::word_cut::first_words;

/// Words by which people say that they chose. They sort lines into a section, no more.
const CHOICES: &[&str] = &[
    "decided",
    "decision",
    "instead of",
    "rather than",
    "go with",
    "going with",
    "agreed",
    "we'll use",
    "we will use",
    "switch to",
    "entschieden",
    "entscheidung",
    "stattdessen",
    "décidé",
    "plutôt que",
    "decidido",
    "en lugar de",
    "決定",
    "代わりに",
    "决定",
    "改用",
];
/// Words before what a later choice replaces.
const REPLACES: &[&str] = &[
    "instead of ",
    "rather than ",
    "no longer ",
    "replaces ",
    "replace ",
    "drop ",
    "forget ",
    "remove every trace of ",
    "vergiss ",
    "oublie ",
    "olvida ",
    "esquece ",
    "statt ",
    "anstelle von ",
    "plutôt que ",
    "au lieu de ",
    "en lugar de ",
    "en vez de ",
];
/// Of these, the ones by which the user takes back what was decided.
const GIVES_UP: &[&str] = &[
    "forget ",
    "remove every trace of ",
    "vergiss ",
    "oublie ",
    "olvida ",
    "esquece ",
];
/// How far behind such words the thing they replace is named, in bytes.
const REPLACED_BYTES: usize = 48;
/// A thing named in more entries than this is what the work is about, not one way of doing it.
const TOPIC: u16 = 40;
/// Pieces are put together up to this size, in bytes.
const LINE_BYTES: usize = 480;
/// A sentence stands as what came of a failure at most so many lines before its own place, and is known by its beginning.
const REMEDY_LINES: usize = 4;
const REMEDY_START_CHARS: usize = 100;
/// Between stretches of one message that do not follow each other.
const GAP: &str = " […] ";

/// Whether a line tells of a choice.
pub(super) fn is_choice(text: &str) -> bool {
    let lower = text.to_lowercase();
    CHOICES.iter().any(|choice| lower.contains(choice))
}

/// Puts what was taken into the parts of the summary, in the order in which it happened.
pub(super) fn arrange(
    coverage: &Coverage<'_, '_>,
    replaced: &Replaced,
    requests: &Requests,
    parts: &mut Parts,
) {
    parts.said.clear();
    parts.record.clear();
    parts.brief.truncate(1);
    let brief = parts.brief.first().map(|line| line.position);
    let mut taken: Vec<&Candidate<'_>> = coverage.taken().collect();
    taken.sort_by_key(|candidate| (candidate.piece.position, candidate.piece.place));
    let mut last: Option<(usize, Voice, LineKind, usize)> = None;
    for candidate in taken {
        let Piece {
            position,
            voice,
            place,
            ..
        } = candidate.piece;
        let kind = kind(candidate, replaced);
        let mut text = unbroken(&candidate.piece.text);
        if voice.is_told() && text.contains("**") {
            text = text.replace("**", "");
        }
        if voice == Voice::Assistant && is_told_as_remedy(&text, parts) {
            continue;
        }
        if voice == Voice::User && is_superseded(&text, candidate, replaced) {
            text = format!("{SUPERSEDED}{text}");
        }
        let before =
            last.filter(|before| (before.0, before.1, before.2) == (position, voice, kind));
        let follows = before.is_some_and(|(.., before)| place == before + 1);
        let is_brief = voice == Voice::Assistant && brief == Some(position);
        let gap = match voice {
            // Items of a plan stay items.
            _ if is_brief => Some("\n"),
            // What may be a rule stands by itself, so that a next round can keep it without the rest.
            _ if candidate.may_bind => None,
            Voice::Deed | Voice::Trouble | Voice::Earlier(_) => None,
            Voice::Listed => Some(" "),
            Voice::User | Voice::Assistant | Voice::Report if follows => Some(" "),
            Voice::User | Voice::Assistant | Voice::Report => Some(GAP),
            _ if follows => Some("\n"),
            _ => None,
        };
        last = Some((position, voice, kind, place)).filter(|_| !candidate.may_bind);
        let lines = match voice.is_said() {
            true => &mut parts.said,
            false if is_brief => &mut parts.brief,
            false => &mut parts.record,
        };
        match (gap.filter(|_| before.is_some()), lines.last_mut()) {
            (Some(gap), Some(line)) if line.text.len() + text.len() < LINE_BYTES => {
                line.text.push_str(gap);
                line.text.push_str(&text);
            }
            _ => lines.push(Line {
                position,
                text,
                kind,
            }),
        }
    }
    parts.requests = requests.unquoted(parts);
}

/// Whether a sentence stands behind one of the last failures as what came of it.
fn is_told_as_remedy(text: &str, parts: &Parts) -> bool {
    let start = first_words(text, REMEDY_START_CHARS).trim_end();
    let last = parts.record.iter().rev().take(REMEDY_LINES);
    let mut remedies = last
        .filter(|line| line.kind == LineKind::Failed)
        .filter_map(|line| line.text.rsplit_once(log::REMEDY_MARK));
    remedies.any(|(_, remedy)| remedy.starts_with(start))
}

/// What the user asked for, request by request: the log is told under them.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Each in short.
    short: Vec<(usize, String)>,
    /// The entries of those that stand together in the place of the newest one.
    together: Vec<usize>,
}

/// The longest quotation of a request that only heads a part of the log.
const REQUEST_CHARS: usize = 90;

/// A request in short. A word that would take all of the room, such as the path of a picture, says least.
fn in_short(request: &str) -> String {
    let is_long = |word: &str| word.chars().count() > REQUEST_CHARS / 2;
    let words = request.split(|one: char| one.is_whitespace() || one.is_control());
    let words = words.filter(|word| !word.is_empty());
    let mut short = String::new();
    let mut chars = 0;
    for word in words.map(|word| if is_long(word) { "[…]" } else { word }) {
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
        chars += word.chars().count();
        // What follows is cut off anyway.
        if chars > REQUEST_CHARS {
            break;
        }
    }
    clip(&short, REQUEST_CHARS)
}

const LATEST: &str = "the latest one, above";

/// What stands for a request that is quoted in a place of its own.
fn pointer(text: &str, parts: &Parts) -> Option<&'static str> {
    let is_quoted = |request: &Option<String>| {
        let request = request.as_ref();
        request.is_some_and(|request| in_short(request) == text)
    };
    match () {
        () if is_quoted(&parts.latest_request) => Some(LATEST),
        () if is_quoted(&parts.task) => Some("the first one, above"),
        () => None,
    }
}

impl Requests {
    pub(super) fn of(typed: &[(usize, String)], together: Vec<usize>) -> Self {
        let short = typed.iter();
        let short = short.map(|(position, text)| (*position, in_short(text)));
        Self {
            short: short.collect(),
            together,
        }
    }

    /// The requests under which the log has something to tell, and of which nothing is quoted there yet.
    fn unquoted(&self, parts: &Parts) -> Vec<Line> {
        let (ends, is_told) = (self.short.iter().skip(1), |line: &&Line| {
            line.kind.is_told()
        });
        let ends = ends.map(|(position, _)| *position).chain([usize::MAX]);
        let told = parts.record.iter().filter(is_told);
        let told: BTreeSet<usize> = told.map(|line| line.position).collect();
        let quoted: HashSet<usize> = parts.said.iter().map(|line| line.position).collect();
        let spans = self.short.iter().zip(ends);
        spans
            .filter(|((position, _), end)| {
                !quoted.contains(position) && told.range(*position..*end).next().is_some()
            })
            .map(|((position, text), _)| {
                let pointer = match self.together.contains(position) {
                    true => Some(LATEST),
                    false => pointer(text, parts),
                };
                Line {
                    position: *position,
                    text: pointer.map_or_else(|| text.clone(), str::to_owned),
                    kind: LineKind::Said,
                }
            })
            .collect()
    }
}

/// Whether the user chose something here that later words replaced.
fn is_superseded(text: &str, candidate: &Candidate<'_>, replaced: &Replaced) -> bool {
    let lower = text.to_lowercase();
    let chooses = is_choice(text) || lower.contains("use ");
    // What replaces something names it too.
    let replaces = REPLACES.iter().any(|cue| lower.contains(cue));
    chooses && !replaces && !text.starts_with(SUPERSEDED) && replaced.names(candidate)
}

fn kind(candidate: &Candidate<'_>, replaced: &Replaced) -> LineKind {
    let is_replaced = || replaced.names(candidate);
    match candidate.piece.voice {
        Voice::User => LineKind::Said,
        Voice::Assistant if is_choice(&candidate.piece.text) => match is_replaced() {
            true => LineKind::Superseded,
            false => LineKind::Decided,
        },
        Voice::Assistant => LineKind::Said,
        Voice::Deed | Voice::Report => LineKind::Done,
        Voice::Written | Voice::Result | Voice::Failure | Voice::Pasted => LineKind::Found,
        Voice::Trouble => LineKind::Failed,
        Voice::Listed => LineKind::Listed,
        Voice::Earlier(LineKind::Decided) if is_replaced() => LineKind::Superseded,
        Voice::Earlier(kind) => kind,
    }
}

/// What later words of the user replaced. What an assistant says that it does "instead of" something is no evidence
/// that a choice was taken back.
#[derive(Default)]
pub(super) struct Replaced {
    /// Keys of what was replaced, with the entry that did so.
    names: Vec<(u64, usize)>,
    /// Of these, what the user told to forget.
    given_up: Vec<(u64, usize)>,
}

impl Replaced {
    pub(super) fn of(survey: &Survey<'_>) -> Self {
        let mut replaced = Self::default();
        for candidate in &survey.candidates {
            if candidate.piece.voice != Voice::User {
                continue;
            }
            for (cue, behind) in behind_cues(&candidate.piece.text) {
                let gives_up = GIVES_UP.contains(&cue);
                let clause = behind.split([',', ';', '.', '(', ':']).next();
                let clause = first_words(clause.unwrap_or_default(), REPLACED_BYTES);
                scan(clause, |word| {
                    let key = word.key();
                    let named = (key, candidate.piece.position);
                    if !word.is_small() && (2..TOPIC).contains(&survey.uses(key)) {
                        replaced.names.push(named);
                    }
                    if gives_up && !word.is_small() {
                        replaced.given_up.push(named);
                    }
                });
            }
        }
        replaced
    }

    /// Whether later words of the user gave up something that an instruction chooses: "forget Redis" takes back "use
    /// Redis". What an instruction forbids stays forbidden.
    pub(super) fn gives_up(&self, pin: &Pin) -> bool {
        let mut is_given_up = false;
        let mut is_first = true;
        scan(&pin.text, |word| {
            let is_name = word.shape.is_anchor() || word.is_marked(is_first);
            is_first = false;
            let key = word.key();
            let later = |(name, at): &(u64, usize)| *name == key && *at > pin.position;
            is_given_up |= is_name && self.given_up.iter().any(later);
        });
        is_given_up && pin.kind != PinKind::Host && !pin::negates(&pin.text)
    }

    /// Whether a later entry replaced what a line names.
    fn names(&self, candidate: &Candidate<'_>) -> bool {
        let mut is_replaced = false;
        scan(&candidate.piece.text, |word| {
            let key = word.key();
            let later = |(name, at): &(u64, usize)| *name == key && *at > candidate.piece.position;
            is_replaced |= self.names.iter().any(later);
        });
        is_replaced
    }
}

/// Whether a word that replaces something may begin with two bytes.
#[inline]
fn begins_cue(first: u8, second: u8) -> bool {
    /// For each letter those that follow it.
    const SECOND: [u32; 26] = {
        let mut second = [0; 26];
        let mut cues = REPLACES;
        while let [cue, rest @ ..] = cues {
            if let [one, other, ..] = cue.as_bytes() {
                // A constant cannot use anything else; all cues begin with two small letters.
                #[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
                {
                    second[(*one - b'a') as usize] |= 1 << (*other - b'a');
                }
            }
            cues = rest;
        }
        second
    };
    let letter = |byte: u8| byte.is_ascii_alphabetic().then(|| (byte | 0x20) - b'a');
    let seconds = letter(first).and_then(|first| SECOND.get(usize::from(first)));
    let second = letter(second);
    seconds
        .zip(second)
        .is_some_and(|(seconds, second)| seconds & 1 << second != 0)
}

/// What stands behind each word that replaces something. A text is read once, and a word is compared only with those
/// that begin like it.
fn behind_cues(text: &str) -> impl Iterator<Item = (&'static str, &str)> {
    let bytes = text.as_bytes();
    let mut next = 0;
    let starts = std::iter::from_fn(move || {
        let rest = bytes.get(next..)?;
        let start = next + rest.iter().position(u8::is_ascii_alphanumeric)?;
        let word = bytes.get(start..)?;
        let end = word.iter().position(|byte| !byte.is_ascii_alphanumeric());
        next = start + end.unwrap_or(word.len());
        Some((start, word))
    });
    starts.filter_map(move |(start, word)| {
        let (&first, &second) = word.first().zip(word.get(1))?;
        begins_cue(first, second).then_some(())?;
        let cue = REPLACES.iter().find(|cue| {
            word.get(..cue.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(cue.as_bytes()))
        })?;
        Some((*cue, text.get(start + cue.len()..)?))
    })
}
