//! `epitome log`.

use std::fmt::Write;

use anyhow::Result;
use epitome_engine::archive::{compaction_object, conversation_object, one_line};
use epitome_store::{CompactionRow, Compactions, ConversationRow, Conversations, Store};
use serde_json::json;

use super::unknown_session;
use crate::args::LogArgs;
use crate::{Ending, print};

const LABEL_CHARS: usize = 40;
const SUMMARY_CHARS: usize = 72;

pub(super) async fn run(args: &LogArgs) -> Result<Ending> {
    let store = args.at.open_read_only().await?;
    let tenant = &args.at.tenant;
    let text = match &args.session {
        None => {
            let rows = store.conversations(tenant, args.count).await?;
            if args.at.json {
                let rows: Vec<_> = rows.iter().map(conversation_object).collect();
                json!({ "conversations": rows }).to_string() + "\n"
            } else {
                rows.iter().map(conversation_line).collect()
            }
        }
        Some(id) => {
            if store.conversation(tenant, id).await?.is_none() {
                return Ok(unknown_session(id));
            }
            let rows = store.compactions_of(tenant, id).await?;
            if args.at.json {
                let rows: Vec<_> = rows.iter().map(compaction_object).collect();
                json!({ "session": id.as_str(), "compactions": rows }).to_string() + "\n"
            } else {
                rows.iter().map(compaction_lines).collect()
            }
        }
    };
    store.close().await;
    print(&text)?;
    Ok(Ending::Done)
}

fn conversation_line(row: &ConversationRow) -> String {
    let mut line = format!(
        "{}  {} entries, {} compactions",
        row.id, row.nodes, row.compactions
    );
    if let Some(parent) = &row.parent {
        let _ = write!(line, ", forked from {parent}");
    }
    if let Some(label) = &row.label {
        let _ = write!(line, "  {}", one_line(label, LABEL_CHARS));
    }
    line + "\n"
}

fn compaction_lines(row: &CompactionRow) -> String {
    format!(
        "{}\n    {}\n",
        headline(row),
        one_line(&row.summary, SUMMARY_CHARS)
    )
}

/// What a compaction is, on one line.
pub(crate) fn headline(row: &CompactionRow) -> String {
    let covered = match row.covered_entries {
        // It only shortens old tool results.
        0 => String::from("no entries"),
        _ => format!(
            "entries {} to {}",
            row.head_entries + 1,
            row.head_entries + row.covered_entries
        ),
    };
    format!(
        "{}  {}, {covered}, {} to {} tokens",
        row.id,
        row.state.as_str(),
        row.tokens_before,
        row.tokens_after,
    )
}
