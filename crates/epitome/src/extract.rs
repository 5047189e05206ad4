//! The built-in summariser: verbatim lines chosen under a budget. No model, no randomness.

mod arrange;
mod coverage;
mod listing;
mod named;
mod pieces;
mod read;
mod survey;
mod todo;
mod trouble;
mod values;
mod weight;
mod written;

use crate::dress::Dress;
use crate::haystack::Haystack;
use crate::log::Log;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Binding, Pin};
use crate::plan::percent_of;
use crate::reference::{layer, micro, spacebot};
use crate::signature;
use crate::summary::{BULLET_TOKENS, Earlier, Line, LineKind, Parts, Summary};
use crate::word_cut::first_words;

use arrange::{Replaced, Sections, arrange};
use coverage::Coverage;
use pieces::{Piece, Voice};
use read::Read;
use survey::{Candidate, Survey};
use trouble::Troubles;

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
const REQUEST_PERCENT: u64 = 5;
/// What either may take where that is little, in tokens.
const REQUEST_TOKENS: u64 = 120;
/// The longest quotation of the first or the newest request.
const REQUEST_CHARS: usize = 4_000;
/// The longest quotation of the assistant's last words.
const LAST_WORDS_CHARS: usize = 600;
/// The share of the rest that last words and open work may take, in percent.
const CLOSE_PERCENT: u64 = 4;
const OPEN_PERCENT: u64 = 8;
/// The share of the rest that the list of changed files may take, in percent.
const CHANGED_PERCENT: u64 = 25;
/// How much more a thing is worth that the user wants kept in mind, and a file that was changed.
const FOCUS_FACTOR: f64 = 6.0;
const CHANGED_FACTOR: f64 = 2.0;
/// What the words of the user may take of what is left, in percent: where there is no tool traffic, and
/// where at least half of the span is.
const SAID_PERCENT_OF_CHAT: u64 = 96;
const SAID_PERCENT_OF_WORK: u64 = 20;
/// Of this, what sentences may take that have a word that rules have, in percent of what is left.
const BINDING_PERCENT: u64 = 4;
/// What failures may take in any case, in percent.
const TROUBLE_PERCENT: u64 = 3;
/// A summary of less than this many tokens has one section for all that was done and found.
const SECTIONS_TOKENS: u64 = 600;
/// How often room that turned out to be left is filled.
const REFILLS: usize = 3;
/// Less room than this is left empty, in tokens.
const REST_TOKENS: u64 = 16;
/// What a path costs in a list, and a gap inside a line, beyond their text.
const PATH_TOKENS: u64 = 1;
const GAP_TOKENS: u64 = 3;
/// The longest quotation of one thing to do.
const OPEN_CHARS: usize = 160;

impl Source<'_> {
    /// Writes the summary. Its text never costs more than the budget; where the budget is too small even
    /// for the frame, only the frame is left.
    #[must_use]
    pub fn summarise(&self) -> Summary {
        self.write(&self.read())
    }

    /// Writes the summary of what was read.
    pub(crate) fn write(&self, read: &Read) -> Summary {
        let Read {
            earlier, binding, ..
        } = read;
        let (mut parts, mut left) = self.opening(read);
        let close_tokens = percent_of(left, CLOSE_PERCENT);
        parts.last_words = self.last_words(close_tokens);
        parts.open = self.open(earlier, percent_of(left, OPEN_PERCENT));
        let close = parts.last_words.iter().chain(&parts.open);
        left = left.saturating_sub(close.map(|line| self.cost(&line.text)).sum());
        if self.dress.lists_files() {
            let listed = self.list_files(earlier, &mut parts, left);
            left = left.saturating_sub(listed);
        }
        self.choose(earlier, binding, &mut parts, left);
        // The beginning of the turn that goes on is told by itself.
        let is_turn = |line: &Line| self.turn_start.is_some_and(|start| line.position >= start);
        let (turn, history) = std::mem::take(&mut parts.record)
            .into_iter()
            .partition(is_turn);
        (parts.turn, parts.record) = (turn, history);
        without_pins(&mut parts.said, &parts.pins);
        parts.said.retain(|line| !line.text.is_empty());

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

    /// What every summary says word for word, whoever writes the rest, and the room that is left.
    fn opening(&self, read: &Read) -> (Parts, u64) {
        let Read { earlier, pins, .. } = read;
        let mut parts = Parts {
            covers: self.covers(),
            ..Parts::default()
        };
        let overhead = Parts::overhead_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let mut left = self.budget_tokens.saturating_sub(overhead + BULLET_TOKENS);

        let frame = Parts::frame_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let room = self.budget_tokens.saturating_sub(frame);
        let cap = percent_of(left, PINS_PERCENT).max(self.pins_tokens.min(room));
        parts.pins = pin::cap(pins.clone(), cap, self.meter).kept;
        left = left.saturating_sub(parts.pins.iter().map(|p| self.cost(&p.text)).sum());
        let request_tokens = percent_of(left, REQUEST_PERCENT)
            .max(REQUEST_TOKENS)
            .min(left / 3);
        if self.carries_task {
            parts.task = self.first_request(earlier, request_tokens);
            left = left.saturating_sub(parts.task.iter().map(|t| self.cost(t)).sum());
        }
        let is_told = self.carries_task && earlier.task.is_none() && self.typed().nth(1).is_none();
        if self.holds_latest_request && !self.dress.says_last_request() && !is_told {
            parts.latest_request = self.latest_request(request_tokens);
            left = left.saturating_sub(parts.latest_request.iter().map(|t| self.cost(t)).sum());
        }
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
    fn choose(&self, earlier: &Earlier, binding: &Binding, parts: &mut Parts, room_tokens: u64) {
        let mut survey = self.survey(earlier);
        survey.bind(binding);
        if let Some(focus) = self.focus {
            survey.prefer(focus, FOCUS_FACTOR);
        }
        let changed = self.changed(earlier, &survey);
        for line in &changed {
            survey.prefer(&line.text, CHANGED_FACTOR);
        }
        let replaced = Replaced::of(&survey);
        let (given_up, pins) = std::mem::take(&mut parts.pins)
            .into_iter()
            .partition(|pin| replaced.gives_up(pin));
        parts.pins = pins;
        let mut given_up: Vec<Pin> = given_up;
        if self.budget_tokens < SECTIONS_TOKENS {
            given_up.clear();
        }
        let mut coverage = Coverage::new(&survey);
        self.tell(parts, &mut coverage);
        for pin in &given_up {
            coverage.tell(&pin.text);
        }
        let (sections, kinds) = match self.budget_tokens {
            ..SECTIONS_TOKENS => (Sections::One, &[LineKind::Found][..]),
            _ => (Sections::All, &LineKind::RECORD[..]),
        };
        let mut left = room_tokens;
        parts.changed =
            self.list_changed(changed, &mut coverage, percent_of(left, CHANGED_PERCENT));
        let listed = parts
            .changed
            .iter()
            .map(|line| self.meter.text(&line.text) + PATH_TOKENS);
        left = left.saturating_sub(listed.sum());

        let cost = |candidate: &Candidate<'_>| match candidate.piece.voice {
            Voice::Listed => self.meter.text(&candidate.piece.text) + PATH_TOKENS,
            Voice::User | Voice::Assistant => self.cost(&candidate.piece.text) + GAP_TOKENS,
            _ => self.cost(&candidate.piece.text),
        };
        let free = left.saturating_sub(parts.heading_tokens(kinds, self.meter));
        let said = percent_of(free, said_percent(&survey));
        let binds = |candidate: &Candidate<'_>| candidate.may_bind;
        let is_said = |candidate: &Candidate<'_>| candidate.piece.voice.is_said();
        let bound = percent_of(free, BINDING_PERCENT);
        let said = said.saturating_sub(bound - coverage.fill(binds, cost, bound));
        coverage.fill(is_said, cost, said);
        let is_trouble = |candidate: &Candidate<'_>| candidate.piece.voice == Voice::Trouble;
        coverage.fill(is_trouble, cost, percent_of(left, TROUBLE_PERCENT));
        // What lines cost apart is more than what they cost together: the difference is used too.
        for _ in 0..REFILLS {
            arrange(&coverage, &replaced, parts, sections);
            parts.given_up(&given_up);
            let used = self.meter.text(&self.dress.apply(parts));
            let headings = parts.heading_tokens(kinds, self.meter);
            left = self.budget_tokens.saturating_sub(used + headings);
            if left < REST_TOKENS {
                return;
            }
            coverage.fill(|_| true, cost, left);
        }
        arrange(&coverage, &replaced, parts, sections);
        parts.given_up(&given_up);
    }

    /// All that may be quoted, with what it names.
    fn survey<'s>(&'s self, earlier: &'s Earlier) -> Survey<'s> {
        let mut survey = Survey::default();
        let position = self.first_position();
        let mut add = |position, voice, text: &'s str| {
            survey.add(Piece {
                position,
                voice,
                text: text.into(),
                place: 0,
            });
        };
        for text in &earlier.said {
            add(position, Voice::User, text);
        }
        for (kind, text) in &earlier.record {
            add(position, Voice::Earlier(*kind), text);
        }
        let mut troubles = Troubles::default();
        for (position, message) in self.entries() {
            troubles.next(position, message, |position, text| {
                survey.add(Piece::trouble(position, text));
            });
            pieces::of(position, message, &mut |piece| survey.add(piece));
        }
        troubles.end(|position, text| survey.add(Piece::trouble(position, text)));
        for (position, text) in self.omitted {
            pieces::lines(text, &mut 0, &mut |text, place| {
                survey.add(Piece {
                    position: *position,
                    voice: Voice::Result,
                    text: text.into(),
                    place,
                });
            });
        }
        survey
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
        let lines = parts.last_words.iter().chain(&parts.open);
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
    fn front(&self) -> impl DoubleEndedIterator<Item = (usize, &Message)> {
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
    fn entries(&self) -> impl DoubleEndedIterator<Item = (usize, &Message)> {
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

    fn latest_request(&self, cap_tokens: u64) -> Option<String> {
        let (_, text) = self.typed().next_back()?;
        Some(self.shortened(&text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    fn last_words(&self, cap_tokens: u64) -> Option<Line> {
        let (position, message) = self.entries().rfind(|(_, message)| {
            message.role == Role::Assistant && message.spoken().any(|text| !text.trim().is_empty())
        })?;
        let text = message.spoken().collect::<Vec<_>>().join("\n");
        let text = self.shortened(text.trim(), LAST_WORDS_CHARS, cap_tokens);
        (!text.is_empty()).then_some(Line {
            position,
            text,
            kind: LineKind::Said,
        })
    }

    /// The beginning of `text` within both limits, with a sign where it was cut.
    fn shortened(&self, text: &str, chars: usize, tokens: u64) -> String {
        let room = tokens.saturating_sub(BULLET_TOKENS + 1);
        let fitting = self.meter.prefix(text, room).chars().count();
        let cut = first_words(text, fitting.min(chars));
        if cut.len() == text.len() {
            text.to_owned()
        } else if cut.trim().len() < 8 {
            String::new()
        } else {
            format!("{} …", cut.trim_end())
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
