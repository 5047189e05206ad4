//! How a proxy compacts: the design, and who writes.

use std::sync::Arc;

use epitome::settings::{OnFailure, Settings};
use epitome::{DueCount, OldResults, Preset, PruneSettings, ReferenceMeter, ViewItem, Window};
use epitome_engine::model::{Caller, Lender, Purse};
use epitome_engine::runner::Runner;
use epitome_engine::summarise::{Ladder, ModelWriter, Parts};

use super::Ticket;
use crate::config::{Config, Pruning, Summariser, Writes};
use crate::epoch::Applied;

/// The steps whose results stay where a design itself lets none grow old.
const KEPT_STEPS: usize = 8;

/// How conversations are compacted.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(super) preset: Preset,
    pub(super) runner: Runner,
    /// The same hooks, and no model.
    without_model: Runner,
    on_failure: OnFailure,
    summariser: Option<Summariser>,
    /// What pays for summaries.
    purse: Arc<Purse>,
    /// Where old tool results give way first: the settings that say which.
    pruning: Option<Settings>,
}

impl Rules {
    pub(crate) fn of(config: &Config, purse: Arc<Purse>) -> Self {
        Self::with(config, config.summariser.clone(), purse)
    }

    /// Other rules in the place of these. What summaries have cost is not forgotten.
    pub(super) fn reconfigured(&self, config: &Config) -> Self {
        let mut summariser = config.summariser.clone();
        if let (Some(summariser), Some(earlier)) = (&mut summariser, &self.summariser) {
            summariser.writes = summariser.writes.clone().on_account_of(&earlier.writes);
        }
        Self::with(config, summariser, Arc::clone(&self.purse))
    }

    fn with(config: &Config, mut summariser: Option<Summariser>, purse: Arc<Purse>) -> Self {
        let settings = &config.settings;
        if let Some(summariser) = &mut summariser {
            summariser.writes = summariser.writes.clone().paid_from(Arc::clone(&purse));
        }
        let caller = match summariser.as_ref().map(|one| &one.writes) {
            Some(Writes::Model(caller)) => Some(caller.clone()),
            Some(Writes::Client(_)) | None => None,
        };
        let without_model = Runner::new(
            settings,
            Ladder::new(None, settings.common.on_failure),
            None,
            config.hooks.clone(),
        );
        let mut rules = Self {
            preset: Preset::from(settings),
            pruning: match config.pruning {
                Pruning::Off => None,
                Pruning::OldResults => Some(settings.clone()),
            },
            on_failure: settings.common.on_failure,
            runner: without_model.clone(),
            without_model,
            summariser,
            purse,
        };
        if let Some(caller) = caller {
            rules.runner = rules.asking(caller);
        }
        rules
    }

    /// Who writes, where it is this model.
    fn asking(&self, caller: Caller) -> Runner {
        let Some(summariser) = &self.summariser else {
            return self.runner.clone();
        };
        let writer = ModelWriter::new(
            caller.clone(),
            Arc::new(summariser.templates.clone()),
            summariser.style.clone(),
            Parts::default(),
        );
        let ladder = Ladder::new(Some(Arc::new(writer)), self.on_failure);
        self.runner.asking(ladder, caller)
    }

    /// Who writes for a request: where clients lend their own model, that one.
    pub(super) fn runner_for(&self, ticket: &Ticket) -> Runner {
        if !ticket.asks_models {
            return self.without_model.clone();
        }
        let lender = self.lender().zip(ticket.lent.as_ref());
        let caller = lender.map(|(lender, lent)| {
            let wire = ticket.body.wire();
            lender.caller(wire, &lent.base, &ticket.model.model, lent.headers.clone())
        });
        match caller {
            None => self.runner.clone(),
            Some(Ok(caller)) => self.asking(caller),
            Some(Err(error)) => {
                tracing::warn!(%error, "the client's model cannot be asked; the built-in summariser writes");
                self.runner.clone()
            }
        }
    }

    /// What summaries have cost so far, in dollars.
    pub(super) fn own_spend_usd(&self) -> f64 {
        self.purse.total_usd()
    }

    /// Whether clients lend their own model and key for summaries.
    pub(super) const fn lender(&self) -> Option<&Lender> {
        match &self.summariser {
            Some(Summariser {
                writes: Writes::Client(lender),
                ..
            }) => Some(lender),
            _ => None,
        }
    }

    /// Which results give way in a window before anything is summarised; `None` where none do.
    pub(super) fn pruning(&self, window: Window) -> Option<PruneSettings> {
        let mut pruning = self.pruning.as_ref()?.pruning(window);
        if pruning.old == OldResults::Keep {
            pruning.old = OldResults::Replace {
                keep_steps: KEPT_STEPS,
            };
        }
        Some(pruning)
    }

    /// Whether anybody but the built-in summariser has a say in a request.
    pub(super) fn asks_somebody(&self, ticket: &Ticket) -> bool {
        if !ticket.asks_models {
            return self.without_model.asks_somebody();
        }
        self.runner.asks_somebody() || self.lender().is_some()
    }

    /// Whether the design decides by what is shown. The one that keeps by size makes every compaction from the
    /// originals.
    pub(super) fn looks_at_the_view(&self) -> bool {
        !self.preset.rereads_originals()
    }

    pub(super) const fn reference_meter(&self) -> Option<ReferenceMeter> {
        match self.preset.counts {
            DueCount::Reference(meter) => Some(meter),
            DueCount::Known | DueCount::Reported => None,
        }
    }

    /// What the design counts of a request in a way of its own.
    pub(super) fn reference_tokens(
        &self,
        ticket: &Ticket,
        applied: Option<&Applied>,
    ) -> Option<u64> {
        let meter = self.reference_meter()?;
        let messages = &ticket.conversation.messages;
        let of = |range: std::ops::Range<usize>| -> u64 {
            let messages = messages.get(range).unwrap_or_default().iter();
            messages.map(|known| known.reference_units).sum()
        };
        let units = match (applied, &ticket.epoch) {
            (Some(applied), Some(epoch)) => {
                let items = applied.view.items.iter();
                items
                    .map(|item| match item {
                        ViewItem::Entries(range) => of(range.clone()),
                        item => item
                            .made(|at| ticket.body.decoded(at), &epoch.summary)
                            .map_or(0, |message| meter.units(&message)),
                    })
                    .sum()
            }
            _ => of(0..messages.len()),
        };
        Some(meter.tokens_of_units(units))
    }
}
