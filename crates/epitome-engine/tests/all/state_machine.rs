//! Random interleavings of everything that can happen to conversations in a store that two engines share, against a
//! sequential model. Engines die in the middle of things, answer late, and write behind each other's back.

mod lease;
pub(crate) mod model;
mod pen;
pub(crate) mod perform;
mod process;
mod world;

use std::cell::RefCell;
use std::fmt;

use epitome::PresetName;
use epitome_testkit::stores;
use epitome_wire::Wire;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use super::support::number;
use pen::Outcome;
use world::{Hosts, World};

/// What has to happen in a run of some length.
const EVERYTHING: [&str; 14] = [
    "answered",
    "answered with a failure",
    "compact",
    "compacted in a step",
    "crash",
    "deleted",
    "fork",
    "kept for its forks",
    "preparing",
    "shown as soon as it was written",
    "superseded",
    "taken over",
    "too late",
    "undo",
];

/// One thing that happens. Engines and conversations are numbers, taken modulo how many there are.
#[derive(Clone)]
struct Op {
    engine: usize,
    conversation: usize,
    act: Act,
}

/// One line each, so that a failing case can be read.
impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            engine,
            conversation,
            act,
        } = self;
        write!(f, "engine {engine}, conversation {conversation}: {act:?}")
    }
}

#[derive(Clone, Debug)]
enum Act {
    Push(usize),
    /// What comes before a request; may begin work in the background.
    Prepare,
    /// The summariser answers; the work comes to its end.
    Answer(Outcome),
    Compact(Outcome),
    /// Two at the same time: one of them is too late.
    CompactTwice,
    Undo,
    /// At a share of the entries, in percent.
    Fork(usize),
    /// The engine dies while doing this, after so many waits.
    Crash(Box<Self>, usize),
    /// The lease of whoever works in the background runs out.
    Wait,
    /// Somebody deletes the conversation behind everybody's back.
    Delete,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![3 => Just(Outcome::Written), 1 => Just(Outcome::Failed)]
}

fn act() -> impl Strategy<Value = Act> {
    let plain = prop_oneof![
        8 => (0_usize..100).prop_map(Act::Push),
        8 => Just(Act::Prepare),
        6 => outcome().prop_map(Act::Answer),
        1 => outcome().prop_map(Act::Compact),
        2 => Just(Act::Undo),
    ];
    let plain = plain.boxed();
    prop_oneof![
        25 => plain.clone(),
        1 => Just(Act::CompactTwice),
        1 => (0_usize..=120).prop_map(Act::Fork),
        2 => (plain, 0_usize..12).prop_map(|(act, waits)| Act::Crash(Box::new(act), waits)),
        3 => Just(Act::Wait),
        1 => Just(Act::Delete),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    (any::<bool>(), 0_usize..7, act()).prop_map(|(engine, conversation, act)| Op {
        engine: usize::from(engine),
        // Mostly the first, so that there is something to compact.
        conversation: conversation.saturating_sub(4),
        act,
    })
}

fn case() -> impl Strategy<Value = (PresetName, Wire, Vec<Op>)> {
    let preset = prop_oneof![
        4 => Just(PresetName::Default),
        1 => Just(PresetName::Vibe),
        1 => Just(PresetName::Openclaw),
        1 => Just(PresetName::Micro),
        2 => Just(PresetName::Spacebot),
        1 => Just(PresetName::Layer),
    ];
    let wire = prop_oneof![Just(Wire::OpenAiChat), Just(Wire::Anthropic)];
    (preset, wire, vec(op(), 4..19))
}

#[test]
fn any_interleaving_is_as_the_sequential_model_says() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = RefCell::new(Hosts::new(stores::location(&folder.path().join("log.db"))));
    let (cases, seed) = (
        number("EPITOME_CASES").unwrap_or(1_000),
        number("EPITOME_SEED").unwrap_or(2_026),
    );
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&case(), |(preset, wire, ops)| {
        let mut hosts = hosts.borrow_mut();
        let mut world = World::new(&mut hosts, preset, wire);
        for op in &ops {
            world.step(op);
        }
        world.end();
        Ok::<(), TestCaseError>(())
    });
    let tally = &hosts.borrow().tally;
    println!("{:?}, {cases} cases: {tally:?}", stores::kind());
    if let Err(failure) = outcome {
        panic!("seed {seed}: {failure}");
    }
    // A model that is never put to the test proves nothing.
    for name in EVERYTHING {
        let is_seen = tally.contains_key(name);
        assert!(is_seen || cases < 500, "never happened: {name}");
    }
}
