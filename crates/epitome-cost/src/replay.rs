//! A recording walked through again, request by request, as an engine with the built-in summariser would have it.
//!
//! The history is always the recorded one; only what goes out is decided here, by a [`Session`]. Beside it goes the same
//! recording as it is, so that what a design saves or costs can be read off.

mod watch;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome::{
    CacheState, Digest, Failure, Message, Model, Move, Prepared, Reason, Role, Session, ShowNow,
    Work, is_surely_cold,
};

use crate::cache::ProviderCache;
use crate::recording::{Asked, Recording, named, pieces};
use crate::request::{Lifetime, Piece, Request};
use crate::spent::Spent;
use crate::timing::Phase;
use watch::Watch;

/// What a recording is replayed under, besides a session.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'m> {
    /// Whose prices and whose cache.
    pub model: &'m Model,
    /// How long what is marked is to be cached.
    pub lifetime: Lifetime,
}

/// What came of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Its requests, in order.
    pub turns: Vec<Turn>,
    /// Of each compaction that lay ready, when it was shown and what that cost.
    pub phases: Vec<Phase>,
}

/// One request of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many messages of the recording stand before the answer.
    pub messages: usize,
    /// When it goes out.
    pub at_ms: u64,
    /// What was done before.
    pub step: Step,
    /// What goes out.
    pub sent: Side,
    /// What would go out if nobody did anything.
    pub bare: Side,
}

/// A request on one side of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// What it takes of the cache.
    pub spent: Spent,
    /// What it costs, where the prices are known.
    pub nanodollars: Option<u64>,
    /// Whether it is larger than the window: a provider refuses it.
    pub is_too_long: bool,
}

/// What was done before a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Sent,
    /// A compaction was made ready; it is not shown yet.
    Prepared,
    /// The conversation was compacted.
    Compacted(Made),
    /// It should have been, but could not be.
    Unchanged(Reason),
}

/// A compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Why it was shown now.
    pub why: Why,
    /// What the messages took, and what they take.
    pub tokens: (u64, u64),
    /// How many messages were shown, and how many are.
    pub messages: (usize, usize),
    /// Instructions of the user that it carries word for word.
    pub pins: usize,
    /// What the summary takes.
    pub summary_tokens: u64,
    /// Different anchors (paths, identifiers, numbers, addresses) in all that was said so far.
    pub anchors: usize,
    /// How many of them stand in the view, in full.
    pub anchors_in_view: usize,
}

/// Why a compaction was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It had to be.
    Must(Reason),
    /// The provider's cache was gone: it cost nothing.
    Cold,
    /// As much was paid for waiting as it costs.
    Pays,
    /// The design shows what is ready.
    Design,
}

impl Why {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must(reason) => reason.as_str(),
            Self::Cold => "cache_cold",
            Self::Pays => "pays",
            Self::Design => "design",
        }
    }
}

/// Walks through a recording. `session` is new, and counts as the recording was counted; it says which design, in which
/// window.
#[must_use]
pub fn replay(recording: &Recording, session: Session, terms: &Terms<'_>) -> Replayed {
    let mut walk = Walk::new(recording, session, terms);
    let turns = recording.requests.iter();
    let turns = turns.map(|asked| walk.request(asked)).collect();
    Replayed {
        turns,
        phases: walk.watch.finish(),
    }
}

struct Walk<'r> {
    recording: &'r Recording,
    terms: Terms<'r>,
    session: Session,
    ready: Option<Prepared>,
    with: ProviderCache,
    without: ProviderCache,
    /// The messages of the session that are entries of the recording, by where they lie in memory.
    entries: HashMap<usize, usize>,
    said: HashSet<u64>,
    pushed: usize,
    last_ms: Option<u64>,
    watch: Watch,
}

impl<'r> Walk<'r> {
    fn new(recording: &'r Recording, mut session: Session, terms: &Terms<'r>) -> Self {
        session.set_frame(recording.frame_tokens, 0);
        Self {
            recording,
            terms: *terms,
            session,
            ready: None,
            with: ProviderCache::of(terms.model),
            without: ProviderCache::of(terms.model),
            entries: HashMap::new(),
            said: HashSet::new(),
            pushed: 0,
            last_ms: None,
            watch: Watch::default(),
        }
    }

    fn request(&mut self, asked: &Asked) -> Turn {
        self.push_until(asked.messages);
        let facts = self.ready.as_ref();
        let facts = facts.map(|ready| self.session.ready_facts(ready));
        let before = self.session.reading();
        let step = self.before_request(asked.at_ms);
        match (&step, facts) {
            (Step::Prepared, _) => self.watch.begin(&before),
            // A fresh one that leaves more room takes the place of what lay ready.
            (Step::Compacted(made), Some(facts)) => self.watch.shown(&before, &facts, made.why),
            (Step::Compacted(_), None) => self.watch.end(),
            (_, Some(facts)) => self.watch.waits(&before, &facts),
            (_, None) => self.watch.goes_on(&before),
        }
        let view = self.session.view_messages();
        let sent = self.shaped(asked, &view);
        let window_tokens = self.session.window().tokens;
        let sent = side(&mut self.with, &sent, &self.terms, window_tokens);
        let bare = self.bare(asked);
        let bare = side(&mut self.without, &bare, &self.terms, window_tokens);
        let ticket = self.session.ticket();
        self.session.observe_sent(ticket, sent.spent.usage());
        self.last_ms = Some(asked.at_ms);
        Turn {
            messages: asked.messages,
            at_ms: asked.at_ms,
            step,
            sent,
            bare,
        }
    }

    fn push_until(&mut self, messages: usize) {
        let recording = self.recording;
        let new = recording.messages.iter().zip(&recording.entries);
        for (message, entry) in new.take(messages).skip(self.pushed) {
            self.session.push(message.clone());
            self.said.extend(&entry.anchors);
            if let Some(shared) = self.session.messages().last() {
                self.entries.insert(place(shared), self.pushed);
            }
            self.pushed += 1;
        }
    }

    /// As an engine does it that asks nobody: what is ready is shown when it should be, else whatever is due is done.
    fn before_request(&mut self, at_ms: u64) -> Step {
        let cache = self.cache_state(at_ms);
        let shown = self.ready.as_ref();
        let shown = shown.and_then(|ready| self.session.shows(ready, cache));
        if let (Some(shown), Some(ready)) = (shown, self.ready.take_if(|_| shown.is_some())) {
            let before = self.shown();
            if self.session.commit(ready).is_ok() {
                let why = match shown {
                    ShowNow::Must(reason) => Why::Must(reason),
                    ShowNow::Cold => Why::Cold,
                    ShowNow::Pays(_) => Why::Pays,
                    ShowNow::Design => Why::Design,
                };
                return self.made(why, before);
            }
        }
        self.session.before_turn();
        let ready = self.ready.as_ref();
        let work = Work {
            ready: ready.map(|prepared| self.session.ready_facts(prepared)),
            cache,
            ..Work::built_in()
        };
        match self.session.before_request(&work) {
            Move::Compact(reason) | Move::Await(reason) => self.compact(reason),
            Move::Prepare { reason, otherwise } => match (self.prepare(reason), otherwise) {
                (Ok(()), _) => Step::Prepared,
                (Err(_), Some(reason)) => self.compact(reason),
                (Err(reason), None) => Step::Unchanged(reason),
            },
            Move::Show(_) | Move::Send(_) => Step::Sent,
        }
    }

    fn cache_state(&self, at_ms: u64) -> CacheState {
        let idle_ms = self.last_ms.map_or(0, |last| at_ms.saturating_sub(last));
        let idle_ms = i64::try_from(idle_ms).unwrap_or(i64::MAX);
        match is_surely_cold(idle_ms, self.terms.model.cache) && self.last_ms.is_some() {
            true => CacheState::Cold,
            false => CacheState::Warm,
        }
    }

    fn prepare(&mut self, reason: Reason) -> Result<(), Reason> {
        let job = self.session.begin(reason).map_err(|no| no.reason)?;
        match job.extract() {
            Ok(prepared) => {
                self.ready = Some(prepared);
                Ok(())
            }
            Err(no) => {
                self.session.failed(Failure::NotSmaller, no.to_string());
                Err(no.reason)
            }
        }
    }

    fn compact(&mut self, reason: Reason) -> Step {
        let before = self.shown();
        match self.session.compact(reason) {
            Ok(_) => {
                // What was made ready before is about a view that is gone.
                self.ready = None;
                self.made(Why::Must(reason), before)
            }
            Err(no) => Step::Unchanged(no.reason),
        }
    }

    fn shown(&self) -> (u64, usize) {
        (self.session.view_tokens(), self.session.log().len())
    }

    fn made(&self, why: Why, before: (u64, usize)) -> Step {
        let after = self.shown();
        let view = self.session.view_messages();
        let in_view = named(view.iter().map(|message| &**message));
        let compaction = self.session.compaction();
        Step::Compacted(Made {
            why,
            tokens: (before.0, after.0),
            messages: (before.1, after.1),
            pins: compaction.map_or(0, |made| made.pins.len()),
            summary_tokens: compaction.map_or(0, |made| made.summary_tokens),
            anchors: self.said.len(),
            anchors_in_view: self.said.intersection(&in_view).count(),
        })
    }

    fn shaped(&self, asked: &Asked, view: &[Arc<Message>]) -> Request {
        let mut request = self.framed(asked);
        for message in view {
            let known = self.entries.get(&place(message));
            let known = known.and_then(|at| self.recording.entries.get(*at));
            match known {
                Some(entry) => put(&mut request, message.role, &entry.pieces),
                None => put(
                    &mut request,
                    message.role,
                    &pieces(message, self.recording.meter),
                ),
            }
        }
        request.mark_as_agents_do(self.terms.lifetime);
        request
    }

    fn bare(&self, asked: &Asked) -> Request {
        let mut request = self.framed(asked);
        let all = self.recording.messages.iter().zip(&self.recording.entries);
        for (message, entry) in all.take(asked.messages) {
            put(&mut request, message.role, &entry.pieces);
        }
        request.mark_as_agents_do(self.terms.lifetime);
        request
    }

    fn framed(&self, asked: &Asked) -> Request {
        let frame_tokens = self.recording.frame_tokens;
        let frame = (frame_tokens > 0).then(|| Piece::new(Digest::of(b"frame"), frame_tokens));
        Request {
            tools: frame.into_iter().collect(),
            output_tokens: asked.output_tokens,
            ..Request::at(asked.at_ms)
        }
    }
}

/// System messages in front are the system prompt.
fn put(request: &mut Request, role: Role, pieces: &[Piece]) {
    match role == Role::System && request.messages.is_empty() {
        true => request.system.extend_from_slice(pieces),
        false => request.messages.extend_from_slice(pieces),
    }
}

fn side(
    cache: &mut ProviderCache,
    request: &Request,
    terms: &Terms<'_>,
    window_tokens: u64,
) -> Side {
    let input_tokens = request.input_tokens();
    // Three marks of one lifetime are never refused.
    let spent = cache.send(request).unwrap_or_else(|_| Spent {
        fresh_tokens: input_tokens,
        output_tokens: request.output_tokens,
        ..Spent::default()
    });
    Side {
        spent,
        nanodollars: spent.nanodollars(&terms.model.prices),
        is_too_long: input_tokens > window_tokens,
    }
}

/// Where a message lies. The session holds it as long as the walk goes on.
fn place(message: &Arc<Message>) -> usize {
    Arc::as_ptr(message) as usize
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
