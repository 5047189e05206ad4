//! 004: fifty messages, one structured summary that every round works on.

use epitome::settings::Value as Setting;
use epitome::{Block, Call, Message, PresetName, ResultPart, Role, ToolResult, ViewItem};
use epitome_engine::conversation::StepAction;
use epitome_testkit::Reply;
use epitome_wire::Wire;

use super::{
    all_valid, builder, caller, lines, model, push, settings, shown, summary_requests,
    written_by_the_model,
};

const TASK: &str = "Build a flashcard app. Never use a framework.";
const MORE: &str = "Then add spaced repetition, please.";
const WINDOW: u64 = 17_000;

fn step(number: usize) -> [Message; 2] {
    let id = format!("call_{number}");
    let file = format!("src/file_{number}.ts");
    let call = Call::new(id.as_str(), "write_file", format!(r#"{{"path":"{file}"}}"#));
    let result = ToolResult {
        call_id: id.into(),
        parts: vec![ResultPart::Text(
            format!("{file} written, 120 lines. ").repeat(24),
        )],
        is_error: false,
    };
    [
        Message {
            role: Role::Assistant,
            blocks: vec![Block::Call(call)],
        },
        Message {
            role: Role::Tool,
            blocks: vec![Block::Result(result)],
        },
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_messages_become_twelve_and_the_next_round_builds_on_the_first() {
    // A model that forgets the headings of what is pending, and in the first round those of the state.
    let model = model(|request| {
        let text = request.to_string();
        let mut sections = vec![
            "### Original Task\nBuild a flashcard app. Never use a framework.",
            "### Completed Work\n| File/Component | Action | Description |\n|---|---|---|\n| src/file_3.ts | written | 120 lines |",
            "### Key Technical Decisions\n- no framework",
        ];
        if text.contains("round 2 of the summary") {
            sections.push("### Current State\n- Last completed: src/file_25.ts");
        }
        Reply::text(sections.join("\n\n"))
    })
    .await;
    let settings = settings(PresetName::Layer, &[("wait", Setting::Switch(true))]);
    let caller = caller(&model, Wire::OpenAiChat, 100_000);
    let engine = builder(&settings, WINDOW, &caller).build().await.unwrap();
    let conversation = engine.create().await.unwrap();
    let opening = [
        Message::text(Role::System, "You build things."),
        Message::text(Role::User, TASK),
    ];
    push(&conversation, &opening).await;
    for number in 0..10 {
        push(&conversation, &step(number)).await;
    }
    let more = [
        Message::text(Role::Assistant, "The cards are stored in src/file_9.ts."),
        Message::text(Role::User, MORE),
    ];
    push(&conversation, &more).await;
    for number in 10..23 {
        push(&conversation, &step(number)).await;
    }
    assert_eq!(conversation.raw_entries().await.len(), 50);

    let action = conversation.prepare_step().await.unwrap().action;
    assert!(matches!(action, StepAction::Compacted(_)), "{action:?}");
    written_by_the_model(&conversation).await;
    let view = conversation.look(|session| session.view()).await;
    let expected = [
        ViewItem::Entries(0..1),
        ViewItem::AssistantSummary,
        ViewItem::Entries(40..50),
    ];
    assert_eq!(view.items, expected);
    let first = shown(&conversation, 1).await;
    assert!(
        first.starts_with("## Session Summary (Compaction Round 1)\n"),
        "{first}"
    );
    for heading in [
        "Original Task",
        "Completed Work",
        "Key Technical Decisions",
        "Current State",
        "Pending Work",
    ] {
        assert_eq!(
            first.matches(&format!("### {heading}\n")).count(),
            1,
            "{heading}: {first}"
        );
    }
    assert!(first.contains(TASK), "word for word: {first}");
    assert!(
        first.contains("| src/file_3.ts | written | 120 lines |"),
        "{first}"
    );
    let (_, pending) = first.split_once("### Pending Work\n").unwrap();
    assert!(pending.starts_with(MORE), "filled from the log: {first}");
    let told = lines(&conversation.take_events().await, PresetName::Layer);
    let [line] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(line.starts_with("[Compaction] Round 1: "), "{line}");
    assert!(line.ends_with("(39 messages summarized)"), "{line}");

    let asked = summary_requests(&model).pop().unwrap().json();
    assert_eq!(asked["max_tokens"], 1_000);
    assert_eq!(asked["temperature"], 0.3);
    let prompt = asked["messages"][1]["content"].as_str().unwrap();
    assert!(prompt.contains("At most 800 tokens"), "{prompt}");
    assert!(
        prompt.contains(&format!("<task>\n{TASK}\n</task>")),
        "{prompt}"
    );
    assert!(
        prompt.contains("None: this is the first round."),
        "{prompt}"
    );
    // Results are cut to five hundred characters, and each is there.
    assert!(prompt.contains("[Result: "), "{prompt}");
    assert!(
        !prompt.contains(&"src/file_7.ts written, 120 lines. ".repeat(16)),
        "{prompt}"
    );

    for number in 24..44 {
        push(&conversation, &step(number)).await;
    }
    let action = conversation.prepare_step().await.unwrap().action;
    assert!(matches!(action, StepAction::Compacted(_)), "{action:?}");
    written_by_the_model(&conversation).await;
    let second = shown(&conversation, 1).await;
    let opening = "## Session Summary (Compaction Round 2)\n\
        This summary incorporates context from 1 previous compaction rounds.\n";
    assert!(second.starts_with(opening), "{second}");
    assert!(
        second.contains(TASK) && second.contains("### Pending Work\n"),
        "{second}"
    );
    assert_eq!(second.matches("## Session Summary").count(), 1, "{second}");
    let asked = summary_requests(&model).pop().unwrap().json();
    let prompt = asked["messages"][1]["content"].as_str().unwrap();
    let (_, previous) = prompt.split_once("<previous_summary>\n").unwrap();
    assert!(
        previous.starts_with("## Session Summary (Compaction Round 1)"),
        "{prompt}"
    );
    assert!(prompt.contains("round 2 of the summary"), "{prompt}");
    assert!(
        prompt.contains(&format!("<task>\n{TASK}\n</task>")),
        "{prompt}"
    );
    let told = lines(&conversation.take_events().await, PresetName::Layer);
    assert!(
        told.iter()
            .any(|line| line.starts_with("[Compaction] Round 2: ")),
        "{told:?}"
    );
    all_valid(&model);
    engine.shutdown().await;
}
