//! What a plan is carried out on, and who may write the summary.

use std::borrow::Borrow;
use std::ops::Range;

use super::Compaction;
use super::carry::Writer;
use crate::design::{Design, PresetName};
use crate::dress::Dress;
use crate::log::Log;
use crate::message::Message;
use crate::meter::Meter;
use crate::pin::Pin;
use crate::plan::{NoPlan, Plan};

/// What a plan is carried out on.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a, M> {
    /// The form that the summary takes.
    pub design: &'static Design,
    /// Sizes and cuts.
    pub log: &'a Log,
    /// The messages that the plan speaks of, by position.
    pub messages: &'a [M],
    /// How tokens are counted.
    pub meter: Meter,
    /// What the user wants kept in mind.
    pub focus: Option<&'a str>,
    /// What the host wants kept.
    pub host_pins: &'a [Pin],
    /// Sentences that are no pins, whatever they read like: the user dropped them.
    pub dropped_pins: &'a [String],
    /// The entries of the conversation that each of the messages is or stands for; empty where they are the entries
    /// themselves.
    pub numbers: &'a [Range<usize>],
}

impl<'a, M> Basis<'a, M> {
    /// A log and its messages, for a summary in our own form.
    #[must_use]
    pub fn new(log: &'a Log, messages: &'a [M], meter: Meter) -> Self {
        Self {
            design: PresetName::default().design(),
            log,
            messages,
            meter,
            focus: None,
            host_pins: &[],
            dropped_pins: &[],
            numbers: &[],
        }
    }
}

impl Compaction {
    /// Carries out a plan with the built-in summariser.
    ///
    /// # Errors
    /// [`Reason::NotSmaller`](crate::Reason::NotSmaller) when the result would not be clearly smaller than what was
    /// there.
    pub fn extract(plan: Plan, basis: &Basis<'_, impl Borrow<Message>>) -> Result<Self, NoPlan> {
        basis.carry_out(plan, Writer::BuiltIn).map(|(made, _)| made)
    }

    /// [`Compaction::extract`], and what verification says about the summary. It takes less time than one after the
    /// other.
    ///
    /// # Errors
    /// [`Reason::NotSmaller`](crate::Reason::NotSmaller) when the result would not be clearly smaller than what was
    /// there.
    pub fn extract_verified(
        plan: Plan,
        basis: &Basis<'_, impl Borrow<Message>>,
    ) -> Result<Self, NoPlan> {
        let (mut made, pins) = basis.carry_out(plan, Writer::BuiltIn)?;
        made.report = Some(Box::new(made.verify_with(basis.messages, pins)));
        Ok(made)
    }

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
        let (made, _) = basis.carry_out(plan, Writer::Checked(text))?;
        Ok(made)
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
        basis
            .carry_out(plan, Writer::Note(note))
            .map(|(made, _)| made)
    }
}

impl<M: Borrow<Message>> Basis<'_, M> {
    /// A compaction, and the pins of its span where all of that was read for them.
    fn carry_out(
        &self,
        plan: Plan,
        writer: Writer<'_>,
    ) -> Result<(Compaction, Option<Vec<Pin>>), NoPlan> {
        let messages: Vec<&Message> = self.messages.iter().map(Borrow::borrow).collect();
        let basis = Basis {
            design: self.design,
            log: self.log,
            messages: &messages,
            meter: self.meter,
            focus: self.focus,
            host_pins: self.host_pins,
            dropped_pins: self.dropped_pins,
            numbers: self.numbers,
        };
        Compaction::carry_out(plan, basis, writer)
    }
}

impl<'a> Dress<'a> {
    /// How a design dresses the summary of a plan.
    #[must_use]
    pub fn of(design: impl Into<&'static Design>, messages: &[&'a Message], plan: &Plan) -> Self {
        design.into().dress(messages, plan.span.clone())
    }
}
