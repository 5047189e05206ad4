use std::time::Duration;

use epitome::settings::Settings;
use epitome::{ContextBeta, Preset, PresetName};
use epitome_engine::Hooks;
use epitome_engine::known_models::KnownModels;
use epitome_store::{
    AnyStore, CompactionState, Compactions, ConversationId, CountedRequests, Entries, TenantId,
};
use epitome_wire::{AnswerItems, Body, ChainKey, Counted, Wire};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::*;
use crate::answer::Seen;
use crate::config::{
    Config, ConfiguredWindows, Pruning, QuotaLimits, StoreLocation, TenantSettings,
};
use crate::index::Index;
use crate::journal::{Journal, Workshop};
use crate::keeper::{Action, Endpoint, Kind, Outgoing, Rules};
use crate::models::Models;
use crate::open_store::OpenStore;
use crate::quota::Quota;

const WINDOW: u64 = 16_000;
const SMALL_WINDOW: u64 = 4_000;

/// A node that holds conversations with `large` and `small`.
struct Node {
    keeper: Arc<Keeper>,
    quota: Arc<Quota>,
    store: Option<Arc<AnyStore>>,
}

impl Node {
    fn new(store: Option<OpenStore>, limits: QuotaLimits) -> Self {
        let settings = Settings::of(PresetName::Default);
        let config = Config {
            listen: ([127, 0, 0, 1], 0).into(),
            openai_upstream: None,
            anthropic_upstream: None,
            store: StoreLocation::None,
            window_tokens: None,
            windows: ConfiguredWindows::none(),
            settings: settings.clone(),
            summariser: None,
            hooks: Hooks::default(),
            mode: Mode::Act,
            pruning: Pruning::Off,
            inspection_limit_bytes: usize::MAX,
            tenants: TenantSettings::default(),
        };
        let windows = |model: &str| match model {
            "small" => Some(SMALL_WINDOW),
            _ => Some(WINDOW),
        };
        let models = Models::new(
            ConfiguredWindows::by(windows),
            settings.margins(),
            Preset::from(&settings).assumed_window(),
            KnownModels::default(),
        );
        let index = Arc::new(Index::default());
        let quota = Arc::new(Quota::new(TenantId::local(), limits));
        let tasks = TaskTracker::new();
        let kept = store.as_ref().map(|open| Arc::clone(open.store()));
        let journal = Journal::start(
            store,
            TenantId::local(),
            Arc::clone(&index),
            Arc::clone(&quota),
            &Workshop::default(),
            &tasks,
        );
        let keeper = Keeper::new(
            Mode::Act,
            Rules::of(&config, Arc::clone(&quota.purse)),
            ChainKey::new([7; 32]),
            models,
            index,
            Arc::new(journal),
            tasks,
        );
        Self {
            keeper: Arc::new(keeper),
            quota,
            store: kept,
        }
    }

    /// What it makes of a request.
    async fn asked(&self, model: &str, messages: &[Value]) -> Outgoing {
        let request = json!({"model": model, "messages": messages, "max_completion_tokens": 200});
        let bytes = Bytes::from(request.to_string());
        let endpoint = Endpoint {
            authority: "provider.example",
            context: ContextBeta::None,
            lent: None,
            is_private: false,
        };
        let body = Body::scan(bytes.clone(), Wire::OpenAiChat);
        let now_ms = crate::clock::now_ms();
        let keeper = &self.keeper;
        keeper
            .admit(bytes, body, &endpoint, Kind::Turn, now_ms)
            .await
    }

    /// The provider took a request and counted it.
    fn counted(&self, sent: &Outgoing, input_tokens: u64) {
        let counted = Counted {
            input_tokens,
            is_plain: true,
            ..Counted::default()
        };
        let seen = Seen {
            counted: Some(counted),
            overflow: None,
            items: AnswerItems::default(),
        };
        self.keeper.saw(sent.ticket.as_ref().unwrap(), seen);
    }

    async fn took(&self, sent: &Outgoing) {
        self.keeper.went_out(sent.ticket.as_ref().unwrap()).await;
    }

    /// How far the stored compactions of a conversation are.
    async fn states(&self, conversation: &ConversationId) -> Vec<CompactionState> {
        let tenant = TenantId::local();
        let rows = self.store().compactions_of(&tenant, conversation).await;
        rows.unwrap().iter().map(|row| row.state).collect()
    }

    fn store(&self) -> &AnyStore {
        self.store.as_ref().unwrap()
    }
}

async fn open() -> OpenStore {
    let store = AnyStore::open(&epitome_testkit::stores::fresh()).await;
    OpenStore::new(Arc::new(store.unwrap()))
}

/// Waits until `is_there`, which the writer of a node takes a moment for.
async fn until(mut is_there: impl AsyncFnMut() -> bool) {
    for _ in 0..1_000 {
        if is_there().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it is never there");
}

/// A message of about this many tokens.
fn message(role: &str, number: usize, tokens: usize) -> Value {
    let words = format!("word{number} ").repeat(tokens * 3 / 8);
    json!({"role": role, "content": words})
}

/// So many exchanges, with messages of this size, that end with a question.
fn talk(exchanges: usize, tokens: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    for number in 0..exchanges {
        messages.push(message("user", 2 * number, tokens));
        messages.push(message("assistant", 2 * number + 1, tokens));
    }
    messages.push(message("user", 2 * exchanges, tokens));
    messages
}

#[tokio::test]
async fn a_count_stays_however_much_a_request_brings() {
    let node = Node::new(None, QuotaLimits::default());
    let mut messages = talk(2, 1_000);
    let first = node.asked("large", &messages).await;
    node.took(&first).await;
    node.counted(&first, 3_000);
    messages.extend(talk(15, 300).into_iter().skip(1));
    let size = |sent: &Outgoing| sent.size.unwrap().before;
    let counted = size(&node.asked("large", &messages).await);
    let elsewhere = Node::new(None, QuotaLimits::default());
    let estimated = size(&elsewhere.asked("large", &messages).await);
    assert!(estimated > WINDOW / 2, "{estimated}");
    assert!(counted + 1_500 < estimated, "{counted}, {estimated}");
}

#[tokio::test]
async fn what_another_node_counted_chooses_the_epoch_too() {
    let store = open().await;
    let [one, other] =
        [&store, &store].map(|store| Node::new(Some(store.clone()), QuotaLimits::default()));
    let mut messages = talk(3, 700);
    let small = one.asked("small", &messages).await;
    assert_eq!(small.action, Action::Compacted);
    one.took(&small).await;
    messages.extend(talk(3, 700).into_iter().skip(1));
    let sent = one.asked("large", &messages).await;
    assert_eq!(sent.action, Action::Passthrough);
    one.took(&sent).await;
    let (_, tip) = *sent
        .ticket
        .as_ref()
        .unwrap()
        .conversation
        .chain
        .last()
        .unwrap();
    let tenant = TenantId::local();
    until(async || {
        !one.store()
            .find_nodes(&tenant, &[tip])
            .await
            .unwrap()
            .is_empty()
    })
    .await;
    assert_eq!(
        other.asked("large", &messages).await.action,
        Action::Passthrough
    );
    one.counted(&sent, 4_600);
    until(async || {
        !one.store()
            .counted_at(&tenant, &[tip])
            .await
            .unwrap()
            .is_empty()
    })
    .await;
    messages.push(message("assistant", 90, 2_500));
    messages.push(message("user", 91, 2_500));
    let next = other.asked("large", &messages).await;
    assert_eq!(next.action, Action::Passthrough, "{next:?}");
}

#[tokio::test]
async fn a_client_that_hangs_up_while_a_compaction_is_published_is_stored() {
    let node = Node::new(Some(open().await), QuotaLimits::default());
    let sent = node.asked("small", &talk(3, 700)).await;
    assert_eq!(sent.action, Action::Compacted);
    let ticket = sent.ticket.as_ref().unwrap();
    assert!(node.keeper.went_out(ticket).now_or_never().is_none());
    let (_, tip) = *ticket.conversation.chain.last().unwrap();
    let tenant = TenantId::local();
    until(async || {
        !node
            .store()
            .find_nodes(&tenant, &[tip])
            .await
            .unwrap()
            .is_empty()
    })
    .await;
}

#[tokio::test]
async fn a_stored_compaction_is_published_beyond_a_quota_too() {
    let node = Node::new(Some(open().await), QuotaLimits::default());
    let tenant = TenantId::local();
    let mut messages = talk(1, 1_000);
    let mut states = Vec::new();
    while states.is_empty() {
        let sent = node.asked("large", &messages).await;
        assert_eq!(sent.action, Action::Passthrough, "{sent:?}");
        node.took(&sent).await;
        let conversation = &sent.ticket.as_ref().unwrap().place.conversation;
        tokio::time::sleep(Duration::from_millis(100)).await;
        states = node.states(conversation).await;
        messages.push(message("assistant", messages.len(), 500));
        messages.push(message("user", messages.len(), 500));
    }
    assert_eq!(states, [CompactionState::Prepared]);
    let limits = QuotaLimits {
        bytes: Some(1),
        ..QuotaLimits::default()
    };
    node.quota.limit(limits);
    node.quota.stores(2);
    let mut shown = node.asked("large", &messages).await;
    while shown.action != Action::Compacted {
        assert!(shown.size.unwrap().after < WINDOW);
        messages.push(message("assistant", messages.len(), 500));
        messages.push(message("user", messages.len(), 500));
        shown = node.asked("large", &messages).await;
    }
    let ticket = shown.ticket.as_ref().unwrap();
    assert!(!ticket.has_room);
    node.took(&shown).await;
    let conversation = &ticket.place.conversation;
    assert_eq!(
        node.states(conversation).await,
        [CompactionState::Published]
    );
    let (_, tip) = *ticket.conversation.chain.last().unwrap();
    assert_eq!(node.store().find_nodes(&tenant, &[tip]).await.unwrap(), []);
}
