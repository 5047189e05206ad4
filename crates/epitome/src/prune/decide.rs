//! What becomes of one entry.

use super::{PruneCause, Pruned, placeholder};
use crate::files::is_failure;
use crate::message::{Block, Call, Message, ResultPart, ToolResult};
use crate::meter::Meter;
use crate::pruning::{EntryCap, ErrorResults, PruneSettings};
use crate::trim::{Kept, Shown, Trim, cap, trimmed};

/// What stays of a failure that is shortened: its error, and what stands around it.
const FAILURE_TOKENS: u64 = 96;

pub(super) struct Decider<'a> {
    pub(super) settings: &'a PruneSettings,
    pub(super) meter: Meter,
}

impl Decider<'_> {
    /// What is decided about one entry for one cause. `calls` are those of its step.
    pub(super) fn decision(
        &self,
        position: usize,
        message: &Message,
        cause: PruneCause,
        calls: &[&Call],
    ) -> Option<Pruned> {
        let mut trims = Vec::new();
        for (block, content) in message.blocks.iter().enumerate() {
            let Block::Result(result) = content else {
                continue;
            };
            let call = calls.iter().find(|call| call.id == result.call_id).copied();
            if call.is_some_and(|call| self.settings.protects(&call.name)) {
                continue;
            }
            match cause {
                PruneCause::EntryCap => trims.extend(self.cut(message, block)),
                PruneCause::Old => trims.extend(self.replaced(result, block, call)),
            }
        }
        if trims.is_empty() {
            return None;
        }
        let before = self.meter.message(message);
        let after = self.meter.message(&trimmed(message, &trims));
        let saved_tokens = before.checked_sub(after).filter(|saved| *saved > 0)?;
        Some(Pruned {
            position,
            cause,
            trims,
            saved_tokens,
        })
    }

    fn cut(&self, message: &Message, block: usize) -> Vec<Trim> {
        match self.settings.entry_cap {
            EntryCap::Off => Vec::new(),
            EntryCap::Chars(chars) => cap(message, block, chars as u64 / 4, Meter::Chars4),
            EntryCap::Tokens(tokens) => cap(message, block, tokens, self.meter),
        }
    }

    fn replaced(&self, result: &ToolResult, block: usize, call: Option<&Call>) -> Vec<Trim> {
        let tokens = |part: &ResultPart| match part {
            ResultPart::Text(text) => self.meter.text(text),
            ResultPart::Media(media) => u64::from(media.tokens),
            ResultPart::Opaque { .. } => 0,
        };
        let total: u64 = result.parts.iter().map(tokens).sum();
        let is_failure = is_failure(result, call);
        if total < self.settings.smallest_tokens
            || is_failure && self.settings.errors == ErrorResults::Keep
        {
            return Vec::new();
        }
        let mut trims = Vec::new();
        for (part, content) in result.parts.iter().enumerate() {
            let shown = match content {
                ResultPart::Text(text) if is_failure => {
                    Shown::Kept(Kept::within(text, FAILURE_TOKENS, self.meter))
                }
                _ => {
                    let whose = trims.is_empty().then_some((result, call));
                    let line = placeholder::line(content, whose, &self.settings.recall, self.meter);
                    let Some(line) = line else { continue };
                    Shown::Placeholder(line)
                }
            };
            let size = match (&shown, content) {
                (Shown::Kept(kept), ResultPart::Text(text)) => self.meter.text(&kept.of(text)),
                (Shown::Placeholder(line), _) => self.meter.text(line),
                (Shown::Kept(_), _) => continue,
            };
            if size < tokens(content) {
                trims.push(Trim { block, part, shown });
            }
        }
        trims
    }
}
