//! One number per method, for a glance. The parts say more.

use epitome_eval::{Method, TableLine};
use serde::Serialize;

use super::{CHATS, Report};

const SESSION_BUDGET: u64 = 8_000;
const PLANTED_BUDGET: u64 = 4_000;

/// A weighted sum of what a method keeps.
#[derive(Debug, Serialize)]
pub(super) struct Score {
    /// The method.
    pub(super) method: &'static str,
    /// The sum: at most one. It means nothing unless all gates hold.
    pub(super) score: f64,
}

/// The scores of the methods for which every part was measured.
pub(super) fn all(report: &Report, methods: &[Method]) -> Vec<Score> {
    let score = |method: &Method| {
        let name = method.as_str();
        let needs = needs(report, name)?;
        let planted = report.planted.iter();
        let planted = planted
            .filter(|table| table.budget == PLANTED_BUDGET)
            .flat_map(|table| &table.lines)
            .find(|line| line.method == name)?;
        Some(Score {
            method: name,
            score: 0.35 * needs.grounded
                + 0.15 * needs.far
                + 0.10 * needs.rare
                + 0.15 * needs.artifacts
                + 0.10 * planted.all
                + 0.15 * answers(report, name)?,
        })
    };
    methods.iter().filter_map(score).collect()
}

fn needs<'a>(report: &'a Report, method: &str) -> Option<&'a TableLine> {
    let mut tables = report.needs.iter();
    let table = tables.find(|table| table.budget == Some(SESSION_BUDGET))?;
    table.lines.iter().find(|line| line.method == method)
}

pub(super) fn answers(report: &Report, method: &str) -> Option<f64> {
    let table = report.questions.iter().find(|table| table.chats == CHATS)?;
    let column = table
        .budgets
        .iter()
        .position(|budget| *budget == SESSION_BUDGET)?;
    let kept = table.kept.iter().find(|line| line.method == method)?;
    kept.by_budget.get(column).copied()
}
