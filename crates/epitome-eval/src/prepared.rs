//! A history as the core knows it, ready to be compacted.

use epitome::{
    Basis, Block, Call, Compaction, Facts, Log, Message, Meter, Plan, Preset, PresetName, Reason,
    ResultPart, Role, ToolResult, leading_system,
};

use crate::session::{Entry, Speaker};

/// Counted like everything else here.
pub(crate) const METER: Meter = Meter::Chars4;

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
    pub(crate) positions: Vec<usize>,
    pub(crate) messages: Vec<Message>,
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

    /// Plans a compaction of the first `count` messages and carries it out.
    pub(crate) fn compact(&self, count: usize, budget: u64) -> Result<Compaction, Reason> {
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
