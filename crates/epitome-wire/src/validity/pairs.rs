//! Which result answers which call.

use std::collections::{HashMap, HashSet};

use super::Setting;
use super::problem::{Problem, ProblemCode};
use super::seen::{Piece, Seen, Speaker};
use crate::wire::Wire;

/// The calls and results of a history and how they belong together.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    pub(crate) calls: Vec<CallSite>,
    pub(crate) results: Vec<ResultSite>,
}

/// A call and where it stands.
#[derive(Debug)]
pub(crate) struct CallSite {
    pub(crate) message: usize,
    pub(crate) block: usize,
    pub(crate) id: String,
    /// Which result answers it.
    pub(crate) answer: Option<usize>,
    /// The calls that wait together.
    step: usize,
    /// Whether the history ends before it could be answered.
    is_in_flight: bool,
}

/// A result and where it stands.
#[derive(Debug)]
pub(crate) struct ResultSite {
    pub(crate) message: usize,
    pub(crate) block: usize,
    pub(crate) id: String,
    pub(crate) fate: Fate,
    /// The step it stands behind.
    step: Option<usize>,
    standing: Standing,
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It answers this call.
    Answers(usize, Standing),
    /// Its call was answered before.
    Repeated,
    /// It answers nothing.
    Orphan,
    /// Its call is in the part of the history that the provider keeps.
    Elsewhere,
}

/// How a result stands to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Where the provider wants it.
    Right,
    /// Behind other content of the right message.
    BehindText,
    /// In a message of its own behind another one with results.
    Split,
    /// Behind something else.
    Late,
}

impl Pairing {
    pub(crate) fn of(seen: &[Seen], setting: &Setting) -> Self {
        let mut walk = Walk {
            wire: setting.wire,
            pairing: Self::default(),
            window: None,
            steps: 0,
            run: Run::default(),
        };
        for (index, message) in seen.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| seen.get(before));
            walk.message(index, message, before);
        }
        let mut pairing = walk.pairing;
        pairing.give_nameless_results();
        if setting.is_continued {
            for result in &mut pairing.results {
                if result.fate == Fate::Orphan {
                    result.fate = Fate::Elsewhere;
                }
            }
        }
        pairing.find_in_flight(seen);
        pairing
    }

    /// Results without an id go to the calls of their step that nothing else answers, in order.
    fn give_nameless_results(&mut self) {
        for (index, result) in self.results.iter_mut().enumerate() {
            if !result.id.is_empty() || result.step.is_none() {
                continue;
            }
            let waiting = |call: &CallSite| {
                call.answer.is_none()
                    && Some(call.step) == result.step
                    && call.message < result.message
            };
            if let Some(at) = self.calls.iter().position(waiting)
                && let Some(call) = self.calls.get_mut(at)
            {
                call.answer = Some(index);
                result.fate = Fate::Answers(at, result.standing);
            }
        }
    }

    fn find_in_flight(&mut self, seen: &[Seen]) {
        let is_traffic = |message: &Seen| {
            let speaks = |piece: &Piece| !matches!(piece, Piece::Call(_) | Piece::Result(_));
            !message.pieces.is_empty() && !message.pieces.iter().any(speaks)
        };
        let settled = seen
            .iter()
            .rposition(|message| !is_traffic(message) && !message.has_call());
        // Calls of an earlier step do not wait for anything any more.
        let last = self.calls.last().map(|call| call.step);
        for call in &mut self.calls {
            let is_after = settled.is_none_or(|settled| settled < call.message);
            call.is_in_flight = is_after && Some(call.step) == last;
        }
    }

    /// The calls that need an id of their own: which call, and why.
    pub(crate) fn unfit_ids(&self) -> Vec<(usize, ProblemCode)> {
        let mut known: HashMap<&str, HashSet<usize>> = HashMap::new();
        let mut out = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            if call.id.is_empty() {
                out.push((index, ProblemCode::MissingId));
                continue;
            }
            let steps = known.entry(&call.id).or_default();
            if steps.contains(&call.step) {
                out.push((index, ProblemCode::RepeatedCallId));
            } else if !steps.is_empty() {
                out.push((index, ProblemCode::ReusedCallId));
            }
            steps.insert(call.step);
        }
        out
    }

    /// What a call without result is called.
    pub(crate) fn unanswered(call: &CallSite) -> ProblemCode {
        match call.is_in_flight {
            true => ProblemCode::CallInFlight,
            false => ProblemCode::UnansweredCall,
        }
    }

    pub(crate) fn problems(&self, seen: &[Seen]) -> Vec<Problem> {
        let mut out = Vec::new();
        for (index, code) in self.unfit_ids() {
            if let Some(call) = self.calls.get(index) {
                let what = match code {
                    ProblemCode::MissingId => "the call has no id".to_owned(),
                    ProblemCode::RepeatedCallId => {
                        format!("another call of this step has the id {:?} too", call.id)
                    }
                    _ => format!("a call of an earlier step has the id {:?} too", call.id),
                };
                out.push(Problem::at(
                    code,
                    call.message,
                    block_of(seen, call.message, call.block),
                    what,
                ));
            }
        }
        for call in self.calls.iter().filter(|call| call.answer.is_none()) {
            let when = if call.is_in_flight {
                "yet"
            } else {
                "right behind it"
            };
            let what = format!("the call {:?} has no result {when}", call.id);
            out.push(Problem::at(
                Self::unanswered(call),
                call.message,
                block_of(seen, call.message, call.block),
                what,
            ));
        }
        for result in &self.results {
            let id = &result.id;
            let mut report = |code, what: String| {
                let block = block_of(seen, result.message, result.block);
                out.push(Problem::at(code, result.message, block, what));
            };
            if id.is_empty() && result.fate != Fate::Elsewhere {
                report(
                    ProblemCode::MissingId,
                    "the result does not say which call it answers".to_owned(),
                );
            }
            match result.fate {
                Fate::Answers(_, Standing::Right) | Fate::Elsewhere => {}
                Fate::Orphan if id.is_empty() => {}
                Fate::Answers(_, Standing::BehindText) => report(
                    ProblemCode::ResultBehindText,
                    format!("the result of {id:?} stands behind other content"),
                ),
                Fate::Answers(_, Standing::Split) => report(
                    ProblemCode::SplitResults,
                    format!("the result of {id:?} stands in another message than those before it"),
                ),
                Fate::Answers(_, Standing::Late) => report(
                    ProblemCode::LateResult,
                    format!("the result of {id:?} does not stand right behind its call"),
                ),
                Fate::Repeated => report(
                    ProblemCode::RepeatedResult,
                    format!("the call {id:?} has another result before"),
                ),
                Fate::Orphan => report(
                    ProblemCode::OrphanResult,
                    format!("no call before has the id {id:?} of the result"),
                ),
            }
        }
        out
    }
}

/// The block of a call or result; none where the message as a whole is it.
fn block_of(seen: &[Seen], message: usize, block: usize) -> Option<usize> {
    let seen = seen.get(message)?;
    let is_whole =
        seen.speaker == Speaker::Tool || (seen.is_models && seen.pieces.len() == 1 && block == 0);
    (!is_whole).then_some(block)
}

/// What of a run of user messages matters to the results in it.
#[derive(Default)]
struct Run {
    first: Option<usize>,
    /// The message in which something else than a result was seen first.
    other: Option<usize>,
}

struct Walk {
    wire: Wire,
    pairing: Pairing,
    /// The step whose results may come now.
    window: Option<usize>,
    steps: usize,
    run: Run,
}

impl Walk {
    fn message(&mut self, index: usize, message: &Seen, before: Option<&Seen>) {
        match (self.wire, message.speaker) {
            (Wire::OpenAiResponses, _) => {
                // Calls stand together; what is between them and their outputs does not matter.
                let continues = before.is_some_and(Seen::has_call);
                if message.has_call() && !continues {
                    self.steps += 1;
                }
                self.window = Some(self.steps);
            }
            (Wire::OpenAiChat, Speaker::Tool) | (Wire::Anthropic, Speaker::User) => {}
            (_, Speaker::Assistant) => {
                let continues = self.wire == Wire::Anthropic
                    && before.is_some_and(|before| before.speaker == Speaker::Assistant);
                if !continues {
                    self.steps += 1;
                }
                self.window = Some(self.steps);
                self.run = Run::default();
            }
            _ => self.window = None,
        }
        if message.speaker == Speaker::User {
            self.run.first = self.run.first.or(Some(index));
        }
        let is_silent = message.pieces.is_empty() && message.speaker == Speaker::User;
        for (block, piece) in message.pieces.iter().enumerate() {
            match piece {
                Piece::Call(id) if message.is_models => self.pairing.calls.push(CallSite {
                    message: index,
                    block,
                    id: id.clone(),
                    answer: None,
                    step: self.steps,
                    is_in_flight: false,
                }),
                Piece::Result(id) if matches!(message.speaker, Speaker::User | Speaker::Tool) => {
                    self.result(index, block, id);
                }
                _ if message.speaker == Speaker::User => {
                    self.run.other = self.run.other.or(Some(index));
                }
                _ => {}
            }
        }
        if is_silent {
            self.run.other = self.run.other.or(Some(index));
        }
    }

    fn result(&mut self, message: usize, block: usize, id: &str) {
        let standing = match (self.wire, self.run.other) {
            (Wire::Anthropic, _) if self.window.is_none() => Standing::Late,
            (Wire::Anthropic, Some(other))
                if other == message && self.run.first == Some(message) =>
            {
                Standing::BehindText
            }
            (Wire::Anthropic, Some(_)) => Standing::Late,
            (Wire::Anthropic, None) if self.run.first != Some(message) => Standing::Split,
            _ => Standing::Right,
        };
        let calls = &mut self.pairing.calls;
        let window = self.window;
        let is_meant = |call: &CallSite| call.answer.is_none() && !id.is_empty() && call.id == id;
        let is_here =
            |call: &CallSite| self.wire == Wire::OpenAiResponses || Some(call.step) == window;
        let here = calls
            .iter()
            .position(|call| is_meant(call) && is_here(call));
        let found = match here {
            Some(at) => Some((at, standing)),
            None => calls
                .iter()
                .rposition(is_meant)
                .map(|at| (at, Standing::Late)),
        };
        let is_known = calls.iter().any(|call| !id.is_empty() && call.id == id);
        let index = self.pairing.results.len();
        let fate = match found {
            Some((at, standing)) => {
                if let Some(call) = self.pairing.calls.get_mut(at) {
                    call.answer = Some(index);
                }
                Fate::Answers(at, standing)
            }
            None if is_known => Fate::Repeated,
            None => Fate::Orphan,
        };
        self.pairing.results.push(ResultSite {
            message,
            block,
            id: id.to_owned(),
            fate,
            step: window,
            standing,
        });
    }
}
