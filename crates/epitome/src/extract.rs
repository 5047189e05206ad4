//! The built-in summariser: verbatim lines chosen under a budget. No model, no randomness.

mod arrange;
mod choose;
mod coverage;
mod listing;
mod log;
mod named;
mod pieces;
mod quote;
mod read;
mod rules;
mod standing;
mod survey;
mod todo;
mod weight;
mod written;

use std::borrow::Cow;
use std::ops::Range;

use crate::dress::Dress;
use crate::haystack::Haystack;
use crate::log::Log;
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::pin::{self, Pin};
use crate::plan::{LATEST_HEADING_TOKENS, LATEST_REQUEST_TOKENS, percent_of};
use crate::provenance::Typed;
use crate::reference::{layer, micro, spacebot};
use crate::signature;
use crate::story::Root;
use crate::summary::{BULLET_TOKENS, Earlier, Line, Parts, Summary};

use read::Read;

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
    /// The messages that stay in view beside the summary, with their positions: what they say need not be told again, and
    /// what those behind the span take back is no longer in force.
    pub kept: &'a [(usize, &'a Message)],
    /// What is left out of tool results that stay, with the positions of their entries.
    pub omitted: &'a [(usize, Cow<'a, str>)],
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
    /// The entries of the conversation that the message at each position is or stands for; empty where positions are those of
    /// entries.
    pub numbers: &'a [Range<usize>],
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
/// The share of the rest that the beginning of what the client sent first may take, in percent.
const BRIEF_PERCENT: u64 = 10;
/// The share of the rest that may be taken by what the newest request answers, in percent.
const ANSWERED_PERCENT: u64 = 6;
/// The share of the rest that last words and where the work stands may take, in percent.
const CLOSE_PERCENT: u64 = 6;
const STANDING_PERCENT: u64 = 20;
/// The share of the rest that the newest steps may take, in percent.
const NEWEST_PERCENT: u64 = 10;

/// A longer name is none of a command.
const COMMAND_BYTES: usize = 80;

/// What a path costs in a list, beyond its text.
const PATH_TOKENS: u64 = 1;

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
        parts.root = story.root.as_ref().map(Root::told);
        left = left.saturating_sub(parts.root.iter().map(|root| self.cost(root)).sum());
        parts.brief.extend(self.brief(of_room(left, BRIEF_PERCENT)));
        left = left.saturating_sub(parts.brief.iter().map(|line| self.cost(&line.text)).sum());
        parts.last_words = self.last_words(percent_of(left, CLOSE_PERCENT));
        if self.holds_latest_request {
            let room = percent_of(left, ANSWERED_PERCENT);
            parts.standing.extend(self.answered(read, room));
        }
        parts
            .standing
            .extend(self.standing(read, percent_of(left, STANDING_PERCENT)));
        parts.newest = self.newest_steps(story, percent_of(left, NEWEST_PERCENT));
        let close = parts
            .last_words
            .iter()
            .chain(&parts.standing)
            .chain(&parts.newest);
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

    /// Drops lines until the text fits: what forms and headings take is known only now. Names and the log, the longest
    /// lists, first; where the work stands and what was asked for, last.
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
                    &mut parts.brief,
                ];
                let line = lists.into_iter().find_map(Vec::pop);
                let line = line.or_else(|| parts.last_words.take());
                match line.or_else(|| parts.named.pop()) {
                    Some(line) => freed += self.cost(&line.text),
                    // Where no path is told any more, nobody needs to know from where.
                    None => match parts.root.take() {
                        Some(root) => freed += self.cost(&root),
                        None => return,
                    },
                }
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
            ..Parts::default()
        };
        let overhead = Parts::overhead_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let mut left = self.budget_tokens.saturating_sub(overhead + BULLET_TOKENS);

        let frame = Parts::frame_tokens(self.meter) + self.dress.overhead_tokens(self.meter);
        let room = self.budget_tokens.saturating_sub(frame);
        let cap = percent_of(left, PINS_PERCENT).max(self.pins_tokens.min(room));
        parts.pins = pin::cap(pins.clone(), cap, self.meter).kept;
        left = left.saturating_sub(parts.pins.iter().map(|p| self.cost(&p.text)).sum());
        let request_tokens = self.request_tokens(read, left);
        if self.carries_task {
            parts.task = self.first_request(read, request_tokens);
            left = left.saturating_sub(parts.task.iter().map(|t| self.cost(t)).sum());
        }
        let is_told = self.carries_task && earlier.task.is_none() && read.typed.len() < 2;
        if self.holds_latest_request && !self.dress.says_last_request() && !is_told {
            // Whoever goes on has to know it: where there is hardly room for anything, there is room for this.
            let said = parts.pins.iter().map(|pin| self.cost(&pin.text));
            let said: u64 = said.chain(parts.task.iter().map(|t| self.cost(t))).sum();
            let least = room.saturating_sub(said + LATEST_HEADING_TOKENS);
            let least = least.min(LATEST_REQUEST_TOKENS);
            parts.latest_request = self.latest_request(read, request_tokens.max(least));
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

    /// What one request may take of the room that is left.
    fn request_tokens(&self, read: &Read, left: u64) -> u64 {
        let percent = match read.story.deeds.is_empty() {
            true => REQUEST_PERCENT_OF_CHAT,
            false => REQUEST_PERCENT,
        };
        of_room(left, percent)
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
        let number = |(position, _): &(usize, &Message)| {
            let known = self.numbers.get(*position).cloned();
            known.unwrap_or(*position..position + 1)
        };
        let first = self.span.first().map_or(0, |entry| number(entry).start + 1);
        let last = self.span.last().map_or(0, |entry| number(entry).end);
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

    /// What the user asked for, with its entries: in his words, or by the name of a command.
    fn typed(&self) -> impl Iterator<Item = (usize, String)> {
        self.entries().filter_map(|(position, message)| {
            let typed = Typed::of(message);
            let text = match typed.is_any() {
                true => typed.words(),
                false => command(message)?.to_owned(),
            };
            Some((position, text))
        })
    }
}

/// A share of the room for what is quoted at length: enough to say something, and never most of it.
fn of_room(left: u64, percent: u64) -> u64 {
    percent_of(left, percent).max(REQUEST_TOKENS).min(left / 3)
}

/// The command that a message of the user is: `/review`. What a client does by itself begins with another tag.
fn command(message: &Message) -> Option<&str> {
    let text = message.spoken().next()?.trim_start();
    let is_command = message.role == Role::User && text.starts_with("<command-message>");
    let (_, behind) = is_command
        .then(|| text.split_once("<command-name>"))
        .flatten()?;
    let (name, _) = behind.split_once("</command-name>")?;
    let is_name = name.starts_with('/') && !name.contains(char::is_whitespace);
    (is_name && name.len() <= COMMAND_BYTES).then_some(name)
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

/// Joins the lines of a text, so that it fits a bullet.
pub(crate) fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
