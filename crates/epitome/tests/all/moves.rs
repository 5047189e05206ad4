//! Deciding as a property: whatever is said, counted, refused and written, every plan is valid, every request is sent
//! after a few moves, and what was begun ends.

use epitome::settings::Settings;
use epitome::{
    CacheState, Failure, Job, Message, Meter, Move, Prepared, PresetName, Session, Usage, ViewItem,
    Window, Work,
};
use proptest::prelude::*;

use crate::support::{assistant, calls, property, result, user};

/// More moves before one request than this are a loop.
const MOST_MOVES: usize = 4;

#[derive(Clone, Debug)]
enum Happens {
    /// The user asks, and the assistant answers.
    Talk(usize),
    /// A call and its result.
    Step(usize),
    /// What is being written is done, or fails.
    Written(bool),
    /// The provider refuses the next request as too long.
    Refused,
    /// A long pause.
    Pause,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        4 => (1_usize..400).prop_map(Happens::Talk),
        4 => (1_usize..1_200).prop_map(Happens::Step),
        3 => any::<bool>().prop_map(Happens::Written),
        1 => Just(Happens::Refused),
        1 => Just(Happens::Pause),
    ]
}

struct Run {
    session: Session,
    job: Option<Job>,
    ready: Option<Prepared>,
    asks_somebody: bool,
    cache: CacheState,
    turn: usize,
}

impl Run {
    fn work(&self) -> Work {
        Work {
            asks_somebody: self.asks_somebody,
            waits: false,
            is_writing: self.job.is_some(),
            ready: self
                .ready
                .as_ref()
                .map(|ready| self.session.ready_facts(ready)),
            cache: self.cache,
        }
    }

    /// Carries out what is to be done before a request.
    fn request(&mut self, percent: u64) {
        for moves in 0.. {
            assert!(moves < MOST_MOVES, "a loop before one request");
            match self.session.before_request(&self.work()) {
                Move::Send(_) => break,
                Move::Show(_) => {
                    let ready = self.ready.take().unwrap();
                    if self.session.commit(ready).is_ok() {
                        self.assert_valid();
                    }
                }
                Move::Prepare { reason, .. } => {
                    assert!(self.job.is_none(), "two at a time");
                    self.job = self.session.begin(reason).ok();
                    break;
                }
                Move::Compact(reason) | Move::Await(reason) => {
                    let before = self.session.view_tokens();
                    self.job = None;
                    self.ready = None;
                    if self.session.compact(reason).is_ok() {
                        assert!(self.session.view_tokens() < before, "nothing got smaller");
                        self.assert_valid();
                    } else {
                        break;
                    }
                }
            }
        }
        let ticket = self.session.ticket();
        let usage = Usage {
            fresh_tokens: ticket.estimated_tokens() * percent / 100,
            ..Usage::default()
        };
        self.session.observe_sent(ticket, usage);
        self.cache = CacheState::Warm;
    }

    /// No result without its call, no call without its result, and every entry at most once.
    fn assert_valid(&self) {
        let messages = self.session.messages();
        let mut open: Vec<String> = Vec::new();
        let mut last = None;
        for item in &self.session.view().items {
            let range = match item {
                ViewItem::Entries(range) => range.clone(),
                ViewItem::Trimmed(at, _) | ViewItem::Merged(at) => *at..*at + 1,
                _ => continue,
            };
            for at in range {
                assert!(last.is_none_or(|last| at > last), "entry {at} out of order");
                last = Some(at);
                let message: &Message = &messages[at];
                for result in message.results() {
                    let found = open.iter().position(|id| **id == *result.call_id);
                    let found =
                        found.unwrap_or_else(|| panic!("a result without its call at {at}"));
                    open.remove(found);
                }
                open.extend(message.calls().map(|call| call.id.to_string()));
            }
        }
        assert!(open.is_empty(), "calls without results: {open:?}");
    }

    fn happens(&mut self, event: &Happens, percent: u64) {
        self.turn += 1;
        let turn = self.turn;
        match event {
            Happens::Talk(words) => {
                self.session.push(user(format!(
                    "Look at src/part_{turn}.rs {}",
                    "again ".repeat(*words)
                )));
                self.request(percent);
                self.session
                    .push(assistant(format!("src/part_{turn}.rs has {turn} lines.")));
            }
            Happens::Step(lines) => {
                let id = format!("call_{turn}");
                self.session.push(calls(&[id.as_str()]));
                self.session.push(result(
                    &id,
                    format!("line of src/part_{turn}.rs\n").repeat(*lines),
                ));
                self.request(percent);
                self.session.push(assistant(format!("Read part {turn}.")));
            }
            Happens::Written(holds) => {
                if let Some(job) = self.job.take() {
                    match holds {
                        true => self.ready = job.extract().ok(),
                        false => self.session.failed(Failure::SummaryFailed, "no answer"),
                    }
                }
            }
            Happens::Refused => {
                if self.session.overflowed(None).is_ok() {
                    self.job = None;
                    self.ready = None;
                    self.assert_valid();
                }
            }
            Happens::Pause => self.cache = CacheState::Cold,
        }
    }
}

#[test]
fn every_plan_is_valid_and_every_request_is_sent() {
    let strategy = (
        proptest::sample::select(PresetName::ALL.to_vec()),
        3_000_u64..60_000,
        40_u64..190,
        any::<bool>(),
        prop::collection::vec(happens(), 1..60),
    );
    property(
        6,
        &strategy,
        |(preset, window, percent, asks_somebody, events)| {
            let settings = Settings::of(preset);
            let window = Window::configured(window);
            let session =
                Session::from_settings(&settings, window, Meter::Estimate).without_guard();
            let mut run = Run {
                session,
                job: None,
                ready: None,
                asks_somebody,
                cache: CacheState::Warm,
                turn: 0,
            };
            for event in &events {
                run.happens(event, percent);
            }
            // What was begun ends: written or not, nothing waits for ever.
            run.happens(&Happens::Written(true), percent);
            run.request(percent);
        },
    );
}
