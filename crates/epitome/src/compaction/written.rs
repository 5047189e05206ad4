//! Compactions whose summary was not written by this crate.

use std::borrow::Borrow;

use super::{Compaction, Ground, Writer};
use crate::log::Log;
use crate::message::Message;
use crate::meter::Meter;
use crate::pin::Pin;
use crate::plan::{NoPlan, Plan};
use crate::preset_name::PresetName;

/// Who asks for a compaction, and on what.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a, M> {
    /// The form that the summary takes.
    pub preset: PresetName,
    /// Sizes and cuts.
    pub log: &'a Log,
    /// The messages that the plan speaks of, by position.
    pub messages: &'a [M],
    /// How tokens are counted.
    pub meter: Meter,
    /// What the host wants kept.
    pub host_pins: &'a [Pin],
}

impl Compaction {
    /// Carries out a plan with a summary that somebody else wrote, once it is checked against the span and repaired.
    ///
    /// # Errors
    /// [`Reason::SummaryEmpty`](crate::Reason::SummaryEmpty), [`Reason::SummaryRejected`](crate::Reason::SummaryRejected)
    /// or [`Reason::SummaryTooLong`](crate::Reason::SummaryTooLong) when it cannot stand,
    /// [`Reason::NotSmaller`](crate::Reason::NotSmaller) when the result would not be clearly smaller.
    pub fn written(
        plan: Plan,
        basis: &Basis<'_, impl Borrow<Message>>,
        text: &str,
    ) -> Result<Self, NoPlan> {
        basis.carry_out(plan, Writer::Checked(text))
    }

    /// Carries out a plan with a note that says why there is no summary.
    ///
    /// # Errors
    /// [`Reason::NotSmaller`](crate::Reason::NotSmaller) when the result would not be clearly smaller.
    pub fn annotated(
        plan: Plan,
        basis: &Basis<'_, impl Borrow<Message>>,
        note: &str,
    ) -> Result<Self, NoPlan> {
        basis.carry_out(plan, Writer::Note(note))
    }
}

impl<M: Borrow<Message>> Basis<'_, M> {
    fn carry_out(&self, plan: Plan, writer: Writer<'_>) -> Result<Compaction, NoPlan> {
        let messages: Vec<&Message> = self.messages.iter().map(Borrow::borrow).collect();
        let ground = Ground {
            preset: self.preset,
            log: self.log,
            messages: &messages,
            meter: self.meter,
            focus: None,
            host_pins: self.host_pins,
        };
        Compaction::carry_out(plan, ground, writer).map(|(compaction, _)| compaction)
    }
}
