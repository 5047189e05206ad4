//! The work as a log: what was run and what came of it, what was found, what was refused.

use std::collections::HashMap;

use super::listing::few;
use super::pieces::{Piece, Voice};
use crate::anchor::path_end;
use crate::story::{Act, Command, CommandKind, Outcome, Story, prose};
use crate::word_cut::clip;

/// How much a step is worth before what it names counts.
const COMMIT: f64 = 3.0;
const REFUSAL: f64 = 2.0;
/// One with words about it: they choose another way.
const ANSWERED_REFUSAL: f64 = 5.0;
const ANSWER: f64 = 3.0;
const FAILURE: f64 = 1.7;
const EXPLAINED: f64 = 0.6;
const OTHER_FAILURE: f64 = 1.0;
const VERSIONS: f64 = 1.3;
const TOLD_CHECK: f64 = 0.8;
const BARE_CHECK: f64 = 0.12;
const CALL: f64 = 0.9;
const RUN: f64 = 0.7;
const FILES: f64 = 0.6;
const SEARCH: f64 = 0.15;
/// The files that were edited for one request, and how many are named.
const CHANGES: f64 = 1.0;
const EDITED: usize = 5;
/// What somebody else tells is worth this much of what the assistant says itself.
const TOLD: f64 = 0.6;
/// The longest quotation of a command, and of what came of it.
const COMMAND_CHARS: usize = 150;
const OUTCOME_CHARS: usize = 220;
/// The same of what was refused with words about it.
const REFUSED_CHARS: usize = 90;
/// A remedy is quoted where it is this telling, up to this length.
const REMEDY_WORTH: f64 = 1.0;
const REMEDY_CHARS: usize = 180;
/// Between a failure and its remedy.
pub(super) const REMEDY_MARK: &str = " => ";
/// Of a long report, this many sentences are looked at.
const REPORT_UNITS: usize = 120;

/// The lines of the log, in order. `remedy` finds what was said right after a step.
pub(super) fn lines(
    story: &Story,
    remedy: impl Fn(usize) -> Option<String>,
    each: &mut impl FnMut(Piece<'static>),
) {
    let mut last_runs: HashMap<&str, usize> = HashMap::new();
    for (at, deed) in story.deeds.iter().enumerate() {
        if let Act::Ran { command, .. } = &deed.act {
            last_runs.insert(&command.head, at);
        }
    }
    for (at, deed) in story.deeds.iter().enumerate() {
        let position = deed.position;
        let mut add = |voice, worth, place, text: String| {
            each(Piece {
                position,
                voice,
                text: text.into(),
                place,
                worth,
            });
        };
        // Behind what the assistant said in the same message.
        let place = PLACES + at * PLACES;
        match &deed.act {
            Act::Ran { command, outcome } => {
                let is_last = last_runs.get(command.head.as_str()) == Some(&at);
                if let Some((voice, worth, text)) =
                    ran(command, outcome, is_last, || remedy(position))
                {
                    add(voice, worth, place, text);
                }
            }
            Act::Committed { commit, is_pushed } => {
                let pushed = if *is_pushed { ", pushed" } else { "" };
                let text = format!("Commit {} \"{}\"{pushed}", commit.id, commit.subject);
                add(Voice::Deed, COMMIT, place, text);
            }
            Act::Searched { words, hits } if !hits.is_empty() => {
                add(
                    Voice::Deed,
                    SEARCH,
                    place,
                    format!("{words}: {}", hits.join("; ")),
                );
            }
            Act::Refused { what, words } => {
                let (worth, text) = match words.is_empty() {
                    true => (REFUSAL, format!("{what} was refused")),
                    false => (
                        ANSWERED_REFUSAL,
                        format!(
                            "{} was refused; its result says: {words}",
                            clip(what, REFUSED_CHARS)
                        ),
                    ),
                };
                add(Voice::Deed, worth, place, text);
            }
            Act::Answered { what, words } => {
                add(Voice::Deed, ANSWER, place, format!("{what} => {words}"));
            }
            Act::Called { what, result } => {
                let text = match result.is_empty() {
                    true => what.clone(),
                    false => format!("{what} => {result}"),
                };
                add(Voice::Deed, CALL, place, text);
            }
            Act::Told { what, text } => {
                add(Voice::Deed, CALL, place, what.clone());
                prose::units(text, |number, unit| {
                    // What a service returned as JSON says nothing as a sentence.
                    let is_json = unit.text.contains("\",\"") || unit.text.contains("\":");
                    if number <= REPORT_UNITS && !is_json {
                        add(
                            Voice::Report,
                            TOLD * unit.worth,
                            place + number,
                            unit.text.to_owned(),
                        );
                    }
                });
            }
            Act::Searched { .. } | Act::Changed { .. } | Act::Open { .. } => {}
        }
    }
}

/// What was edited for each request: one line behind what was done about it.
pub(super) fn edited(story: &Story, requests: &[usize], each: &mut impl FnMut(Piece<'static>)) {
    let mut ends = requests.iter().copied().chain([usize::MAX]);
    let mut end = ends.next().unwrap_or(usize::MAX);
    let mut names: Vec<&str> = Vec::new();
    let mut last = None;
    let mut flush = |names: &mut Vec<&str>, last: &mut Option<usize>| {
        let Some(position) = last.take() else {
            return;
        };
        let more = match names.len().saturating_sub(EDITED) {
            0 => String::new(),
            more => format!(" (+{})", few(more)),
        };
        names.truncate(EDITED);
        each(Piece {
            position,
            voice: Voice::Deed,
            text: format!("edited {}{more}", names.join(", ")).into(),
            place: usize::MAX,
            worth: CHANGES,
        });
        names.clear();
    };
    for deed in &story.deeds {
        let Act::Changed { paths } = &deed.act else {
            continue;
        };
        while deed.position >= end {
            flush(&mut names, &mut last);
            end = ends.next().unwrap_or(usize::MAX);
        }
        last = Some(deed.position);
        for path in paths {
            let name = path_end(path);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    flush(&mut names, &mut last);
}

/// Numbers of places inside a message, so that steps stand behind words and beside each other.
const PLACES: usize = 1_000;

fn ran(
    command: &Command,
    outcome: &Outcome,
    is_last: bool,
    remedy: impl Fn() -> Option<String>,
) -> Option<(Voice, f64, String)> {
    let head = command.quoted(COMMAND_CHARS);
    let words = clip(&outcome.words, OUTCOME_CHARS);
    if outcome.is_good == Some(false) {
        let said = remedy();
        let worth = match command.kind {
            CommandKind::Check(_) => FAILURE,
            _ => OTHER_FAILURE,
        };
        let worth = worth + if said.is_some() { EXPLAINED } else { 0.0 };
        let said = said.map_or_else(String::new, |said| format!("{REMEDY_MARK}{said}"));
        let words = if words.is_empty() {
            words
        } else {
            format!(": {words}")
        };
        return Some((Voice::Trouble, worth, format!("{head} failed{words}{said}")));
    }
    // Of the same command only the last success is told.
    if !is_last || command.head.is_empty() {
        return None;
    }
    let worth = match command.kind {
        CommandKind::Check(_) if words.len() > 2 => TOLD_CHECK,
        CommandKind::Check(_) => BARE_CHECK,
        CommandKind::Versions => VERSIONS,
        CommandKind::Files => FILES,
        CommandKind::Read | CommandKind::Search => return None,
        CommandKind::Run => RUN,
    };
    // What a forge returns as data, or a bracket that closes it, says nothing.
    let is_data = command.kind == CommandKind::Versions && words.starts_with(['{', '[']);
    let text = match is_data || !words.contains(char::is_alphanumeric) {
        true => head,
        false => format!("{head} -> {words}"),
    };
    Some((Voice::Deed, worth, text))
}

/// The first sentence of a text that tells something, for a failure before it.
pub(super) fn remedy_in(text: &str) -> Option<String> {
    let mut found = None;
    prose::units(text, |number, unit| {
        let is_intent = || prose::is_intent(&unit.text.to_lowercase());
        if found.is_none() && number <= 6 && unit.worth >= REMEDY_WORTH && !is_intent() {
            found = Some(clip(unit.text, REMEDY_CHARS));
        }
    });
    found
}
