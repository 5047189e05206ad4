//! What is quoted as it stands, or as much of it as there is room for: requests, plans, last words.

use super::Source;
use super::read::Read;
use crate::message::{Message, Role};
use crate::provenance;
use crate::story::prose;
use crate::summary::{BULLET_TOKENS, Line, LineKind};
use crate::word_cut::{first_words, last_words};

/// The longest quotation of the first or the newest request.
const REQUEST_CHARS: usize = 4_000;
/// How many requests are told together that nobody answered.
const UNANSWERED: usize = 3;
/// The longest quotation of the assistant's last words.
const LAST_WORDS_CHARS: usize = 600;
/// Before what a short request answers.
const ANSWERED: &str = "The latest request answers: ";
/// An answer is that short, in bytes.
pub(super) const SHORT_ANSWER: usize = 60;
/// Where a quotation was cut in the middle; its end gets this part of it.
const CUT: &str = " […] ";
const END_PART: usize = 4;
/// A shorter quotation of a longer text says nothing, in bytes.
const SHORTEST_QUOTE: usize = 8;

impl Source<'_> {
    pub(super) fn first_request(&self, read: &Read, cap_tokens: u64) -> Option<String> {
        let text = match &read.earlier.task {
            Some(task) => task,
            None => &read.typed.first()?.1,
        };
        Some(self.shortened(text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    /// A plan, or what an earlier session left, that the client sent first: it says what the work is about, though nobody
    /// typed it. Its beginning is quoted; what else is worth telling of it is chosen.
    pub(super) fn brief(&self, cap_tokens: u64) -> Option<Line> {
        let (position, message) = self
            .entries()
            .find(|(_, message)| message.role == Role::User)?;
        let mut stretches = message.spoken().flat_map(provenance::stretches);
        let brief = stretches.find(|stretch| stretch.source == provenance::Source::Summary)?;
        let text = self.beginning(brief.text.trim(), REQUEST_CHARS, cap_tokens);
        (!text.is_empty()).then_some(Line {
            position,
            text,
            kind: LineKind::Found,
        })
    }

    /// The newest request, and those before it to which nobody said a word yet, where there is room for all.
    pub(super) fn latest_request(&self, read: &Read, cap_tokens: u64) -> Option<String> {
        let all = together(&self.unanswered(read));
        let has_room = all.len() <= REQUEST_CHARS && self.cost(&all) < cap_tokens;
        if has_room && !all.is_empty() {
            return Some(all);
        }
        let (_, text) = read.typed.last()?;
        Some(self.shortened(text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
    }

    /// The newest requests, if there are several to which nobody said a word yet.
    fn unanswered<'r>(&self, read: &'r Read) -> Vec<&'r (usize, String)> {
        let Some((newest, _)) = read.typed.last() else {
            return Vec::new();
        };
        let is_spoken = |message: &Message| {
            message.role == Role::Assistant && message.spoken().any(|text| !text.trim().is_empty())
        };
        let answered = self
            .entries()
            .rfind(|(position, message)| position < newest && is_spoken(message))
            .map_or(0, |(position, _)| position + 1);
        // The first request has its own place.
        let own = read.typed.iter().skip(usize::from(self.carries_task));
        let open = own.rev().take(UNANSWERED);
        let open = open.take_while(|(position, _)| *position >= answered);
        let mut open: Vec<&(usize, String)> = open.collect();
        open.reverse();
        // What holds a rule stands by itself: a rule is told once.
        let binds = |text: &str| read.pins.iter().any(|pin| text.contains(&pin.text));
        let is_plain = open.len() > 1 && !open.iter().any(|(_, text)| binds(text));
        if is_plain { open } else { Vec::new() }
    }

    /// The entries of the requests that stand together in the place of the newest one.
    pub(super) fn told_together(&self, read: &Read, latest: Option<&String>) -> Vec<usize> {
        let open = self.unanswered(read);
        let is_told = latest.is_some_and(|latest| *latest == together(&open));
        let told = open.iter().filter(|_| is_told);
        told.map(|(position, _)| *position).collect()
    }

    pub(super) fn last_words(&self, cap_tokens: u64) -> Option<Line> {
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

    /// What a request answers that is too short to say it by itself.
    pub(super) fn answered(&self, read: &Read, cap_tokens: u64) -> Option<Line> {
        let (newest, answer) = read.typed.last()?;
        let answer = answer.trim();
        if answer.len() > SHORT_ANSWER || answer.ends_with('?') {
            return None;
        }
        let (position, message) = self.entries().rfind(|(position, message)| {
            position < newest
                && message.role == Role::Assistant
                && message.spoken().next().is_some()
        })?;
        let asked = prose::asked(message.spoken().last()?, answer);
        let asked = asked.iter().map(|line| line.replace("**", ""));
        let asked = asked.collect::<Vec<_>>().join(" / ");
        let text = self.beginning(&asked, REQUEST_CHARS, cap_tokens);
        (!text.is_empty()).then(|| Line {
            position,
            text: format!("{ANSWERED}{text}"),
            kind: LineKind::Said,
        })
    }

    /// As much of the beginning of `text` as both limits let stand, with a sign where it was cut.
    fn beginning(&self, text: &str, chars: usize, tokens: u64) -> String {
        let room = tokens.saturating_sub(BULLET_TOKENS + 1);
        let fitting = self.meter.prefix(text, room).chars().count();
        if fitting >= text.chars().count() && text.chars().count() <= chars {
            return text.to_owned();
        }
        let chars = fitting.min(chars).saturating_sub(CUT.len());
        let front = first_words(text, chars).trim_end();
        match front.len() < SHORTEST_QUOTE {
            true => String::new(),
            false => format!("{front} …"),
        }
    }

    /// The beginning and the end of `text` within both limits, with a sign where it was cut.
    pub(super) fn shortened(&self, text: &str, chars: usize, tokens: u64) -> String {
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

fn together(requests: &[&(usize, String)]) -> String {
    let texts: Vec<&str> = requests.iter().map(|(_, text)| text.as_str()).collect();
    texts.join("\n")
}
