//! `epitome show`.

use anyhow::{Result, bail};
use epitome::reference::vibe::grouped;
use epitome_engine::archive::compaction_with_record;
use epitome_engine::record::{MadeFor, Record, RecordError};
use epitome_store::{
    AnyStore, CompactionRow, Compactions, Conversations, Entries, Store, TenantId,
};

use super::log::headline;
use super::{NAMED_AMONG, digest};
use crate::args::ShowArgs;
use crate::terminal::{Page, tell};
use crate::{Ending, print, print_bytes};

pub(super) async fn run(args: &ShowArgs) -> Result<Ending> {
    let store = args.at.open_read_only().await?;
    let tenant = &args.at.tenant;
    if let Some(key) = &args.entry {
        let Some(key) = digest(key) else {
            bail!("{key:?} is no key: 64 hexadecimal digits, as `epitome recall` prints them");
        };
        let Some(entry) = store.entry(tenant, key).await? else {
            tell!("epitome: no entry {key} in this store");
            return Ok(Ending::No);
        };
        print_bytes(&entry.raw)?;
        return Ok(Ending::Done);
    }
    let id = args.id.as_deref().unwrap_or_default();
    let Some(row) = full_compaction(&store, tenant, id).await? else {
        tell!("epitome: no compaction {id} in this store; `epitome log --session ID` lists them");
        return Ok(Ending::No);
    };
    store.close().await;
    let record = Record::of(&row).inspect_err(said).ok();
    match args.at.json {
        true => print(&(compaction_with_record(&row).to_string() + "\n"))?,
        false => page(&row, record.as_ref()).print()?,
    }
    Ok(Ending::Done)
}

/// The compaction with this name, or the only one whose name begins with it.
async fn full_compaction(
    store: &AnyStore,
    tenant: &TenantId,
    given: &str,
) -> Result<Option<CompactionRow>> {
    if let Some(row) = store.compaction(tenant, given).await? {
        return Ok(Some(row));
    }
    let mut found: Option<CompactionRow> = None;
    let rows = store.conversations(tenant, NAMED_AMONG).await?;
    for conversation in rows.iter().filter(|row| row.compactions > 0) {
        let made = store.compactions_of(tenant, &conversation.id).await?;
        for row in made.into_iter().filter(|row| row.id.starts_with(given)) {
            if let Some(other) = &found {
                bail!(
                    "several compactions begin with {given}: {}, {} …; type more of it",
                    other.id,
                    row.id
                );
            }
            found = Some(row);
        }
    }
    Ok(found)
}

/// What cannot be read is said, and the rest is shown.
fn said(error: &RecordError) {
    tell!("epitome: {error}");
}

fn page(row: &CompactionRow, record: Option<&Record>) -> Page {
    let mut page = Page::default();
    page.heading(headline(row));
    page.line(format!("of conversation {}", row.conversation));
    for line in record.map(|record| told(row, record)).unwrap_or_default() {
        page.line(line);
    }
    page.gap();
    for line in row.summary.trim_end().lines() {
        match line.starts_with('#') {
            true => page.heading(line),
            false => page.line(line),
        }
    }
    page.gap();
    page.faint(
        "--json has the whole record; `epitome undo --session ID` takes the newest one back",
    );
    page
}

/// What a record tells, a line each.
fn told(row: &CompactionRow, record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rung) = record.written_by() {
        let failed = record.steps().iter().filter_map(|step| {
            let reason = step.failed.as_ref()?;
            Some(format!(", after {} ({reason})", step.rung))
        });
        lines.push(format!("written by {rung}{}", failed.collect::<String>()));
    }
    let window = MadeFor::read(&row.model_class).and_then(MadeFor::window_tokens);
    if let Some(tokens) = window {
        lines.push(format!("made for a window of {} tokens", grouped(tokens)));
    }
    if let Some(tokens) = record.hard_tokens() {
        lines.push(format!(
            "made where {} tokens were allowed",
            grouped(tokens)
        ));
    }
    if let Some(swap) = record.swap() {
        let (before, after) = (grouped(swap.before_tokens), grouped(swap.after_tokens));
        lines.push(format!(
            "shown early, because it paid: {before} to {after} tokens"
        ));
    }
    if let Some(report) = record.report() {
        let alarms: usize = report.alarms.values().sum();
        lines.push(format!(
            "verified: {} names and numbers checked, {alarms} alarms",
            report.checked
        ));
    }
    lines
}
