//! How a proxy compacts: the design, and who writes.

use std::sync::Arc;

use epitome::{DueCount, Keep, Preset, ReferenceMeter, ViewItem};
use epitome_engine::runner::Runner;
use epitome_engine::summarise::{Ladder, ModelWriter, Parts, Writer};

use super::Ticket;
use crate::config::{Config, Summariser};
use crate::epoch::{Applied, read};

/// How conversations are compacted.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(super) preset: Preset,
    pub(super) runner: Runner,
}

impl Rules {
    pub(crate) fn of(config: &Config) -> Self {
        Self::with(config, config.summariser.clone())
    }

    /// Other rules in the place of these. What summaries have cost is not forgotten.
    pub(super) fn reconfigured(&self, config: &Config) -> Self {
        let mut summariser = config.summariser.clone();
        if let (Some(summariser), Some(earlier)) = (&mut summariser, self.runner.caller()) {
            summariser.caller = summariser.caller.clone().on_account_of(earlier);
        }
        Self::with(config, summariser)
    }

    fn with(config: &Config, summariser: Option<Summariser>) -> Self {
        let settings = &config.settings;
        let caller = summariser.as_ref().map(|one| one.caller.clone());
        let writer = summariser.map(|one| {
            let templates = Arc::new(one.templates);
            let writer = ModelWriter::new(one.caller, templates, one.style, Parts::default());
            Arc::new(writer) as Arc<dyn Writer>
        });
        let ladder = Ladder::new(writer, settings.common.on_failure);
        Self {
            preset: Preset::from(settings),
            runner: Runner::new(settings, ladder, caller, config.hooks.clone()),
        }
    }

    /// Whether anybody but the built-in summariser has a say.
    pub(super) fn asks_somebody(&self) -> bool {
        self.runner.asks_somebody()
    }

    /// Whether the design decides by what is shown. The one that keeps by size makes every compaction from the
    /// originals.
    pub(super) fn looks_at_the_view(&self) -> bool {
        self.preset.keep != Keep::Budget
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
                            .made(|at| read(&ticket.body, at), &epoch.summary)
                            .map_or(0, |message| meter.units(&message)),
                    })
                    .sum()
            }
            _ => of(0..messages.len()),
        };
        Some(meter.tokens_of_units(units))
    }
}
