//! The object of `inspect --json`. Its names are public surface.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Found;
use super::tally::ByProvider;

#[derive(Serialize)]
pub(super) struct Object<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    format: &'static str,
    conversations: u64,
    messages: u64,
    tokens: u64,
    by_role: BTreeMap<&'static str, Part>,
    by_tool: BTreeMap<&'a str, Tool>,
    tool_calls: u64,
    tool_results: u64,
    unanswered_calls: u64,
    compactions: u64,
    largest: Vec<Large<'a>>,
    largest_context_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_by_provider: Option<ByProvider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nanodollars: Option<u64>,
    asides: &'a BTreeMap<String, u64>,
    unshown: &'a BTreeMap<String, u64>,
    problems: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Part {
    messages: u64,
    tokens: u64,
}

#[derive(Serialize)]
struct Tool {
    calls: u64,
    tokens: u64,
}

#[derive(Serialize)]
struct Large<'a> {
    message: u64,
    position: String,
    role: &'static str,
    tokens: u64,
    preview: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Problem<'a> {
    pub(crate) code: &'static str,
    pub(crate) position: String,
    pub(crate) message: &'a str,
}

impl<'a> Object<'a> {
    pub(super) fn of(found: &'a Found, file: Option<String>) -> Self {
        let tally = &found.tally;
        let counts = &tally.counts;
        let part = |(name, share): (&&'static str, &super::tally::Share)| {
            let part = Part {
                messages: share.count,
                tokens: share.tokens,
            };
            (*name, part)
        };
        let tool = |(name, share): (&'a String, &super::tally::Share)| {
            let tool = Tool {
                calls: share.count,
                tokens: share.tokens,
            };
            (name.as_str(), tool)
        };
        let large = |large: &'a super::tally::Large| Large {
            message: large.message.0,
            position: large.position.to_string(),
            role: large.role,
            tokens: large.tokens,
            preview: &large.preview,
        };
        let problem = |problem: &'a epitome_files::Problem| Problem {
            code: problem.code.as_str(),
            position: problem.position.to_string(),
            message: &problem.message,
        };
        Self {
            file,
            format: found.format,
            conversations: counts.conversations,
            messages: counts.messages,
            tokens: tally.tokens,
            by_role: tally.by_role.iter().map(part).collect(),
            by_tool: tally.by_tool.iter().map(tool).collect(),
            tool_calls: counts.calls,
            tool_results: counts.results,
            unanswered_calls: counts.unanswered,
            compactions: counts.compactions,
            largest: tally.largest.iter().map(large).collect(),
            largest_context_tokens: tally.timeline.largest(),
            counted_by_provider: tally.provider,
            model: tally.model.as_deref(),
            last_ms: tally.last_ms,
            nanodollars: tally.nanodollars(),
            asides: &counts.asides,
            unshown: &counts.unshown,
            problems: counts.problems.kept.iter().map(problem).collect(),
        }
    }
}
