//! Results that are law because the user's orders name what was read: whole where they fit, else the parts that say most.

use crate::message::Message;
use crate::pin::{self, NamedResult, Pin, Share};
use crate::plan::percent_of;
use crate::summary::{Earlier, Line, LineKind, bullet};
use crate::trim::Kept;

use super::Source;

/// Less than this of a result is not worth its heading, in tokens.
const LEAST_TOKENS: u64 = 24;

/// Between two stretches of a result.
const GAP: &str = "\n[…]\n";

impl Source<'_> {
    /// The named results of the span and of the earlier summary, within their part of what pins may take.
    pub(super) fn named(&self, earlier: &Earlier, pins: &[Pin], room_tokens: u64) -> Vec<Line> {
        let results = self.named_results(earlier, pins);
        let shares = pin::share_named(&results, self.pin_budget_tokens, self.meter);
        let mut left = (self.pin_budget_tokens / pin::NAMED_PART).min(room_tokens / 2);
        let cost = |line: &Line| self.meter.text(&bullet(&line.text));
        let mut lines = Vec::new();
        for (result, share) in results.iter().zip(shares) {
            let whole = result.line(&result.text);
            let line = match share {
                Share::Whole if cost(&whole) <= left => Some(whole),
                Share::Whole => self.extracted(result, left),
                Share::Extract { tokens } => self.extracted(result, tokens.min(left)),
            };
            let fits = |line: &Line| left.checked_sub(cost(line));
            if let Some((line, rest)) = line.and_then(|line| fits(&line).map(|rest| (line, rest))) {
                left = rest;
                lines.push(line);
            }
        }
        lines
    }

    /// What the orders of the user name, oldest first; a file that was read again counts once.
    fn named_results(&self, earlier: &Earlier, pins: &[Pin]) -> Vec<NamedResult> {
        let typed_in = |message: &Message| {
            let text = message.typed().collect::<Vec<_>>().join("\n");
            Some(text).filter(|text| !text.is_empty())
        };
        let task = earlier.task.clone();
        let task = task.or_else(|| self.before.and_then(typed_in));
        let task = task.or_else(|| self.kept.first().and_then(|(_, first)| typed_in(first)));
        let first = self.typed().next().map(|(_, text)| text);
        let orders: Vec<String> = task
            .into_iter()
            .chain(first)
            .chain(pins.iter().map(|pin| pin.text.clone()))
            .collect();
        let found = pin::named_results(self.entries(), orders.iter().map(String::as_str));
        let position = self.first_position();
        earlier
            .named
            .iter()
            .filter_map(|item| item.split_once('\n'))
            .filter(|(name, _)| found.iter().all(|result| result.name != *name))
            .map(|(name, text)| NamedResult {
                position,
                call_id: Box::default(),
                name: name.to_owned(),
                text: text.to_owned(),
            })
            .chain(found.iter().cloned())
            .collect()
    }

    /// The parts of a result that fit, with where the rest is.
    fn extracted(&self, result: &NamedResult, tokens: u64) -> Option<Line> {
        let pointer = format!(
            "[in parts; the whole is in message {}]",
            result.position + 1
        );
        let frame = self.meter.text(&result.name) + self.meter.text(&pointer) + 4;
        let room = tokens.checked_sub(frame)?;
        // Short lines take more when they are indented.
        [100, 85, 70, 50]
            .into_iter()
            .map(|percent| percent_of(room, percent))
            .take_while(|room| *room >= LEAST_TOKENS)
            .map(|room| Kept::within(&result.text, room, self.meter))
            // A quotation has no numbers of ours in it.
            .map(|kept| kept.stretches(&result.text).join(GAP))
            .map(|parts| result.line(&format!("{pointer}\n{parts}")))
            .find(|line| self.meter.text(&bullet(&line.text)) <= tokens)
    }
}

impl NamedResult {
    fn line(&self, text: &str) -> Line {
        Line {
            position: self.position,
            text: format!("{}\n{text}", self.name),
            kind: LineKind::Found,
        }
    }
}
