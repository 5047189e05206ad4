//! Nobody waits for a summary.

use std::time::Duration;

use epitome::settings::Settings;
use epitome::{Message, PresetName, Role, Usage, Window};
use epitome_engine::conversation::StepAction;
use epitome_engine::summarise::{Draft, Task, Writer, Writing};
use epitome_engine::{Conversation, Engine};
use tokio::time::Instant;

/// A window in which the design's own line lies well before the one that no request crosses.
const fn window(preset: PresetName) -> u64 {
    match preset {
        PresetName::Openclaw => 30_000,
        _ => 60_000,
    }
}

/// A summariser that takes its time.
#[derive(Debug)]
struct Slow(Option<Duration>);

impl Writer for Slow {
    fn write<'a>(&'a self, _: Task<'a>) -> Writing<'a> {
        let time = self.0;
        Box::pin(async move {
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
            let text = "Turn after turn was answered in order.".to_owned();
            Ok(Draft {
                text,
                ..Draft::default()
            })
        })
    }
}

async fn engine(preset: PresetName, window: u64, writer: Option<Slow>) -> Engine {
    let builder = Engine::builder()
        .settings(Settings::of(preset))
        .window(Window::configured(window))
        .without_guard();
    let builder = match writer {
        Some(writer) => builder.writer(writer),
        None => builder,
    };
    builder.build().await.expect("an engine")
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
        let engine = engine(preset, window(preset), Some(Slow(None))).await;
        let talk = engine.create().await.expect("a conversation");
        let start = Instant::now();
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
        assert!(
            start.elapsed() >= Duration::from_secs(9 * 3_600),
            "hours went by"
        );
        engine.shutdown().await;
    }
    drop(finish);
    let _ = blocking.await;
}

/// The middle of a sorted list.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_are_as_fast_with_a_slow_summariser_as_without() {
    let slow_writer = Slow(Some(Duration::from_secs(20)));
    let with = engine(PresetName::Default, 200_000, Some(slow_writer)).await;
    // The same conversation in a larger window: nothing is in flight there.
    let without = engine(PresetName::Default, 2_000_000, Some(Slow(None))).await;
    let slow = with.create().await.expect("a conversation");
    let quiet = without.create().await.expect("a conversation");
    let mut number = 0;
    while !slow.is_preparing().await {
        turn(&slow, number).await;
        turn(&quiet, number).await;
        number += 1;
    }
    let (mut busy, mut idle) = (Vec::new(), Vec::new());
    for number in number..number + 100 {
        let start = Instant::now();
        turn(&slow, number).await;
        busy.push(start.elapsed());
        let start = Instant::now();
        turn(&quiet, number).await;
        idle.push(start.elapsed());
    }
    assert!(
        slow.is_preparing().await,
        "the summariser was at work all the time"
    );
    assert!(!quiet.is_preparing().await, "and nobody in the other one");
    let worst = busy.iter().max().copied().unwrap_or_default();
    let (busy, idle) = (median(&mut busy), median(&mut idle));
    let ratio = busy.as_secs_f64() / idle.as_secs_f64();
    println!(
        "median turn {busy:?} with a summary in flight, {idle:?} without: ratio {ratio:.3}, longest {worst:?}"
    );
    assert!(worst < Duration::from_secs(1), "a turn took {worst:?}");
    assert!(ratio <= 1.05, "ratio {ratio:.3}: {busy:?} against {idle:?}");
    with.shutdown().await;
    without.shutdown().await;
}
