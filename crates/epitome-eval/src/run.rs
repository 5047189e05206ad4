//! All cuts of a session, with all budgets and methods.

use serde::Serialize;

use crate::cut::{Cut, Kept, Recall};
use crate::history::History;
use crate::method::Method;
use crate::need::Corpus;
use crate::session::Session;
use crate::text::{length, tokens};

/// Shorter sessions need no compaction.
const LEAST_TOKENS: u64 = 15_000;
/// Sessions below this are compacted to small budgets only, the others not to the smallest.
const SMALL_SESSION_TOKENS: u64 = 60_000;
const SMALL_BUDGET_TOKENS: u64 = 4_000;
const LARGE_BUDGET_TOKENS: u64 = 2_000;
/// Summaries below this many characters are no summaries of a session.
const LEAST_SUMMARY_CHARS: usize = 1_500;

/// Where a session is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// At this percentage of its tokens.
    Percent(u32),
    /// Where its client compacted it; the budget is the size of the client's summary.
    Real,
}

impl Place {
    /// The places at shares of the tokens.
    pub const PERCENTS: [Self; 3] = [Self::Percent(40), Self::Percent(60), Self::Percent(80)];

    /// A recall search is tried where it costs a run per session, not one per cut.
    const fn recall(self) -> Recall {
        match self {
            Self::Percent(60) | Self::Real => Recall::Search,
            Self::Percent(_) => Recall::None,
        }
    }
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where sessions are cut.
    pub places: Vec<Place>,
    /// To which sizes, at shares of the tokens.
    pub budgets: Vec<u64>,
    /// How.
    pub methods: Vec<Method>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            places: [&Place::PERCENTS[..], &[Place::Real]].concat(),
            budgets: vec![1_000, 2_000, 4_000, 8_000, 16_000],
            methods: Method::ALL.to_vec(),
        }
    }
}

/// What one method kept at one cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The session.
    pub session: String,
    /// Where it was cut.
    pub place: Place,
    /// Before which message.
    pub at: usize,
    /// Tokens before the cut.
    pub prefix_tokens: u64,
    /// What the context might take.
    pub budget: u64,
    /// The method's name; [`WRITTEN_SUMMARY`] for the summary that a model wrote.
    pub method: &'static str,
    /// What it kept.
    #[serde(flatten)]
    pub kept: Kept,
}

/// The name under which a client's own summary is listed.
pub const WRITTEN_SUMMARY: &str = "llm_summary(real)";

/// Measures a session.
#[must_use]
pub fn measure_session(
    session: &Session,
    history: &History,
    corpus: &Corpus,
    settings: &Settings,
) -> Vec<Row> {
    let mut rows = Vec::new();
    if history.total_tokens() < LEAST_TOKENS {
        return rows;
    }
    let mut run = |place: Place, at, stop, budgets: &[u64], written: Option<&str>| {
        let Some(cut) = Cut::of(history, corpus, at, stop, place.recall()) else {
            return;
        };
        for &budget in budgets {
            let row = |method, context: &str| Row {
                session: session.id.clone(),
                place,
                at,
                prefix_tokens: history.tokens_before(at),
                budget,
                method,
                kept: cut.measure(context),
            };
            for method in &settings.methods {
                let context = method.compact(history, at, budget);
                rows.push(row(method.as_str(), &context));
            }
            rows.extend(written.map(|summary| row(WRITTEN_SUMMARY, summary)));
        }
    };
    for &place in &settings.places {
        match place {
            Place::Percent(percent) => {
                let Some(at) = history.cut_at_share(f64::from(percent) / 100.0) else {
                    continue;
                };
                let budgets = budgets(history, at, &settings.budgets);
                if !budgets.is_empty() {
                    run(place, at, None, &budgets, None);
                }
            }
            Place::Real => {
                for (at, compaction) in session.compactions.iter().enumerate() {
                    if length(&compaction.summary) < LEAST_SUMMARY_CHARS {
                        continue;
                    }
                    let stop = session.compactions.get(at + 1).map(|next| next.at);
                    let budget = tokens(&compaction.summary);
                    let summary = Some(compaction.summary.as_str());
                    run(place, compaction.at, stop, &[budget], summary);
                }
            }
        }
    }
    rows
}

/// Budgets that mean something at a cut: at most half of what is there.
fn budgets(history: &History, at: usize, wanted: &[u64]) -> Vec<u64> {
    let is_small = history.total_tokens() < SMALL_SESSION_TOKENS;
    let is_for_session = |budget: u64| {
        if is_small {
            budget <= SMALL_BUDGET_TOKENS
        } else {
            budget >= LARGE_BUDGET_TOKENS
        }
    };
    wanted
        .iter()
        .copied()
        .filter(|budget| is_for_session(*budget) && budget * 2 <= history.tokens_before(at))
        .collect()
}
