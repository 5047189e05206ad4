//! The built-in summariser as a method among others.

use epitome::{Block, Message, Reason, Role, ViewItem, trimmed};

use crate::history::{History, visible};
use crate::prepared::{Aside, METER, Prepared, message};
use crate::session::{Entry, Speaker};

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
                let whole = entry(position).zip(messages.get(position));
                entries.extend(
                    whole.map(|(entry, message)| shortened(entry, &trimmed(message, &trims))),
                );
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

/// Whether a compaction to a budget leaves messages as they are.
pub(crate) fn is_left_alone(entries: &[Entry], budget: u64) -> bool {
    let prepared = Prepared::of(entries, Aside::Nothing);
    prepared.compact(entries.len(), budget) == Err(Reason::WithinBudget)
}

/// An entry as what is left of its message says it: texts, results and the arguments of calls may be shorter.
fn shortened(mut entry: Entry, message: &Message) -> Entry {
    let mut texts: Vec<&str> = Vec::new();
    let mut calls = entry.tool_calls.iter_mut();
    for block in &message.blocks {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Result(result) => texts.extend(result.texts()),
            Block::Call(call) => {
                if let Some(whole) = calls.next() {
                    whole.arguments = call.arguments.to_string();
                }
            }
            _ => {}
        }
    }
    entry.content = texts.join("\n");
    entry
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
