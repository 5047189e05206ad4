//! Nobody waits for a summary.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome::settings::Settings;
use epitome::{Message, PresetName, Role, Usage, Window};
use epitome_engine::conversation::StepAction;
use epitome_engine::summarise::{Draft, Task, Writer, Writing};
use epitome_engine::{Conversation, Engine};
use tokio::sync::Semaphore;

/// A window in which the design's own line lies well before the one that no request crosses.
const fn window(preset: PresetName) -> u64 {
    match preset {
        PresetName::Openclaw => 30_000,
        _ => 60_000,
    }
}

/// A summariser that answers when it is let, and counts what it was asked for and what it gave.
#[derive(Clone, Debug)]
struct Gated {
    gate: Arc<Semaphore>,
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Gated {
    fn closed() -> Self {
        Self {
            gate: Arc::new(Semaphore::new(0)),
            begun: Arc::default(),
            ended: Arc::default(),
        }
    }
}

impl Writer for Gated {
    fn write<'a>(&'a self, _: Task<'a>) -> Writing<'a> {
        let this = self.clone();
        Box::pin(async move {
            this.begun.fetch_add(1, Ordering::SeqCst);
            this.gate.acquire().await.expect("an open gate").forget();
            this.ended.fetch_add(1, Ordering::SeqCst);
            let text = "Turn after turn was answered in order.".to_owned();
            Ok(Draft {
                text,
                ..Draft::default()
            })
        })
    }
}

async fn engine(preset: PresetName, window: u64, writer: Gated) -> Engine {
    Engine::builder()
        .settings(never_waits(preset))
        .window(Window::configured(window))
        .without_guard()
        .writer(writer)
        .build()
        .await
        .expect("an engine")
}

async fn turn(talk: &Conversation, number: usize) -> StepAction {
    let question = format!(
        "Turn {number}: what about part {number}? {}",
        "Please look closely. ".repeat(10)
    );
    talk.push(&Message::text(Role::User, question))
        .await
        .expect("pushed");
    let step = talk.prepare_step().await.expect("a step");
    // The provider counts four characters to a token.
    let usage = Usage {
        fresh_tokens: step.list.len() as u64 / 4,
        ..Usage::default()
    };
    talk.observe(usage, 1.0).await;
    let answer = format!(
        "Part {number} is as it should be. {}",
        "It was checked twice. ".repeat(10)
    );
    talk.push(&Message::text(Role::Assistant, answer))
        .await
        .expect("pushed");
    step.action
}

#[tokio::test]
async fn all_turns_finish_while_the_summariser_never_answers() {
    // The store has a thread of its own, so that virtual time may pass only when the test says so: while something
    // blocks, it stands still by itself.
    let (finish, finished) = std::sync::mpsc::channel::<()>();
    let blocking = tokio::task::spawn_blocking(move || finished.recv());
    tokio::time::pause();
    for preset in [
        PresetName::Default,
        PresetName::Openclaw,
        PresetName::Micro,
        PresetName::Spacebot,
        PresetName::Layer,
    ] {
        let engine = engine(preset, window(preset), Gated::closed()).await;
        let talk = engine.create().await.expect("a conversation");
        let mut hours = 0;
        let mut compacted = 0;
        let mut was_preparing = false;
        for number in 0..1_000 {
            match turn(&talk, number).await {
                StepAction::Compacted(_) => compacted += 1,
                StepAction::Preparing => was_preparing = true,
                _ => {}
            }
            if number % 100 == 99 {
                tokio::time::advance(Duration::from_secs(3_600)).await;
                hours += 1;
            }
            let tokens = talk.look(|session| session.context_tokens()).await;
            assert!(
                tokens < window(preset),
                "{preset}: {tokens} tokens in turn {number}"
            );
        }
        assert!(
            was_preparing || preset == PresetName::Micro,
            "{preset}: nothing was prepared"
        );
        assert!(compacted > 0, "{preset}: the hard line was never reached");
        assert!(hours >= 9, "hours went by");
        engine.shutdown().await;
    }
    drop(finish);
    let _ = blocking.await;
}

/// A summary that was begun ends after the turns that came later, and then it is used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_do_not_wait_for_the_summary_that_was_begun() {
    let writer = Gated::closed();
    let engine = engine(PresetName::Default, 200_000, writer.clone()).await;
    let talk = engine.create().await.expect("a conversation");
    let mut number = 0;
    while !talk.is_preparing().await {
        turn(&talk, number).await;
        number += 1;
    }
    while writer.begun.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for number in number..number + 100 {
        let action = turn(&talk, number).await;
        let waits = matches!(action, StepAction::Preparing | StepAction::Proceed);
        assert!(waits, "turn {number} goes out on the last view: {action:?}");
    }
    assert!(talk.is_preparing().await, "the summariser is at work still");
    assert_eq!(writer.ended.load(Ordering::SeqCst), 0, "and gave nothing");
    writer.gate.add_permits(1);
    while talk.is_preparing().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(writer.ended.load(Ordering::SeqCst), 1, "one summary");
    assert_eq!(writer.begun.load(Ordering::SeqCst), 1, "asked for once");
    engine.shutdown().await;
}

/// A design whose host must not wait, whatever its reference does.
fn never_waits(preset: PresetName) -> Settings {
    let mut settings = Settings::of(preset);
    settings.common.wait = false;
    settings
}
