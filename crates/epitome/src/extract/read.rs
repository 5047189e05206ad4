//! What a summary is written from and what does not depend on its budget.

use std::sync::Arc;

use super::Source;
use super::rules::FoundRule;
use crate::message::{Message, Role};
use crate::pin::{self, Binding, Pin, Sayings};
use crate::story::Story;
use crate::summary::Earlier;

/// What a summary is written from, whatever its budget.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Sentences that would be pins, had the user not dropped them.
    pub(crate) unpinned: Vec<Pin>,
    pub(super) earlier: Earlier,
    pub(super) pins: Vec<Pin>,
    pub(super) binding: Binding,
    pub(super) story: Arc<Story>,
    /// What the user typed, with its entries.
    pub(super) typed: Arc<[(usize, String)]>,
    /// What reads like a rule though nobody typed it.
    pub(super) rules: Arc<[FoundRule]>,
}

impl Source<'_> {
    /// What does not depend on the budget: it is read once, however often the summary is written.
    pub(crate) fn read(&self) -> Read {
        let earlier = self.earlier();
        let (pins, binding) = self.pins(&earlier);
        let is_dropped = |pin: &Pin| pin.state == pin::PinState::Dropped;
        let (unpinned, pins) = pins.into_iter().partition(is_dropped);
        Read {
            unpinned,
            earlier,
            pins,
            binding,
            story: Arc::new(Story::read(self.entries())),
            typed: self.typed().collect(),
            rules: self.found_rules().into(),
        }
    }

    /// The pins of the span by itself, whatever the host and an earlier summary add to them.
    pub(crate) fn own_pins(&self, read: &Read) -> Vec<Pin> {
        let Earlier {
            pins, task, said, ..
        } = &read.earlier;
        let adds = !(self.host_pins.is_empty() && pins.is_empty() && said.is_empty());
        if adds || task.is_some() || self.entries().count() < self.span.len() {
            let span = self.span.iter().copied().chain(self.later());
            let (pins, binding) = pin::sorted(
                Vec::new(),
                span.map(|entry| self.heard(entry)),
                self.dropped_pins,
            );
            self.without_later(pins, binding).0
        } else {
            read.pins.clone()
        }
    }

    fn pins(&self, earlier: &Earlier) -> (Vec<Pin>, Binding) {
        let position = self.first_position();
        let carried = |text: &String| Pin::carried(position, text.clone());
        let host = self.host_pins.iter().cloned();
        let is_new = |text: &&String| self.host_pins.iter().all(|pin| pin.text != **text);
        let earlier_pins = earlier.pins.iter().filter(is_new).map(carried);
        let carried = host.chain(earlier_pins).collect();
        // A rule inside a request is not among the instructions of the earlier summary.
        let requests: Vec<Message> = earlier
            .task
            .iter()
            .chain(&earlier.said)
            .map(|text| Message::text(Role::User, text.as_str()))
            .collect();
        let requests = requests.iter().map(|message| (position, message, None));
        let entries = self.entries().map(|entry| self.heard(entry));
        let later = self.later().map(|entry| self.heard(entry));
        let said = requests.chain(entries).chain(later);
        let (pins, binding) = pin::sorted(carried, said, self.dropped_pins);
        self.without_later(pins, binding)
    }

    /// The entries behind the span that stay in view: they may take back what was said in it.
    fn later(&self) -> impl Iterator<Item = (usize, &Message)> {
        let last = self.span.last().map(|(position, _)| *position);
        let kept = self.kept.iter().copied();
        kept.filter(move |(position, _)| last.is_some_and(|last| *position > last))
    }

    /// What was said up to the end of the span: the rest stands in view.
    fn without_later(&self, mut pins: Vec<Pin>, mut binding: Binding) -> (Vec<Pin>, Binding) {
        if let Some((last, _)) = self.span.last() {
            pins.retain(|pin| pin.position <= *last);
            binding.retain(|(position, _)| position <= last);
        }
        (pins, binding)
    }

    /// An entry, with what it says where that was read before.
    fn heard<'a>(
        &'a self,
        (position, message): (usize, &'a Message),
    ) -> (usize, &'a Message, Option<&'a Sayings>) {
        let sayings = self.log.and_then(|log| log.sayings(position));
        (position, message, sayings)
    }
}
