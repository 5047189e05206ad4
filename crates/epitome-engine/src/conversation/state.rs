//! What a conversation is at the moment.

use bytes::Bytes;
use epitome::{Session, View};
use epitome_wire::{Body, Wire};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::entry::Tip;
use crate::statistics::Statistics;
use crate::summarise::Written;

#[derive(Debug)]
pub(super) struct State {
    pub(super) session: Session,
    /// The bytes of every entry.
    pub(super) raws: Vec<Bytes>,
    pub(super) tip: Option<Tip>,
    /// How many changes the store has.
    pub(super) changes: u32,
    /// The ids of the compactions, by number of record.
    pub(super) compactions: Vec<String>,
    pub(super) in_flight: Option<InFlight>,
    /// How many pieces of background work were begun.
    pub(super) works_begun: u64,
    /// A compaction that is ready and waits until it must, or pays.
    pub(super) ready: Option<Ready>,
    pub(super) statistics: Statistics,
    pub(super) frame: Frame,
    pub(super) touched_ms: i64,
}

/// Background work that has not come back.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) cancel: CancellationToken,
    pub(super) fence: u64,
    /// Tells one piece of work from the next, which may have the same fence.
    pub(super) number: u64,
}

/// Background work that has come back.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) written: Written,
    pub(super) fence: u64,
}

impl State {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            raws: Vec::new(),
            tip: None,
            changes: 0,
            compactions: Vec::new(),
            in_flight: None,
            works_begun: 0,
            ready: None,
            statistics: Statistics::default(),
            frame: Frame::default(),
            touched_ms: 0,
        }
    }

    /// The messages of the view as a JSON list: original bytes around the summary.
    pub(super) fn list(&self, wire: Wire) -> Bytes {
        let view = self.session.view();
        let summary = self.session.compaction();
        let summary = summary.map_or("", |compaction| compaction.summary.text.as_str());
        self.rendered(wire, &view, summary)
            .unwrap_or_else(|| joined(&self.raws))
    }

    fn rendered(&self, wire: Wire, view: &View, summary: &str) -> Option<Bytes> {
        let body = Body::scan_array(joined(&self.raws), wire).ok()?;
        Some(body.render(view, summary).ok()?.into_bytes())
    }

    /// The whole request.
    pub(super) fn request(&self, wire: Wire) -> Bytes {
        self.frame.around(wire.list_name(), &self.list(wire))
    }
}

fn joined(raws: &[Bytes]) -> Bytes {
    let mut out = Vec::with_capacity(raws.iter().map(Bytes::len).sum::<usize>() + raws.len() + 2);
    out.push(b'[');
    for (at, raw) in raws.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(raw);
    }
    out.push(b']');
    Bytes::from(out)
}

/// The members of a request around its messages, as they were given.
#[derive(Debug, Default)]
pub(super) struct Frame(String);

impl Frame {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let members: Result<std::collections::BTreeMap<String, Box<RawValue>>, _> =
            serde_json::from_str(text);
        members.map_err(|error| error.to_string())?;
        let inner = text.trim();
        let inner = inner
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        Ok(Self(inner.unwrap_or_default().trim().to_owned()))
    }

    fn around(&self, name: &str, list: &Bytes) -> Bytes {
        let mut out = Vec::with_capacity(self.0.len() + list.len() + 32);
        out.push(b'{');
        out.extend_from_slice(self.0.as_bytes());
        if !self.0.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        out.extend_from_slice(list);
        out.push(b'}');
        Bytes::from(out)
    }
}
