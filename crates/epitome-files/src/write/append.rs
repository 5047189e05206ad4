//! One compaction behind what a file holds, in the format's own way.

use epitome::{FileOperations, Message};
use epitome_wire::json::{self, Kind};

use super::pi::details;
use super::spell::{Ids, iso_time, quoted};
use super::unified::compaction;
use super::{Stamp, Unwritable, claude_code, codex};
use crate::claude_code::said_since;
use crate::event::{Kept, Origin, Recorded, RecordedKind};
use crate::format::FileFormat;
use crate::transcript::Conversation;

/// A compaction that is not in the file yet.
#[derive(Clone, Debug)]
pub struct NewCompaction<'a> {
    /// What stands for the messages that go.
    pub summary: &'a str,
    /// The first message of the conversation that stays; its length when none does.
    pub first_kept: usize,
    /// The whole context with the summary in it, for formats that keep it in full.
    pub context: &'a [Message],
    /// For each message of it, which one of [`Conversation::context`] it is, if it stands there as it was.
    pub places: &'a [Option<usize>],
    /// The size of the context before.
    pub tokens_before: u64,
    /// The size of the context after.
    pub tokens_after: u64,
    /// What was done to files in the messages that go.
    pub files: &'a FileOperations,
}

/// The file with a compaction behind what it holds: the bytes of the file are not touched, except for those of the
/// unified form, which is one document.
///
/// # Errors
/// [`Unwritable`] for a format that is only read.
pub fn appended(
    file: &[u8],
    format: FileFormat,
    conversation: &Conversation,
    new: &NewCompaction<'_>,
    stamp: Stamp<'_>,
) -> Result<Vec<u8>, Unwritable> {
    let entry = match format {
        FileFormat::Pi => pi_entry(conversation, new, stamp),
        FileFormat::ClaudeCode => claude_code_entries(file, conversation, new, stamp),
        FileFormat::Codex => codex_entries(file, conversation, new, stamp),
        FileFormat::Unified => return Ok(unified_document(file, new)),
        _ => return Err(Unwritable(format)),
    };
    let mut out = file.to_vec();
    // A torn last line stays where it is: readers step over it.
    if out.last().is_some_and(|byte| *byte != b'\n') {
        out.push(b'\n');
    }
    out.extend_from_slice(entry.as_bytes());
    Ok(out)
}

fn pi_entry(conversation: &Conversation, new: &NewCompaction<'_>, stamp: Stamp<'_>) -> String {
    let taken = conversation.origins.iter();
    let id = Ids::new(stamp.session_id)
        .besides(taken.filter_map(|origin| origin.id.as_deref()))
        .short();
    let tip = &conversation.tip;
    let first = conversation.origins.get(new.first_kept);
    // The first version of the format has no ids and counts lines.
    let (parent, first) = match (&tip.parent, first) {
        (None, first) => {
            let number = first.map_or(tip.entries, |origin| origin.entry);
            (
                "null".to_owned(),
                format!("\"firstKeptEntryIndex\":{number}"),
            )
        }
        (Some(parent), first) => {
            let first = first.and_then(|origin| origin.id.as_deref()).unwrap_or(&id);
            (
                quoted(parent),
                format!("\"firstKeptEntryId\":{}", quoted(first)),
            )
        }
    };
    format!(
        "{{\"type\":\"compaction\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{}\",\"summary\":{},\
         {first},\"tokensBefore\":{},\"tokensAfter\":{},\"details\":{}}}\n",
        iso_time(stamp.time_ms),
        quoted(new.summary),
        new.tokens_before,
        new.tokens_after,
        details(new.files)
    )
}

fn claude_code_entries(
    file: &[u8],
    conversation: &Conversation,
    new: &NewCompaction<'_>,
    stamp: Stamp<'_>,
) -> String {
    let session = conversation.id.as_deref().unwrap_or(stamp.session_id);
    let tip = &conversation.tip;
    let mut writer = claude_code::Writer::new(session, stamp, &tip.members);
    writer.parent = tip.parent.as_deref().map(str::to_owned);
    let kept = conversation
        .origins
        .get(new.first_kept..)
        .unwrap_or_default();
    // What was typed while the agent worked has no entry that could be named: the next one is, and ours counts.
    let head = kept.iter().find(|origin| origin.id.is_some());
    let is_unnamed = kept.first().is_some_and(|origin| origin.id.is_none());
    let kept = claude_code::KeptEntries {
        // The conversation was read from the same bytes, so they can be read.
        ids: head.map_or_else(Vec::new, |head| {
            said_since(file, head.entry).unwrap_or_default()
        }),
        messages: is_unnamed.then_some(kept.len()),
    };
    let recorded = recorded(new, Kept::Nothing, new.first_kept);
    writer.compaction(&recorded, &kept);
    writer.out
}

fn codex_entries(
    file: &[u8],
    conversation: &Conversation,
    new: &NewCompaction<'_>,
    stamp: Stamp<'_>,
) -> String {
    let mut writer = codex::Writer::new(stamp.time_ms);
    writer.ordinal = conversation.tip.ordinal;
    let history = writer.history(file, conversation, new);
    writer.compaction(&recorded(new, Kept::Nothing, new.first_kept), &history);
    writer.out
}

/// The document with one more compaction in its list.
fn unified_document(file: &[u8], new: &NewCompaction<'_>) -> Vec<u8> {
    let entry = compaction(&recorded(new, Kept::Nothing, new.first_kept));
    let Ok(value) = json::read(file) else {
        return file.to_vec();
    };
    let list = value
        .get("compactions")
        .filter(|list| matches!(list.kind, Kind::Array(_)));
    let (end, text) = match list {
        Some(list) => {
            let comma = if list.items().is_empty() { "" } else { "," };
            (list.range.end, format!("{comma}{entry}"))
        }
        None => {
            let comma = if value.members().is_empty() { "" } else { "," };
            (value.range.end, format!("{comma}\"compactions\":[{entry}]"))
        }
    };
    let at = end.saturating_sub(1);
    let mut out = file.get(..at).unwrap_or_default().to_vec();
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(file.get(at..).unwrap_or_default());
    out
}

fn recorded(new: &NewCompaction<'_>, kept: Kept, at: usize) -> Recorded {
    Recorded {
        kind: RecordedKind::Summary,
        at,
        summary: new.summary.to_owned(),
        kept,
        tokens_before: Some(new.tokens_before),
        trigger: Some("manual".to_owned()),
        files: new.files.clone(),
        origin: Origin::default(),
    }
}
