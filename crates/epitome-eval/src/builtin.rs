//! The built-in summariser as a method among others.

use epitome::{
    Basis, Block, Call, Compaction, Facts, Log, Message, Meter, Plan, Preset, PresetName, Reason,
    ResultPart, Role, ToolResult, ViewItem, leading_system, trimmed,
};

use crate::history::{History, visible};
use crate::session::{Entry, Speaker};

/// Counted like everything else here.
const METER: Meter = Meter::Chars4;

/// What is kept out of a compaction and not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aside {
    /// System messages, wherever they stand: so the measures want it.
    System,
    /// Nothing: so it is in practice, where only the leading ones are not counted.
    Nothing,
}

/// The messages of a history as the core knows them.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Where each message stands in the history.
    positions: Vec<usize>,
    messages: Vec<Message>,
    facts: Vec<Facts>,
}

impl Prepared {
    pub(crate) fn of(entries: &[Entry], aside: Aside) -> Self {
        let mut prepared = Self {
            positions: Vec::new(),
            messages: Vec::new(),
            facts: Vec::new(),
        };
        for (position, entry) in entries.iter().enumerate() {
            if entry.role == Speaker::System && aside == Aside::System {
                continue;
            }
            let message = message(entry);
            prepared.positions.push(position);
            prepared.facts.push(Facts::of(&message, METER));
            prepared.messages.push(message);
        }
        prepared
    }
}

/// A message as the core knows it.
#[must_use]
pub fn message(entry: &Entry) -> Message {
    let text = || entry.content.clone();
    match entry.role {
        Speaker::System => Message::text(Role::System, text()),
        Speaker::User => Message::text(Role::User, text()),
        Speaker::Assistant => {
            let said = (!entry.content.is_empty()).then(|| Block::Text(text()));
            let calls = entry.tool_calls.iter().map(|call| {
                Block::Call(Call::new(
                    call.id.clone(),
                    call.name.clone(),
                    call.arguments.clone(),
                ))
            });
            Message {
                role: Role::Assistant,
                blocks: said.into_iter().chain(calls).collect(),
            }
        }
        Speaker::Tool => Message {
            role: Role::Tool,
            blocks: vec![Block::Result(ToolResult {
                call_id: entry.tool_call_id.clone().unwrap_or_default().into(),
                parts: vec![ResultPart::Text(text())],
                is_error: false,
            })],
        },
    }
}

/// What the built-in summariser makes of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// The messages the model would get.
    pub(crate) entries: Vec<Entry>,
    /// The summary among them.
    pub(crate) summary: String,
}

/// Compacts the messages before `at` to a budget, as `epitome compact --budget` does.
pub(crate) fn compacted(
    history: &History,
    at: usize,
    budget: u64,
    aside: Aside,
) -> Result<Output, Reason> {
    let prepared = history.prepared(aside);
    let count = prepared
        .positions
        .partition_point(|position| *position < at);
    let messages = prepared.messages.get(..count).unwrap_or_default();
    let compaction = prepared.compact(count, budget)?;
    let entry = |position: usize| {
        let position = prepared.positions.get(position)?;
        history.entries.get(*position).cloned()
    };
    let summary = compaction.summary.text.clone();
    let mut entries = Vec::new();
    for item in compaction.view(count).items {
        match item {
            ViewItem::Entries(range) => entries.extend(range.filter_map(entry)),
            ViewItem::Trimmed(position, trims) => {
                entries.extend(entry(position).zip(messages.get(position)).map(
                    |(entry, message)| Entry {
                        content: returned(&trimmed(message, &trims)),
                        ..entry
                    },
                ));
            }
            ViewItem::Summary => entries.push(Entry::text(Speaker::User, summary.as_str())),
            ViewItem::AssistantSummary => {
                entries.push(Entry::text(Speaker::Assistant, summary.as_str()));
            }
            ViewItem::Merged(position) => entries.extend(entry(position).map(|entry| Entry {
                content: format!("{}\n{summary}", entry.content),
                ..entry
            })),
            ViewItem::Inserted(role, text) => entries.push(Entry::text(speaker(role), text)),
            ViewItem::Made { role, text, .. } => {
                entries.push(Entry::text(speaker(role), text.as_ref()));
            }
            ViewItem::Answer { text, .. } => entries.push(Entry::text(Speaker::Tool, text)),
        }
    }
    Ok(Output { entries, summary })
}

impl Prepared {
    /// Plans a compaction of the first `count` messages and carries it out.
    fn compact(&self, count: usize, budget: u64) -> Result<Compaction, Reason> {
        let mut log = Log::new();
        log.reserve(count);
        for facts in self.facts.iter().take(count) {
            log.push(facts);
        }
        if log.tokens(leading_system(&log)..count) <= budget {
            return Err(Reason::WithinBudget);
        }
        let messages = self.messages.get(..count).unwrap_or_default();
        let preset = Preset::named(PresetName::default());
        Plan::with(
            &preset,
            &log,
            Some(budget),
            epitome::Room::of(budget),
            Reason::Manual,
        )
        .and_then(|plan| Compaction::extract(plan, &Basis::new(&log, messages, METER)))
        .map_err(|no| no.reason)
    }
}

/// Whether a compaction to a budget leaves messages as they are.
pub(crate) fn is_left_alone(entries: &[Entry], budget: u64) -> bool {
    let prepared = Prepared::of(entries, Aside::Nothing);
    prepared.compact(entries.len(), budget) == Err(Reason::WithinBudget)
}

fn returned(message: &Message) -> String {
    let texts = message.results().flat_map(ToolResult::texts);
    texts.collect::<Vec<_>>().join("\n")
}

/// Tokens of messages, the leading system prompt aside.
pub(crate) fn counted_tokens(entries: &[Entry]) -> u64 {
    entries
        .iter()
        .skip_while(|entry| entry.role == Speaker::System)
        .map(|entry| METER.message(&message(entry)))
        .sum()
}

/// The text of what the model would get. A refusal leaves nothing, unless everything fits.
pub(super) fn builtin(history: &History, at: usize, budget: u64) -> String {
    let texts: Vec<String> = match compacted(history, at, budget, Aside::System) {
        Ok(output) => output.entries.iter().map(visible).collect(),
        Err(Reason::WithinBudget) => history
            .before(at)
            .filter(|(_, entry)| entry.role != Speaker::System)
            .map(|(_, entry)| visible(entry))
            .collect(),
        Err(_) => Vec::new(),
    };
    texts.join("\n")
}

const fn speaker(role: Role) -> Speaker {
    match role {
        Role::System => Speaker::System,
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::Tool => Speaker::Tool,
    }
}
