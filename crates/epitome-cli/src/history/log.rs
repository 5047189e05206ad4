//! `epitome log`.

use std::collections::HashMap;

use anyhow::Result;
use epitome::Earlier;
use epitome::reference::vibe::grouped;
use epitome_engine::archive::{compaction_object, conversation_object, one_line, span};
use epitome_store::{
    CompactionRow, Compactions, ConversationRow, Conversations, Outcome, Outcomes, Store,
};
use serde_json::{Value, json};

use super::{full_session, moment, short_ids, unknown_session};
use crate::args::LogArgs;
use crate::terminal::{Page, Table, left, right, tell};
use crate::{Ending, print};

const MODEL_CHARS: usize = 24;
const TITLE_CHARS: usize = 200;
const LEAST_TITLE_CHARS: usize = 24;
const SUMMARY_CHARS: usize = 72;
/// Among so many decisions the newest of each conversation is looked for.
const DECISIONS: u32 = 10_000;

pub(super) async fn run(args: &LogArgs) -> Result<Ending> {
    let store = args.at.open_read_only().await?;
    let tenant = &args.at.tenant;
    let Some(session) = &args.session else {
        let rows = store.conversations(tenant, args.count).await?;
        let outcomes = store.outcomes(tenant, DECISIONS).await?;
        store.close().await;
        let newest = newest(&outcomes);
        if args.at.json {
            let rows: Vec<_> = rows.iter().map(|row| object(row, &newest)).collect();
            print(&(json!({ "conversations": rows }).to_string() + "\n"))?;
        } else {
            table(&rows, &newest).print()?;
            if rows.is_empty() {
                tell!(
                    "epitome: nothing is stored yet: requests that pass `epitome serve` are, and those of `epitome wrap`"
                );
            }
        }
        return Ok(Ending::Done);
    };
    let Some(id) = full_session(&store, tenant, session).await? else {
        return Ok(unknown_session(session));
    };
    let rows = store.compactions_of(tenant, &id).await?;
    store.close().await;
    if args.at.json {
        let rows: Vec<_> = rows.iter().map(compaction_object).collect();
        print(&(json!({ "session": id.as_str(), "compactions": rows }).to_string() + "\n"))?;
        return Ok(Ending::Done);
    }
    let mut page = Page::default();
    for row in &rows {
        page.line(headline(row));
        page.faint(format!("    {}", gist(&row.summary, SUMMARY_CHARS)));
    }
    page.print()?;
    if rows.is_empty() {
        tell!("epitome: {id} was never compacted: it fits as it is");
    }
    Ok(Ending::Done)
}

/// The newest decision about each conversation.
fn newest(outcomes: &[Outcome]) -> HashMap<&str, &Outcome> {
    let mut newest = HashMap::new();
    for outcome in outcomes {
        if let Some(id) = &outcome.conversation {
            newest.entry(id.as_str()).or_insert(outcome);
        }
    }
    newest
}

fn object(row: &ConversationRow, newest: &HashMap<&str, &Outcome>) -> Value {
    let mut object = conversation_object(row);
    if let (Value::Object(members), Some(last)) = (&mut object, newest.get(row.id.as_str())) {
        members.insert("model".to_owned(), last.model.clone().into());
        members.insert("tokens_before".to_owned(), last.tokens_before.into());
        members.insert("tokens_after".to_owned(), last.tokens_after.into());
    }
    object
}

/// Conversations, one a line: short id, date, model, sizes, what the newest request went out shorter by, title.
fn table(rows: &[ConversationRow], newest: &HashMap<&str, &Outcome>) -> Page {
    let mut page = Page::default();
    if rows.is_empty() {
        return page;
    }
    let ids = short_ids(rows.iter().map(|row| row.id.as_str()));
    let mut table = Table::new([
        left("id"),
        left("last request"),
        left("model").leaves(1),
        right("messages").leaves(2),
        right("rounds").leaves(0),
        right("saved"),
        left("title").shortens(LEAST_TITLE_CHARS),
    ]);
    for (row, id) in rows.iter().zip(ids) {
        let last = newest.get(row.id.as_str());
        let label = row.label.as_deref().unwrap_or_default();
        let title = match &row.parent {
            Some(parent) => format!("(branch of {}) {label}", one_line(parent.as_str(), 12)),
            None => label.to_owned(),
        };
        let model = last.map_or("", |last| last.model.as_str());
        table.row([
            id,
            moment(row.touched_ms),
            one_line(model, MODEL_CHARS),
            row.nodes.to_string(),
            row.compactions.to_string(),
            last.map_or_else(String::new, |last| saved(last)),
            one_line(&title, TITLE_CHARS),
        ]);
    }
    page.table(table);
    page
}

/// What a request went out shorter by, in percent.
fn saved(outcome: &Outcome) -> String {
    let less = outcome.tokens_before.saturating_sub(outcome.tokens_after);
    let percent = less.saturating_mul(100).checked_div(outcome.tokens_before);
    percent.map_or_else(String::new, |percent| format!("{percent} %"))
}

/// What a summary is about, on one line: what was asked last in one of ours, else how it begins.
pub(crate) fn gist(summary: &str, most_chars: usize) -> String {
    let asked = Earlier::read(summary).and_then(|earlier| earlier.said.last().cloned());
    match asked {
        Some(asked) => format!("asked last: {}", one_line(&asked, most_chars)),
        None => one_line(summary, most_chars),
    }
}

/// What a compaction is, on one line.
pub(crate) fn headline(row: &CompactionRow) -> String {
    let entries = span(row);
    let covered = match entries.is_empty() {
        // It only shortens old tool results.
        true => String::from("no entries"),
        false => format!("entries {} to {}", entries.start + 1, entries.end),
    };
    format!(
        "{}  {}, {}, {covered}, {} to {} tokens",
        row.id,
        moment(row.created_ms),
        row.state.as_str(),
        grouped(row.tokens_before),
        grouped(row.tokens_after),
    )
}
