//! A summary without what is untrue and with what was left out.

use super::ground::Ground;
use super::item::Line;
use super::weigh::Anchor;
use crate::meter::Meter;
use crate::pin::{Pin, PinKind};

const ADDED: &str = "## Added from the log";
const PINS: &str = "### Instructions of the user that are in force (verbatim)";
const TODOS: &str = "### Open to-dos";
const CHANGED: &str = "- Files changed: ";
const NAMED: &str = "- Also named: ";
const LEDGER: &str = "### Names that the summary left out (data)";

/// A repair in the making.
#[derive(Debug)]
pub(super) struct Repair<'a> {
    lines: Vec<Line<'a>>,
    /// Which sentences go, by line and place.
    struck: Vec<(usize, usize)>,
    /// What goes from headings, by line.
    blanked: Vec<(usize, String)>,
    headings: Vec<String>,
    pins: Vec<String>,
    todos: Vec<String>,
    changed: Vec<String>,
    named: Vec<String>,
}

/// The repaired text and what was done.
#[derive(Debug)]
pub(super) struct Repaired {
    pub(super) text: String,
    pub(super) struck: Vec<String>,
    pub(super) appended: Vec<String>,
}

impl<'a> Repair<'a> {
    pub(super) fn new(lines: &[Line<'a>]) -> Self {
        Self {
            lines: lines.to_vec(),
            struck: Vec::new(),
            blanked: Vec::new(),
            headings: Vec::new(),
            pins: Vec::new(),
            todos: Vec::new(),
            changed: Vec::new(),
            named: Vec::new(),
        }
    }

    /// Takes a sentence out; lines and sentences come in order.
    pub(super) fn strike(&mut self, line: usize, sentence: usize) {
        self.struck.push((line, sentence));
    }

    /// Takes a name out of a heading.
    pub(super) fn blank(&mut self, line: usize, name: &str) {
        self.blanked.push((line, name.to_owned()));
    }

    /// Whether a sentence of a line goes.
    pub(super) fn has_struck(&self, line: usize) -> bool {
        self.struck.last().is_some_and(|(last, _)| *last == line)
    }

    pub(super) fn heading(&mut self, name: &str, fill: &str) {
        self.headings.push(format!("## {name}\n{fill}"));
    }

    pub(super) fn pin(&mut self, pin: &Pin) {
        let place = match pin.kind {
            PinKind::Todo => &mut self.todos,
            PinKind::Passage | PinKind::Instruction | PinKind::Host => &mut self.pins,
        };
        place.push(pin.text.clone());
    }

    pub(super) fn todo(&mut self, text: &str) {
        self.todos.push(text.to_owned());
    }

    /// Names the heavy anchors that `kept` lacks, as many as there is room for.
    pub(super) fn ledger(&mut self, anchors: &[Anchor], kept: &Ground, meter: Meter, room: u64) {
        let mut heavy: Vec<&Anchor> = anchors
            .iter()
            .filter(|anchor| anchor.is_heavy() && !anchor.is_in(kept))
            .collect();
        heavy.sort_by_cached_key(|anchor| anchor.rank());
        let mut left = room;
        for anchor in heavy {
            let cost = meter.text(&anchor.text) + 1;
            let Some(rest) = left.checked_sub(cost) else {
                continue;
            };
            left = rest;
            let place = if anchor.is_changed {
                &mut self.changed
            } else {
                &mut self.named
            };
            place.push(anchor.text.clone());
        }
    }

    /// What is left of the summary.
    pub(super) fn kept(&self) -> String {
        let mut struck = self.struck.iter().peekable();
        let mut text = String::new();
        for (at, line) in self.lines.iter().enumerate() {
            let mut gone = Vec::new();
            while let Some((_, place)) = struck.next_if(|(line, _)| *line == at) {
                gone.push(*place);
            }
            let left = line.sentences.iter().enumerate();
            let left: String = left
                .filter(|(place, _)| !gone.contains(place))
                .map(|(_, sentence)| *sentence)
                .collect();
            let blanked = self.blanked.iter().filter(|(line, _)| *line == at);
            if gone.is_empty() {
                let whole = line.text.to_owned();
                let shown = blanked.fold(whole, |text, (_, name)| text.replace(name, "…"));
                text.push_str(&shown);
            } else if left.trim().is_empty() {
                continue;
            } else {
                text.push_str(line.lead);
                text.push_str(left.trim_end());
            }
            text.push('\n');
        }
        text
    }

    pub(super) fn finish(self, original: &str) -> Repaired {
        let sentence = |(line, place): &(usize, usize)| {
            let line = self.lines.get(*line)?;
            line.sentences
                .get(*place)
                .map(|text| text.trim().to_owned())
        };
        let mut struck: Vec<String> = self.struck.iter().filter_map(sentence).collect();
        struck.extend(self.blanked.iter().map(|(_, name)| name.clone()));
        let mut text = if struck.is_empty() {
            original.to_owned()
        } else {
            self.kept()
        };
        let mut added = String::new();
        for heading in &self.headings {
            added.push('\n');
            added.push_str(heading);
            added.push('\n');
        }
        let named = [(CHANGED, &self.changed), (NAMED, &self.named)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(lead, names)| format!("{lead}{}", names.join(", ")))
            .collect::<Vec<_>>();
        let bullets = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| format!("- {line}")).collect()
        };
        let parts = [
            (PINS, bullets(&self.pins)),
            (TODOS, bullets(&self.todos)),
            (LEDGER, named),
        ];
        if parts.iter().any(|(_, lines)| !lines.is_empty()) && !original.contains(ADDED) {
            added.push('\n');
            added.push_str(ADDED);
            added.push('\n');
        }
        for (heading, lines) in &parts {
            if !lines.is_empty() {
                added.push_str(heading);
                added.push('\n');
                added.push_str(&lines.join("\n"));
                added.push('\n');
            }
        }
        if !added.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&added);
        let appended = [
            self.headings,
            self.pins,
            self.todos,
            self.changed,
            self.named,
        ]
        .concat();
        Repaired {
            text,
            struck,
            appended,
        }
    }
}
