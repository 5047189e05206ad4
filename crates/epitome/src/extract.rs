//! The built-in summariser: verbatim lines chosen under a budget. No model, no randomness.

mod arrange;
mod coverage;
mod listing;
mod log;
mod named;
mod pieces;
mod read;
mod standing;
mod survey;
mod todo;
mod weight;
mod written;

use std::collections::HashSet;

use crate::dress::Dress;
use crate::haystack::Haystack;
use crate::log::Log;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::plan::percent_of;
use crate::provenance;
use crate::reference::{layer, micro, spacebot};
use crate::signature;
use crate::story::{Story, prose};
use crate::summary::{BULLET_TOKENS, Earlier, Line, LineKind, Parts, Summary};
use crate::word_cut::{first_words, last_words};

use arrange::{Replaced, Requests, arrange};
use coverage::Coverage;
use pieces::{Piece, Voice};
use read::Read;
use survey::{Candidate, Survey};

/// What lines are arranged by.
struct Picks<'a> {
    requests: &'a Requests,
    replaced: &'a Replaced,
    given_up: &'a [Pin],
}

/// What the built-in summariser works from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The entries to be summarised, with their positions.
    pub span: &'a [(usize, &'a Message)],
    /// The log they are entries of: what it knows of them is not read again.
    pub log: Option<&'a Log>,
    /// The entry before them, where a summary may stand inside it.
    pub before: Option<&'a Message>,
    /// Whether the first request has to be carried in the summary.
    pub carries_task: bool,
    /// Whether the newest request of the user is inside the span.
    pub holds_latest_request: bool,
    /// The messages that stay in view beside the summary: what they say need not be told again.
    pub kept: &'a [&'a Message],
    /// What is left out of tool results that stay, with the positions of their entries.
    pub omitted: &'a [(usize, &'a str)],
    /// Where the turn begins that goes on behind the span, for a design that tells its beginning by itself.
    pub turn_start: Option<usize>,
    /// What the user wants kept in mind.
    pub focus: Option<&'a str>,
    /// How the text is dressed for its place.
    pub dress: Dress<'a>,
    /// What instructions in force may take whatever else is there.
    pub pins_tokens: u64,
    /// What all that is pinned may take; the results that the user's orders name get a part of it.
    pub pin_budget_tokens: u64,
    /// What the host wants kept, word for word.
    pub host_pins: &'a [Pin],
    /// Sentences that are no pins, whatever they read like: the user dropped them.
    pub dropped_pins: &'a [String],
    /// What the text may cost.
    pub budget_tokens: u64,
    /// How it is counted.
    pub meter: Meter,
}

/// The share of the budget that instructions may take, in percent: they come before everything else.
const PINS_PERCENT: u64 = 66;
/// The share of the rest that the first and the newest request may take, each, in percent.
const REQUEST_PERCENT: u64 = 13;
/// The same where nothing was done but talk: every message is a request there.
const REQUEST_PERCENT_OF_CHAT: u64 = 5;
/// What either may take where that is little, in tokens.
const REQUEST_TOKENS: u64 = 120;
/// The longest quotation of the first or the newest request.
const REQUEST_CHARS: usize = 4_000;
/// The longest quotation of the assistant's last words.
const LAST_WORDS_CHARS: usize = 600;
/// The share of the rest that last words and where the work stands may take, in percent.
const CLOSE_PERCENT: u64 = 6;
const STANDING_PERCENT: u64 = 20;
/// The share of the rest that rules may take which the client sends along and which do not stay in view, in percent.
const RULES_PERCENT: u64 = 9;
/// The longest of them, in bytes.
const RULE_BYTES: usize = 400;
/// The share of the rest that the newest steps may take, in percent.
const NEWEST_PERCENT: u64 = 10;
/// The share of the rest that the files may take that were changed, and that were read, in percent.
const CHANGED_PERCENT: u64 = 24;
const LOOKED_AT_PERCENT: u64 = 7;
/// The share of the text that names and values by themselves may take, in percent.
const NAMES_PERCENT: u64 = 14;
/// How much more a thing is worth that the user wants kept in mind, and a file that was changed.
const FOCUS_FACTOR: f64 = 6.0;
const CHANGED_FACTOR: f64 = 2.0;
/// What the words of the user may take of what is left, in percent: where there is no tool traffic, and
/// where at least half of the span is.
const SAID_PERCENT_OF_CHAT: u64 = 96;
const SAID_PERCENT_OF_WORK: u64 = 30;
/// Of this, what sentences may take that have a word that rules have, in percent of what is left.
const BINDING_PERCENT: u64 = 4;
/// Where a quotation was cut in the middle; its end gets this part of it.
const CUT: &str = " […] ";
const END_PART: usize = 4;
/// A shorter quotation of a longer text says nothing, in bytes.
const SHORTEST_QUOTE: usize = 8;
/// How often room that turned out to be left is filled.
const REFILLS: usize = 3;
/// Less room than this is left empty, in tokens.
const REST_TOKENS: u64 = 16;
/// What a path costs in a list, and a gap inside a line, beyond their text.
const PATH_TOKENS: u64 = 1;
const GAP_TOKENS: u64 = 3;
/// The last words of the assistant before a request are what came of the one before: how much more they are worth,
/// the first of them and the others.
const FINAL_FIRST: f64 = 1.6;
const FINAL: f64 = 0.8;
const FINAL_UNITS: usize = 3;
/// What is said so many entries after a failure may tell what came of it.
const REMEDY_ENTRIES: usize = 3;
/// What a line of an earlier summary is worth, beside what it names: it was worth its room before.
const EARLIER: f64 = 1.2;

impl Source<'_> {
    /// Writes the summary. Its text never costs more than the budget; where the budget is too small even
    /// for the frame, only the frame is left.
    #[must_use]
    pub fn summarise(&self) -> Summary {
        self.write(&self.read())
    }

    /// Writes the summary of what was read.
    pub(crate) fn write(&self, read: &Read) -> Summary {
        let Read { earlier, story, .. } = read;
        let (mut parts, mut left) = self.opening(read);
        parts.last_words = self.last_words(percent_of(left, CLOSE_PERCENT));
        parts.standing = self.standing(story, earlier, percent_of(left, STANDING_PERCENT));
        parts.newest = self.newest_steps(story, percent_of(left, NEWEST_PERCENT));
        parts.rules = self.client_rules(percent_of(left, RULES_PERCENT));
        let close = parts
            .last_words
            .iter()
            .chain(&parts.standing)
            .chain(&parts.newest)
            .chain(&parts.rules);
        left = left.saturating_sub(close.map(|line| self.cost(&line.text)).sum());
        if self.dress.lists_files() {
            let listed = self.list_files(earlier, &mut parts, left);
            left = left.saturating_sub(listed);
        }
        self.choose(read, &mut parts, left);
        // The beginning of the turn that goes on is told by itself.
        let is_turn = |line: &Line| self.turn_start.is_some_and(|start| line.position >= start);
        let (turn, history) = std::mem::take(&mut parts.record)
            .into_iter()
            .partition(is_turn);
        (parts.turn, parts.record) = (turn, history);
        for lines in [&mut parts.said, &mut parts.requests] {
            without_pins(lines, &parts.pins);
            lines.retain(|line| !line.text.is_empty());
        }

        self.cut_to_budget(&mut parts);
        let lines = parts.lines();
        let mut sources: Vec<usize> = lines
            .iter()
            .map(|line| line.position)
            .filter(|position| self.is_in_span(*position))
            .chain(parts.pins.iter().filter_map(Pin::entry))
            .collect();
        sources.sort_unstable();
        sources.dedup();
        Summary {
            text: self.dress.apply(&parts),
            sources,
            lines,
        }
    }

    /// Drops lines until the text fits, those that say least first: what forms and headings take is known only now.
    fn cut_to_budget(&self, parts: &mut Parts) {
        loop {
            let used = self.meter.text(&self.dress.apply(parts));
            let over = used.saturating_sub(self.budget_tokens);
            let mut freed = 0;
            while freed < over {
                let lists = [
                    &mut parts.record,
                    &mut parts.turn,
                    &mut parts.newest,
                    &mut parts.read,
                    &mut parts.rules,
                    &mut parts.requests,
                    &mut parts.said,
                    &mut parts.failures,
                    &mut parts.standing,
                    &mut parts.changed,
                ];
                let Some(line) = lists.into_iter().find_map(Vec::pop) else {
                    return;
                };
                freed += self.cost(&line.text);
            }
            if over == 0 {
                return;
            }
        }
    }

    /// What every summary says word for word, whoever writes the rest, and the room that is left.
    fn opening(&self, read: &Read) -> (Parts, u64) {
        let Read { earlier, pins, .. } = read;
        let mut parts = Parts {
            covers: self.covers(),
            root: read.story.root.clone(),
            ..Parts::default()
        };
        let overhead = Parts::overhead_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let root = parts
            .root
            .as_ref()
            .map_or(0, |root| self.meter.text(root) + 8);
        let overhead = overhead + root;
        let mut left = self.budget_tokens.saturating_sub(overhead + BULLET_TOKENS);

        let frame = Parts::frame_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let room = self.budget_tokens.saturating_sub(frame);
        let cap = percent_of(left, PINS_PERCENT).max(self.pins_tokens.min(room));
        parts.pins = pin::cap(pins.clone(), cap, self.meter).kept;
        left = left.saturating_sub(parts.pins.iter().map(|p| self.cost(&p.text)).sum());
        let percent = match read.story.deeds.is_empty() {
            true => REQUEST_PERCENT_OF_CHAT,
            false => REQUEST_PERCENT,
        };
        let request_tokens = percent_of(left, percent).max(REQUEST_TOKENS).min(left / 3);
        if self.carries_task {
            parts.task = self.first_request(earlier, request_tokens);
            left = left.saturating_sub(parts.task.iter().map(|t| self.cost(t)).sum());
        }
        let is_told = self.carries_task && earlier.task.is_none() && self.typed().nth(1).is_none();
        if self.holds_latest_request && !self.dress.says_last_request() && !is_told {
            parts.latest_request = self.latest_request(request_tokens);
            left = left.saturating_sub(parts.latest_request.iter().map(|t| self.cost(t)).sum());
        }
        parts.brief = self.brief(request_tokens);
        left = left.saturating_sub(parts.brief.iter().map(|line| self.cost(&line.text)).sum());
        // What stands word for word in a request is not said a second time.
        let requests = parts.task.iter().chain(&parts.latest_request);
        let told: Vec<String> = requests.cloned().collect();
        let is_told = |pin: &Pin| told.iter().any(|text| text.contains(&pin.text));
        parts.pins.retain(|pin| !is_told(pin));
        parts.named = self.named(earlier, pins, left);
        left = left.saturating_sub(parts.named_tokens(self.meter));
        (parts, left)
    }

    /// Fills the room that is left with lines of the user and of the work.
    fn choose(&self, read: &Read, parts: &mut Parts, room_tokens: u64) {
        let Read {
            earlier,
            binding,
            story,
            ..
        } = read;
        let mut survey = self.survey(earlier, story);
        survey.bind(binding);
        self.compose(story, &mut survey);
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
        parts.changed = self.list(changed, &mut coverage, percent_of(left, CHANGED_PERCENT));
        if !self.dress.lists_files() {
            let looked_at = self.looked_at(story, &survey);
            parts.read = self.list(
                looked_at,
                &mut coverage,
                percent_of(left, LOOKED_AT_PERCENT),
            );
        }
        let listed = parts.changed.iter().chain(&parts.read);
        left = left.saturating_sub(listed.map(|line| self.cost(&line.text)).sum());
        let requests = Requests::of(self.typed());
        let picks = Picks {
            requests: &requests,
            replaced: &replaced,
            given_up: &given_up,
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
        let is_told = |candidate: &Candidate<'_>| candidate.piece.voice.is_told();
        let is_name = |candidate: &Candidate<'_>| {
            !candidate.piece.voice.is_said() && !candidate.piece.voice.is_told()
        };

        let free = room_tokens.saturating_sub(parts.heading_tokens(self.meter));
        let said = percent_of(free, said_percent(survey));
        let bound = percent_of(free, BINDING_PERCENT);
        let said_left = said.saturating_sub(bound - coverage.fill(binds, cost, bound));
        // All that he typed, if that is little; else what tells most.
        let is_users = |candidate: &Candidate<'_>| {
            candidate.piece.voice == Voice::User && !is_quoted(candidate)
        };
        let said_left = coverage.take_all(is_users, cost, said_left);
        let said_left = coverage.fill(is_said, cost, said_left);
        let names = percent_of(self.budget_tokens, NAMES_PERCENT).min(free / 3);
        let told = free.saturating_sub(said - said_left + names);
        let told_left = coverage.fill(is_told, cost, told);
        coverage.fill(is_name, cost, names);
        // What lines cost apart is more than what they cost together: the difference is used too. Where the story has
        // no more to tell, names and values get what is left.
        let is_exhausted = told_left > percent_of(free, NAMES_PERCENT);
        for _ in 0..REFILLS {
            let left = self.arranged(coverage, picks, parts);
            if left < REST_TOKENS {
                break;
            }
            let left = coverage.fill(is_told, cost, left);
            let left = coverage.fill(is_said, cost, left);
            if is_exhausted {
                coverage.fill(is_name, cost, left);
            }
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

    /// Puts what was taken so far into the parts; the room that is left then.
    fn arranged(&self, coverage: &Coverage<'_, '_>, picks: &Picks<'_>, parts: &mut Parts) -> u64 {
        arrange(coverage, picks.replaced, picks.requests, parts);
        parts.given_up(picks.given_up);
        let used = self.meter.text(&self.dress.apply(parts));
        self.budget_tokens
            .saturating_sub(used + parts.heading_tokens(self.meter))
    }

    /// All that may be quoted, with what it names.
    fn survey<'s>(&'s self, earlier: &'s Earlier, story: &Story) -> Survey<'s> {
        let mut survey = Survey::default();
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
        let finals = self.finals();
        for (position, message) in self.entries() {
            let is_final = finals.contains(&position);
            let mut units = 0;
            pieces::of(position, message, &mut |mut piece| {
                if piece.voice == Voice::Assistant {
                    units += 1;
                    piece.worth += match is_final {
                        true if units <= FINAL_UNITS => FINAL_FIRST,
                        true => FINAL,
                        false => 0.0,
                    };
                    if let Some(root) = &story.root
                        && piece.text.contains(root.as_str())
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
    fn compose(&self, story: &Story, survey: &mut Survey<'_>) {
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
        let requests: Vec<usize> = self.typed().map(|(position, _)| position).collect();
        log::edited(story, &requests, &mut |piece| survey.add(piece));
    }

    /// What the client put into messages that do not stay in view (rules files, skills, commands): the sentences that
    /// read like rules, each once, the first of every message first in line for room.
    fn client_rules(&self, cap_tokens: u64) -> Vec<Line> {
        let mut known: HashSet<&str> = HashSet::new();
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        let users = self
            .entries()
            .filter(|(_, message)| message.role == Role::User);
        for (position, message) in users {
            let stretches = message.spoken().flat_map(provenance::stretches);
            let clients = stretches.filter(|stretch| stretch.source == provenance::Source::Client);
            let sentences = clients.flat_map(|stretch| {
                let lines = stretch.text.lines().map(str::trim).map(prose::without_mark);
                lines.flat_map(prose::sentences)
            });
            let rules = sentences
                .filter(|sentence| sentence.len() <= RULE_BYTES && pin::is_standing(sentence));
            let rules: Vec<&str> = rules.filter(|sentence| known.insert(sentence)).collect();
            found.extend(
                rules
                    .into_iter()
                    .enumerate()
                    .map(|(rank, text)| (rank, position, text)),
            );
        }
        found.sort_by_key(|(rank, position, _)| (*rank, *position));
        let mut left = cap_tokens;
        let mut lines: Vec<(usize, usize, Line)> = Vec::new();
        for (rank, position, text) in found {
            let Some(rest) = left.checked_sub(self.cost(text)) else {
                continue;
            };
            left = rest;
            let line = Line {
                position,
                text: text.to_owned(),
                kind: LineKind::Found,
            };
            lines.push((position, rank, line));
        }
        lines.sort_by_key(|(position, rank, _)| (*position, *rank));
        lines.into_iter().map(|(_, _, line)| line).collect()
    }

    /// The entries in which the assistant said its last words before a request, and at the end.
    fn finals(&self) -> HashSet<usize> {
        let mut finals = HashSet::new();
        let mut last = None;
        for (position, message) in self.entries() {
            if message.is_typed_by_user() {
                finals.extend(last.take());
            } else if message.role == Role::Assistant && message.spoken().next().is_some() {
                last = Some(position);
            }
        }
        finals.extend(last);
        finals
    }

    /// What stands in the view anyway need not be told again.
    fn tell(&self, parts: &Parts, coverage: &mut Coverage<'_, '_>) {
        for message in self.kept {
            for text in texts(message) {
                coverage.tell(text);
            }
        }
        for pin in &parts.pins {
            coverage.tell(&pin.text);
        }
        for text in parts.task.iter().chain(&parts.latest_request) {
            coverage.tell(text);
        }
        for line in &parts.brief {
            coverage.tell(&line.text);
        }
        let lines = parts
            .last_words
            .iter()
            .chain(&parts.standing)
            .chain(&parts.newest);
        for line in lines.chain(&parts.named) {
            coverage.tell(&line.text);
        }
    }

    fn is_in_span(&self, position: usize) -> bool {
        self.span
            .binary_search_by_key(&position, |(at, _)| *at)
            .is_ok()
    }

    fn cost(&self, text: &str) -> u64 {
        self.meter.text(text) + BULLET_TOKENS
    }

    fn covers(&self) -> (usize, usize) {
        let first = self.span.first().map_or(0, |(position, _)| position + 1);
        let last = self.span.last().map_or(0, |(position, _)| position + 1);
        (first, last)
    }

    /// The earlier summary in the span, if there is one: in front, or right behind the first request, where it stood
    /// while that request had a place of its own.
    fn summary(&self) -> Option<(usize, &Message)> {
        self.front()
            .take(2)
            .find(|(_, message)| message.spoken().next().is_some_and(is_earlier_summary))
    }

    /// An earlier summary of ours counts only where we put it: in front of the span, or in the message before it.
    fn earlier(&self) -> Earlier {
        let first = self.summary().map(|(_, message)| message);
        let text = |message: Option<&'_ Message>, role: Role| {
            message
                .filter(|message| message.role == role)
                .and_then(|message| message.spoken().next().map(str::to_owned))
        };
        let own = text(first, Role::User).filter(|text| signature::is_own(unstacked(text)));
        let merged =
            || text(self.before, Role::User).filter(|text| text.contains(micro::OPEN_MARK));
        own.or_else(merged)
            .and_then(|text| Earlier::read(&text))
            .or_else(|| Earlier::read_round(&text(first, Role::Assistant)?))
            .unwrap_or_default()
    }

    /// The span without the opening that stands before an assistant's summary.
    fn front(&self) -> impl DoubleEndedIterator<Item = (usize, &Message)> + Clone {
        let is_opening = |message: &Message| message.spoken().next() == Some(layer::OPENING);
        let skipped = usize::from(
            self.span
                .first()
                .is_some_and(|(_, first)| is_opening(first)),
        );
        self.span
            .iter()
            .skip(skipped)
            .map(|(position, message)| (*position, *message))
    }

    /// The entries that somebody really sent: an earlier summary of ours is not one of them.
    fn entries(&self) -> impl DoubleEndedIterator<Item = (usize, &Message)> + Clone {
        let summary = self.summary().map(|(position, _)| position);
        self.front()
            .filter(move |(position, _)| Some(*position) != summary)
    }

    fn first_position(&self) -> usize {
        self.span.first().map_or(0, |(position, _)| *position)
    }

    fn typed(&self) -> impl DoubleEndedIterator<Item = (usize, String)> {
        self.entries()
            .filter(|(_, message)| message.is_typed_by_user())
            .map(|(position, message)| (position, message.typed().collect::<Vec<_>>().join("\n")))
    }

    fn first_request(&self, earlier: &Earlier, cap_tokens: u64) -> Option<String> {
        let text = match &earlier.task {
            Some(task) => task.clone(),
            None => self.typed().next()?.1,
        };
        Some(self.shortened(&text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    /// A plan, or what an earlier session left, that the client sent first: it says what the work is about, though nobody
    /// typed it.
    fn brief(&self, cap_tokens: u64) -> Option<Line> {
        let (position, message) = self
            .entries()
            .find(|(_, message)| message.role == Role::User)?;
        let mut stretches = message.spoken().flat_map(provenance::stretches);
        let brief = stretches.find(|stretch| stretch.source == provenance::Source::Summary)?;
        let text = self.shortened(brief.text.trim(), REQUEST_CHARS, cap_tokens);
        (!text.is_empty()).then_some(Line {
            position,
            text,
            kind: LineKind::Found,
        })
    }

    fn latest_request(&self, cap_tokens: u64) -> Option<String> {
        let (_, text) = self.typed().next_back()?;
        Some(self.shortened(&text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    fn last_words(&self, cap_tokens: u64) -> Option<Line> {
        let (position, message) = self.entries().rfind(|(_, message)| {
            message.role == Role::Assistant && message.spoken().any(|text| !text.trim().is_empty())
        })?;
        let lines = message.spoken().flat_map(str::lines);
        let lines = lines
            .map(str::trim)
            .filter(|line| !line.is_empty() && !prose::is_tag(line));
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = self.shortened(&text, LAST_WORDS_CHARS, cap_tokens);
        (!text.is_empty()).then_some(Line {
            position,
            text,
            kind: LineKind::Said,
        })
    }

    /// The beginning and the end of `text` within both limits, with a sign where it was cut.
    fn shortened(&self, text: &str, chars: usize, tokens: u64) -> String {
        let room = tokens.saturating_sub(BULLET_TOKENS + 1);
        let fitting = self.meter.prefix(text, room).chars().count();
        if fitting >= text.chars().count() && text.chars().count() <= chars {
            return text.to_owned();
        }
        let chars = fitting.min(chars).saturating_sub(CUT.len());
        let front = first_words(text, chars - chars / END_PART).trim_end();
        let rest = text.get(front.len()..).unwrap_or_default();
        let end = last_words(rest, chars / END_PART).trim_start();
        if front.len() < SHORTEST_QUOTE {
            return String::new();
        }
        let cut = format!("{front}{CUT}{end}");
        match self.meter.text(&cut) <= room {
            true => cut.trim_end().to_owned(),
            false => format!("{front} …"),
        }
    }
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message
        .spoken()
        .chain(message.calls().map(|call| call.arguments.as_ref()))
        .chain(message.results().flat_map(|result| result.texts()))
}

/// Takes the sentences out of lines that stand among the instructions already.
fn without_pins(lines: &mut [Line], pins: &[Pin]) {
    let all = lines.iter().map(|line| line.text.as_str());
    let all = all.collect::<Vec<_>>().join("\n");
    let all = Haystack::new(&all);
    let twice: Vec<&Pin> = pins.iter().filter(|pin| all.contains(&pin.text)).collect();
    for line in lines {
        let pins = twice.iter().filter(|pin| line.text.contains(&pin.text));
        for pin in pins.copied().collect::<Vec<_>>() {
            let is_whole = line.text.trim() == pin.text;
            let rest = if is_whole { "" } else { "[…]" };
            line.text = line.text.replace(&pin.text, rest);
        }
    }
}

fn is_earlier_summary(text: &str) -> bool {
    signature::is_own(unstacked(text)) || text.starts_with(layer::SUMMARY_MARK)
}

/// A summary without the mark that stands before each of a stack.
fn unstacked(text: &str) -> &str {
    let bare = text.strip_prefix(spacebot::SUMMARY_MARK);
    bare.map_or(text, str::trim_start)
}

/// What the words of the user may take: the more, the less of the span is tool traffic.
fn said_percent(survey: &Survey<'_>) -> u64 {
    let tool_percent = survey.tool_bytes * 100 / survey.bytes.max(1);
    let talk_percent = 50_u64.saturating_sub(tool_percent);
    SAID_PERCENT_OF_WORK + (SAID_PERCENT_OF_CHAT - SAID_PERCENT_OF_WORK) * talk_percent / 50
}

/// Joins the lines of a text, so that it fits a bullet.
pub(crate) fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
