//! The process that is killed: it works on conversations as fast as it can and says what it has done.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use epitome::{Failure, Message, Usage, Window};
use epitome_engine::summarise::{Draft, Task, Writer, WriterError, Writing};
use epitome_engine::{Clock, Conversation, ConversationError, Engine};
use epitome_store::{AnyStore, ConversationId};
use epitome_wire::Wire;

use super::chance::Chance;
use crate::all::state_machine::perform::{next_message, raw};

/// Where the store is; only with it the process does anything.
pub(super) const STORE: &str = "EPITOME_KILL_STORE";
pub(super) const SEED: &str = "EPITOME_KILL_SEED";
/// The names of the conversations to work on, with commas between them.
pub(super) const CONVERSATIONS: &str = "EPITOME_KILL_CONVERSATIONS";

pub(super) const WIRE: Wire = Wire::OpenAiChat;
pub(super) const LEASE_MS: i64 = 300;
/// Far more than it is given: it ends by itself if nobody kills it.
const MOST_STEPS: u64 = 2_000;

/// An engine of the kind that is killed.
pub(super) async fn engine(location: &str, clock: Clock, slowest_ms: u64) -> Engine {
    Engine::builder()
        .store(AnyStore::open(location).await.unwrap())
        .window(Window::configured(3_000))
        .wire(WIRE)
        .without_guard()
        .writer(Slow {
            slowest_ms,
            asked: AtomicU64::new(0),
        })
        .clock(clock)
        .lease_ms(LEASE_MS)
        .build()
        .await
        .unwrap()
}

/// Takes its time, more or less of it, and fails now and then.
#[derive(Debug)]
struct Slow {
    slowest_ms: u64,
    asked: AtomicU64,
}

impl Writer for Slow {
    fn write<'a>(&'a self, _task: Task<'a>) -> Writing<'a> {
        let mut chance = Chance(self.asked.fetch_add(1, Ordering::Relaxed));
        Box::pin(async move {
            let wait = chance.below(self.slowest_ms + 1);
            tokio::time::sleep(Duration::from_millis(wait)).await;
            if chance.one_in(5) {
                return Err(WriterError {
                    failure: Failure::SummaryFailed,
                    message: String::from("the model is away"),
                });
            }
            Ok(Draft {
                text: String::from("The work goes on step by step; what was read is known."),
                memories: Vec::new(),
                usage: Usage::default(),
            })
        })
    }
}

/// One line, out of the process before anything else happens.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

pub(super) async fn work(location: &str) {
    let get = |name: &str| std::env::var(name).unwrap();
    let mut chance = Chance(get(SEED).parse().unwrap());
    // The test runner has begun a line.
    say("");
    let engine = engine(location, Clock::default(), 20).await;
    let mut conversations = Vec::new();
    for name in get(CONVERSATIONS).split(',') {
        let id = ConversationId::new(name).unwrap();
        conversations.push(engine.open(&id).await.unwrap());
    }
    for step in 0..MOST_STEPS {
        let at = chance.below(conversations.len() as u64);
        let conversation = conversations[usize::try_from(at).unwrap()].clone();
        push(&conversation, step, &mut chance).await;
        if chance.one_in(2) {
            conversation.prepare_step().await.unwrap();
        }
        if chance.one_in(25) {
            refusable(conversation.compact(None).await.map(drop));
        }
        if chance.one_in(15) {
            say(&format!("try-undo {}", conversation.id()));
            refusable(conversation.undo().await);
        }
        if chance.one_in(40) && conversations.len() < 4 {
            let count = conversation.raw_entries().await.len() as u64;
            let shared = usize::try_from(chance.below(count + 1)).unwrap();
            let fork = conversation.fork(shared).await.unwrap();
            say(&format!(
                "fork {} {} {shared}",
                conversation.id(),
                fork.id()
            ));
            conversations.push(fork);
        }
    }
}

async fn push(conversation: &Conversation, step: u64, chance: &mut Chance) {
    let last: Option<Message> = conversation
        .look(|session| session.messages().last().map(|last| (**last).clone()))
        .await;
    let number = usize::try_from(step * 1_000_000 + chance.below(1_000_000)).unwrap();
    let kind = usize::try_from(chance.below(50)).unwrap();
    let message = next_message(last.as_ref(), number, kind);
    let bytes = raw(WIRE, &message);
    let bytes = std::str::from_utf8(&bytes).unwrap();
    say(&format!("try-push {} {bytes}", conversation.id()));
    conversation.push(&message).await.unwrap();
    say(&format!("push {} {bytes}", conversation.id()));
}

/// There may be nothing to compact, or to take back.
fn refusable(done: Result<(), ConversationError>) {
    match done {
        Ok(()) | Err(ConversationError::NoPlan(_) | ConversationError::Commit(_)) => {}
        // A compaction in the background was faster.
        Err(ConversationError::Superseded) => {}
        Err(error) => panic!("{error}"),
    }
}
