//! B2, B4, B9 and what the headers say: it acts where it must, and says what it did.

use epitome_testkit::{ModelConfig, Refuses, Wire};

use super::rig::{Rig, Talk, server};
use crate::support::{Folder, action, user};

/// The largest request that went out while a conversation with an output of 32,000 outgrows a window of 45,000.
async fn large_output(counts_output: bool, system_tokens: u64) -> u64 {
    let rig = Rig::of_window(ModelConfig {
        counts_output,
        ..server(45_000)
    })
    .await;
    let mut talk = Talk::new(Wire::Anthropic, "local", 1);
    talk.max_tokens = 32_000;
    talk.system = Some(talk.words(system_tokens));
    let (mut largest, mut refused) = (0, 0);
    for turn in 0..36 {
        talk.stepped(1_500);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("turn {turn}, output counted: {counts_output}"));
        refused += outcome.sent.len() - 1;
        largest = largest.max(outcome.true_tokens());
    }
    assert!(refused <= 2, "{refused} refusals: nothing was learned");
    largest
}

/// B2: a server that counts input and output together.
pub(super) async fn b2_a_large_output_where_it_is_counted() {
    let largest = large_output(true, 7_000).await;
    assert!(largest <= 13_000, "{largest}");
}

/// B2: a server that counts the input alone: the reserve is at most a quarter of the window.
pub(super) async fn b2_a_large_output_where_it_is_not_counted() {
    let largest = large_output(false, 14_000).await;
    assert!(largest >= 24_000, "only {largest} of 45,000 were ever used");
}

/// A result at the end is shortened, and that is still too long for a server whose window is smaller than what is configured:
/// what is stored for the first try does not stand in for the second, which ends with the same result.
pub(super) async fn a_result_that_has_to_be_shortened_further() {
    for wire in Wire::MESSAGES {
        let folder = Folder::new();
        let rig = Rig::start(server(13_000), |config| {
            config.window_tokens = Some(30_000);
            config.store = folder.location();
        })
        .await;
        let mut talk = Talk::new(wire, "local", 5);
        for _ in 0..6 {
            talk.answered(400);
        }
        talk.stepped(40_000);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("{wire:?}"));
        assert_eq!(outcome.sent.len(), 2, "{wire:?}: it was refused once");
        // What helped is what goes out the next time.
        talk.answered(100);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("{wire:?}, afterwards"));
    }
}

/// B4: roles that must alternate are learned from one refusal.
pub(super) async fn b4_roles_that_must_alternate() {
    let rig = Rig::of_window(ModelConfig {
        refuses: Refuses::equal_neighbours(),
        ..server(16_000)
    })
    .await;
    let mut compacted = 0;
    for seed in 1..=2 {
        let mut talk = Talk::of_size(Wire::OpenaiChat, "gemma", seed, 20_000, 1_000);
        talk.system = Some("You are a careful assistant.".into());
        for turn in 0..10 {
            let outcome = rig.ask(&talk).await;
            outcome.assert_answered(&format!("conversation {seed}, turn {turn}"));
            compacted += usize::from(outcome.summary().is_some());
            talk.answered(900);
        }
    }
    let sent = rig.model.requests();
    let refused = sent.iter().filter(|sent| sent.status != Some(200)).count();
    assert!(refused <= 1, "{refused} refusals in the life of the server");
    assert_eq!(compacted, 20, "requests above the line");
}

/// B9: what cannot be helped says so each time. That it costs nothing is a matter of a unit test.
pub(super) async fn b9_an_unreachable_floor_is_named_each_time() {
    for wire in Wire::ALL {
        let rig = Rig::of_window(server(8_000)).await;
        let mut talk = Talk::new(wire, "local", 1);
        talk.messages = vec![user(talk.words(20_000))];
        for attempt in 0..3 {
            let outcome = rig.ask(&talk).await;
            assert_eq!(outcome.received.status, 400, "the provider's own error");
            assert!(outcome.is_bare(), "{wire:?}");
            assert_eq!(outcome.sent.len(), 1, "{wire:?}: not tried again by us");
            assert_eq!(
                action(&outcome.received),
                ("passthrough", "floor_above_window"),
                "{wire:?}, attempt {attempt}"
            );
        }
    }
}

/// Law 12: a recovery that was tried and could not help is said.
pub(super) async fn headers_after_a_recovery_that_could_not_help() {
    for wire in Wire::MESSAGES {
        let rig = Rig::start(server(8_000), |_| {}).await;
        let mut talk = Talk::new(wire, "nobody-knows-me", 1);
        talk.messages = vec![user(talk.words(20_000))];
        let outcome = rig.ask(&talk).await;
        assert_eq!(outcome.received.status, 400, "the provider's own error");
        let (_, reason) = action(&outcome.received);
        assert_ne!(reason, "below_line", "{wire:?}");
        assert!(!reason.is_empty(), "{wire:?}");
    }
}

/// Law 12: with a large output too, where the input alone is far below the line.
pub(super) async fn headers_after_an_output_that_leaves_no_room() {
    let rig = Rig::start(server(8_000), |_| {}).await;
    let mut talk = Talk::new(Wire::Anthropic, "nobody-knows-me", 1);
    talk.messages = vec![user(talk.words(3_000))];
    talk.max_tokens = 7_500;
    let outcome = rig.ask(&talk).await;
    assert_eq!(outcome.received.status, 400, "the provider's own error");
    assert_ne!(outcome.reason(), "below_line");
}
