//! What a conversation is at the moment.

use bytes::Bytes;
use epitome::{
    CachePrices, Digest, Model, ModelTable, Session, Ticket, Usage, UsageFinding, View, ViewItem,
};
use epitome_wire::{Body, Wire};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::entry::{Entry, Tip};
use crate::known_models::{BeliefUpdate, ModelKey};
use crate::shared::Shared;
use crate::statistics::Statistics;
use crate::summarise::Written;

/// How Anthropic's API asks for a cache.
const CACHE_MARK: &str = "\"cache_control\"";

#[derive(Debug)]
pub(super) struct State {
    pub(super) session: Session,
    /// The bytes of every entry.
    pub(super) raws: Vec<Bytes>,
    /// Those that ask the provider to cache up to them.
    marked: Vec<usize>,
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
    /// When the last request was prepared: from then on the provider's cache cools down.
    pub(super) asked_ms: i64,
    /// The last request that was prepared: the next count is about it.
    pub(super) sent: Option<Ticket>,
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
            marked: Vec::new(),
            tip: None,
            changes: 0,
            compactions: Vec::new(),
            in_flight: None,
            works_begun: 0,
            ready: None,
            statistics: Statistics::default(),
            frame: Frame::default(),
            asked_ms: 0,
            sent: None,
        }
    }

    /// Shares the first `entries` entries of another one; `session` is what has come of them.
    pub(super) fn forked(from: Self, session: Session, entries: usize) -> Self {
        let mut state = Self::new(session);
        state.raws = from.raws;
        state.raws.truncate(entries);
        state.marked = from.marked;
        state.marked.retain(|at| *at < entries);
        state.compactions = from.compactions;
        state
    }

    /// Takes the next message.
    pub(super) fn push(&mut self, entry: Entry) {
        let text = std::str::from_utf8(&entry.raw);
        if text.is_ok_and(|text| text.contains(CACHE_MARK)) {
            self.marked.push(self.raws.len());
        }
        self.raws.push(entry.raw);
        self.session.push(entry.message);
    }

    /// What its requests have besides their messages, from now on.
    pub(super) fn set_frame(&mut self, frame: Frame, shared: &Shared) {
        self.session.set_frame(frame.tokens, frame.kind);
        self.session.set_output_tokens(frame.output_tokens);
        let before = self.model(shared).map(str::to_owned);
        self.frame = frame;
        let model = self.model(shared);
        if model != before.as_deref() {
            let window = shared.window_of(model);
            let prices = CachePrices::of(in_table(model));
            self.session.set_model(window, prices);
            self.believe(shared);
        }
    }

    /// The model that its requests go to, where that is known.
    pub(super) fn model<'a>(&'a self, shared: &'a Shared) -> Option<&'a str> {
        let own = shared.own_model.name.as_deref();
        self.frame.model.as_deref().or(own)
    }

    /// Under which name it learns.
    pub(super) fn model_key(&self, shared: &Shared) -> Option<ModelKey> {
        shared.model_key(self.model(shared))
    }

    /// Takes over what is believed of its model by now.
    pub(super) fn believe(&mut self, shared: &Shared) {
        if let Some(key) = self.model_key(shared) {
            self.session.set_belief(shared.models.belief(&key));
        }
    }

    /// A provider counted the request of `ticket`: what that gives away, and what the store should be told.
    pub(super) fn observe(
        &mut self,
        ticket: Ticket,
        usage: Usage,
        shared: &Shared,
    ) -> (Option<UsageFinding>, Option<BeliefUpdate>) {
        let Some(key) = self.model_key(shared) else {
            return (self.session.observe_sent(ticket, usage), None);
        };
        let (finding, news) = shared.models.learn(&key, |belief| {
            self.session.set_belief(*belief);
            let finding = self.session.observe_sent(ticket, usage);
            *belief = *self.session.course().belief();
            finding
        });
        let now_ms = shared.clock.now_ms();
        (finding, shared.models.update_of(&key, news, now_ms))
    }

    /// The messages of the view as a JSON list: original bytes around the summary. What is not shown is not touched.
    pub(super) fn list(&self, wire: Wire) -> Bytes {
        let summary = self.session.compaction();
        let summary = summary.map_or("", |compaction| compaction.summary.text.as_str());
        let mut shown = Shown::default();
        let items = self.session.view().items.into_iter();
        let view = View {
            items: items.map(|item| shown.moved(item)).collect(),
        };
        // The newest mark that leaves the view moves to the summary: its message stands behind all that is shown.
        let gone = |at: &&usize| !shown.entries.contains(at);
        let marked = self.marked.iter().rev().find(gone).copied();
        let needed = shown.entries.iter().copied().chain(marked);
        let list = joined(needed.filter_map(|at| self.raws.get(at)));
        let rendered = Body::scan_array(list, wire).map_err(|error| error.to_string());
        let rendered = rendered.and_then(|body| {
            let spliced = body.render(&view, summary);
            spliced.map_err(|error| error.to_string())
        });
        match rendered {
            Ok(spliced) => spliced.into_bytes(),
            Err(error) => {
                tracing::error!(
                    error,
                    "a view cannot be rendered: the whole history goes out"
                );
                joined(self.raws.iter())
            }
        }
    }

    /// The whole request.
    pub(super) fn request(&self, wire: Wire) -> Bytes {
        self.frame.around(wire.list_name(), &self.list(wire))
    }
}

/// What the table of models says of one.
pub(super) fn in_table(model: Option<&str>) -> Option<&'static Model> {
    model.and_then(|name| ModelTable::builtin().find(name))
}

/// The entries that a view shows, in its order.
#[derive(Default)]
struct Shown {
    entries: Vec<usize>,
}

impl Shown {
    /// An item of a view over all entries, as one over those that are shown.
    fn moved(&mut self, item: ViewItem) -> ViewItem {
        let at = self.entries.len();
        match item {
            ViewItem::Entries(range) => {
                let end = at + range.len();
                self.entries.extend(range);
                ViewItem::Entries(at..end)
            }
            ViewItem::Trimmed(entry, trims) => {
                self.entries.push(entry);
                ViewItem::Trimmed(at, trims)
            }
            ViewItem::Merged(entry) => {
                self.entries.push(entry);
                ViewItem::Merged(at)
            }
            other => other,
        }
    }
}

fn joined<'a>(raws: impl Iterator<Item = &'a Bytes>) -> Bytes {
    let mut out = vec![b'['];
    for (at, raw) in raws.enumerate() {
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
pub(super) struct Frame {
    text: String,
    /// About how many tokens of input they are.
    pub(super) tokens: u64,
    /// Tells one set of system prompt and tools from another.
    pub(super) kind: u64,
    /// The longest answer they ask for.
    pub(super) output_tokens: Option<u64>,
    /// The model they name.
    pub(super) model: Option<String>,
}

/// The members that are input, in all APIs.
const INPUT: [&str; 3] = ["system", "instructions", "tools"];
/// The members that say how long an answer may be.
const OUTPUT: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

impl Frame {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let members: Result<std::collections::BTreeMap<String, Box<RawValue>>, _> =
            serde_json::from_str(text);
        let members = members.map_err(|error| error.to_string())?;
        let input: Vec<&str> = INPUT
            .iter()
            .filter_map(|name| Some(members.get(*name)?.get()))
            .collect();
        let output = OUTPUT.iter().find_map(|name| members.get(*name));
        let model = members.get("model");
        let inner = text.trim();
        let inner = inner
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        Ok(Self {
            text: inner.unwrap_or_default().trim().to_owned(),
            // JSON, mostly ASCII: a quarter of the bytes.
            tokens: input.iter().map(|text| text.len() as u64 / 4).sum(),
            kind: Digest::of(input.concat().as_bytes()).prefix(),
            output_tokens: output.and_then(|value| value.get().parse().ok()),
            model: model.and_then(|value| serde_json::from_str(value.get()).ok()),
        })
    }

    fn around(&self, name: &str, list: &Bytes) -> Bytes {
        let mut out = Vec::with_capacity(self.text.len() + list.len() + 32);
        out.push(b'{');
        out.extend_from_slice(self.text.as_bytes());
        if !self.text.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        out.extend_from_slice(list);
        out.push(b'}');
        Bytes::from(out)
    }
}
