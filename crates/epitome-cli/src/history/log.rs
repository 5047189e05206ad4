//! `epitome log`.

use std::collections::HashMap;

use anyhow::Result;
use epitome_engine::archive::{compaction_object, conversation_object, one_line, span};
use epitome_store::{
    CompactionRow, Compactions, ConversationRow, Conversations, Outcome, Outcomes, Store,
};
use serde_json::{Value, json};

use super::{full_session, moment, short_ids, unknown_session};
use crate::args::LogArgs;
use crate::terminal::{Page, width};
use crate::{Ending, print};

/// How wide a line is where no terminal says.
const USUAL_COLUMNS: usize = 120;
/// Below this many columns the model is left out.
const NARROW_COLUMNS: usize = 80;
const MODEL_CHARS: usize = 20;
const LEAST_TITLE_CHARS: usize = 12;
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
        page.faint(format!("    {}", one_line(&row.summary, SUMMARY_CHARS)));
    }
    page.print()?;
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

/// Conversations, one a line: short id, date, model, sizes, what the newest compaction saves, title.
fn table(rows: &[ConversationRow], newest: &HashMap<&str, &Outcome>) -> Page {
    let mut page = Page::default();
    if rows.is_empty() {
        return page;
    }
    let columns = width().unwrap_or(USUAL_COLUMNS);
    let ids = short_ids(rows.iter().map(|row| row.id.as_str()));
    let id_chars = ids.iter().map(|id| id.chars().count()).max().unwrap_or(0);
    let has_model = columns >= NARROW_COLUMNS;
    let model = |text: &str| match has_model {
        true => format!("  {:<MODEL_CHARS$}", one_line(text, MODEL_CHARS - 1)),
        false => String::new(),
    };
    let line = |id: &str, date: &str, model_name: &str, sizes: [&str; 3], title: &str| {
        let [messages, compactions, saved] = sizes;
        let front = format!(
            "{id:<id_chars$}  {date:<16}{}  {messages:>8}  {compactions:>6}  {saved:>5}",
            model(model_name)
        );
        let room = columns.saturating_sub(front.chars().count() + 2);
        let title = one_line(title, room.saturating_sub(1).max(LEAST_TITLE_CHARS));
        match room > LEAST_TITLE_CHARS {
            true => format!("{front}  {title}"),
            false => front,
        }
    };
    let sizes = ["messages", "rounds", "saved"];
    let heading = line("id", "last request", "model", sizes, "title");
    page.heading(heading.trim_end());
    for (row, id) in rows.iter().zip(&ids) {
        let last = newest.get(row.id.as_str());
        let saved = last.map_or_else(String::new, |last| saved(last));
        let label = row.label.as_deref().unwrap_or_default();
        let title = match &row.parent {
            Some(parent) => format!("(branch of {}) {label}", one_line(parent.as_str(), 12)),
            None => label.to_owned(),
        };
        let (messages, compactions) = (row.nodes.to_string(), row.compactions.to_string());
        let model = last.map_or("", |last| last.model.as_str());
        let line = line(
            id,
            &moment(row.touched_ms),
            model,
            [&messages, &compactions, &saved],
            &title,
        );
        page.line(line.trim_end());
    }
    page
}

/// What a request went out shorter by, in percent.
fn saved(outcome: &Outcome) -> String {
    let less = outcome.tokens_before.saturating_sub(outcome.tokens_after);
    let percent = less.saturating_mul(100).checked_div(outcome.tokens_before);
    percent.map_or_else(String::new, |percent| format!("{percent} %"))
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
        row.tokens_before,
        row.tokens_after,
    )
}
