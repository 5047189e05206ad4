//! Summaries by a model are written by one node at a time, a few at once, and by another one where the first does not end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use epitome::PresetName;
use epitome_server::{Config, StoreLocation};
use epitome_store::{
    AnyStore, Claimed, CompactionState, ConversationId, Conversations, JobClaim, Jobs, Store,
    TenantId,
};
use epitome_testkit::postgres;
use epitome_testkit::{Fault, Faults, ModelConfig, ScriptedModel, Wire};
use serde_json::{Value, json};

use super::{jobs, model, stored_compactions};
use crate::support::{
    Proxy, action, assistant, config, conversation, eventually_async, prose, request, user,
};
use crate::traces::designs::{summariser, writes};

const WINDOW: u64 = 30_000;

const SUMMARY: &str = "## Goal\nKeep the books of a harbour, part by part.\n## Done\nThe clerk walked through the parts in \
    order, patient as a heron.\n";

fn silent() -> ModelConfig {
    ModelConfig {
        faults: Faults::none().every(1, Fault::Hang),
        ..ModelConfig::default()
    }
}

fn with_writer(model: &ScriptedModel, writer: &ScriptedModel, store: &str) -> Config {
    let mut config = config(model.address());
    config.window_tokens = Some(WINDOW);
    config.summariser = Some(summariser(writer, PresetName::Default));
    config.store = StoreLocation::Url(store.to_owned());
    config
}

/// A conversation that grows turn by turn.
struct Talk {
    seed: u64,
    messages: Vec<Value>,
}

impl Talk {
    fn new(seed: u64) -> Self {
        let messages = vec![user(format!("Task {seed}: keep the books of a harbour."))];
        Self { seed, messages }
    }

    fn grow(&mut self) {
        let turn = self.messages.len() as u64;
        let words = prose(self.seed * 1_000 + turn, 350);
        self.messages
            .push(assistant(format!("Part {turn}: {words}")));
        let words = prose(self.seed * 1_000 + turn + 1, 350);
        self.messages
            .push(user(format!("Now part {turn}: {words}")));
    }

    async fn ask(&self, proxy: &Proxy) -> (String, String) {
        let body = request(Wire::OpenaiChat, "m", self.messages.clone());
        let received = proxy.post(Wire::OpenaiChat, &body).await;
        assert_eq!(received.status, 200, "{received:?}");
        (conversation(&received), action(&received).0.to_owned())
    }

    /// Grows until `is_enough`, and leaves time for whoever works in the background.
    async fn until(&mut self, proxy: &Proxy, is_enough: impl Fn() -> bool) -> String {
        for _ in 0..60 {
            let (id, action) = self.ask(proxy).await;
            for _ in 0..10 {
                if is_enough() {
                    return id;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(action, "passthrough", "compacted before anybody was asked");
            self.grow();
        }
        panic!("never enough");
    }
}

async fn background(proxy: &Proxy, what: &str) -> u64 {
    proxy.health().await["background"][what].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_node_did_not_finish_is_done_by_another() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let model = ScriptedModel::start(model(WINDOW)).await;
    let hanging = ScriptedModel::start(silent()).await;
    let one = Proxy::start(with_writer(&model, &hanging, database.url())).await;
    let mut talk = Talk::new(1);
    let id = talk.until(&one, || !hanging.requests().is_empty()).await;
    let [job] = &jobs(&one).await[..] else {
        panic!("not one job");
    };
    assert_eq!(
        (&job["state"], &job["tries"]),
        (&json!("running"), &json!(1))
    );
    assert_eq!(job["conversation"], json!(id));
    assert_eq!(background(&one, "running").await, 1);

    // Another node sees it, and leaves it alone.
    let asked = Arc::new(AtomicUsize::new(0));
    let writer = ScriptedModel::start(writes(SUMMARY, &asked)).await;
    let other = Proxy::start(with_writer(&model, &writer, database.url())).await;
    assert_eq!(jobs(&other).await, jobs(&one).await);
    let (same, _) = talk.ask(&other).await;
    assert_eq!(same, id);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(asked.load(Ordering::SeqCst), 0, "written twice");

    // The first one ends in good order, and hands it back.
    one.stop().await;
    let [job] = &jobs(&other).await[..] else {
        panic!("not one job");
    };
    assert_eq!(job["state"], "waiting", "{job}");
    talk.grow();
    talk.ask(&other).await;
    eventually_async("the other one writes", async || {
        background(&other, "done").await == 1
    })
    .await;
    assert_eq!(background(&other, "taken_over").await, 1);
    eventually_async("nothing is left", async || jobs(&other).await.is_empty()).await;
    let store = AnyStore::open(database.url()).await.unwrap();
    eventually_async("what was written is stored", async || {
        stored_compactions(&store).await.len() == 1
    })
    .await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    other.stop().await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_node_had_begun_is_done_by_the_next() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let model = ScriptedModel::start(model(WINDOW)).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let writer = ScriptedModel::start(writes(SUMMARY, &asked)).await;
    let proxy = Proxy::start(with_writer(&model, &writer, database.url())).await;
    let mut talk = Talk::new(2);
    let (id, _) = talk.ask(&proxy).await;
    let id = ConversationId::new(&id).unwrap();
    let store = AnyStore::open(database.url()).await.unwrap();
    let claim = JobClaim {
        conversation: &id,
        reason: "near_line",
        holder: "dead",
        now_ms: 0,
        until_ms: 0,
        most_running: 1,
    };
    let claimed = store.claim_job(&TenantId::local(), &claim).await.unwrap();
    assert_eq!(claimed, Claimed::Granted { fence: 1, tries: 1 });
    assert_eq!(jobs(&proxy).await[0]["state"], "abandoned");
    let same = talk
        .until(&proxy, || asked.load(Ordering::SeqCst) > 0)
        .await;
    assert_eq!(same, id.as_str());
    eventually_async("nothing is left", async || jobs(&proxy).await.is_empty()).await;
    assert_eq!(background(&proxy, "taken_over").await, 1);
    proxy.stop().await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_writes_a_few_at_once() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let model = ScriptedModel::start(model(WINDOW)).await;
    let hanging = ScriptedModel::start(silent()).await;
    let proxy = Proxy::start(with_writer(&model, &hanging, database.url())).await;
    // As long as the first conversation was when somebody was asked.
    let mut first = Talk::new(10);
    first.until(&proxy, || !hanging.requests().is_empty()).await;
    for seed in 11..19 {
        let mut talk = Talk::new(seed);
        while talk.messages.len() < first.messages.len() {
            talk.grow();
        }
        talk.ask(&proxy).await;
    }
    eventually_async("as many run as may", async || {
        background(&proxy, "running").await == 4 && background(&proxy, "waiting").await > 0
    })
    .await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(hanging.requests().len(), 4);
    let running = jobs(&proxy).await;
    let running = running.iter().filter(|job| job["state"] == "running");
    assert_eq!(running.count(), 4);
    let ended = Proxy::stop(proxy);
    tokio::time::timeout(Duration::from_secs(60), ended)
        .await
        .expect("what runs is handed back");
}

/// What a model wrote is used only once it is stored. While nothing can be stored it is not written again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_is_paid_for_once_while_the_store_is_away() {
    let Some(mut cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    let model = ScriptedModel::start(model(WINDOW)).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let writer = ScriptedModel::start(writes(SUMMARY, &asked)).await;
    let proxy = Proxy::start(with_writer(&model, &writer, &url)).await;
    let mut talk = Talk::new(3);
    // Shortly before anybody is asked.
    while talk.messages.len() < 15 {
        talk.grow();
    }
    talk.ask(&proxy).await;
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    cluster.kill();
    for _ in 0..40 {
        talk.ask(&proxy).await;
        tokio::time::sleep(Duration::from_millis(30)).await;
        if talk.messages.len() < 61 {
            talk.grow();
        }
    }
    let paid = asked.load(Ordering::SeqCst);
    assert!(paid <= 1, "paid {paid} times");
    cluster.start_again();
    let store = AnyStore::open(&url).await.unwrap();
    // The conversation goes on until it has to be shortened.
    eventually_async("what was used is stored", async || {
        if talk.messages.len() < 121 {
            talk.grow();
        }
        talk.ask(&proxy).await;
        let rows = stored_compactions(&store).await;
        rows.iter()
            .any(|row| row.state == CompactionState::Published)
    })
    .await;
    proxy.stop().await;
    store.close().await;
}

/// The work is done when what was written is stored, and not before: another node would pay for it again. Once paid for, it is
/// stored whatever becomes of the node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_not_done_before_its_summary_is_stored() {
    use sqlx::Connection as _;
    let Some(database) = postgres::database().await else {
        return;
    };
    let model = ScriptedModel::start(model(WINDOW)).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let writer = ScriptedModel::start(writes(SUMMARY, &asked)).await;
    let proxy = Proxy::start(with_writer(&model, &writer, database.url())).await;
    let mut talk = Talk::new(4);
    talk.ask(&proxy).await;
    let mut somebody = sqlx::PgConnection::connect(database.url()).await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE compactions")
        .execute(&mut somebody)
        .await
        .unwrap();
    talk.until(&proxy, || asked.load(Ordering::SeqCst) > 0)
        .await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let [job] = &jobs(&proxy).await[..] else {
        panic!("not one job");
    };
    assert_eq!(job["state"], "running");
    tokio::join!(proxy.stop(), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        drop(somebody);
    });
    let store = AnyStore::open(database.url()).await.unwrap();
    assert_eq!(stored_compactions(&store).await.len(), 1);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    store.close().await;
}

/// A branch is one also where its first request was refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_whose_first_request_was_refused_keeps_its_parent() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let model = ScriptedModel::start(ModelConfig {
        faults: Faults::none().on(1, Fault::Overloaded),
        ..model(WINDOW)
    })
    .await;
    let mut config = config(model.address());
    config.store = StoreLocation::Url(database.url().to_owned());
    let proxy = Proxy::start(config).await;
    let mut messages = vec![user("Begin."), assistant("Begun."), user("One way.")];
    let post = async |messages: &[Value], status: u16| {
        let body = request(Wire::OpenaiChat, "m", messages.to_vec());
        let received = proxy.post(Wire::OpenaiChat, &body).await;
        assert_eq!(received.status, status);
        conversation(&received)
    };
    let parent = post(&messages, 200).await;
    messages[2] = user("Another way.");
    let branch = post(&messages, 529).await;
    assert_ne!(branch, parent);
    messages.extend([assistant("On another way."), user("Go on.")]);
    assert_eq!(post(&messages, 200).await, branch);
    proxy.stop().await;
    let store = AnyStore::open(database.url()).await.unwrap();
    let id = ConversationId::new(&branch).unwrap();
    let row = store.conversation(&TenantId::local(), &id).await.unwrap();
    assert_eq!(row.unwrap().parent.unwrap().as_str(), parent);
    store.close().await;
}
