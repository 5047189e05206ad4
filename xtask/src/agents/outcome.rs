//! What is made of a run: of what the driver says, and of what the upstream saw.

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::clients::{Client, Scenario};

/// A request as the upstream tells of it.
#[derive(Debug, Deserialize)]
struct Record {
    number: u64,
    tokens: u64,
    status: Option<u16>,
    violations: Vec<String>,
    rules: Vec<u64>,
    has_tools: bool,
    is_side: bool,
}

#[derive(Deserialize)]
struct Told {
    turns: u64,
    errors: Vec<String>,
}

/// One run with epitome or without.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) turns: u64,
    pub(crate) errors: Vec<String>,
    pub(crate) requests: u64,
    /// Requests that no provider would take, with what it would say.
    pub(crate) invalid: Vec<String>,
    /// Requests of the conversation that did not have its rule, or had that of another one.
    pub(crate) without_rule: Vec<u64>,
    /// The largest request that was answered.
    pub(crate) largest_tokens: u64,
}

impl Outcome {
    pub(crate) fn of_records(text: &str) -> Result<Self> {
        let records: Vec<Record> = text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .context("could not read what the upstream recorded")?;
        // A client with tools that asks without them asks for a title or a summary.
        let has_tools = records.iter().any(|record| record.has_tools);
        let is_turn = |record: &&Record| !record.is_side && (record.has_tools || !has_tools);
        let has_its_rule = |record: &&Record| record.rules.len() == 1;
        let answered = records.iter().filter(|record| record.status == Some(200));
        Ok(Self {
            requests: records.len() as u64,
            invalid: records
                .iter()
                .filter_map(|record| {
                    Some(format!(
                        "request {}: {}",
                        record.number,
                        record.violations.first()?
                    ))
                })
                .collect(),
            without_rule: records
                .iter()
                .filter(is_turn)
                .filter(|record| !has_its_rule(record))
                .map(|record| record.number)
                .collect(),
            largest_tokens: answered.map(|record| record.tokens).max().unwrap_or(0),
            ..Self::default()
        })
    }

    /// Adds what one driver said last.
    pub(crate) fn add_driver(&mut self, line: &str) {
        match serde_json::from_str::<Told>(line) {
            Ok(told) => {
                self.turns += told.turns;
                self.errors.extend(told.errors);
            }
            Err(_) => self.errors.push(format!("the driver ended early: {line}")),
        }
    }
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) client: &'static str,
    pub(crate) scenario: Scenario,
    pub(crate) window_tokens: u64,
    pub(crate) turns: u64,
    pub(crate) with: Outcome,
    pub(crate) without: Outcome,
    pub(crate) seconds: u64,
}

impl Row {
    pub(crate) fn new(
        client: &Client,
        scenario: Scenario,
        with: Outcome,
        without: Outcome,
        seconds: u64,
    ) -> Self {
        let conversations = if scenario == Scenario::Two { 2 } else { 1 };
        Self {
            client: client.name,
            scenario,
            window_tokens: client.window_tokens,
            turns: client.turns * conversations,
            with,
            without,
            seconds,
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        self.complaints().is_empty()
    }

    /// Which gates do not hold.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let (with, without) = (&self.with, &self.without);
        // Faults of the upstream reach a client that does not try again, with epitome or without, and some clients send
        // something invalid after one.
        let is_his_own =
            self.scenario == Scenario::Faults && with.errors.len() <= without.errors.len();
        if !with.errors.is_empty() && !is_his_own {
            complaints.push(format!("client errors: {}", with.errors.join("; ")));
        }
        if with.turns < without.turns || (with.errors.is_empty() && with.turns < self.turns) {
            complaints.push(format!("{} of {} turns", with.turns, self.turns));
        }
        let is_new = |invalid: &&String| {
            !without
                .invalid
                .iter()
                .any(|other| kind(other) == kind(invalid))
        };
        let invalid: Vec<&str> = with
            .invalid
            .iter()
            .filter(is_new)
            .map(String::as_str)
            .collect();
        if !invalid.is_empty() {
            complaints.push(format!("invalid: {}", invalid.join("; ")));
        }
        if !with.without_rule.is_empty() {
            complaints.push(format!(
                "the rule is not in requests {:?}",
                with.without_rule
            ));
        }
        if with.requests == 0 {
            complaints.push("no request came through".to_owned());
        }
        complaints
    }
}

/// Which rule an invalid request breaks: `request 7: Rule: what the provider says`.
fn kind(invalid: &str) -> Option<&str> {
    invalid.split(": ").nth(1)
}
