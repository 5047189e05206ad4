//! A design that the product does not know, through the engine: its settings, its words, its place, its store.

#[path = "../../../epitome/tests/all/seventh_design/diary.rs"]
mod diary;

use epitome::settings::{Settings, Value};
use epitome::{Message, PresetName, Role, Window};
use epitome_engine::conversation::StepAction;
use epitome_engine::{Conversation, Engine};
use epitome_store::AnyStore;
use epitome_testkit::{Reply, stores};
use epitome_wire::Wire;
use tempfile::TempDir;

use super::support;
use diary::{DESIGN, KEPT_MESSAGES, LINE_TOKENS};

const WRITTEN: &str = "On day 4 the road led past Aldeia4.";

fn settings(page_line: i64) -> Settings {
    let mut settings = Settings::of(&DESIGN);
    let table = vec![("page_line".to_owned(), Value::Whole(page_line))];
    settings.apply(&Value::Table(table)).unwrap();
    settings
}

/// Walks until the step before a request has done something.
async fn walked(conversation: &Conversation) -> StepAction {
    let push = async |role, text: String| {
        let message = Message::text(role, text);
        conversation.push(&message).await.unwrap();
    };
    push(
        Role::User,
        "Walk from Lisbon to Porto and note every village.".to_owned(),
    )
    .await;
    for day in 0..400 {
        let action = conversation.prepare_step().await.unwrap().action;
        if action != StepAction::Proceed {
            return action;
        }
        let goats = day * 3;
        let text = format!(
            "On day {day} the road led past Aldeia{day}, where {goats} goats stood at a well and a baker sold bread."
        );
        push(Role::Assistant, text).await;
        push(Role::User, "Go on to the next village, please.".to_owned()).await;
    }
    panic!("its line was never reached");
}

async fn page(conversation: &Conversation) -> String {
    let view = conversation.look(|session| session.view_messages()).await;
    let page = &view[view.len() - KEPT_MESSAGES - 1];
    assert_eq!(page.role, Role::Assistant);
    page.spoken().next().unwrap().to_owned()
}

#[tokio::test]
async fn it_runs_stores_and_is_restored_like_the_others() {
    let folder = TempDir::new().unwrap();
    let url = stores::location(&folder.path().join("log.db"));
    let open = async || {
        let store = AnyStore::open(&url).await.unwrap();
        let builder = Engine::builder().store(store).settings(settings(2_000));
        let window = Window::configured(200_000);
        builder.window(window).build().await.unwrap()
    };
    let engine = open().await;
    assert_eq!(engine.settings().design(), &DESIGN);
    let conversation = engine.create().await.unwrap();
    let action = walked(&conversation).await;
    assert!(matches!(action, StepAction::Compacted(_)), "{action:?}");
    let told = page(&conversation).await;
    assert!(told.starts_with("Dear diary, page 1\n"), "{told}");
    let reached = conversation.look(|session| {
        let plan = &session.compaction().unwrap().plan;
        plan.tokens_before
    });
    let reached = reached.await;
    assert!((2_000..u64::try_from(LINE_TOKENS).unwrap()).contains(&reached));
    let events = conversation.take_events().await;
    let names: Vec<&str> = events.iter().map(|event| event.name(&DESIGN)).collect();
    assert_eq!(names, ["pen_taken", "page_written"]);
    let id = conversation.id().clone();
    engine.shutdown().await;

    let engine = open().await;
    let again = engine.open(&id).await.unwrap();
    assert_eq!(page(&again).await, told);
    again.undo().await.unwrap();
    assert_eq!(again.look(|session| session.in_force().count()).await, 0);
    engine.shutdown().await;
}

/// A model that writes for it is asked as it says, and what it writes stands on a page.
#[tokio::test]
async fn a_model_writes_its_pages() {
    let model = support::replies(vec![Reply::text(WRITTEN)]).await;
    let caller = support::caller(
        Wire::OpenAiChat,
        &model.base_url(),
        epitome_engine::model::Delivery::Whole,
    );
    let engine = Engine::builder()
        .settings(settings(2_500))
        .window(Window::configured(200_000))
        .summariser(caller)
        .build()
        .await
        .unwrap();
    let conversation = engine.create().await.unwrap();
    let action = walked(&conversation).await;
    assert!(
        matches!(action, StepAction::Compacted(_)),
        "it waits: {action:?}"
    );
    let told = page(&conversation).await;
    assert!(told.starts_with("Dear diary, page 1\n"), "{told}");
    assert!(told.contains(&format!("I wrote: {WRITTEN}")), "{told}");
    let request = model.requests().into_iter().next().unwrap();
    assert_eq!(request.json()["temperature"], 1.0);
    assert!(PresetName::ALL.iter().all(|name| name.design() != &DESIGN));
    engine.shutdown().await;
}
