//! What must hold for every output, without averaging.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

use crate::builtin::{Output, compacted, counted_tokens, is_left_alone};
use crate::history::History;
use crate::ident::Ident;
use crate::prepared::Aside;
use crate::scan::idents;
use crate::session::Entry;
use crate::validity::{Rule, problems};

/// How often each gate held, over all outputs of the built-in summariser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gates {
    /// Compactions tried: every session at every distance looked at, to every budget.
    pub tried: usize,
    /// Of these, refused, by reason: then the conversation goes out as it is.
    pub refused: BTreeMap<&'static str, usize>,
    /// Outputs.
    pub outputs: usize,
    /// Outputs that break no rule of providers.
    pub valid: usize,
    /// Inputs that broke one already, so that their outputs may.
    pub damaged_inputs: usize,
    /// Outputs that break a rule their input did not break. Has to be zero.
    pub newly_invalid: usize,
    /// Outputs above their budget. Has to be zero.
    pub over_budget: usize,
    /// Outputs that came out differently the second time. Has to be zero.
    pub not_repeatable: usize,
    /// Outputs that a second compaction to the same budget changes. Has to be zero.
    pub not_idempotent: usize,
    /// Outputs with an identifier in the summary, its own mark aside, that is not in the input. Has to be zero.
    pub inventing: usize,
    /// The names of such identifiers.
    pub invented: BTreeSet<String>,
}

/// What the messages before a cut have already.
struct Input<'a> {
    history: &'a History,
    at: usize,
    broken: HashSet<Rule>,
    named: HashSet<Ident>,
}

impl Gates {
    /// Compacts the messages before each of `cuts`, legal or not and in ascending order, to each of `budgets`.
    #[must_use]
    pub fn of(history: &History, cuts: impl Iterator<Item = usize>, budgets: &[u64]) -> Self {
        let mut gates = Self::default();
        let mut input = Input {
            history,
            at: 0,
            broken: HashSet::new(),
            named: HashSet::new(),
        };
        for at in cuts {
            for position in input.at..at {
                input.read(position);
            }
            let before = history.entries.get(..at).unwrap_or(&history.entries);
            input.broken = broken(before);
            input.at = at;
            for &budget in budgets {
                gates.tried += 1;
                match compacted(history, at, budget, Aside::Nothing) {
                    Ok(output) => gates.judge(&input, budget, &output),
                    Err(reason) => *gates.refused.entry(reason.as_str()).or_default() += 1,
                }
            }
        }
        gates
    }

    fn judge(&mut self, input: &Input<'_>, budget: u64, output: &Output) {
        self.outputs += 1;
        let broken = broken(&output.entries);
        self.valid += usize::from(broken.is_empty());
        self.damaged_inputs += usize::from(!input.broken.is_empty());
        self.newly_invalid += usize::from(!broken.is_subset(&input.broken));
        self.over_budget += usize::from(counted_tokens(&output.entries) > budget);
        let again = compacted(input.history, input.at, budget, Aside::Nothing);
        self.not_repeatable += usize::from(again.as_ref() != Ok(output));
        self.not_idempotent += usize::from(!is_left_alone(&output.entries, budget));
        let quoted = output.summary.split_once('\n').map_or("", |(_, rest)| rest);
        let invented: Vec<String> = idents(quoted)
            .into_iter()
            .filter(|ident| ident.kind.is_hard() && !input.named.contains(ident))
            .map(|ident| ident.name.into())
            .collect();
        self.inventing += usize::from(!invented.is_empty());
        self.invented.extend(invented);
    }
}

impl Input<'_> {
    /// Notes what a message names, in its visible text or in the spelling of its arguments.
    fn read(&mut self, position: usize) {
        let (Some(named), Some(entry)) = (
            self.history.idents.get(position),
            self.history.entries.get(position),
        ) else {
            return;
        };
        self.named.extend(named.iter().cloned());
        for call in &entry.tool_calls {
            self.named.extend(idents(&call.arguments));
        }
    }
}

fn broken(entries: &[Entry]) -> HashSet<Rule> {
    problems(entries).into_iter().map(|p| p.rule).collect()
}

impl std::iter::Sum for Gates {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, more| {
            for (reason, count) in more.refused {
                *sum.refused.entry(reason).or_default() += count;
            }
            sum.tried += more.tried;
            sum.outputs += more.outputs;
            sum.valid += more.valid;
            sum.damaged_inputs += more.damaged_inputs;
            sum.newly_invalid += more.newly_invalid;
            sum.over_budget += more.over_budget;
            sum.not_repeatable += more.not_repeatable;
            sum.not_idempotent += more.not_idempotent;
            sum.inventing += more.inventing;
            sum.invented.extend(more.invented);
            sum
        })
    }
}
