//! What is quoted as it stands, or as much of it as there is room for: requests, plans, last words.

use super::Source;
use super::read::Read;
use crate::message::Role;
use crate::provenance;
use crate::story::prose;
use crate::summary::{BULLET_TOKENS, Line, LineKind};
use crate::word_cut::{first_words, last_words};

/// The longest quotation of the first or the newest request.
const REQUEST_CHARS: usize = 4_000;
/// The longest quotation of the assistant's last words.
const LAST_WORDS_CHARS: usize = 600;
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
    /// typed it.
    pub(super) fn brief(&self, cap_tokens: u64) -> Option<Line> {
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

    pub(super) fn latest_request(&self, read: &Read, cap_tokens: u64) -> Option<String> {
        let (_, text) = read.typed.last()?;
        Some(self.shortened(text, REQUEST_CHARS, cap_tokens)).filter(|text| !text.is_empty())
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
