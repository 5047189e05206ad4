//! Old tool results give way before anything is summarised, where that is asked for.

use epitome::PLACEHOLDER_MARK;
use epitome_server::{Config, Pruning};
use epitome_store::{CompactionState, Compactions, Conversations, TenantId};
use epitome_testkit::Wire;
use serde_json::Value;

use super::rig::{Outcome, Rig, Talk, server};
use crate::support::{Folder, Proxy, config};

const WINDOW: u64 = 40_000;

fn pruning(config: &mut Config, folder: &Folder) {
    config.store = folder.location();
    config.window_tokens = Some(WINDOW);
    config.pruning = Pruning::OldResults;
}

fn is_pruned(outcome: &Outcome) -> bool {
    let body = String::from_utf8_lossy(&outcome.last().body);
    body.contains(PLACEHOLDER_MARK)
}

/// The messages that went out.
fn sent(outcome: &Outcome) -> Vec<Value> {
    let body = outcome.last().json();
    let list = ["messages", "input"]
        .iter()
        .find_map(|name| body[*name].as_array());
    list.expect("messages").clone()
}

/// Steps until something else than the client's own bytes goes out.
async fn until_changed(rig: &Rig, talk: &mut Talk) -> Outcome {
    for _ in 0..100 {
        talk.stepped(1_500);
        let outcome = rig.ask(talk).await;
        outcome.assert_answered("on the way");
        if !outcome.is_bare() {
            return outcome;
        }
    }
    panic!("never changed");
}

/// What fits is not touched; then lines stand for old results and nothing is summarised; between two such moments what
/// went out is the beginning of what goes out next.
pub(super) async fn old_results_give_way_first() {
    for wire in Wire::ALL {
        let folder = Folder::new();
        let rig = Rig::start(server(WINDOW), |config| pruning(config, &folder)).await;
        let mut talk = Talk::new(wire, "scripted", 5);
        let first = until_changed(&rig, &mut talk).await;
        assert!(is_pruned(&first), "{wire:?}: {:?}", first.reason());
        assert_eq!(first.summary(), None, "{wire:?}");
        assert_eq!(
            sent(&first).len(),
            talk.messages.len(),
            "{wire:?}: all is there"
        );
        let mut before = sent(&first);
        let mut changes = 0;
        let mut summaries = 0;
        for turn in 0..60 {
            talk.stepped(1_500);
            let outcome = rig.ask(&talk).await;
            outcome.assert_answered(&format!("{wire:?}, turn {turn}"));
            assert!(outcome.true_tokens() <= WINDOW, "{wire:?}, turn {turn}");
            let now = sent(&outcome);
            changes += usize::from(!now.starts_with(&before));
            summaries += usize::from(outcome.summary().is_some());
            before = now;
        }
        assert!(
            (1..=12).contains(&changes),
            "{wire:?}: {changes} changes in 60 turns"
        );
        // Calls and their arguments stay, so that one day there is too much of them too; not within so few.
        assert_eq!(summaries, 0, "{wire:?}");
    }
}

/// Without the setting the same conversation is summarised.
pub(super) async fn nothing_is_pruned_unless_it_is_set() {
    let folder = Folder::new();
    let rig = Rig::start(server(WINDOW), |config| {
        pruning(config, &folder);
        config.pruning = Pruning::Off;
    })
    .await;
    let mut talk = Talk::new(Wire::Anthropic, "scripted", 5);
    let first = until_changed(&rig, &mut talk).await;
    assert!(first.summary().is_some() && !is_pruned(&first));
}

/// Where old results are not what takes the room, they go and the rest is summarised.
pub(super) async fn what_lines_cannot_help_is_summarised() {
    let folder = Folder::new();
    let rig = Rig::start(server(WINDOW), |config| pruning(config, &folder)).await;
    let mut talk = Talk::new(Wire::OpenaiChat, "scripted", 6);
    for _ in 0..12 {
        talk.stepped(1_500);
    }
    rig.ask(&talk).await.assert_bare("it fits");
    let mut pruned = 0;
    let mut summaries = 0;
    for turn in 0..60 {
        talk.answered(1_200);
        let outcome = rig.ask(&talk).await;
        outcome.assert_answered(&format!("turn {turn}"));
        pruned += usize::from(is_pruned(&outcome) && outcome.summary().is_none());
        summaries += usize::from(outcome.summary().is_some());
    }
    assert!(summaries > 20, "{summaries} summaries, {pruned} pruned");
}

/// It is stored like any compaction: another process sends the same bytes, and it can be taken back.
pub(super) async fn a_pruned_view_survives_a_restart_and_is_undone() {
    for preset in [epitome::PresetName::Default, epitome::PresetName::Vibe] {
        let folder = Folder::new();
        let adjust = |config: &mut Config| {
            pruning(config, &folder);
            config.settings = epitome::settings::Settings::of(preset);
            let window = epitome::settings::Value::Table(
                [("auto_compact_threshold".to_owned(), 24_000_i64)]
                    .map(|(name, value)| (name, epitome::settings::Value::Whole(value)))
                    .into_iter()
                    .collect(),
            );
            if preset == epitome::PresetName::Vibe {
                config.settings.apply(&window).unwrap();
            }
        };
        let rig = Rig::start(server(WINDOW), adjust).await;
        let mut talk = Talk::new(Wire::Anthropic, "scripted", 7);
        let first = until_changed(&rig, &mut talk).await;
        assert!(is_pruned(&first) && first.summary().is_none(), "{preset}");
        let Rig { model, proxy } = rig;
        proxy.stop().await;
        let mut again = config(model.address());
        adjust(&mut again);
        let proxy = Proxy::start(again).await;
        let rig = Rig { model, proxy };
        let second = rig.ask(&talk).await;
        assert_eq!(first.last().body, second.last().body, "{preset}");

        let store = folder.open().await;
        let tenant = TenantId::local();
        let conversation = store.conversations(&tenant, 10).await.unwrap()[0]
            .id
            .clone();
        let rows = store.compactions_of(&tenant, &conversation).await.unwrap();
        let row = rows
            .iter()
            .rfind(|row| row.state == CompactionState::Published);
        store
            .undo(&tenant, &row.expect("it is published").id)
            .await
            .unwrap();
        let third = rig.ask(&talk).await;
        third.assert_answered("after the undo");
        // It does not fit without: now it is summarised.
        assert!(third.summary().is_some(), "{preset}: {}", third.reason());
        assert_ne!(
            first.last().body,
            third.last().body,
            "{preset}: still there"
        );
    }
}
