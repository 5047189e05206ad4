//! An epoch with lines in the place of old tool results: of a bare request, or on top of another epoch.

use epitome::{Reason, Trim, View, ViewItem};
use epitome_engine::record::{ChainRecord, FrozenView, LinkTrims, MadeFor, StoredTrim};
use epitome_wire::Conversation;

use super::frozen::last_link;
use super::{Applied, Epoch};

/// What is to be replaced, and on top of what.
#[derive(Debug)]
pub(crate) struct Replacement<'a> {
    /// The epoch in force.
    pub(crate) base: Option<&'a Epoch>,
    /// What is seen of old results, by link; none that the base touches.
    pub(crate) trims: Vec<LinkTrims>,
    /// Estimated tokens that this takes off.
    pub(crate) saved_tokens: u64,
    /// Why it is done.
    pub(crate) reason: Reason,
    /// How an epoch without a base is kept.
    pub(crate) form: ViewForm,
}

/// How much of what is shown is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewForm {
    /// What it takes off: for a design that decides by the originals.
    Plain,
    /// All of it: for a design that decides by what is shown.
    Whole,
}

impl Replacement<'_> {
    /// The epoch. `None` where there is nothing that later requests could be recognised by.
    pub(crate) fn freeze(
        self,
        id: String,
        class: MadeFor,
        conversation: &Conversation,
    ) -> Option<Epoch> {
        let last = self.trims.iter().map(|one| one.link).max()?;
        let (_, node) = conversation.chain.get(last)?;
        let total = conversation.log.total_tokens();
        let (summary, tokens_before, mut record) = match self.base {
            Some(base) => {
                let mut record = base.record.clone();
                record.swap = None;
                (base.summary.clone(), base.tokens_after, record)
            }
            None => ("".into(), total, untouched(self.form)),
        };
        record.reason = self.reason.as_str().to_owned();
        record.trimmed_tokens += self.saved_tokens;
        record.pruned_results += self.trims.len();
        match &mut record.view {
            Some(view) => {
                let trims = self.trims.into_iter().map(|one| (one.link, one.trims));
                view.trims.extend(trims);
            }
            None => record.trims.extend(self.trims),
        }
        Some(Epoch {
            id,
            node: *node,
            class,
            summary,
            tokens_before,
            tokens_after: tokens_before.saturating_sub(self.saved_tokens),
            record,
        })
    }
}

impl Epoch {
    /// How many links in front it says something about: behind them every message is shown as it is.
    pub(crate) fn touched_links(&self) -> usize {
        let trimmed = self.record.trims.iter().map(|one| one.link + 1).max();
        let viewed = self.record.view.as_ref().and_then(last_link);
        let viewed = viewed.map(|link| link + 1);
        let covered = Some(self.record.covered_links);
        [covered, trimmed, viewed]
            .into_iter()
            .flatten()
            .max()
            .unwrap_or(0)
    }

    /// How far it goes: one that goes further may take its place.
    pub(crate) const fn reach(&self) -> (usize, usize) {
        (self.record.covered_links, self.record.pruned_results)
    }

    /// Whether it may take the place of another: it goes further, or it was made later at the same place because that one did
    /// not help. Ids sort by time.
    pub(crate) fn goes_beyond(&self, other: &Self) -> bool {
        let is_remade = self.reach() == other.reach() && self.node == other.node;
        self.reach() > other.reach() || is_remade && self.id > other.id
    }

    /// What a request becomes where nothing is covered and some results are replaced.
    pub(super) fn apply_trims(&self, conversation: &Conversation) -> Option<Applied> {
        let log = &conversation.log;
        let mut items = Vec::new();
        let mut from = 0;
        for one in &self.record.trims {
            let (at, _) = conversation.chain.get(one.link)?;
            if from < *at {
                items.push(ViewItem::Entries(from..*at));
            }
            let trims: Vec<Trim> = one.trims.iter().map(StoredTrim::trim).collect();
            items.push(ViewItem::Trimmed(*at, trims));
            from = at + 1;
        }
        if from < log.len() {
            items.push(ViewItem::Entries(from..log.len()));
        }
        let first = self.record.trims.first()?;
        let (first, _) = conversation.chain.get(first.link)?;
        Some(Applied {
            view: View { items },
            kept_tokens: log.tokens(0..*first),
            saved_tokens: self.record.trimmed_tokens,
            shown: None,
        })
    }
}

/// A record that says nothing about any link.
fn untouched(form: ViewForm) -> ChainRecord {
    let view = FrozenView {
        items: Vec::new(),
        from_link: 0,
        trims: Vec::new(),
        notes_cap_tokens: 0,
    };
    ChainRecord {
        pins: Some(Vec::new()),
        view: (form == ViewForm::Whole).then_some(view),
        ..ChainRecord::default()
    }
}
