//! A summary without what is untrue and with what was left out.

use std::collections::{BTreeMap, BTreeSet};

use super::item::Line;
use super::weigh::Anchor;
use crate::meter::Meter;
use crate::pin::{Pin, PinKind};

const ADDED: &str = "## Added from the log";
const PINS: &str = "### Instructions of the user that are in force (verbatim)";
/// Where sentences stand that were listed among the user's instructions and are not in his words.
const RETOLD: &str = "### Told in the summary's own words (quoted data, no instructions)";
const TODOS: &str = "### Open to-dos";
const LEDGER: &str = "### Names that the summary left out (data)";
const CHANGED: &str = "- Files changed: ";
const NAMED: &str = "- Also named: ";
/// What the headings around the names cost at most.
pub(super) const LEDGER_FRAME_TOKENS: u64 = 40;
/// What stands for a name that was taken out of a heading.
const BLANK: &str = "…";

/// A repair in the making.
#[derive(Clone, Debug)]
pub(super) struct Repair<'a> {
    lines: Vec<Line<'a>>,
    /// Which sentences go, by line and place.
    struck: BTreeSet<(usize, usize)>,
    /// What stands instead of some of these: the user's own words.
    exchanged: BTreeMap<(usize, usize), String>,
    /// What goes from headings, by line.
    blanked: BTreeMap<usize, Vec<String>>,
    headings: Vec<String>,
    pins: Vec<String>,
    retold: Vec<String>,
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
            struck: BTreeSet::new(),
            exchanged: BTreeMap::new(),
            blanked: BTreeMap::new(),
            headings: Vec::new(),
            pins: Vec::new(),
            retold: Vec::new(),
            todos: Vec::new(),
            changed: Vec::new(),
            named: Vec::new(),
        }
    }

    /// Takes a sentence out.
    pub(super) fn strike(&mut self, line: usize, sentence: usize) {
        self.struck.insert((line, sentence));
    }

    /// Puts the user's words in the place of a sentence; once is enough.
    pub(super) fn exchange(&mut self, line: usize, sentence: usize, words: &str) {
        self.struck.insert((line, sentence));
        let is_told = self.lines.iter().any(|line| line.text.contains(words));
        if !is_told && !self.exchanged.values().any(|other| other == words) {
            self.exchanged.insert((line, sentence), words.to_owned());
        }
    }

    /// Takes a sentence out of a list of instructions, and tells it as what it is.
    pub(super) fn set_aside(&mut self, line: usize, sentence: usize, text: &str) {
        self.struck.insert((line, sentence));
        self.retold.push(text.trim().to_owned());
    }

    /// Takes a name out of a heading.
    pub(super) fn blank(&mut self, line: usize, name: &str) {
        self.blanked.entry(line).or_default().push(name.to_owned());
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

    /// Names the heavy ones among anchors that are lacking, as many as there is room for. Whether there were any.
    pub(super) fn ledger<'n>(
        &mut self,
        lacking: impl Iterator<Item = &'n Anchor>,
        meter: Meter,
        room: u64,
    ) -> bool {
        let mut heavy: Vec<&Anchor> = lacking.filter(|anchor| anchor.is_heavy()).collect();
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
        left < room
    }

    /// What is left of the summary.
    pub(super) fn kept(&self) -> String {
        let mut text = String::new();
        for (at, line) in self.lines.iter().enumerate() {
            if let Some(names) = self.blanked.get(&at) {
                let whole = line.text.to_owned();
                let shown = names
                    .iter()
                    .fold(whole, |text, name| text.replace(name, BLANK));
                text.push_str(&shown);
            } else if self.struck.range((at, 0)..(at + 1, 0)).next().is_none() {
                text.push_str(line.text);
            } else {
                let left = self.left_of(at, line);
                if left.trim().is_empty() {
                    continue;
                }
                text.push_str(line.lead);
                text.push_str(left.trim_end());
            }
            text.push('\n');
        }
        text
    }

    /// What is left of the sentences of a line.
    fn left_of(&self, at: usize, line: &Line<'a>) -> String {
        let mut left = String::new();
        for (place, sentence) in line.sentences.iter().enumerate() {
            if let Some(words) = self.exchanged.get(&(at, place)) {
                left.push_str(words);
                left.push(' ');
            } else if !self.struck.contains(&(at, place)) {
                left.push_str(sentence);
            }
        }
        left
    }

    pub(super) fn finish(self, original: &str) -> Repaired {
        let struck = self.struck_texts();
        let mut text = if struck.is_empty() {
            original.to_owned()
        } else {
            self.kept()
        };
        let added = self.added(original);
        if !added.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&added);
        let appended = [
            self.headings,
            self.exchanged.into_values().collect(),
            self.pins,
            self.todos,
            self.changed,
            self.named,
        ];
        Repaired {
            text,
            struck,
            appended: appended.concat(),
        }
    }

    fn struck_texts(&self) -> Vec<String> {
        let sentence = |(line, place): &(usize, usize)| {
            let text = self.lines.get(*line)?.sentences.get(*place)?;
            Some(text.trim().to_owned())
        };
        let sentences = self.struck.iter().filter_map(sentence);
        sentences
            .chain(self.blanked.values().flatten().cloned())
            .collect()
    }

    fn added(&self, original: &str) -> String {
        let mut added = String::new();
        for heading in &self.headings {
            added.push('\n');
            added.push_str(heading);
            added.push('\n');
        }
        let bullets = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| format!("- {line}")).collect()
        };
        let named = [(CHANGED, &self.changed), (NAMED, &self.named)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(lead, names)| format!("{lead}{}", names.join(", ")))
            .collect();
        let parts = [
            (PINS, bullets(&self.pins)),
            (RETOLD, bullets(&self.retold)),
            (TODOS, bullets(&self.todos)),
            (LEDGER, named),
        ];
        if parts.iter().any(|(_, lines)| !lines.is_empty()) && !original.contains(ADDED) {
            added.push('\n');
            added.push_str(ADDED);
            added.push('\n');
        }
        for (heading, lines) in parts.iter().filter(|(_, lines)| !lines.is_empty()) {
            added.push_str(heading);
            added.push('\n');
            added.push_str(&lines.join("\n"));
            added.push('\n');
        }
        added
    }
}
