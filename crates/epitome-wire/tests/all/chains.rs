//! A growing conversation is found again at every request, and never mistaken for another.

use std::collections::HashMap;
use std::rc::Rc;

use epitome::{Digest, Meter};
use epitome_testkit::Random;
use epitome_testkit::cases::{cases, property, seed};
use epitome_testkit::data::{data, files};
use epitome_wire::{Body, ChainKey, Conversation, Memo, Wire};
use serde_json::Value;

use crate::mutation::mutated;
use crate::traffic::{self, Hop, Traffic};

/// What a server would keep: which request first had which chain.
struct Index {
    memo: Memo,
    requests: HashMap<Digest, usize>,
}

impl Index {
    fn new() -> Self {
        Self {
            memo: Memo::new(Meter::Estimate, 1 << 16),
            requests: HashMap::new(),
        }
    }

    fn conversation(&self, body: &Body) -> Conversation {
        Conversation::of(body, &self.memo, &ChainKey::public()).unwrap()
    }

    /// How many links of the chain are known, and which request had the last of them first.
    fn longest_known(&self, conversation: &Conversation) -> (usize, Option<usize>) {
        let known = conversation.chain.iter().enumerate().rev();
        known
            .filter_map(|(at, (_, link))| Some((at + 1, Some(*self.requests.get(link)?))))
            .next()
            .unwrap_or((0, None))
    }

    fn learn(&mut self, number: usize, conversation: &Conversation) {
        for (_, link) in &conversation.chain {
            self.requests.entry(*link).or_insert(number);
        }
    }
}

#[derive(Default)]
struct Rate {
    hops: usize,
    found: usize,
}

/// Sends everything in order; counts the requests whose longest known prefix is the request before.
fn follow(traffic: &Traffic, index: &mut Index, rate: &mut Rate) -> HashMap<usize, Hop> {
    let mut sent = HashMap::new();
    let mut previous: Option<(usize, usize)> = None;
    for hop in traffic.hops() {
        let number = index.requests.len() + sent.len();
        let conversation = index.conversation(&traffic.body(&traffic.messages(hop)));
        if let Some((before, links)) = previous {
            rate.hops += 1;
            let found = index.longest_known(&conversation);
            rate.found += usize::from(found == (links, Some(before)));
        }
        index.learn(number, &conversation);
        previous = Some((number, conversation.chain.len()));
        sent.insert(number, hop);
    }
    sent
}

/// Mutates one message of an old request: the known prefix must end exactly there.
fn check_near_miss(random: &mut Random, traffic: &Traffic, index: &Index) -> Option<&'static str> {
    let hop = *random.pick(&traffic.hops());
    let mut messages = traffic.messages(hop);
    let at = random.below(messages.len());
    let message: Value = serde_json::from_str(&messages[at]).unwrap();
    if message["role"] == "system" || message["role"] == "developer" {
        return None;
    }
    let (other, what) = mutated(random, traffic.wire, &message)?;
    let conversation = index.conversation(&traffic.body(&messages));
    let known = index.longest_known(&conversation).0;
    assert_eq!(known, conversation.chain.len());
    let shown = format!("{} {hop:?} {at} {what}\n{message}\n{other}", traffic.name);
    messages[at] = Rc::from(other.to_string());
    let links_before = conversation
        .chain
        .iter()
        .filter(|(index, _)| *index < at)
        .count();
    let changed = index.conversation(&traffic.body(&messages));
    assert_eq!(index.longest_known(&changed).0, links_before, "{shown}");
    Some(what)
}

fn check_near_misses(all: &[Traffic], index: &Index, wanted: usize) {
    let mut random = Random::new(seed());
    let mut ways: HashMap<&str, usize> = HashMap::new();
    let mut made = 0;
    while made < wanted {
        let traffic = random.pick(all);
        if let Some(what) = check_near_miss(&mut random, traffic, index) {
            *ways.entry(what).or_default() += 1;
            made += 1;
        }
    }
    assert!(wanted < 500 || ways.len() >= 6, "{ways:?}");
}

#[test]
fn a_generated_conversation_is_always_found_again() {
    property(50, 40, |random, size| {
        for &wire in Wire::ALL {
            let traffic = traffic::generated(wire, random, size + 2);
            let mut index = Index::new();
            let mut rate = Rate::default();
            follow(&traffic, &mut index, &mut rate);
            assert_eq!(
                (rate.hops, rate.found),
                (size + 1, size + 1),
                "{}",
                traffic.name
            );
        }
    });
}

#[test]
fn a_near_miss_of_a_generated_conversation_is_a_miss() {
    let mut random = Random::new(seed());
    let all: Vec<Traffic> = (0..10)
        .flat_map(|_| {
            Wire::ALL
                .iter()
                .map(|&wire| traffic::generated(wire, &mut random, 8))
                .collect::<Vec<_>>()
        })
        .collect();
    let mut index = Index::new();
    let mut rate = Rate::default();
    for traffic in &all {
        follow(traffic, &mut index, &mut rate);
    }
    assert_eq!(rate.found, rate.hops);
    check_near_misses(&all, &index, cases(1) as usize);
}

fn check_recorded(test: &str, folder: &str, read: fn(&std::path::Path) -> Traffic) {
    let Some(folder) = data(test, folder) else {
        return;
    };
    let all: Vec<Traffic> = files(&folder, "jsonl")
        .iter()
        .map(|path| read(path))
        .collect();
    let mut index = Index::new();
    let mut rate = Rate::default();
    for traffic in &all {
        follow(traffic, &mut index, &mut rate);
    }
    eprintln!("{test}: {} of {} requests found", rate.found, rate.hops);
    assert!(rate.hops >= 150, "{}", rate.hops);
    assert!(
        rate.found * 100 >= rate.hops * 95,
        "{} of {}",
        rate.found,
        rate.hops
    );
    check_near_misses(&all, &index, (cases(1) / 2).max(1) as usize);
}

#[test]
fn recorded_claude_code_sessions_are_found_again() {
    check_recorded(
        "recorded_claude_code_sessions_are_found_again",
        "native/claude-code",
        traffic::claude_code,
    );
}

#[test]
fn recorded_codex_sessions_are_found_again() {
    check_recorded(
        "recorded_codex_sessions_are_found_again",
        "native/codex",
        traffic::codex,
    );
}

#[test]
fn recorded_codex_items_are_found_again() {
    check_recorded(
        "recorded_codex_items_are_found_again",
        "native/codex",
        traffic::codex_items,
    );
}

#[test]
fn chains_of_two_keys_and_two_formats_are_unrelated() {
    let body = |wire| {
        let text =
            br#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;
        Body::scan(bytes::Bytes::from_static(text), wire).unwrap()
    };
    let chain = |wire, secret| {
        let memo = Memo::new(Meter::Estimate, 8);
        let conversation =
            Conversation::of(&body(wire), &memo, &ChainKey::new([secret; 32])).unwrap();
        conversation.chain[1].1
    };
    assert_eq!(chain(Wire::OpenAiChat, 1), chain(Wire::OpenAiChat, 1));
    assert_ne!(chain(Wire::OpenAiChat, 1), chain(Wire::OpenAiChat, 2));
}

#[test]
fn a_memo_reads_a_message_once_and_forgets_the_oldest() {
    let memo = Memo::new(Meter::Estimate, 40);
    let key = ChainKey::public();
    let mut random = Random::new(seed());
    let traffic = traffic::generated(Wire::Anthropic, &mut random, 12);
    let run = &traffic.runs[0];
    let mut seen = 0;
    for &end in &run.ends {
        let body = traffic.body(&run.spelled[..end]);
        let conversation = Conversation::of(&body, &memo, &key).unwrap();
        assert_eq!(
            conversation.new_messages,
            end - seen,
            "only what is new is read"
        );
        assert_eq!(conversation.messages.len(), end);
        seen = end;
    }
    // A memo that is too small still gives the same answer.
    let whole = traffic.body(&run.spelled);
    let tiny = Memo::new(Meter::Estimate, 1);
    let one = Conversation::of(&whole, &tiny, &key).unwrap();
    let other = Conversation::of(&whole, &memo, &key).unwrap();
    assert_eq!(one.chain, other.chain);
    assert_eq!(one.log.cuts(), other.log.cuts());
    assert_eq!(one.log.total_tokens(), other.log.total_tokens());
    let again = Conversation::of(&whole, &tiny, &key).unwrap();
    assert!(again.new_messages > 0, "what was forgotten is read again");
}

/// A memo that has seen other versions of a conversation says the same as one that has seen nothing.
#[test]
fn what_a_memo_remembers_never_shows() {
    property(50, 60, |random, size| {
        let wire = *random.pick(Wire::ALL);
        let traffic = traffic::generated(wire, random, size + 2);
        let shared = Memo::new(Meter::Estimate, *random.pick(&[1, 70, 1 << 16]));
        let mut messages = traffic.runs[0].spelled.clone();
        for _ in 0..8 {
            let body = traffic.body(&messages);
            let fresh = Memo::new(Meter::Estimate, 1 << 16);
            let one = Conversation::of(&body, &shared, &ChainKey::public()).unwrap();
            let other = Conversation::of(&body, &fresh, &ChainKey::public()).unwrap();
            assert_eq!(one.chain, other.chain);
            assert_eq!(one.log.cuts(), other.log.cuts());
            assert_eq!(one.log.total_tokens(), other.log.total_tokens());
            for (one, other) in one.messages.iter().zip(&other.messages) {
                assert_eq!((one.exact, one.canonical), (other.exact, other.canonical));
                assert_eq!(one.facts, other.facts);
            }
            // Something changes somewhere: in front, in the middle, at the end.
            let at = random.below(messages.len());
            match random.below(4) {
                0 => drop(messages.remove(at)),
                1 => messages.insert(at, Rc::from(r#"{"role":"user","content":"new"}"#)),
                2 => messages.swap(0, at),
                // Also at the borders of the stretches that are recognised together.
                _ => {
                    let at = (*random.pick(&[0, 31, 32, 63])).min(messages.len() - 1);
                    let new = format!(r#"{{"role":"user","content":"{}"}}"#, random.bits());
                    messages[at] = Rc::from(new);
                }
            }
            if messages.is_empty() {
                break;
            }
        }
    });
}
