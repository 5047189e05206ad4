//! Old tool results give way before anything is summarised, where the user wants that. What was said stays word for word.
//!
//! It is a step of its own and not a part of a compaction: where a line for each old result makes enough room, no summary
//! is written. What comes of it is an epoch like any other, so that it is stored, undone and shown by the same rules.

use std::sync::Arc;

use epitome::{Cache, Decision, Frozen, Message, Meter, PruneSettings, Reason};
use epitome_engine::record::{LinkTrims, StoredTrim};

use super::compact::Made;
use super::{Case, Keeper, Ticket};
use crate::epoch::{Replacement, ViewForm};

/// Below this part of what is there, in percent, it is clearly smaller.
const CLEARLY_SMALLER_PERCENT: u64 = 90;

impl Keeper {
    /// The epoch in force, or the bare request, with a line in the place of each old result. `None` where that is not
    /// wanted, or where a compaction would be due all the same.
    pub(super) fn pruned(&self, ticket: &Ticket, case: &Case, reason: Reason) -> Option<Made> {
        let settings = self.rules.pruning(case.course.gauge().window)?;
        // Nothing is read before a plan stands: see `carry_out`.
        let sight = self.sight(ticket, case.applied.as_ref());
        case.course.clone().plan(&sight, reason).ok()?;
        let pruning = self.old_results(ticket, settings, reason)?;
        let conversation = &ticket.conversation;
        let epoch = pruning.freeze(crate::clock::new_id(), case.need.class(), conversation)?;
        let applied = epoch.apply(conversation, &ticket.body, ticket.form)?;
        let mut pruned = ticket.clone();
        pruned.epoch = Some(Arc::new(epoch.clone()));
        let course = self.course(&pruned, Some(&epoch));
        let sight = self.sight(&pruned, Some(&applied));
        let after = course.reading(&sight);
        let is_smaller = after.size_tokens <= case.now.size_tokens / 100 * CLEARLY_SMALLER_PERCENT;
        let is_due = matches!(
            course.due(&sight),
            Ok(Decision::Compact(_) | Decision::Prepare)
        );
        let helps = is_smaller && after.fits() && !after.nears_the_line() && !is_due;
        // Whoever took it back wants something else, be it a summary.
        let is_unwanted =
            self.index.is_undone(&epoch.node) || self.index.is_refused(epoch.node, ticket.form);
        (helps && !is_unwanted).then_some(Made { epoch, applied })
    }

    /// The results that have grown old behind what the epoch in force touches.
    fn old_results<'t>(
        &self,
        ticket: &'t Ticket,
        settings: PruneSettings,
        reason: Reason,
    ) -> Option<Replacement<'t>> {
        let messages: Option<Vec<Message>> = (0..ticket.body.len())
            .map(|index| ticket.body.decoded(index))
            .collect();
        let messages = messages?;
        // All of them were seen by a model: none is cut because it is long.
        let mut frozen = Frozen::resume(settings, Meter::Estimate, [], messages.len());
        let base = ticket.epoch.as_deref();
        let from = base.map_or(0, |epoch| epoch.touched_links());
        let chain = &ticket.conversation.chain;
        let mut trims = Vec::new();
        let mut saved_tokens = 0;
        for old in frozen.prune(&messages, Cache::Cold) {
            let link = chain.binary_search_by_key(&old.position, |(index, _)| *index);
            let Some(link) = link.ok().filter(|link| *link >= from) else {
                continue;
            };
            saved_tokens += old.saved_tokens;
            trims.push(LinkTrims {
                link,
                trims: old.trims.iter().map(StoredTrim::of).collect(),
            });
        }
        trims.sort_by_key(|one| one.link);
        (!trims.is_empty()).then_some(Replacement {
            base,
            trims,
            saved_tokens,
            reason,
            form: match self.rules.looks_at_the_view() {
                true => ViewForm::Whole,
                false => ViewForm::Plain,
            },
        })
    }
}
