//! True sizes: what a provider with the vocabulary of GPT-4o counts.

use std::io::{Error, Result};

use bytes::Bytes;
use epitome::{Asked, Calibration, Digest, Gauge, Margins, Meter, OutputCounting, Window};
use epitome_testkit::Wire;
use epitome_wire::{Body, ChainKey, Conversation, Memo};

use super::recorded::ours;

const METER: Meter = Meter::O200k;
/// More messages than all sessions have.
const MEMO_CAPACITY: usize = 200_000;

/// Counts requests; a message that was counted before costs a digest.
pub(crate) struct Measure {
    memo: Memo,
    key: ChainKey,
}

/// The parts of a request in order, each with its tokens: everything before the messages, then each message.
#[derive(Clone, Default)]
pub(crate) struct Parts(Vec<(Digest, u64)>);

impl Measure {
    pub(crate) fn new() -> Self {
        Self {
            memo: Memo::new(METER, MEMO_CAPACITY),
            key: ChainKey::public(),
        }
    }

    pub(crate) fn parts(&self, wire: Wire, bytes: &Bytes) -> Result<Parts> {
        let body = Body::scan(bytes.clone(), ours(wire)).map_err(Error::other)?;
        let conversation = Conversation::of(&body, &self.memo, &self.key)
            .map_err(|reason| Error::other(reason.as_str()))?;
        let first = body.messages().first().map_or(0, |range| range.start);
        let head = bytes.get(..first).unwrap_or_default();
        let head_tokens = METER.text(&String::from_utf8_lossy(head));
        let messages = conversation
            .messages
            .iter()
            .map(|known| (known.exact, u64::from(known.facts.tokens)));
        let head = (Digest::of(head), head_tokens);
        Ok(Parts(std::iter::once(head).chain(messages).collect()))
    }
}

impl Parts {
    pub(crate) fn tokens(&self) -> u64 {
        self.0.iter().map(|(_, tokens)| tokens).sum()
    }

    /// The tokens with which both begin.
    pub(crate) fn kept_tokens(&self, before: &Self) -> u64 {
        let same = self.0.iter().zip(&before.0);
        same.take_while(|(now, then)| now.0 == then.0)
            .map(|(now, _)| now.1)
            .sum()
    }

    /// Whether everything that went out before stands at its front.
    pub(crate) fn extends(&self, before: &Self) -> bool {
        self.kept_tokens(before) == before.tokens() && self.0.len() >= before.0.len()
    }
}

/// Below this line nothing needs to be done about a request, by the present version's own words.
pub(crate) fn prepare_line(window_tokens: u64, output_tokens: Option<u64>) -> u64 {
    let gauge = Gauge {
        window: Window::configured(window_tokens),
        margins: Margins::default(),
        asked: Asked {
            output_tokens,
            counting: OutputCounting::Together,
        },
        rate: Calibration::default().rate(),
    };
    gauge.lines(0).map_or(0, |lines| lines.prepare_tokens)
}
