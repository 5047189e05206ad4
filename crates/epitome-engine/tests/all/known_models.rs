//! What providers teach belongs to an endpoint, a model and a context beta, and to all conversations with these.

use std::path::Path;

use epitome::{
    ContextBeta, Count, Lesson, Margins, Message, OutputCounting, RefusedSize, Role, TurnKind,
    Usage, Window,
};
use epitome_engine::conversation::Recovery;
use epitome_engine::known_models::{KnownModels, ModelKey, News, SummaryPlacement};
use epitome_engine::{Conversation, Engine};
use epitome_store::{AnyStore, Beliefs};
use epitome_testkit::stores;
use serde_json::json;
use tempfile::TempDir;

const HERE: &str = "models.example";
const MODEL: &str = "small-model";
const LEARNED_TOKENS: u64 = 40_000;

/// An engine that asks this model, on a store in `folder`.
struct Asking {
    endpoint: &'static str,
    model: &'static str,
    context: ContextBeta,
}

const SAME: Asking = Asking {
    endpoint: HERE,
    model: MODEL,
    context: ContextBeta::None,
};

const OTHERS: [Asking; 3] = [
    Asking {
        endpoint: "elsewhere.example",
        ..SAME
    },
    Asking {
        model: "another-model",
        ..SAME
    },
    Asking {
        context: ContextBeta::OneMillion,
        ..SAME
    },
];

impl Asking {
    async fn engine(&self, folder: &Path) -> Engine {
        let url = stores::location(&folder.join("log.db"));
        Engine::builder()
            .store(AnyStore::open(&url).await.unwrap())
            .window(Window::assumed())
            .model(self.endpoint, self.model)
            .context_beta(self.context)
            .build()
            .await
            .unwrap()
    }
}

/// A conversation of so many turns, of which the provider counts the double.
async fn talk(engine: &Engine, turns: usize) -> Conversation {
    let conversation = engine.create().await.unwrap();
    for turn in 0..turns {
        let text = format!(
            "Turn {turn}: {}",
            "look at the next part, slowly. ".repeat(40)
        );
        conversation
            .push(&Message::text(Role::User, text))
            .await
            .unwrap();
        let step = conversation.prepare_step().await.unwrap();
        let usage = Usage {
            fresh_tokens: step.ticket.estimated_tokens() * 2,
            ..Usage::default()
        };
        conversation.observe(usage, 1.0).await;
        conversation
            .push(&Message::text(Role::Assistant, "It is in order."))
            .await
            .unwrap();
    }
    conversation
}

/// A provider's no, which names a window.
async fn refused(conversation: &Conversation) {
    for turn in 0..300 {
        let text = format!(
            "Turn {turn}: {}",
            "look at src/part.rs once more. ".repeat(20)
        );
        let role = [Role::User, Role::Assistant][turn % 2];
        let message = Message::text(role, text);
        conversation.push(&message).await.unwrap();
    }
    let tokens = conversation.look(|session| session.context_tokens()).await;
    let refusal = json!({"error": {"code": "context_length_exceeded", "message": format!(
        "This model's maximum context length is {LEARNED_TOKENS} tokens. However, your messages resulted in {} tokens.",
        tokens.max(LEARNED_TOKENS + 1)
    )}});
    let recovery = conversation
        .overflowed(400, refusal.to_string().as_bytes())
        .await
        .unwrap();
    assert_eq!(recovery, Recovery::Retry);
}

async fn ratio(conversation: &Conversation) -> f64 {
    let belief = conversation.look(|session| *session.course().belief());
    belief.await.calibration().ratio()
}

async fn window(conversation: &Conversation) -> Window {
    conversation.look(|session| session.window()).await
}

#[tokio::test]
async fn conversations_of_an_engine_share_what_their_model_teaches() {
    let folder = TempDir::new().unwrap();
    let engine = SAME.engine(folder.path()).await;
    let early = engine.create().await.unwrap();
    assert!((ratio(&early).await - 1.0).abs() < 0.01);
    let assumed = window(&early).await;
    talk(&engine, 12).await;
    assert!(ratio(&early).await > 1.8, "{}", ratio(&early).await);
    refused(&engine.create().await.unwrap()).await;
    assert_eq!(window(&early).await.tokens, LEARNED_TOKENS);
    let late = engine.create().await.unwrap();
    assert_eq!(window(&late).await.tokens, LEARNED_TOKENS);
    assert!(ratio(&late).await > 1.8);

    // A conversation whose frame names another model has that one's, and back.
    late.set_frame(r#"{"model":"another-model"}"#)
        .await
        .unwrap();
    assert_eq!(window(&late).await, assumed);
    assert!((ratio(&late).await - 1.0).abs() < 0.01);
    late.set_frame(r#"{"model":"claude-sonnet-4-5"}"#)
        .await
        .unwrap();
    assert_eq!(window(&late).await.tokens, 200_000);
    late.set_frame(&json!({ "model": MODEL }).to_string())
        .await
        .unwrap();
    assert_eq!(window(&late).await.tokens, LEARNED_TOKENS);
    engine.shutdown().await;
}

#[tokio::test]
async fn an_engine_on_the_same_store_knows_it_and_others_do_not() {
    let folder = TempDir::new().unwrap();
    let engine = SAME.engine(folder.path()).await;
    let taught = talk(&engine, 12).await;
    refused(&taught).await;
    let (known, learned) = (ratio(&taught).await, window(&taught).await);
    assert_eq!(learned.tokens, LEARNED_TOKENS);
    engine.shutdown().await;

    let again = SAME.engine(folder.path()).await;
    let next = again.create().await.unwrap();
    assert_eq!(window(&next).await, learned);
    assert!((ratio(&next).await - known).abs() < 0.3, "{known}");
    assert!(ratio(&next).await > 1.8);
    // The conversation itself is no exception.
    let resumed = again.open(taught.id()).await.unwrap();
    assert_eq!(window(&resumed).await, learned);
    again.shutdown().await;

    for other in OTHERS {
        let engine = other.engine(folder.path()).await;
        let conversation = engine.create().await.unwrap();
        assert_eq!(window(&conversation).await, Window::assumed());
        assert!((ratio(&conversation).await - 1.0).abs() < 0.01);
        engine.shutdown().await;
    }
}

/// What one of two engines on a store learned about the window is not undone by the other's next piece of news.
#[tokio::test]
async fn what_another_engine_learned_stays() {
    let folder = TempDir::new().unwrap();
    let first = SAME.engine(folder.path()).await;
    let second = SAME.engine(folder.path()).await;
    refused(&first.create().await.unwrap()).await;
    talk(&second, 12).await;
    first.shutdown().await;
    second.shutdown().await;
    let third = SAME.engine(folder.path()).await;
    let conversation = third.create().await.unwrap();
    assert_eq!(window(&conversation).await.tokens, LEARNED_TOKENS);
    assert!(ratio(&conversation).await > 1.8);
    third.shutdown().await;
}

/// Where nobody says which model it is, a conversation learns for itself: it may be anybody's.
#[tokio::test]
async fn without_a_name_nothing_is_shared_and_nothing_stored() {
    let folder = TempDir::new().unwrap();
    let url = stores::location(&folder.path().join("log.db"));
    let store = AnyStore::open(&url).await.unwrap();
    let engine = Engine::builder().store(store).build().await.unwrap();
    let taught = talk(&engine, 12).await;
    assert!(ratio(&taught).await > 1.8);
    let other = engine.create().await.unwrap();
    assert!((ratio(&other).await - 1.0).abs() < 0.01);
    engine.shutdown().await;
    let store = AnyStore::open(&url).await.unwrap();
    assert!(store.beliefs().await.unwrap().is_empty());
    assert!(store.learned_windows().await.unwrap().is_empty());
}

fn key() -> ModelKey {
    ModelKey {
        endpoint: HERE.to_owned(),
        model: MODEL.to_owned(),
        context: ContextBeta::None,
    }
}

/// A provider says how long a request may be.
fn teach(known: &KnownModels, window_tokens: u64, counting: OutputCounting) -> News {
    let (lesson, news) = known.refused(
        &key(),
        RefusedSize {
            window_tokens: Some(window_tokens),
            request_tokens: Some(window_tokens + 1_000),
            own_tokens: window_tokens + 1_000,
            output_tokens: 0,
            counting,
        },
    );
    assert_eq!(lesson, Lesson::Window(window_tokens));
    news
}

/// A request of this size went well.
fn prove(known: &KnownModels, tokens: u64) {
    let count = Count {
        real_tokens: tokens,
        estimated_tokens: tokens,
        turn: TurnKind::Plain,
        kind: 1,
    };
    let _ = known.learn(&key(), |belief| belief.counted(count, Window::assumed()));
}

fn learned(known: &KnownModels) -> Option<u64> {
    let learned = known.belief(&key()).learned();
    learned.map(|learned| learned.window_tokens)
}

fn counting(known: &KnownModels) -> OutputCounting {
    let belief = known.belief(&key());
    let gauge = belief.gauge(
        Window::assumed(),
        Margins::default(),
        None,
        OutputCounting::Apart,
    );
    gauge.asked.counting
}

async fn save(known: &KnownModels, store: &AnyStore, news: News, at_ms: i64) {
    let update = known.update_of(&key(), news, at_ms).unwrap();
    update.save(store).await.unwrap();
}

async fn take_over(known: &KnownModels, store: &AnyStore) {
    known.take_over(&store.beliefs().await.unwrap());
}

/// Several processes on a store find out different things about a model, and none of it is lost.
#[tokio::test]
async fn what_one_found_out_stays_when_another_learns() {
    let store = AnyStore::open(&stores::fresh()).await.unwrap();
    let [one, two, three] = [(); 3].map(|()| KnownModels::default());
    one.remember_form(&key(), SummaryPlacement::Alternating);
    save(&one, &store, News::Belief, 10).await;
    // Another one knows nothing of it, and its window takes the place of what is stored.
    let news = teach(&two, 50_000, OutputCounting::Together);
    assert_eq!(news, News::Window);
    save(&two, &store, news, 20).await;
    let news = teach(&three, 40_000, OutputCounting::Apart);
    save(&three, &store, news, 30).await;
    let late = KnownModels::default();
    for known in [&one, &late] {
        take_over(known, &store).await;
        assert_eq!(learned(known), Some(40_000));
        assert_eq!(known.form(&key()), SummaryPlacement::Alternating);
        assert_eq!(counting(known), OutputCounting::Together);
    }
    // What went well here since then still did, whatever else others write.
    prove(&one, 39_000);
    prove(&three, 20_000);
    save(&three, &store, News::Belief, 40).await;
    take_over(&one, &store).await;
    assert_eq!(one.belief(&key()).proven_tokens(), 39_000);
    save(&one, &store, News::Belief, 50).await;
    save(&three, &store, News::Belief, 60).await;
    take_over(&late, &store).await;
    assert_eq!(late.belief(&key()).proven_tokens(), 39_000);
}

/// News on its way to the store are newer than what is there.
#[tokio::test]
async fn an_older_row_takes_nothing_back() {
    let store = AnyStore::open(&stores::fresh()).await.unwrap();
    let [one, two] = [(); 2].map(|()| KnownModels::default());
    let news = teach(&two, 50_000, OutputCounting::Apart);
    save(&two, &store, news, 10).await;
    let news = teach(&one, 40_000, OutputCounting::Apart);
    let update = one.update_of(&key(), news, 20).unwrap();
    take_over(&one, &store).await;
    assert_eq!(learned(&one), Some(40_000));
    update.save(&store).await.unwrap();
    take_over(&two, &store).await;
    assert_eq!(learned(&two), Some(40_000));
    let news = teach(&two, 30_000, OutputCounting::Apart);
    save(&two, &store, news, 30).await;
    take_over(&one, &store).await;
    assert_eq!(learned(&one), Some(30_000));
}
