//! A text taken apart, line by line.
//!
//! Texts come from anywhere, so that the work grows with their length only: where blocks end is looked up once
//! (`ends`), and blocks inside blocks are followed a few levels deep.

use super::ends::Ends;
use super::marks::{CLIENT_OPENINGS, CLIENT_TAGS, OUTPUT_OPENINGS, SUMMARY_OPENINGS, TYPED_TAGS};
use super::shape;
use super::{Source, Stretch};
use crate::letters::begins;

/// So many tags may stand around what somebody typed. No client writes more; deeper down it is a record.
const NESTED_TAGS: usize = 4;

pub(super) fn stretches(text: &str) -> Vec<Stretch<'_>> {
    inside(text, NESTED_TAGS)
}

fn inside(text: &str, nested_tags: usize) -> Vec<Stretch<'_>> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    if let Some(source) = whole(text) {
        return vec![Stretch { source, text }];
    }
    let mut scanner = Scanner {
        text,
        ends: Ends::default(),
        nested_tags,
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
    let begins_one_of = |openings: &[&str]| {
        openings
            .iter()
            .any(|mark| begins(&beginning, mark) || begins(bare, mark))
    };
    if begins_one_of(SUMMARY_OPENINGS) {
        return Some(Source::Summary);
    }
    if begins_one_of(CLIENT_OPENINGS) {
        return Some(Source::Client);
    }
    if begins_one_of(OUTPUT_OPENINGS)
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
    ends: Ends<'a>,
    nested_tags: usize,
    stretches: Vec<Stretch<'a>>,
    start: usize,
    source: Source,
}

/// What begins with a line.
enum Part {
    /// A line like any other.
    Line,
    /// Everything up to `end` is of one source.
    Block { source: Source, end: usize },
    /// A tag stands around what somebody typed.
    Typed { from: usize, to: usize, end: usize },
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        let mut at = 0;
        let (mut is_first, mut is_announced) = (true, false);
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let line = rest.lines().next().unwrap_or(rest);
            let next = self.after(at + line.len());
            if line.trim().is_empty() {
                at = next;
                continue;
            }
            let part = match self.fence(line, next, is_announced || is_first) {
                Some(end) => output(end),
                None => self.part(at, line, next, is_announced),
            };
            is_announced = matches!(part, Part::Line) && shape::announces(line);
            is_first = false;
            at = match part {
                Part::Line => next,
                Part::Block { source, end } => {
                    self.turn(at, source);
                    self.turn(end, Source::Typed);
                    end
                }
                Part::Typed { from, to, end } => {
                    self.turn(at, Source::Client);
                    self.take(from);
                    self.nested(from, to);
                    self.turn(end, Source::Typed);
                    end
                }
            };
        }
    }

    /// What begins with this line, where no fence does.
    fn part(&mut self, at: usize, line: &str, next: usize, is_announced: bool) -> Part {
        if let Some(name) = shape::opened_tag(line)
            && let Some(part) = self.tagged(at, name)
        {
            return part;
        }
        if shape::is_rule(line) {
            // Between the first and the last of such lines stands what was set apart.
            return output(self.last_rule(next).unwrap_or(self.text.len()));
        }
        if is_announced || shape::begins_output(line) {
            return output(self.text.len());
        }
        if line.trim_start().starts_with('>') {
            // A quotation ends with its lines.
            return output(next);
        }
        Part::Line
    }

    /// What stands inside a tag around typed text.
    fn nested(&mut self, from: usize, to: usize) {
        let text = self.text.get(from..to).unwrap_or_default();
        match self.nested_tags.checked_sub(1) {
            Some(nested_tags) => self.stretches.extend(inside(text, nested_tags)),
            None => self.stretches.push(Stretch {
                source: Source::Output,
                text,
            }),
        }
        self.start = to;
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

    /// Where a block between fences ends that this line begins; what it holds begins at `from`. Of output that was
    /// announced, or that a message begins with, the last fence counts: what is shown may hold fences of its own.
    fn fence(&mut self, line: &str, from: usize, is_last: bool) -> Option<usize> {
        let fence = shape::fence(line)?;
        let closing = self.ends.fences(self.text, fence);
        let begun = closing.partition_point(|end| end.line < from);
        let end = match is_last {
            true => closing.get(begun..).and_then(<[_]>::last),
            false => closing.get(begun),
        };
        // A block that never ends goes to the end.
        Some(end.map_or(self.text.len(), |end| end.next))
    }

    /// The block of a tag that begins here. What stands inside may close the tag itself: the last end counts.
    fn tagged(&mut self, at: usize, name: &str) -> Option<Part> {
        let last = self.ends.last_closing(self.text, name);
        let last = last.filter(|last| *last > at)?;
        let behind = self.text.get(last..)?;
        let end = behind
            .find('>')
            .map_or(self.text.len(), |end| last + end + 1);
        let name = name.to_ascii_lowercase();
        if TYPED_TAGS.contains(&name.as_str()) {
            let from = at + self.text.get(at..)?.find('>')? + 1;
            return (from <= last).then_some(Part::Typed {
                from,
                to: last,
                end,
            });
        }
        let source = match CLIENT_TAGS.contains(&name.as_str()) {
            true => Source::Client,
            false => Source::Output,
        };
        Some(Part::Block { source, end })
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

const fn output(end: usize) -> Part {
    Part::Block {
        source: Source::Output,
        end,
    }
}
