//! Sums over cuts: one line per method.

use std::collections::HashMap;

use serde::Serialize;

use crate::cut::{Kept, Share};
use crate::history::as_float;
use crate::mersenne::Mersenne;
use crate::run::{Place, Row};

/// Draws for an interval.
const DRAWS: usize = 500;
/// The draws, in order, between which 95 % of them lie.
const LOWER: usize = 12;
const UPPER: usize = 487;
const SEED: u64 = 1;

/// The results of all methods at one budget.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The budget in tokens; nothing at real compactions, where each has its own.
    pub budget: Option<u64>,
    /// Cuts measured.
    pub cuts: usize,
    /// Sessions they are from.
    pub sessions: usize,
    /// Needs over all cuts.
    pub needs: usize,
    /// Of these, far ones.
    pub far: usize,
    /// Changed files over all cuts.
    pub artifacts: usize,
    /// The median of the tokens before a cut.
    pub median_prefix_tokens: u64,
    /// One for each method, the best first.
    pub lines: Vec<TableLine>,
}

/// The results of one method: shares of everything over all cuts.
#[derive(Clone, Debug, Serialize)]
pub struct TableLine {
    /// The method.
    pub method: &'static str,
    /// Needs that the context names.
    pub fnr: f64,
    /// The 95 % interval of that, by drawing sessions.
    pub interval: (f64, f64),
    /// Needs that it names in their surroundings.
    pub grounded: f64,
    /// Far needs that it names.
    pub far: f64,
    /// Rare plain tokens that it has.
    pub rare: f64,
    /// Changed files that it names.
    pub artifacts: f64,
    /// The user's words that it has: the mean over cuts.
    pub user_words: f64,
    /// Needs that it names or a recall search finds, at the cuts where a search is tried.
    pub searched: Option<f64>,
    /// Mean tokens of the context.
    pub tokens: f64,
}

impl Table {
    /// One table for each budget, and one for real compactions.
    #[must_use]
    pub fn all(rows: &[Row]) -> Vec<Self> {
        let (real, shares): (Vec<&Row>, Vec<&Row>) =
            rows.iter().partition(|row| row.place == Place::Real);
        let mut budgets: Vec<u64> = shares.iter().map(|row| row.budget).collect();
        budgets.sort_unstable();
        budgets.dedup();
        let of_budget = budgets.into_iter().filter_map(|budget| {
            let rows: Vec<&Row> = shares
                .iter()
                .filter(|row| row.budget == budget)
                .copied()
                .collect();
            Self::of(Some(budget), &rows)
        });
        of_budget.chain(Self::of(None, &real)).collect()
    }

    fn of(budget: Option<u64>, rows: &[&Row]) -> Option<Self> {
        let mut methods: Vec<&'static str> = Vec::new();
        let mut by_method: HashMap<&str, Vec<&Row>> = HashMap::new();
        for row in rows {
            if !methods.contains(&row.method) {
                methods.push(row.method);
            }
            by_method.entry(row.method).or_default().push(row);
        }
        let cuts = by_method.get(methods.first()?)?;
        let mut sessions: Vec<&str> = rows.iter().map(|row| row.session.as_str()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let mut prefixes: Vec<u64> = rows.iter().map(|row| row.prefix_tokens).collect();
        prefixes.sort_unstable();
        let whole = |share: fn(&Kept) -> Share| cuts.iter().map(|row| share(&row.kept).whole).sum();
        let mut generator = Mersenne::from_number(SEED);
        let mut lines: Vec<TableLine> = methods
            .iter()
            .filter_map(|method| Some((*method, by_method.get(method)?)))
            .map(|(method, rows)| TableLine::of(method, rows, &mut generator))
            .collect();
        lines.sort_by(|a, b| b.fnr.total_cmp(&a.fnr));
        Some(Self {
            budget,
            cuts: cuts.len(),
            sessions: sessions.len(),
            needs: whole(|kept| kept.needs),
            far: whole(|kept| kept.far),
            artifacts: whole(|kept| kept.artifacts),
            median_prefix_tokens: prefixes.get(prefixes.len() / 2).copied().unwrap_or(0),
            lines,
        })
    }
}

impl TableLine {
    fn of(method: &'static str, rows: &[&Row], generator: &mut Mersenne) -> Self {
        let micro =
            |share: fn(&Kept) -> Share| ratio(rows.iter().map(|row| share(&row.kept)).sum());
        let user_words: Vec<f64> = rows.iter().filter_map(|row| row.kept.user_words).collect();
        let searched: Vec<Share> = rows.iter().filter_map(|row| row.kept.searched).collect();
        let sizes: u64 = rows.iter().map(|row| row.kept.tokens).sum();
        Self {
            method,
            fnr: micro(|kept| kept.needs),
            interval: interval(rows, generator),
            grounded: micro(|kept| kept.grounded),
            far: micro(|kept| kept.far),
            rare: micro(|kept| kept.rare),
            artifacts: micro(|kept| kept.artifacts),
            user_words: mean(&user_words),
            searched: (!searched.is_empty()).then(|| ratio(searched.into_iter().sum())),
            tokens: as_float(sizes) / as_float(rows.len().max(1) as u64),
        }
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_float(values.len().max(1) as u64)
}

fn ratio(share: Share) -> f64 {
    as_float(share.part as u64) / as_float(share.whole.max(1) as u64)
}

/// Draws as many sessions as there are, with putting back, and sees how much the result moves.
fn interval(rows: &[&Row], generator: &mut Mersenne) -> (f64, f64) {
    let mut sessions: Vec<(&str, Share)> = Vec::new();
    for row in rows {
        let share = row.kept.needs;
        match sessions.iter_mut().find(|(name, _)| *name == row.session) {
            Some((_, sum)) => *sum = [*sum, share].into_iter().sum(),
            None => sessions.push((&row.session, share)),
        }
    }
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = sessions
                .iter()
                .filter_map(|_| generator.choose(&sessions).map(|(_, share)| *share));
            ratio(drawn.sum())
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    let draw = |at: usize| draws.get(at).copied().unwrap_or(0.0);
    (draw(LOWER), draw(UPPER))
}
