//! What a session file can say about a compaction, and how it is put into one.

use anyhow::Result;
use epitome::{
    Block, Compaction, Layout, Log, Message, Plan, ResultPart, Role, TaskPlace, ToolResult, View,
    ViewItem, leading_system, merged, trimmed,
};
use epitome_files::{FileFormat, NewCompaction, Stamp, appended};

use super::input::{Input, Session};
use crate::source::Source;

/// The plan as a file of this format can hold it. In most of them a summary stands for everything up to the first
/// entry that stays, and what stays is untouched: so the task goes into the summary, and results are not trimmed.
pub(super) fn expressible(mut plan: Plan, session: &Session, log: &Log) -> Plan {
    match session.format {
        FileFormat::Pi | FileFormat::ClaudeCode | FileFormat::Unified => {}
        // Codex holds any history, but its reader joins answers that follow each other.
        FileFormat::Codex => {
            if plan.layout == Layout::AssistantMessage {
                plan.layout = Layout::UserMessage;
            }
            return plan;
        }
        _ => return plan,
    }
    let start = leading_system(log);
    plan.head = 0..start;
    plan.span.start = start;
    plan.task = TaskPlace::Summary;
    plan.notes.clear();
    plan.dropped.clear();
    if matches!(plan.layout, Layout::Merged | Layout::AssistantMessage) {
        plan.layout = Layout::UserMessage;
    }
    // Results cannot be trimmed: without a call in flight everything may go into the summary instead.
    if plan.trim_tokens > 0 && !log.is_in_flight() {
        let end = log.len();
        plan.span.end = end;
        plan.trim_tokens = 0;
        plan.turn_prefix = end..end;
    }
    plan
}

/// A copy of the file with the compaction behind what it holds; without one, a copy.
pub(super) fn file_with(
    source: &mut Source,
    input: &Input,
    session: &Session,
    compaction: Option<&Compaction>,
) -> Result<Vec<u8>> {
    let file = source.bytes()?;
    let Some(compaction) = compaction else {
        return Ok(file);
    };
    let view = compaction.view(input.log.len());
    let (context, places): (Vec<Message>, Vec<Option<usize>>) =
        shown(&view, input, compaction).into_iter().unzip();
    let kept = session.sources.get(compaction.plan.span.end);
    let conversation = &session.conversation;
    let mut files = compaction.files(&input.messages);
    if let Some(earlier) = conversation.compactions.last() {
        files = files.after(&earlier.files);
    }
    let new = NewCompaction {
        summary: &compaction.summary.text,
        first_kept: kept
            .copied()
            .flatten()
            .unwrap_or(conversation.messages.len()),
        context: &context,
        places: &places,
        tokens_before: compaction.plan.tokens_before,
        tokens_after: compaction.tokens_after,
        files: &files,
    };
    // Ids of entries follow from this, so it differs from one compaction to the next.
    let seed = format!(
        "{}/{}",
        conversation.id.as_deref().unwrap_or_default(),
        conversation.tip.entries
    );
    let stamp = Stamp {
        session_id: &seed,
        folder: ".",
        time_ms: crate::clock::now_ms(),
    };
    Ok(appended(&file, session.format, conversation, &new, stamp)?)
}

/// The messages of a view, each with its place in the context if it stands there as it was.
fn shown(view: &View, input: &Input, compaction: &Compaction) -> Vec<(Message, Option<usize>)> {
    let summary = &compaction.summary.text;
    let at = |position: usize| input.messages.get(position);
    let mut messages = Vec::new();
    for item in &view.items {
        let made = match item {
            ViewItem::Entries(range) => {
                let kept = range.clone().filter_map(|place| {
                    let message = at(place)?.clone();
                    Some((message, Some(place)))
                });
                messages.extend(kept);
                continue;
            }
            ViewItem::Trimmed(position, trims) => {
                at(*position).map(|message| trimmed(message, trims))
            }
            ViewItem::Merged(position) => at(*position).map(|message| merged(message, summary)),
            ViewItem::Summary => Some(Message::text(Role::User, summary.clone())),
            ViewItem::AssistantSummary => Some(Message::text(Role::Assistant, summary.clone())),
            ViewItem::Made { role, text, .. } => Some(Message::text(*role, &**text)),
            ViewItem::Inserted(role, text) => Some(Message::text(*role, *text)),
            ViewItem::Answer { call_id, text } => Some(Message {
                role: Role::Tool,
                blocks: vec![Block::Result(ToolResult {
                    call_id: (&**call_id).into(),
                    parts: vec![ResultPart::Text((*text).to_owned())],
                    is_error: false,
                })],
            }),
        };
        messages.extend(made.map(|message| (message, None)));
    }
    messages
}
