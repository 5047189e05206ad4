//! Round after round: the built-in summariser reads the originals again, as the proxy and the command do.

use epitome::{Basis, Compaction, Facts, Log, MadeFrom, Message, Meter, Role, Window};
use epitome_engine::{Conversation, Engine};
use epitome_store::AnyStore;
use epitome_testkit::stores;
use tempfile::TempDir;

const ROUNDS: u64 = 4;

async fn engine(folder: &TempDir) -> Engine {
    let url = stores::location(&folder.path().join("log.db"));
    Engine::builder()
        .store(AnyStore::open(&url).await.unwrap())
        .window(Window::configured(20_000))
        .build()
        .await
        .unwrap()
}

/// Grows until it was compacted so often.
async fn grown(conversation: &Conversation, rounds: u64) {
    let push = async |role, text: String| {
        let message = Message::text(role, text);
        conversation.push(&message).await.unwrap();
    };
    push(
        Role::User,
        "Count the stars of every sector. Never guess.".to_owned(),
    )
    .await;
    for night in 0..2_000 {
        conversation.prepare_step().await.unwrap();
        while conversation.is_preparing().await {
            tokio::task::yield_now().await;
        }
        if conversation.statistics().await.compactions >= rounds {
            return;
        }
        let weather = "The sky was clear and the instrument was steady. ".repeat(4);
        push(
            Role::Assistant,
            format!(
                "Night {night}: sector-{night} has {} stars. {weather}",
                night * 17
            ),
        )
        .await;
        push(
            Role::User,
            format!("Go on with sector-{}, please.", night + 1),
        )
        .await;
    }
    panic!("it was compacted too seldom");
}

#[tokio::test]
async fn after_four_rounds_the_summary_is_the_one_of_all_the_originals() {
    let folder = TempDir::new().unwrap();
    let first = engine(&folder).await;
    let conversation = first.create().await.unwrap();
    grown(&conversation, ROUNDS).await;
    let check = |session: &epitome::Session| {
        let record = session.records().last().unwrap();
        let made = &record.compaction;
        assert_eq!(made.made_from, MadeFrom::Originals);
        let frozen = &session.messages()[..record.from_messages];
        let mut log = Log::new();
        for message in frozen {
            log.push(&Facts::of(message, Meter::Estimate));
        }
        let all: Vec<Message> = frozen.iter().map(|message| (**message).clone()).collect();
        let once = Compaction::extract(made.plan.clone(), &Basis::new(&log, &all, Meter::Estimate));
        assert_eq!(once.unwrap().summary.text, made.summary.text);
        session.view_messages()
    };
    let shown = conversation.look(check).await;
    let id = conversation.id().clone();
    first.shutdown().await;

    // Whoever opens it next shows the same, takes it back, and has the round before.
    let second = engine(&folder).await;
    let again = second.open(&id).await.unwrap();
    assert_eq!(again.look(check).await, shown);
    again.undo().await.unwrap();
    let (in_force, summary) = again
        .look(|session| {
            let newest = session.compaction().unwrap();
            (session.in_force().count(), newest.summary.text.clone())
        })
        .await;
    assert_eq!(in_force as u64, ROUNDS - 1);
    let shown = again.look(|session| session.view_messages()).await;
    let texts: Vec<&str> = shown.iter().flat_map(|message| message.spoken()).collect();
    assert!(texts.contains(&summary.as_str()));
    second.shutdown().await;
}
