//! What of a span is told: the room is shared out, and what is worth most is taken into each part.

use std::collections::{HashMap, HashSet};

use super::arrange::{Replaced, Requests, arrange};
use super::coverage::Coverage;
use super::listing::Accounts;
use super::pieces::{self, Piece, Voice};
use super::quote::SHORT_ANSWER;
use super::read::Read;
use super::survey::{Candidate, Survey};
use super::{PATH_TOKENS, Source, log};
use crate::message::{Message, Role};
use crate::pin::Pin;
use crate::plan::percent_of;
use crate::story::{Act, Story, prose};
use crate::summary::{Line, Parts};

/// The share of the rest that the files may take that were changed, and that were read, in percent.
const CHANGED_PERCENT: u64 = 24;
const LOOKED_AT_PERCENT: u64 = 7;
/// The share of the rest that rules may take which nobody typed and which do not stay in view, in percent.
const RULES_PERCENT: u64 = 11;
/// The share of the text that names and values by themselves may take, in percent.
const NAMES_PERCENT: u64 = 9;
/// And where there is room left.
const MOST_NAMES_PERCENT: u64 = 15;
/// How much more a thing is worth that the user wants kept in mind, and a file that was changed.
const FOCUS_FACTOR: f64 = 6.0;
const CHANGED_FACTOR: f64 = 2.0;
/// What lines that speak of it may take before all others, in percent of what is left.
const FOCUS_PERCENT: u64 = 35;
/// What the words of the user may take of what is left, in percent: where there is no tool traffic, and
/// where at least half of the span is.
const SAID_PERCENT_OF_CHAT: u64 = 96;
const SAID_PERCENT_OF_WORK: u64 = 30;
/// Of this, what sentences may take that have a word that rules have, in percent of what is left.
const BINDING_PERCENT: u64 = 4;
/// How often room that turned out to be left is filled.
const REFILLS: usize = 2;
/// Less room than this is left empty, in tokens.
const REST_TOKENS: u64 = 16;
/// What a gap inside a line costs, beyond its text.
const GAP_TOKENS: u64 = 3;
/// The last words of the assistant before a request are what came of the one before: how much more they are worth,
/// the first of them and the others.
const FINAL_FIRST: f64 = 1.6;
const FINAL: f64 = 0.8;
const FINAL_UNITS: usize = 3;
const FINAL_BYTES: usize = 40;
/// What it is worth that a question was answered with a word: without it nobody knows to what the user agreed.
const ASKED: f64 = 3.0;
/// What is said first after a refusal with words about it is another way: how much more it is worth.
const TURNED: f64 = 2.4;
const TURNED_UNITS: usize = 5;
/// What is said so many entries after a failure may tell what came of it.
const REMEDY_ENTRIES: usize = 3;
/// What a line of an earlier summary is worth, beside what it names: it was worth its room before.
const EARLIER: f64 = 1.2;

/// What came after last words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Final<'a> {
    /// A short answer, which says nothing without what was asked.
    Asked(&'a str),
    /// Anything else.
    Said,
}

/// What lines are arranged by.
struct Picks<'a> {
    requests: &'a Requests,
    replaced: &'a Replaced,
    given_up: &'a [Pin],
    /// What can be told of the files that were changed.
    changed: &'a [Accounts],
    /// And of those that were only read.
    looked_at: &'a [Accounts],
}

impl Source<'_> {
    /// Fills the room that is left with lines of the user and of the work.
    pub(super) fn choose(&self, read: &Read, parts: &mut Parts, room_tokens: u64) {
        let Read {
            earlier,
            binding,
            story,
            ..
        } = read;
        let mut survey = self.survey(read);
        survey.bind(binding);
        self.compose(read, &mut survey);
        if let Some(focus) = self.focus {
            survey.prefer(focus, FOCUS_FACTOR);
        }
        let changed = self.changed(story, earlier, &survey);
        for file in &changed {
            survey.prefer(&file.path, CHANGED_FACTOR);
        }
        let replaced = Replaced::of(&survey);
        let (given_up, pins): (Vec<Pin>, Vec<Pin>) = std::mem::take(&mut parts.pins)
            .into_iter()
            .partition(|pin| replaced.gives_up(pin));
        parts.pins = pins;
        let mut coverage = Coverage::new(&survey);
        self.tell(parts, &mut coverage);
        for pin in &given_up {
            coverage.tell(&pin.text);
        }
        let mut left = room_tokens;
        parts.rules = self.rule_lines(&read.rules, &survey, percent_of(left, RULES_PERCENT));
        for line in &parts.rules {
            coverage.tell(&line.text);
        }
        parts.changed = self.list(&changed, &mut coverage, percent_of(left, CHANGED_PERCENT));
        let looked_at = match self.dress.lists_files() {
            true => Vec::new(),
            false => self.looked_at(story, &survey),
        };
        let room = percent_of(left, LOOKED_AT_PERCENT);
        self.list_more(&looked_at, &mut parts.read, &mut coverage, room);
        let listed = parts.changed.iter().chain(&parts.read).chain(&parts.rules);
        left = left.saturating_sub(listed.map(|line| self.cost(&line.text)).sum());
        let together = self.told_together(read, parts.latest_request.as_ref());
        let requests = Requests::of(&read.typed, together);
        let picks = Picks {
            requests: &requests,
            replaced: &replaced,
            given_up: &given_up,
            changed: &changed,
            looked_at: &looked_at,
        };
        self.fill(&survey, &mut coverage, &picks, parts, left);
    }

    /// Takes what is worth most into each part, then into the room that turned out to be left.
    fn fill(
        &self,
        survey: &Survey<'_>,
        coverage: &mut Coverage<'_, '_>,
        picks: &Picks<'_>,
        parts: &mut Parts,
        room_tokens: u64,
    ) {
        let cost = |candidate: &Candidate<'_>| match candidate.piece.voice {
            Voice::Listed => self.meter.text(&candidate.piece.text) + PATH_TOKENS,
            Voice::User | Voice::Assistant | Voice::Report => {
                self.cost(&candidate.piece.text) + GAP_TOKENS
            }
            _ => self.cost(&candidate.piece.text),
        };
        let binds = |candidate: &Candidate<'_>| candidate.may_bind;
        // What stands in the place of a request is not told again.
        let requests = parts.task.iter().chain(&parts.latest_request);
        let requests: Vec<String> = requests.cloned().collect();
        let is_quoted = |candidate: &Candidate<'_>| {
            let text = candidate.piece.text.as_ref();
            requests.iter().any(|request| request.contains(text))
        };
        let is_said =
            |candidate: &Candidate<'_>| candidate.piece.voice.is_said() && !is_quoted(candidate);
        let brief = parts.brief.first().cloned().unwrap_or_default();
        let is_told = |candidate: &Candidate<'_>| {
            let Piece {
                position,
                voice,
                text,
                ..
            } = &candidate.piece;
            let is_quoted = *position == brief.position && brief.text.contains(text.as_ref());
            voice.is_told() && !is_quoted
        };
        let is_name = |candidate: &Candidate<'_>| {
            !candidate.piece.voice.is_said() && !candidate.piece.voice.is_told()
        };

        let mut free = room_tokens.saturating_sub(parts.heading_tokens(self.meter));
        if self.focus.is_some() {
            let speaks = |candidate: &Candidate<'_>| candidate.is_focused && !is_quoted(candidate);
            let room = percent_of(free, FOCUS_PERCENT);
            free -= room - coverage.fill(speaks, cost, room);
        }
        let said = match parts.written {
            Some(_) => percent_of(free, SAID_PERCENT_OF_WORK / 2),
            None => percent_of(free, said_percent(survey)),
        };
        let bound = percent_of(free, BINDING_PERCENT);
        let said_left = said.saturating_sub(bound - coverage.fill(binds, cost, bound));
        // All that he typed, if that is little; else what tells most.
        let is_users = |candidate: &Candidate<'_>| {
            candidate.piece.voice == Voice::User && !is_quoted(candidate)
        };
        let said_left = coverage.take_all(is_users, cost, said_left);
        let said_left = coverage.fill(is_said, cost, said_left);
        // Beside a story of somebody else, names and values that it lacks come first.
        let names = match parts.written {
            Some(_) => free / 2,
            None => percent_of(self.budget_tokens, NAMES_PERCENT).min(free / 3),
        };
        let told = free.saturating_sub(said - said_left + names);
        coverage.fill(is_told, cost, told);
        coverage.fill(is_name, cost, names);
        // What lines cost apart is more than what they cost together: the difference is used too. Where the story has
        // no more to tell, names and values get what is left.
        for _ in 0..REFILLS {
            let left = self.arranged(coverage, picks, parts);
            if left < REST_TOKENS {
                break;
            }
            let left = coverage.fill(is_told, cost, left);
            let left = coverage.fill(is_said, cost, left);
            let left = self.list_more(picks.changed, &mut parts.changed, coverage, left);
            let left = self.list_more(picks.looked_at, &mut parts.read, coverage, left);
            coverage.fill(is_name, cost, left.min(self.names_left(parts)));
        }
        // Headings of requests come on top of what lines cost.
        while self.arranged(coverage, picks, parts) == 0 {
            let used = self.meter.text(&self.dress.apply(parts));
            let over = used.saturating_sub(self.budget_tokens);
            if over == 0 || !coverage.give_up(over) {
                break;
            }
        }
    }

    /// Takes more of what can be told of files; the room that is left then.
    fn list_more(
        &self,
        files: &[Accounts],
        lines: &mut Vec<Line>,
        coverage: &mut Coverage<'_, '_>,
        room_tokens: u64,
    ) -> u64 {
        if files.is_empty() {
            return room_tokens;
        }
        let before = self.listed_tokens(files, lines);
        let listed = self.list(files, coverage, before + room_tokens);
        let now = self.listed_tokens(files, &listed);
        let Some(more) = now.checked_sub(before).filter(|more| *more <= room_tokens) else {
            return room_tokens;
        };
        *lines = listed;
        room_tokens - more
    }

    /// What names and values may still take. Beside a text of somebody else, and where nothing was done but talk, they
    /// are what there is to tell.
    fn names_left(&self, parts: &Parts) -> u64 {
        if parts.written.is_some() || parts.changed.is_empty() {
            return u64::MAX;
        }
        let names = parts.record.iter().filter(|line| !line.kind.is_told());
        let used: u64 = names.map(|line| self.cost(&line.text)).sum();
        percent_of(self.budget_tokens, MOST_NAMES_PERCENT).saturating_sub(used)
    }

    /// Puts what was taken so far into the parts; the room that is left then.
    fn arranged(&self, coverage: &Coverage<'_, '_>, picks: &Picks<'_>, parts: &mut Parts) -> u64 {
        arrange(coverage, picks.replaced, picks.requests, parts);
        parts.given_up(picks.given_up);
        let used = self.meter.text(&self.dress.apply(parts));
        self.budget_tokens
            .saturating_sub(used + parts.heading_tokens(self.meter))
    }

    /// All that may be quoted, with what it names.
    fn survey<'s>(&'s self, read: &'s Read) -> Survey<'s> {
        let Read { earlier, story, .. } = read;
        let mut survey = Survey::focused_on(self.focus);
        let position = self.first_position();
        let mut add = |position, voice, text: &'s str| {
            survey.add(Piece {
                position,
                voice,
                text: text.into(),
                place: 0,
                worth: EARLIER,
            });
        };
        for text in &earlier.said {
            add(position, Voice::User, text);
        }
        for (kind, text) in &earlier.record {
            add(position, Voice::Earlier(*kind), text);
        }
        let finals = self.finals(&read.typed);
        let turned = self.turned(story);
        for (position, message) in self.entries() {
            let last = finals.get(&position).copied();
            let has_turned = turned.contains(&position);
            let asked = match last {
                Some(Final::Asked(answer)) => message
                    .spoken()
                    .last()
                    .map(|text| prose::asked(text, answer)),
                _ => None,
            };
            let asked = asked.unwrap_or_default();
            let mut units = 0;
            pieces::of(position, message, &mut |mut piece| {
                if piece.voice == Voice::Assistant {
                    units += 1;
                    piece.worth += match last {
                        Some(_) if asked.contains(&piece.text.as_ref()) => ASKED,
                        // Pleasantries say nothing of what came of it.
                        _ if piece.text.len() < FINAL_BYTES => 0.0,
                        Some(_) if units <= FINAL_UNITS => FINAL_FIRST,
                        Some(_) => FINAL,
                        None if has_turned && units <= TURNED_UNITS && !announces(&piece.text) => {
                            TURNED
                        }
                        None => 0.0,
                    };
                    if let Some(text) = without_addresses(&piece.text) {
                        piece.text = text.into();
                    }
                    if let Some(folder) = story.folder()
                        && piece.text.contains(folder)
                    {
                        piece.text = story.told(&piece.text).into();
                    }
                }
                survey.add(piece);
            });
        }
        for (position, text) in self.omitted {
            pieces::lines(text, &mut 0, &mut |text, place| {
                survey.add(Piece {
                    position: *position,
                    voice: Voice::Result,
                    text: text.into(),
                    place,
                    worth: 0.0,
                });
            });
        }
        survey
    }

    /// Adds the lines of the log to what may be quoted.
    fn compose(&self, read: &Read, survey: &mut Survey<'_>) {
        let story = &read.story;
        let said: Vec<(usize, &Message)> = self
            .entries()
            .filter(|(_, message)| message.role == Role::Assistant)
            .filter(|(_, message)| message.spoken().any(|text| !text.trim().is_empty()))
            .collect();
        let remedy = |position: usize| {
            let next = said.partition_point(|(at, _)| *at <= position);
            let (at, message) = said.get(next)?;
            let is_near = *at <= position + REMEDY_ENTRIES;
            let text = message.spoken().next().filter(|_| is_near)?;
            log::remedy_in(text).map(|remedy| story.told(&remedy))
        };
        log::lines(story, remedy, &mut |piece| survey.add(piece));
        let requests: Vec<usize> = read.typed.iter().map(|(position, _)| *position).collect();
        log::edited(story, &requests, &mut |piece| survey.add(piece));
    }

    /// The entries in which the assistant said its last words before a request, and at the end.
    fn finals<'t>(&self, typed: &'t [(usize, String)]) -> HashMap<usize, Final<'t>> {
        let typed: HashMap<usize, &'t str> = typed
            .iter()
            .map(|(position, text)| (*position, text.as_str()))
            .collect();
        let mut finals = HashMap::new();
        let mut last = None;
        for (position, message) in self.entries() {
            if let Some(text) = typed.get(&position) {
                let text = text.trim();
                let is_short = text.len() <= SHORT_ANSWER && !text.ends_with('?');
                let of = match is_short {
                    true => Final::Asked(text),
                    false => Final::Said,
                };
                finals.extend(last.take().map(|last| (last, of)));
            } else if message.role == Role::Assistant && message.spoken().next().is_some() {
                last = Some(position);
            }
        }
        finals.extend(last.map(|last| (last, Final::Said)));
        finals
    }

    /// The entries in which the assistant spoke first after something was refused with words about it.
    fn turned(&self, story: &Story) -> HashSet<usize> {
        let mut refused = story.deeds.iter().filter_map(|deed| match &deed.act {
            Act::Refused { words, .. } if !words.is_empty() => Some(deed.position),
            _ => None,
        });
        let mut next = refused.next();
        let mut turned = HashSet::new();
        for (position, message) in self.entries() {
            let is_behind = next.is_some_and(|at| at < position);
            if is_behind && message.role == Role::Assistant && message.spoken().next().is_some() {
                turned.insert(position);
                next = refused.find(|at| *at >= position);
            }
        }
        turned
    }

    /// What stands in the view anyway need not be told again.
    fn tell(&self, parts: &Parts, coverage: &mut Coverage<'_, '_>) {
        for (_, message) in self.kept {
            for text in texts(message) {
                coverage.tell(text);
            }
        }
        for pin in &parts.pins {
            coverage.tell(&pin.text);
        }
        let texts = parts.task.iter().chain(&parts.latest_request);
        for text in texts.chain(&parts.written) {
            coverage.tell(text);
        }
        let lines = parts
            .last_words
            .iter()
            .chain(&parts.brief)
            .chain(&parts.standing)
            .chain(&parts.newest);
        for line in lines.chain(&parts.named) {
            coverage.tell(&line.text);
        }
    }
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message
        .spoken()
        .chain(message.calls().map(|call| call.arguments.as_ref()))
        .chain(message.results().flat_map(|result| result.texts()))
}

/// What the words of the user may take: the more, the less of the span is tool traffic.
fn said_percent(survey: &Survey<'_>) -> u64 {
    let tool_percent = survey.tool_bytes * 100 / survey.bytes.max(1);
    let talk_percent = 50_u64.saturating_sub(tool_percent);
    SAID_PERCENT_OF_WORK + (SAID_PERCENT_OF_CHAT - SAID_PERCENT_OF_WORK) * talk_percent / 50
}

/// Whether a sentence only says what comes next.
fn announces(text: &str) -> bool {
    text.ends_with(':') || prose::is_intent(&text.to_lowercase())
}

/// A text without the addresses behind links whose names end alike: `[#7](https://host/issues/7)` says `#7`.
fn without_addresses(text: &str) -> Option<String> {
    if !text.contains("](") {
        return None;
    }
    let mut parts = text.split("](");
    let mut told = String::new();
    let mut name_of = parts.next().filter(|first| first.len() < text.len())?;
    let mut is_changed = false;
    for part in parts {
        let (before, name) = name_of.rsplit_once('[').unwrap_or((name_of, ""));
        let end = part.find(')').unwrap_or(part.len());
        let (address, behind) = part.split_at_checked(end).unwrap_or((part, ""));
        let last = address.trim_end_matches('/').rsplit(['/', '#']).next();
        let is_named = last.is_some_and(|last| !last.is_empty() && name.contains(last));
        if is_named && name_of.contains('[') && !behind.is_empty() {
            told.push_str(before);
            told.push_str(name);
            name_of = behind.get(1..).unwrap_or_default();
            is_changed = true;
        } else {
            told.push_str(name_of);
            told.push_str("](");
            name_of = part;
        }
    }
    told.push_str(name_of);
    is_changed.then_some(told)
}
