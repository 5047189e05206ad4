//! An engine that can die: with a runtime and a handle on the store of its own.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::Poll;

use epitome::settings::Settings;
use epitome::{Meter, Window};
use epitome_engine::{Clock, Conversation, Engine};
use epitome_store::{AnyStore, ConversationId};
use epitome_testkit::stores;
use epitome_wire::Wire;
use tokio::runtime::{Builder, Runtime};

use super::pen::Pen;

/// Longer than any case takes: where leases go by the clock of a server, real time passes too.
pub(crate) const LEASE_MS: i64 = 3_600_000;
const WINDOW_TOKENS: u64 = 3_000;

/// A runtime and a handle on the store: what is expensive to make, and lost in a crash.
pub(crate) struct Host {
    // Dropped first: what is left of an engine goes down inside its runtime.
    pub(crate) store: AnyStore,
    runtime: Runtime,
    location: String,
    /// What it calls itself at a database server.
    name: String,
}

impl Host {
    pub(crate) fn start(location: &str, number: usize) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let name = format!("host{number}");
        let opening = stores::opened_by(location, &name);
        let store = runtime.block_on(AnyStore::open(&opening)).unwrap();
        Self {
            store,
            runtime,
            location: location.to_owned(),
            name,
        }
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

/// How all engines of a case are made.
#[derive(Clone)]
pub(crate) struct Making {
    pub(crate) settings: Settings,
    pub(crate) wire: Wire,
    pub(crate) now_ms: Arc<AtomicI64>,
}

pub(crate) struct Process {
    pub(crate) pen: Pen,
    conversations: BTreeMap<ConversationId, Conversation>,
    engine: Engine,
    host: Host,
}

impl Process {
    pub(crate) fn start(host: Host, holder: &str, making: &Making, skew_ms: i64) -> Self {
        let pen = Pen::default();
        let now = Arc::clone(&making.now_ms);
        let building = Engine::builder()
            .store(host.store.clone())
            .holder(holder)
            .settings(making.settings.clone())
            .window(Window::configured(WINDOW_TOKENS))
            .meter(Meter::Estimate)
            .wire(making.wire)
            .without_guard()
            .writer(pen.clone())
            .clock(Clock::new(move || now.load(Ordering::Relaxed) + skew_ms))
            .lease_ms(LEASE_MS)
            .build();
        let engine = host.run(building).unwrap();
        Self {
            pen,
            conversations: BTreeMap::new(),
            engine,
            host,
        }
    }

    /// The conversation as this process has it: opened once, and from then on what it knows.
    pub(crate) fn conversation(&mut self, id: &ConversationId) -> Conversation {
        if !self.conversations.contains_key(id) {
            let opened = self.open_anew(id);
            self.conversations.insert(id.clone(), opened);
        }
        self.conversations[id].clone()
    }

    pub(crate) fn keep(&mut self, conversation: &Conversation) {
        let id = conversation.id().clone();
        self.conversations.insert(id, conversation.clone());
    }

    pub(crate) fn known(&self, id: &ConversationId) -> Option<Conversation> {
        self.conversations.get(id).cloned()
    }

    /// Gives a conversation away that it has.
    pub(crate) fn forget(&mut self, id: &ConversationId) -> Option<Conversation> {
        self.conversations.remove(id)
    }

    /// The conversation as the store has it.
    pub(crate) fn open_anew(&self, id: &ConversationId) -> Conversation {
        self.run(self.engine.open(id)).unwrap()
    }

    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.host.run(future)
    }

    pub(crate) fn store(&self) -> &AnyStore {
        &self.host.store
    }

    /// Lets the background work of a conversation come to rest.
    pub(crate) fn land(&self, conversation: &Conversation) {
        self.run(async {
            while conversation.is_preparing().await {
                tokio::task::yield_now().await;
            }
        });
    }

    /// Ends without a word: every task stops where it waits. What is left is nothing.
    pub(crate) fn crash(self) {
        let Self {
            conversations,
            engine,
            host,
            ..
        } = self;
        let inside = host.runtime.enter();
        drop((conversations, engine));
        drop(inside);
        let Host {
            store,
            runtime,
            location,
            name,
        } = host;
        drop(store);
        drop(runtime);
        stores::wait_until_gone(&location, &name);
    }

    /// Ends the engine and gives back what the next one can use, unless work is still going on there.
    pub(crate) fn retire(self) -> Option<Host> {
        let is_busy = self
            .conversations
            .values()
            .any(|conversation| self.run(conversation.is_preparing()));
        if is_busy {
            self.crash();
            return None;
        }
        Some(self.host)
    }
}

/// What a future gives, unless it has to wait more than `waits` times: then it is dropped where it stands.
pub(crate) async fn at_most<T>(
    waits: usize,
    mut future: Pin<Box<impl Future<Output = T>>>,
) -> Option<T> {
    let mut left = waits;
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
