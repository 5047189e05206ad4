//! The numbers of a file, folded over its events. Of the texts only short beginnings are kept.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use epitome::{Block, Message, Meter, Role};
use epitome_files::{Counts, Event, Position, Usage};
use serde::Serialize;

use super::cost::Cost;
use super::timeline::Timeline;

/// How many of the largest messages are shown.
const LARGEST: usize = 10;
/// How much of a large message is shown, in characters.
const PREVIEW_CHARS: usize = 60;

/// What one role or one tool takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Messages of a role, or calls of a tool.
    pub(super) count: u64,
    pub(super) tokens: u64,
}

/// One of the largest messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Large {
    pub(super) tokens: u64,
    /// Counted from 0 over the whole file; of two equally large ones the first is shown.
    pub(super) message: Reverse<u64>,
    pub(super) position: Position,
    pub(super) role: &'static str,
    pub(super) preview: String,
}

/// What a provider counted, over all requests that a file tells of.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct ByProvider {
    pub(super) requests: u64,
    /// The largest request with its answer.
    pub(super) largest_context_tokens: u64,
    pub(super) output_tokens: u64,
}

pub(crate) struct Tally {
    pub(crate) counts: Counts,
    pub(super) tokens: u64,
    pub(super) by_role: BTreeMap<&'static str, Share>,
    pub(super) by_tool: BTreeMap<String, Share>,
    pub(super) timeline: Timeline,
    pub(super) largest: Vec<Large>,
    /// What the file says that the provider counted.
    pub(super) provider: Option<ByProvider>,
    /// The model that answered last.
    pub(super) model: Option<String>,
    /// When the last of it was written, in milliseconds since 1970.
    pub(super) last_ms: Option<u64>,
    cost: Cost,
    heap: BinaryHeap<Reverse<Large>>,
    /// The tools whose results are still to come.
    open: HashMap<Box<str>, Box<str>>,
    meter: Meter,
}

impl Tally {
    pub(super) fn new(meter: Meter) -> Self {
        Self {
            counts: Counts::default(),
            tokens: 0,
            by_role: BTreeMap::new(),
            by_tool: BTreeMap::new(),
            timeline: Timeline::default(),
            largest: Vec::new(),
            provider: None,
            model: None,
            last_ms: None,
            cost: Cost::default(),
            heap: BinaryHeap::new(),
            open: HashMap::new(),
            meter,
        }
    }

    pub(super) fn add(&mut self, event: &Event) {
        match event {
            Event::Conversation => {
                self.open.clear();
                self.timeline.begin();
            }
            Event::Message { message, origin } => {
                self.last_ms = self.last_ms.max(origin.at_ms);
                self.message(message, origin.position);
            }
            Event::Model(name) => self.model = Some(name.clone()),
            Event::More { index, blocks } => self.more(*index, blocks),
            Event::Compaction(recorded) => self.timeline.compact(recorded, self.meter),
            Event::Usage(usage) => self.counted(*usage),
            Event::Id(_)
            | Event::Folder(_)
            | Event::Provider(_)
            | Event::Tip(_)
            | Event::Aside { .. }
            | Event::Unshown { .. }
            | Event::Problem(_) => {}
        }
        self.counts.add(event);
    }

    pub(super) fn finish(mut self) -> Self {
        self.counts = self.counts.finish();
        let heap = std::mem::take(&mut self.heap);
        // The smallest come first in a heap that is turned round, and last here.
        self.largest = heap
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse(large)| large)
            .collect();
        self
    }

    fn counted(&mut self, usage: Usage) {
        let sum = self.provider.get_or_insert_default();
        sum.requests += 1;
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        let context = usage.input_tokens.saturating_add(usage.output_tokens);
        sum.largest_context_tokens = sum.largest_context_tokens.max(context);
        self.last_ms = self.last_ms.max(usage.at_ms);
        self.cost.add(self.model.as_deref(), &usage);
    }

    /// What the requests cost by what the provider counted, in billionths of a dollar; `None` where the file does not
    /// tell or a price is not known.
    pub(super) fn nanodollars(&self) -> Option<u64> {
        self.provider.and_then(|_| self.cost.nanodollars())
    }

    fn message(&mut self, message: &Message, position: Position) {
        let tokens = self.meter.message(message);
        self.tokens += tokens;
        let share = self.by_role.entry(message.role.as_str()).or_default();
        share.count += 1;
        share.tokens += tokens;
        self.tools(&message.blocks);
        let large = || Large {
            tokens,
            message: Reverse(self.counts.messages),
            position,
            role: message.role.as_str(),
            preview: preview(message),
        };
        let is_large = self.heap.len() < LARGEST
            || self
                .heap
                .peek()
                .is_some_and(|least| tokens > least.0.tokens);
        if is_large {
            self.heap.push(Reverse(large()));
            if self.heap.len() > LARGEST {
                self.heap.pop();
            }
        }
        self.timeline.push(tokens);
    }

    /// More of an earlier message: the parts of it that came before were counted then.
    fn more(&mut self, index: usize, blocks: &[Block]) {
        let part = |blocks: &[Block]| {
            self.meter.message(&Message {
                role: Role::Assistant,
                blocks: blocks.to_vec(),
            })
        };
        let tokens = part(blocks).saturating_sub(part(&[]));
        self.tokens += tokens;
        self.by_role
            .entry(Role::Assistant.as_str())
            .or_default()
            .tokens += tokens;
        self.tools(blocks);
        self.timeline.grow(index, tokens);
    }

    fn tools(&mut self, blocks: &[Block]) {
        for block in blocks {
            let (name, count) = match block {
                Block::Call(call) => {
                    self.open.insert(call.id.clone(), call.name.clone());
                    (call.name.clone(), 1)
                }
                Block::Result(result) => {
                    let name = self.open.remove(&result.call_id);
                    (name.unwrap_or_else(|| "(unknown)".into()), 0)
                }
                _ => continue,
            };
            let tokens = tool_tokens(block, self.meter);
            let share = match self.by_tool.get_mut(&*name) {
                Some(share) => share,
                None => self.by_tool.entry(name.into()).or_default(),
            };
            share.count += count;
            share.tokens += tokens;
        }
    }
}

/// What a call or a result takes, by its texts.
fn tool_tokens(block: &Block, meter: Meter) -> u64 {
    match block {
        Block::Call(call) => meter.text(&call.name) + meter.text(&call.arguments),
        Block::Result(result) => result.texts().map(|text| meter.text(text)).sum(),
        _ => 0,
    }
}

/// The beginning of what a message says, on one line.
fn preview(message: &Message) -> String {
    let mut words = String::new();
    for block in &message.blocks {
        let text = match block {
            Block::Text(text) | Block::Injected(text) => text.as_str(),
            Block::Call(call) => &call.name,
            Block::Result(result) => result.texts().next().unwrap_or_default(),
            _ => continue,
        };
        words.extend(text.chars().take(PREVIEW_CHARS * 4));
        words.push(' ');
        if words.len() > PREVIEW_CHARS * 4 {
            break;
        }
    }
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    // What a terminal would obey is not shown.
    line.chars()
        .filter(|c| !c.is_control())
        .take(PREVIEW_CHARS)
        .collect()
}
