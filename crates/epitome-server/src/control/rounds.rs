//! One compaction: what it replaced, what stands there instead and where that comes from, and what the round before said.

use epitome_engine::archive::{
    LineChange, SummaryLine, compaction_with_record, line_changes, span, summary_lines,
};
use epitome_engine::record::{MadeFor, Record};
use epitome_store::{AnyStore, CompactionRow, CompactionState, Compactions, Entries, EntryRow};
use serde_json::{Value, json};

use super::answer::Failure;
use super::api::store;
use super::view::View;

pub(super) async fn compaction(control: &View, id: &str) -> Result<Value, Failure> {
    let store: &AnyStore = store(control)?;
    let tenant = &control.tenant.id;
    let row = store.compaction(tenant, id).await?;
    let row = row.ok_or_else(|| Failure::NotFound(format!("there is no compaction {id}")))?;
    let rows = store.compactions_of(tenant, &row.conversation).await?;
    let entries = store.history(tenant, row.node).await?;
    let mut object = compaction_with_record(&row);
    if let Value::Object(members) = &mut object {
        let mut say = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        let is_in_force = |row: &&CompactionRow| row.state == CompactionState::Published;
        let newest = rows.iter().rfind(is_in_force);
        say(
            "in_force",
            newest.is_some_and(|one| one.id == row.id).into(),
        );
        say("sizes", sizes(&row, &entries));
        let lines = summary_lines(&row, &entries);
        let lines: Vec<Value> = lines.iter().map(line_object).collect();
        say("lines", lines.into());
        let window = MadeFor::read(&row.model_class).and_then(MadeFor::window_tokens);
        say("window_tokens", window.into());
        if let Ok(record) = Record::of(&row) {
            say("written_by", record.written_by().into());
            say("report", json!(record.report()));
            say("pins", record.pins(&row.summary).into());
        }
        let earlier = before(&rows, &row);
        say("previous", earlier.map(|row| row.id.clone()).into());
        let changes = earlier.map(|earlier| changes(&earlier.summary, &row.summary));
        say("changes", changes.into());
    }
    Ok(object)
}

/// The round before: the newest of the earlier ones that was not taken back, else the newest.
fn before<'a>(rows: &'a [CompactionRow], row: &CompactionRow) -> Option<&'a CompactionRow> {
    let at = rows.iter().position(|one| one.id == row.id)?;
    let earlier = rows.get(..at)?;
    let kept = earlier
        .iter()
        .rfind(|one| one.state != CompactionState::Undone);
    kept.or_else(|| earlier.last())
}

/// What stands in front, what is replaced, by how much, and what stays behind, in tokens.
fn sizes(row: &CompactionRow, entries: &[EntryRow]) -> Value {
    let covered = span(row);
    let tokens = |is_meant: &dyn Fn(u32) -> bool| -> u64 {
        let meant = (0_u32..).zip(entries).filter(|(at, _)| is_meant(*at));
        meant.map(|(_, entry)| u64::from(entry.tokens)).sum()
    };
    let front = tokens(&|at| at < covered.start);
    let replaced = tokens(&|at| covered.contains(&at));
    let behind = row.tokens_before.saturating_sub(front + replaced);
    let summary = match Record::of(row) {
        Ok(Record::Chain(record)) => record.summary_tokens,
        Ok(Record::Session(record)) => record.compaction.summary_tokens,
        _ => row.tokens_after.saturating_sub(front + behind),
    };
    json!({
        "front_tokens": front,
        "replaced_tokens": replaced,
        "summary_tokens": summary,
        "behind_tokens": behind,
    })
}

fn line_object(line: &SummaryLine) -> Value {
    json!({ "text": line.text, "entries": line.entries })
}

fn changes(before: &str, after: &str) -> Vec<Value> {
    // The first line names the texts it was made from, and so differs always.
    let lines = line_changes(before, after).into_iter();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(change, line): (LineChange, &str)| json!({"change": change.as_str(), "text": line}))
        .collect()
}
