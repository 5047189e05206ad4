//! A text taken apart, line by line.

use super::marks::{CLIENT_OPENINGS, CLIENT_TAGS, OUTPUT_OPENINGS, SUMMARY_OPENINGS, TYPED_TAGS};
use super::shape;
use super::{Source, Stretch};

pub(super) fn stretches(text: &str) -> Vec<Stretch<'_>> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    if let Some(source) = whole(text) {
        return vec![Stretch { source, text }];
    }
    let mut scanner = Scanner {
        text,
        stretches: Vec::new(),
        start: 0,
        source: Source::Typed,
    };
    scanner.run();
    scanner.finish()
}

/// What the beginning of a message says about all of it.
fn whole(text: &str) -> Option<Source> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let beginning = shape::beginning(first);
    let bare = beginning.trim_start_matches(['*', '#', '_', ' ', '[', '(']);
    let begins = |openings: &[&str]| {
        openings
            .iter()
            .any(|mark| beginning.starts_with(mark) || bare.starts_with(mark))
    };
    if begins(SUMMARY_OPENINGS) {
        return Some(Source::Summary);
    }
    if begins(CLIENT_OPENINGS) {
        return Some(Source::Client);
    }
    if begins(OUTPUT_OPENINGS)
        || shape::is_title(bare)
        || shape::is_bracketed_result(first)
        || shape::is_speaker(&beginning)
        || shape::is_own_heading(&beginning)
        || shape::is_prompt(first)
        || shape::is_data(text)
    {
        return Some(Source::Output);
    }
    None
}

struct Scanner<'a> {
    text: &'a str,
    stretches: Vec<Stretch<'a>>,
    start: usize,
    source: Source,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        let text = self.text;
        let mut at = 0;
        let mut is_announced = false;
        while let Some(line) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let line = line.lines().next().unwrap_or(line);
            let next = self.after(at + line.len());
            let beginning = shape::beginning(line);
            if line.trim().is_empty() {
                at = next;
                continue;
            }
            let rest_is_shown = is_announced
                || shape::is_bracketed_result(line)
                || shape::is_speaker(&beginning)
                || shape::is_own_heading(&beginning)
                || shape::is_prompt(line)
                || shape::is_header(&beginning)
                || beginning.starts_with("diff --git")
                || beginning.starts_with("traceback (most");
            if let Some(end) = self.fenced(at, line, is_announced) {
                self.turn(at, Source::Output);
                self.turn(end, Source::Typed);
                at = end;
                is_announced = false;
                continue;
            }
            if let Some(name) = shape::opened_tag(line)
                && let Some(block) = self.tagged(at, name)
            {
                match block {
                    Block::Typed { from, to, end } => {
                        self.turn(at, Source::Client);
                        self.take(from);
                        self.stretches
                            .extend(stretches(text.get(from..to).unwrap_or_default()));
                        self.start = to;
                        self.turn(end, Source::Typed);
                        at = end;
                    }
                    Block::Other { source, end } => {
                        self.turn(at, source);
                        self.turn(end, Source::Typed);
                        at = end;
                    }
                }
                is_announced = false;
                continue;
            }
            if shape::is_rule(line) {
                // Between the first and the last of such lines stands what was set apart.
                let end = self.last_rule(next);
                self.turn(at, Source::Output);
                match end {
                    Some(end) => self.turn(end, Source::Typed),
                    None => return,
                }
                at = end.unwrap_or(next);
                is_announced = false;
                continue;
            }
            if rest_is_shown {
                self.turn(at, Source::Output);
                return;
            }
            if line.trim_start().starts_with('>') {
                // A quotation ends with its lines.
                self.turn(at, Source::Output);
                self.turn(next, Source::Typed);
                at = next;
                continue;
            }
            is_announced = shape::announces(line);
            at = next;
        }
    }

    /// Where the next line begins.
    fn after(&self, end: usize) -> usize {
        let rest = self.text.get(end..).unwrap_or_default();
        let skipped = match rest.strip_prefix('\r') {
            Some(behind) if behind.starts_with('\n') => 2,
            _ => usize::from(!rest.is_empty()),
        };
        end + skipped
    }

    /// Where a block between fences ends that begins here. Of output that was announced, or that a message begins with,
    /// the last fence counts: what is shown may hold fences of its own.
    fn fenced(&self, at: usize, line: &str, is_announced: bool) -> Option<usize> {
        let fence = ["```", "~~~"]
            .into_iter()
            .find(|fence| line.trim_start().starts_with(fence))?;
        let from = self.after(at + line.len());
        let behind = self.text.get(from..).unwrap_or_default();
        let is_first = self
            .text
            .get(..at)
            .is_none_or(|before| before.trim().is_empty());
        let mut closing = Vec::new();
        let mut offset = from;
        for line in behind.split_inclusive('\n') {
            offset += line.len();
            if line.trim_start().starts_with(fence) {
                closing.push(offset);
            }
        }
        let end = match is_announced || is_first {
            true => closing.last(),
            false => closing.first(),
        };
        // A block that never ends goes to the end.
        Some(end.copied().unwrap_or(self.text.len()))
    }

    /// The block of a tag that begins here. What stands inside may close the tag itself: the last end counts.
    fn tagged(&self, at: usize, name: &str) -> Option<Block> {
        let behind = self.text.get(at..)?;
        let close = format!("</{name}");
        let last = behind.rfind(&close)?;
        let end = behind
            .get(last..)?
            .find('>')
            .map_or(behind.len(), |end| last + end + 1);
        let end = at + end;
        let lower = name.to_ascii_lowercase();
        if TYPED_TAGS.contains(&lower.as_str()) {
            let from = at + behind.find('>')? + 1;
            let to = at + last;
            return (from <= to).then_some(Block::Typed { from, to, end });
        }
        let source = match CLIENT_TAGS.contains(&lower.as_str()) {
            true => Source::Client,
            false => Source::Output,
        };
        Some(Block::Other { source, end })
    }

    /// Where the last line that sets something apart ends, from here on.
    fn last_rule(&self, from: usize) -> Option<usize> {
        let behind = self.text.get(from..)?;
        let mut offset = from;
        let mut last = None;
        for line in behind.split_inclusive('\n') {
            offset += line.len();
            if shape::is_rule(line) {
                last = Some(offset);
            }
        }
        last
    }

    /// From here on the source is another.
    fn turn(&mut self, at: usize, source: Source) {
        if source == self.source {
            return;
        }
        self.take(at);
        self.source = source;
    }

    fn take(&mut self, end: usize) {
        let taken = self.text.get(self.start..end).unwrap_or_default();
        if !taken.is_empty() {
            self.stretches.push(Stretch {
                source: self.source,
                text: taken,
            });
        }
        self.start = end.max(self.start);
    }

    fn finish(mut self) -> Vec<Stretch<'a>> {
        self.take(self.text.len());
        self.stretches
    }
}

enum Block {
    /// The tag stands around what somebody typed.
    Typed {
        from: usize,
        to: usize,
        end: usize,
    },
    Other {
        source: Source,
        end: usize,
    },
}
