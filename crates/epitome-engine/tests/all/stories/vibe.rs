//! 000: a loop with a warning at half the threshold, a compaction before a turn, and the turn goes on.

use epitome::settings::Value as Setting;
use epitome::{Block, Call, Message, PresetName, Role, Threshold};
use epitome_engine::conversation::StepAction;
use epitome_engine::model::Caller;
use epitome_engine::pipeline::{
    AutoCompact, ContextWarning, Next, Pipeline, ResetReason, TurnContext, TurnLimit,
};
use epitome_engine::{Conversation, CountedBy, Engine};
use epitome_testkit::{Recorded, Reply, ScriptedModel};
use epitome_wire::Wire;
use serde_json::{Value, json};

use super::{all_valid, builder, caller, lines, model, push, settings, shown, turn, until};
use crate::all::told::{last_said, said};

const THRESHOLD: i64 = 6_000;
const WINDOW: u64 = 60_000;
const SUMMARY: &str = "1. User's Primary Goals and Intent\nEach bed is to be watered in the morning.\n\n\
    7. Immediate Next Step\nAnswer the newest question about the garden.";

fn is_instruction(request: &Value) -> bool {
    last_said(request).contains("Use exactly these seven headings")
}

async fn gardener() -> ScriptedModel {
    model(|request| {
        if is_instruction(request) {
            return Reply::text(SUMMARY);
        }
        if request.get("max_tokens") == Some(&json!(16)) {
            return Reply::text("The garden");
        }
        let asked = last_said(request);
        let asked = asked.lines().last().unwrap_or_default();
        Reply::text(format!("About \"{asked}\": water it in the morning. ").repeat(60))
    })
    .await
}

struct Story {
    engine: Engine,
    conversation: Conversation,
    caller: Caller,
    pipeline: Pipeline,
    warnings: Vec<u64>,
    lines: Vec<String>,
}

impl Story {
    async fn begin(model: &ScriptedModel, wait: bool) -> Self {
        let changes = [
            ("auto_compact_threshold", Setting::Whole(THRESHOLD)),
            ("context_warnings", Setting::Switch(true)),
            ("wait", Setting::Switch(wait)),
        ];
        let settings = settings(PresetName::Vibe, &changes);
        let caller = caller(model, Wire::OpenAiChat, WINDOW);
        let engine = builder(&settings, WINDOW, &caller).build().await.unwrap();
        let conversation = engine.create().await.unwrap();
        let tool = json!({"type": "function", "function": {
            "name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}});
        let frame = json!({"model": "scripted", "tools": [tool], "temperature": 0.5});
        conversation.set_frame(&frame.to_string()).await.unwrap();
        push(
            &conversation,
            &[Message::text(Role::System, "You know gardens.")],
        )
        .await;
        let threshold = Threshold::Tokens(THRESHOLD.unsigned_abs());
        Self {
            engine,
            conversation,
            caller,
            pipeline: Pipeline::default()
                .with(TurnLimit::new(100))
                .with(ContextWarning::new(threshold, WINDOW))
                .with(AutoCompact::default()),
            warnings: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Everything before the model's turn.
    async fn before(&mut self, question: &str) -> StepAction {
        push(&self.conversation, &[Message::text(Role::User, question)]).await;
        let statistics = self.conversation.statistics().await;
        let pipeline = &mut self.pipeline;
        let outcome = self
            .conversation
            .look(|session| pipeline.before_turn(&TurnContext::of(session, &statistics)))
            .await;
        if let Next::Inject(text) = &outcome.next {
            assert!(text.contains("it will be compacted at 6,000"), "{text}");
            self.warnings.push(statistics.tokens.context_tokens);
        }
        let step = self.conversation.prepare_step().await.unwrap();
        let wants_to = matches!(outcome.next, Next::Compact { .. });
        assert_eq!(
            wants_to,
            step.action != StepAction::Proceed,
            "{:?}",
            step.action
        );
        let told = lines(&self.conversation.take_events().await, PresetName::Vibe);
        if told
            .iter()
            .any(|line| line.starts_with("Compaction complete"))
        {
            self.pipeline.reset(ResetReason::Compact);
        }
        self.lines.extend(told);
        step.action
    }

    /// Turns until a compaction is wanted; the question before which it was, and the request of the turn before.
    async fn until_due(&mut self, from: usize) -> (String, StepAction, Vec<u8>) {
        let mut last_request = Vec::new();
        for number in from..from + 60 {
            let question = format!("What of bed {number}?");
            let action = self.before(&question).await;
            if action != StepAction::Proceed {
                return (question, action, last_request);
            }
            last_request = self.conversation.request().await.to_vec();
            turn(&self.conversation, &self.caller).await;
        }
        panic!("the threshold was never reached");
    }
}

/// The request for the summary: the live request and one message more, byte for byte the same before it.
fn check_aligned(model: &ScriptedModel, question: &str, turn_before: &[u8]) {
    let requests = model.requests();
    let aligned = requests
        .iter()
        .rev()
        .find(|request| is_instruction(&request.json()));
    let aligned = aligned.unwrap();
    let without_end = turn_before.strip_suffix(b"]}").unwrap();
    assert!(aligned.body.starts_with(without_end), "the cache is cold");
    let (asked, said_then) = (aligned.json(), said(&aligned.json()));
    let question_then = &said_then[said_then.len() - 2].1;
    assert_eq!(question_then, question);
    assert_eq!(asked["tool_choice"], "none");
    assert_eq!(asked["temperature"], 0.5);
    assert_eq!(asked["tools"][0]["function"]["name"], "look");
}

fn probe(model: &ScriptedModel) -> Option<Recorded> {
    let mut requests = model.requests().into_iter().rev();
    requests.find(|request| request.json()["max_tokens"] == json!(16))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_warns_once_compacts_before_the_turn_and_goes_on() {
    let model = gardener().await;
    let mut story = Story::begin(&model, true).await;
    for round in 1..=2_u64 {
        let turns = story.conversation.statistics().await.turns();
        let (question, action, turn_before) = story.until_due(round as usize * 100).await;
        assert!(matches!(action, StepAction::Compacted(_)), "{action:?}");

        // Warned once in the cycle, between half of the threshold and all of it.
        assert_eq!(story.warnings.len() as u64, round, "{:?}", story.warnings);
        let warned = story.warnings.last().copied().unwrap();
        assert!((3_000..6_000).contains(&warned), "{warned}");

        check_aligned(&model, &question, &turn_before);
        let view = story
            .conversation
            .look(|session| session.view_messages().len())
            .await;
        assert_eq!(view, 2, "the system prompt and the summary");
        let summary = shown(&story.conversation, 1).await;
        assert!(summary.contains("watered in the morning"), "{summary}");
        let ending = format!("\n\nLast request from user was: {question}");
        assert!(summary.ends_with(&ending), "{summary}");
        assert_eq!(
            summary.matches("Last request from user was:").count(),
            1,
            "{summary}"
        );

        // The size is what the provider counted, with the tools; the summary was a step.
        let statistics = story.conversation.statistics().await;
        let counted = probe(&model).unwrap().input_tokens.unwrap();
        assert_eq!(statistics.tokens.context_tokens, counted);
        assert_eq!(
            (statistics.compactions, statistics.summary_calls),
            (round, round)
        );
        assert_eq!(statistics.tokens.steps, statistics.turns() + round);
        assert!(statistics.turns() > turns);

        turn(&story.conversation, &story.caller).await;
        let sent = model.requests().pop().unwrap().json();
        assert_eq!(said(&sent).len(), 2, "the turn went out on the summary");
    }
    let done = story
        .lines
        .iter()
        .filter(|line| line.starts_with("Compaction complete: "));
    assert_eq!(done.count(), 2, "{:?}", story.lines);
    let started = story
        .lines
        .iter()
        .filter(|line| *line == "Compacting conversation history...");
    assert_eq!(started.count(), 2, "{:?}", story.lines);
    all_valid(&model);
    story.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_waiting_the_turn_goes_out_on_the_last_good_view() {
    let model = gardener().await;
    let mut story = Story::begin(&model, false).await;
    let (question, action, turn_before) = story.until_due(100).await;
    assert_eq!(action, StepAction::Preparing);
    let conversation = story.conversation.clone();
    until(async || conversation.statistics().await.compactions == 1).await;
    until(async || match probe(&model) {
        Some(probe) => {
            probe.input_tokens == Some(conversation.statistics().await.tokens.context_tokens)
        }
        None => false,
    })
    .await;
    check_aligned(&model, &question, &turn_before);
    let summary = shown(&conversation, 1).await;
    assert!(
        summary.ends_with(&format!("Last request from user was: {question}")),
        "{summary}"
    );
    turn(&conversation, &story.caller).await;
    assert_eq!(story.before("And the roses?").await, StepAction::Proceed);
    turn(&conversation, &story.caller).await;
    let sent = said(&model.requests().pop().unwrap().json());
    assert_eq!(
        sent.len(),
        4,
        "system, summary, the answer, the next question: {sent:?}"
    );
    all_valid(&model);
    story.engine.shutdown().await;
}

/// A provider refuses a request in which a call has no result: none is made to be counted.
#[tokio::test]
async fn nobody_is_asked_to_count_while_a_call_waits_for_its_result() {
    let model = gardener().await;
    let story = Story::begin(&model, false).await;
    let call = Call::new("call_1", "look", "{}");
    let messages = [
        Message::text(Role::User, "Look at the beds."),
        Message {
            role: Role::Assistant,
            blocks: vec![Block::Call(call)],
        },
    ];
    push(&story.conversation, &messages).await;
    let counted = story.conversation.recount(&story.caller).await;
    assert_eq!(counted.by, CountedBy::Meter);
    assert!(counted.tokens > 0);
    assert!(model.requests().is_empty());

    let result = epitome_engine::model::tool_results([("call_1".into(), Ok("dry".to_owned()))]);
    push(&story.conversation, &[result]).await;
    let counted = story.conversation.recount(&story.caller).await;
    assert_ne!(counted.by, CountedBy::Meter);
    all_valid(&model);
    story.engine.shutdown().await;
}
