//! The table, on the terminal and in `docs/clients.md`.

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;

use anyhow::{Context, Result};

use super::Findings;
use super::clients::{CLIENTS, Scenario};
use super::outcome::Row;
use crate::project::Project;

const FILE: &str = "docs/clients.md";
const BEGIN: &str = "<!-- made by: cargo xtask agents -->";
const HEAD: &str = "\
| client | scenario | turns with / without / of | client errors with / without | invalid requests with / without | rule kept | \
largest request / window | verdict |
|---|---|---|---|---|---|---|---|";
const END: &str = "<!-- end of what cargo xtask agents made -->";

/// One line while it runs.
pub(crate) fn progress(row: &Row) -> String {
    let verdict = match row.complaints() {
        complaints if complaints.is_empty() => "good".to_owned(),
        complaints => complaints.join("; "),
    };
    format!(
        "{} · {}: {}/{} turns ({} without), {} s: {verdict}",
        row.client,
        row.scenario.name(),
        row.with.turns,
        row.turns,
        row.without.turns,
        row.seconds
    )
}

pub(crate) fn markdown(findings: &Findings) -> String {
    with_head(&lines(findings))
}

fn with_head(lines: &[String]) -> String {
    format!("{HEAD}\n{}\n", lines.join("\n"))
}

fn lines(findings: &Findings) -> Vec<String> {
    let absent = findings.absent.iter();
    let absent = absent
        .map(|(client, reason)| format!("| {client} | | | | | | | not driven: {} |", cell(reason)));
    findings.rows.iter().map(line).chain(absent).collect()
}

fn line(row: &Row) -> String {
    let (with, without) = (&row.with, &row.without);
    let rule = if with.without_rule.is_empty() {
        "always".to_owned()
    } else {
        format!("not in {} of {}", with.without_rule.len(), with.requests)
    };
    let verdict = if row.is_good() {
        "good".to_owned()
    } else {
        cell(&row.complaints().join("; "))
    };
    format!(
        "| {} | {} | {} / {} / {} | {} / {} | {} / {} | {rule} | {} / {} | {verdict} |",
        row.client,
        row.scenario.name(),
        with.turns,
        without.turns,
        row.turns,
        with.errors.len(),
        without.errors.len(),
        with.invalid.len(),
        without.invalid.len(),
        with.largest_tokens,
        row.window_tokens,
    )
}

/// Puts the rows where they belong, in place of older ones of the same clients, or of their one scenario that was driven.
pub(crate) fn write(project: &Project, findings: &Findings, only: Option<Scenario>) -> Result<()> {
    let path = project.root.join(FILE);
    let text = std::fs::read_to_string(&path).with_context(|| format!("could not read {FILE}"))?;
    let text = replaced(&text, &lines(findings), only)
        .with_context(|| format!("{FILE} has lost its marks"))?;
    std::fs::write(&path, text).with_context(|| format!("could not write {FILE}"))
}

fn replaced(text: &str, lines: &[String], only: Option<Scenario>) -> Option<String> {
    let (head, rest) = text.split_once(BEGIN)?;
    let (table, tail) = rest.split_once(END)?;
    let was_driven = |older: &str| {
        only.is_none_or(|only| scenario_of(older) == Some(only.name()))
            && lines.iter().any(|line| client_of(line) == client_of(older))
    };
    let older = table
        .lines()
        .filter(|older| client_of(older).is_some() && !was_driven(older));
    let mut all: Vec<String> = older
        .map(str::to_owned)
        .chain(lines.iter().cloned())
        .collect();
    all.sort_by_key(|line| place(line));
    Some(format!("{head}{BEGIN}\n\n{}\n{END}{tail}", with_head(&all)))
}

fn scenario_of(line: &str) -> Option<&str> {
    line.split('|').nth(2).map(str::trim)
}

/// The client of a row; the head of the table has none.
fn client_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix("| ")?.split(" |").next()?;
    (name != "client").then_some(name)
}

/// Rows stand in the order of the clients, and of a client in that of the scenarios.
fn place(line: &str) -> (usize, usize) {
    let name = client_of(line).unwrap_or_default();
    let client = CLIENTS.iter().position(|client| client.name == name);
    let name = scenario_of(line).unwrap_or_default();
    let scenario = Scenario::ALL.iter().position(|one| one.name() == name);
    (
        client.unwrap_or(CLIENTS.len()),
        scenario.unwrap_or(Scenario::ALL.len()),
    )
}

/// A text as it can stand in a cell, and no longer than one can read there.
fn cell(text: &str) -> String {
    let text = text.replace('|', "/").replace('\n', " ");
    text.chars().take(300).collect()
}
