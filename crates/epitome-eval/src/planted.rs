//! Constraints planted into a session, to see whether they survive by depth.

use serde::Serialize;

use crate::history::{History, as_float};
use crate::mersenne::Mersenne;
use crate::method::Method;
use crate::session::{Entry, Session, Speaker};
use crate::text::on_one_line;

/// Sessions below this are not long enough to lose anything.
const LEAST_TOKENS: u64 = 60_000;
const CUT_SHARE: f64 = 0.8;
const CONSTRAINTS: usize = 10;
/// Depths are reported in fifths.
pub(crate) const DEPTHS: usize = 5;

const NAMES: [&str; 10] = [
    "amber", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "juniper",
    "krypton",
];

/// What can be asked for; the order is part of the data.
#[derive(Clone, Copy, Debug)]
enum Constraint {
    Folder,
    Checks,
    Limit,
    Signature,
    Branch,
}

const KINDS: [Constraint; 5] = [
    Constraint::Folder,
    Constraint::Checks,
    Constraint::Limit,
    Constraint::Signature,
    Constraint::Branch,
];

/// A sentence of the user that was put into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plant {
    /// Before which message of the original.
    pub before: usize,
    /// In which fifth of the depth.
    pub depth: usize,
    /// The sentence.
    pub text: String,
}

/// A session with constraints in it.
#[derive(Debug)]
pub struct Planted {
    /// The messages with the constraints among them.
    pub history: History,
    /// The constraints that found a place.
    pub plants: Vec<Plant>,
}

impl Planted {
    /// Plants constraints at ten depths; `None` when the session is too short.
    #[must_use]
    pub fn of(session: &Session, history: &History) -> Option<Self> {
        if history.total_tokens() < LEAST_TOKENS {
            return None;
        }
        let cut = history.cut_at_share(CUT_SHARE)?;
        let mut generator = Mersenne::from_text(&session.id);
        let mut plants = Vec::new();
        for number in 0..CONSTRAINTS {
            let depth = (as_float(number as u64) + 0.5) / as_float(CONSTRAINTS as u64);
            let wanted = history.first_at_tokens(depth * as_float(history.tokens_before(cut)), cut);
            let text = sentence(&mut generator)?;
            let legal = (wanted..cut).find(|at| history.is_legal_cut(*at));
            plants.extend(legal.map(|before| Plant {
                before,
                depth: number * DEPTHS / CONSTRAINTS,
                text,
            }));
        }
        let mut entries = Vec::new();
        for (position, entry) in history.before(cut) {
            let here = plants.iter().filter(|plant| plant.before == position);
            entries.extend(here.map(|plant| Entry::text(Speaker::User, plant.text.as_str())));
            entries.push(entry.clone());
        }
        Some(Self {
            history: History::of_entries(entries),
            plants,
        })
    }

    /// Which constraints are still there word for word after a compaction.
    #[must_use]
    pub fn survivors(&self, method: Method, budget_tokens: u64) -> Vec<(usize, bool)> {
        let context = method.compact(&self.history, self.history.len(), budget_tokens);
        let context = on_one_line(&context);
        let plants = self.plants.iter();
        plants
            .map(|plant| (plant.depth, context.contains(&plant.text)))
            .collect()
    }
}

/// Makes a sentence; the order of the draws is part of the data.
fn sentence(generator: &mut Mersenne) -> Option<String> {
    let first = *generator.choose(&NAMES)?;
    let second = *generator.choose(&NAMES)?;
    let kind = *generator.choose(&KINDS)?;
    let limit = 11 + generator.below(97 - 11 + 1);
    let number = 100 + generator.below(999 - 100 + 1);
    Some(match kind {
        Constraint::Folder => {
            format!(
                "Please never edit anything under vendor/{first}-{second}/ without asking me first."
            )
        }
        Constraint::Checks => {
            format!(
                "From now on run the checks with scripts/{first}_{second}.sh before you commit."
            )
        }
        Constraint::Limit => {
            format!("We agreed that the retry limit stays at {limit}, do not change it.")
        }
        Constraint::Signature => {
            let (initial, rest) = second.split_at_checked(1)?;
            let initial = initial.to_uppercase();
            format!("Keep the public signature of {first}{initial}{rest} exactly as it is.")
        }
        Constraint::Branch => {
            format!("Use branch {first}/{second}-{number} for this work, nothing else.")
        }
    })
}

/// The share of planted constraints that each method kept.
#[derive(Clone, Debug, Serialize)]
pub struct PlantedTable {
    /// To which size sessions were compacted.
    pub budget: u64,
    /// Sessions with constraints.
    pub sessions: usize,
    /// Constraints in all of them.
    pub constraints: usize,
    /// One for each method.
    pub lines: Vec<PlantedLine>,
}

/// What one method kept.
#[derive(Clone, Debug, Serialize)]
pub struct PlantedLine {
    /// The method.
    pub method: &'static str,
    /// By depth, from the beginning of the session to the cut.
    pub by_depth: [f64; DEPTHS],
    /// Of all.
    pub all: f64,
}

impl PlantedTable {
    /// Sums up the survivors of all sessions, in the order of the methods.
    #[must_use]
    pub fn of(budget: u64, methods: &[Method], survivors: &[Vec<Vec<(usize, bool)>>]) -> Self {
        let lines = methods.iter().enumerate().map(|(at, method)| {
            let all: Vec<(usize, bool)> = survivors
                .iter()
                .filter_map(|session| session.get(at))
                .flatten()
                .copied()
                .collect();
            let mut by_depth = [0.0; DEPTHS];
            for (depth, share) in by_depth.iter_mut().enumerate() {
                *share = kept(all.iter().filter(|(at, _)| *at == depth));
            }
            PlantedLine {
                method: method.as_str(),
                by_depth,
                all: kept(all.iter()),
            }
        });
        Self {
            budget,
            sessions: survivors.len(),
            constraints: survivors
                .iter()
                .filter_map(|s| s.first())
                .map(Vec::len)
                .sum(),
            lines: lines.collect(),
        }
    }
}

fn kept<'a>(survivors: impl Iterator<Item = &'a (usize, bool)>) -> f64 {
    let (mut kept, mut all) = (0, 0);
    for (_, is_kept) in survivors {
        kept += u64::from(*is_kept);
        all += 1;
    }
    as_float(kept) / as_float(all.max(1))
}
