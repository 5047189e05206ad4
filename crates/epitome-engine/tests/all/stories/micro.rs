//! 002: a job search. One round is left alone, the third is compacted into the first message.

use epitome::reference::micro as reference;
use epitome::settings::Value as Setting;
use epitome::{Block, Call, Message, PresetName, Reason, ResultPart, Role, ToolResult, ViewItem};
use epitome_engine::conversation::StepAction;
use epitome_engine::{Conversation, Engine};
use epitome_testkit::{Reply, ScriptedModel};
use epitome_wire::Wire;

use super::{
    all_valid, builder, caller, lines, model, push, settings, shown, summary_requests, writers,
};

const REQUEST: &str = "Execute the job search prompt from search-prompt.txt";
const WINDOW: u64 = 200_000;
const SUMMARY: &str = "The search followed search-prompt.txt. Job 3 was read in detail; it is a Senior .NET position. \
    The next step is to score what was found.";

/// A look at a job whose description has about so many characters.
fn look(number: usize, chars: usize) -> [Message; 2] {
    let id = format!("toolu_{number}");
    let line = format!("Job {number}: Senior .NET, https://jobs.example.org/{number}. ");
    let result = ToolResult {
        call_id: id.as_str().into(),
        parts: vec![ResultPart::Text(line.repeat(chars / line.len()))],
        is_error: false,
    };
    [
        Message {
            role: Role::Assistant,
            blocks: vec![Block::Call(Call::new(
                id.as_str(),
                "linkedin_job_detail",
                "{}",
            ))],
        },
        Message {
            role: Role::User,
            blocks: vec![Block::Result(result)],
        },
    ]
}

/// Nine jobs read at length, three at the end that are short: 25 messages, about 85,000 tokens.
fn three_rounds() -> Vec<Message> {
    let mut messages = vec![Message::text(Role::User, REQUEST)];
    messages.extend((0..9).flat_map(|number| look(number, 36_300)));
    messages.extend((9..12).flat_map(|number| look(number, 4_400)));
    messages
}

async fn search(model: &ScriptedModel, changes: &[(&str, Setting)]) -> (Engine, Conversation) {
    let mut all = vec![("wait", Setting::Switch(true))];
    all.extend(changes.iter().cloned());
    let settings = settings(PresetName::Micro, &all);
    let caller = caller(model, Wire::Anthropic, WINDOW);
    let engine = builder(&settings, WINDOW, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    let frame = r#"{"model":"scripted","max_tokens":1000}"#;
    conversation.set_frame(frame).await.unwrap();
    (engine, conversation)
}

async fn failing() -> ScriptedModel {
    model(|_| Reply::error(500, "api_error", "the model is away")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_round_is_left_alone() {
    let model = failing().await;
    let (engine, conversation) = search(&model, &[]).await;
    push(&conversation, &[Message::text(Role::User, REQUEST)]).await;
    for number in 0..4 {
        push(&conversation, &look(number, 28_000)).await;
    }
    let tokens = conversation.look(|session| session.due_tokens()).await;
    assert!((25_000..=30_000).contains(&tokens), "{tokens}");
    let step = conversation.prepare_step().await.unwrap();
    assert_eq!(step.action, StepAction::Proceed);
    assert_eq!(step.messages.len(), 9);
    assert!(model.requests().is_empty(), "nobody was asked");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_rounds_move_into_the_first_message() {
    let model = model(|_| Reply::text(SUMMARY)).await;
    let (engine, conversation) = search(&model, &[]).await;
    push(&conversation, &three_rounds()).await;
    let tokens = conversation.look(|session| session.due_tokens()).await;
    assert!((84_000..=86_000).contains(&tokens), "{tokens}");
    let action = conversation.prepare_step().await.unwrap().action;
    assert_eq!(action, StepAction::Compacted(Reason::Threshold));

    let span = conversation.look(|session| session.compaction().unwrap().plan.span.clone());
    assert_eq!(span.await, 1..19, "messages 1 to 18");
    let view = conversation.look(|session| session.view()).await;
    assert_eq!(view.items, [ViewItem::Merged(0), ViewItem::Entries(19..25)]);
    let first = shown(&conversation, 0).await;
    let (request, marked) = first.split_once(reference::OPEN_MARK).unwrap();
    assert_eq!(request.trim(), REQUEST);
    assert!(
        marked.trim_end().ends_with(reference::CLOSE_MARK),
        "{first}"
    );
    assert!(marked.contains("Job 3 was read in detail"), "{first}");
    let tokens = conversation.look(|session| session.due_tokens()).await;
    assert!(tokens < 10_000, "about ten thousand after: {tokens}");

    let asked = summary_requests(&model);
    assert_eq!(asked.len(), 1);
    let asked = asked[0].json();
    assert_eq!(asked["temperature"], 0.0);
    assert_eq!(asked["max_tokens"], 4_096);
    let transcript = asked["messages"][0]["content"].to_string();
    assert!(!transcript.contains("Job 9"), "the tail stays as it is");
    assert!(
        transcript.len() < 9 * 1_200,
        "results are previewed: {}",
        transcript.len()
    );
    let told = lines(&conversation.take_events().await, PresetName::Micro);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("threshold 80,000 — compacting 18 messages"),
        "{told:?}"
    );
    assert!(
        told[1].contains("Compaction: summarized 18 messages into ~"),
        "{told:?}"
    );

    // The request is one that the provider takes.
    let caller = caller(&model, Wire::Anthropic, WINDOW);
    super::turn(&conversation, &caller).await;
    all_valid(&model);

    // The next round replaces the block and goes on from it.
    push(
        &conversation,
        &[Message::text(Role::User, "Search once more.")],
    )
    .await;
    for number in 20..30 {
        push(&conversation, &look(number, 36_300)).await;
    }
    let action = conversation.prepare_step().await.unwrap().action;
    assert_eq!(action, StepAction::Compacted(Reason::Threshold));
    let first = shown(&conversation, 0).await;
    assert_eq!(first.matches(reference::OPEN_MARK).count(), 1, "{first}");
    let asked = summary_requests(&model).pop().unwrap().json().to_string();
    assert!(
        asked.contains("Job 3 was read in detail"),
        "the account so far is handed on"
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_summariser_is_shown_a_hundred_thousand_characters_at_most() {
    let model = model(|_| Reply::text("Talk about the weather.")).await;
    let (engine, conversation) = search(&model, &[]).await;
    push(
        &conversation,
        &[Message::text(Role::User, "Let us talk about the weather.")],
    )
    .await;
    for number in 0..14 {
        let said = format!("Turn {number}: it rains, and then it does not. ").repeat(350);
        push(
            &conversation,
            &[Message::text(Role::Assistant, said.as_str())],
        )
        .await;
        push(&conversation, &[Message::text(Role::User, said.as_str())]).await;
    }
    let action = conversation.prepare_step().await.unwrap().action;
    assert_eq!(action, StepAction::Compacted(Reason::Threshold));
    let asked = summary_requests(&model);
    assert_eq!(asked.len(), 1, "one request, however long it was");
    let text = asked[0].json()["messages"][0]["content"].to_string();
    let (_, transcript) = text.split_once("<transcript>").unwrap();
    let chars = transcript.chars().count();
    assert!((99_000..=101_000).contains(&chars), "{chars}");
    assert!(transcript.contains("characters left out"));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_model_is_away_the_built_in_summariser_writes() {
    let model = failing().await;
    let (engine, conversation) = search(&model, &[]).await;
    push(&conversation, &three_rounds()).await;
    let action = conversation.prepare_step().await.unwrap().action;
    assert_eq!(action, StepAction::Compacted(Reason::Threshold));
    assert!(!model.requests().is_empty());
    let first = shown(&conversation, 0).await;
    assert!(first.contains(reference::OPEN_MARK), "{first}");
    assert!(first.contains("https://jobs.example.org/"), "{first}");
    let writers = writers(&conversation).await;
    let writers: Vec<_> = writers
        .iter()
        .map(|(rung, failed)| (&**rung, failed.as_deref()))
        .collect();
    assert_eq!(
        writers,
        [("full", Some("summary_failed")), ("built_in", None)]
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_in_the_reference_a_failure_falls_back_to_trimming() {
    let model = failing().await;
    let reference = ("on_failure", Setting::Text("reference".to_owned()));
    let (engine, conversation) = search(&model, &[reference]).await;
    push(&conversation, &[Message::text(Role::User, REQUEST)]).await;
    for number in 0..30 {
        push(&conversation, &look(number, 12_000)).await;
    }
    let tokens = conversation.look(|session| session.due_tokens()).await;
    assert!(tokens > 80_000, "{tokens}");
    let step = conversation.prepare_step().await.unwrap();
    assert!(
        matches!(step.action, StepAction::Compacted(_)),
        "{:?}",
        step.action
    );
    assert!(!model.requests().is_empty(), "a summary was tried first");
    assert!(step.messages.len() <= 50, "{}", step.messages.len());
    assert_eq!(step.messages[0].spoken().next(), Some(REQUEST));
    assert_eq!(
        conversation.raw_entries().await.len(),
        61,
        "a view, not a deletion"
    );
    let told = lines(&conversation.take_events().await, PresetName::Micro);
    let warning = told
        .iter()
        .find(|line| line.contains("Warning: Compaction failed: "));
    let warning = warning.unwrap_or_else(|| panic!("{told:?}"));
    assert!(
        warning.ends_with("Falling back to history trimming."),
        "{warning}"
    );
    engine.shutdown().await;
}
