//! Rules that nobody typed: those a client sends along, and those in rules files that were read. A record, no orders.

use std::collections::HashSet;

use super::Source;
use super::survey::Survey;
use crate::files::paths;
use crate::message::{Call, Message, Role};
use crate::pin::{self, Strength};
use crate::provenance;
use crate::story::{command_line, prose, without_number};
use crate::summary::{Line, LineKind};

/// A sentence that reads like a rule.
#[derive(Clone, Debug)]
pub(super) struct FoundRule {
    position: usize,
    /// How many of its message stand before it.
    rank: usize,
    strength: Strength,
    text: String,
}

/// The longest rule that is told, in bytes.
const RULE_BYTES: usize = 400;
/// How much more a rule is worth that says that it stands.
const EXPLICIT: f64 = 1.6;
/// How much the length of a rule counts against what it shares with the conversation.
const SIZE: f64 = 0.7;
/// What files with rules for agents are called, in small letters.
const RULE_FILES: &[&str] = &[
    "agents.md",
    "claude.md",
    "gemini.md",
    "contributing.md",
    "conventions.md",
    "copilot-instructions.md",
    "skill.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
];

impl Source<'_> {
    /// What the client put into messages that do not stay in view, and what stands in rules files that were read: the
    /// sentences that read like rules, each once.
    pub(super) fn found_rules(&self) -> Vec<FoundRule> {
        let mut known: HashSet<&str> = HashSet::new();
        let mut found = Vec::new();
        let calls = self.entries().flat_map(|(_, message)| message.calls());
        let reads: HashSet<&str> = calls
            .filter(|call| reads_rules(call))
            .map(|call| &*call.id)
            .collect();
        for (position, message) in self.entries() {
            let mut rank = 0;
            let mut take = |text| rules(text, &mut known, position, &mut rank, &mut found);
            client_texts(message).for_each(&mut take);
            let results = message.results();
            let results = results.filter(|result| reads.contains(&*result.call_id));
            results.flat_map(|result| result.texts()).for_each(take);
        }
        found
    }

    /// As many of these as there is room for, those first that are about what the conversation is about, in the order in
    /// which they came.
    pub(super) fn rule_lines(
        &self,
        rules: &[FoundRule],
        survey: &Survey<'_>,
        cap_tokens: u64,
    ) -> Vec<Line> {
        let score = |rule: &FoundRule| {
            let factor = match rule.strength {
                Strength::Explicit => EXPLICIT,
                Strength::Plain => 1.0,
            };
            factor * survey.relevance(&rule.text, SIZE)
        };
        let mut ranked: Vec<(f64, &FoundRule)> =
            rules.iter().map(|rule| (score(rule), rule)).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut left = cap_tokens;
        let mut told: Vec<&FoundRule> = Vec::new();
        for (_, rule) in ranked {
            if let Some(rest) = left.checked_sub(self.cost(&rule.text)) {
                left = rest;
                told.push(rule);
            }
        }
        told.sort_by_key(|rule| (rule.position, rule.rank));
        let line = |rule: &FoundRule| Line {
            position: rule.position,
            text: rule.text.clone(),
            kind: LineKind::Found,
        };
        told.into_iter().map(line).collect()
    }
}

/// What the client put into a message of the user, or sent by itself in the middle of the conversation.
fn client_texts(message: &Message) -> impl Iterator<Item = &str> {
    let is_own = message.role == Role::System;
    let texts = message
        .spoken()
        .filter(move |_| is_own || message.role == Role::User);
    texts
        .flat_map(provenance::stretches)
        .filter(move |stretch| {
            let is_sent = stretch.source == provenance::Source::Client;
            is_sent || is_own && stretch.source == provenance::Source::Typed
        })
        .map(|stretch| stretch.text)
}

/// Whether a call reads a file with rules for agents.
fn reads_rules(call: &Call) -> bool {
    let is_rules = |text: &str| {
        let lower = text.to_lowercase();
        let mut words = lower.split([' ', '/', '\\', '"', '\'', ';', '|', '\n']);
        words.any(|word| RULE_FILES.contains(&word))
    };
    paths(call).iter().any(|path| is_rules(path))
        || command_line(call).is_some_and(|line| is_rules(&line))
}

/// The sentences of a text that read like rules and are not known yet.
fn rules<'a>(
    text: &'a str,
    known: &mut HashSet<&'a str>,
    position: usize,
    rank: &mut usize,
    found: &mut Vec<FoundRule>,
) {
    let lines = text.lines().map(|line| without_number(line).trim());
    let sentences = lines.map(prose::without_mark).flat_map(prose::sentences);
    let sentences = sentences.filter(|sentence| sentence.len() <= RULE_BYTES);
    // The same reminder comes with every message: what is known is not judged again.
    for text in sentences.filter(|sentence| known.insert(sentence)) {
        if let Some(strength) = pin::strength(text) {
            *rank += 1;
            found.push(FoundRule {
                position,
                rank: *rank,
                strength,
                text: text.to_owned(),
            });
        }
    }
}
