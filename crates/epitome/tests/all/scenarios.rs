//! The stories that the reference designs tell of themselves.

use epitome::reference::vibe::{BeforeTurn, Stats, Warnings, before_turn};
use epitome::reference::{layer, micro, spacebot, vibe};
use epitome::settings::{Settings, Value};
use epitome::{
    Basis, Block, Call, Compaction, Decision, Event, Facts, Log, Message, Meter, Plan, Preset,
    PresetName, Reason, ResultPart, Role, Session, ToolResult, Usage, ViewItem, Window,
};

fn log_of(messages: &[Message]) -> Log {
    let mut log = Log::new();
    for message in messages {
        log.push(&Facts::of(message, Meter::Chars4));
    }
    log
}

fn call(id: &str, name: &str) -> Message {
    Message {
        role: Role::Assistant,
        blocks: vec![Block::Call(Call::new(id, name, "{}"))],
    }
}

fn result(role: Role, id: &str, text: String) -> Message {
    Message {
        role,
        blocks: vec![Block::Result(ToolResult {
            call_id: id.into(),
            parts: vec![ResultPart::Text(text)],
            is_error: false,
        })],
    }
}

fn compact(name: PresetName, messages: &[Message]) -> Compaction {
    let log = log_of(messages);
    let plan = Plan::with(
        &Preset::named(name),
        &log,
        None,
        epitome::Room::of(0),
        Reason::Manual,
    )
    .unwrap();
    let basis = Basis {
        design: name.design(),
        ..Basis::new(&log, messages, Meter::Chars4)
    };
    Compaction::extract(plan, &basis).unwrap()
}

/// A job search: the request, then steps whose results have `chars` characters.
fn job_search(steps: usize, chars: usize) -> Vec<Message> {
    let request = "Execute the job search prompt from search-prompt.txt";
    let mut messages = vec![Message::text(Role::User, request)];
    for step in 0..steps {
        let id = format!("toolu_{step}");
        messages.push(call(&id, "linkedin_job_detail"));
        let text = format!("Job {step}: Senior .NET, https://jobs.example.org/{step}. ");
        messages.push(result(Role::User, &id, text.repeat(chars / text.len())));
    }
    messages
}

#[test]
fn micro_leaves_a_single_round_alone() {
    let messages = job_search(4, 28_000);
    let tokens = micro::estimate(&messages);
    assert!((25_000..=30_000).contains(&tokens), "{tokens}");
    let preset = Preset::named(PresetName::Micro);
    assert_eq!(
        preset.is_due(tokens, Window::assumed(), None),
        Err(Reason::BelowLine)
    );
}

#[test]
fn micro_compacts_the_first_rounds_of_a_long_search() {
    let messages = job_search(12, 28_400);
    assert_eq!(messages.len(), 25);
    let tokens = micro::estimate(&messages);
    assert!((84_000..=86_000).contains(&tokens), "{tokens}");
    let preset = Preset::named(PresetName::Micro);
    assert_eq!(preset.is_due(tokens, Window::assumed(), None), Ok(()));
    assert_eq!(micro::zone(&messages, micro::TAIL_MESSAGES), Some(1..19));

    let compaction = compact(PresetName::Micro, &messages);
    assert_eq!(compaction.plan.span, 1..19);
    let view = compaction.view(messages.len());
    assert_eq!(view.items, [ViewItem::Merged(0), ViewItem::Entries(19..25)]);
    assert!(compaction.summary.text.contains(micro::OPEN_MARK));
    // The three results of the tail are as large as ever; all else is about the size of the summary.
    let tail = log_of(&messages).tokens(19..25);
    assert!(
        compaction.tokens_after - tail < 5_000,
        "{}",
        compaction.tokens_after
    );
}

#[test]
fn layer_turns_fifty_messages_into_twelve() {
    let mut messages = vec![
        Message::text(Role::System, "You build things."),
        Message::text(Role::User, "Build a flashcard app"),
    ];
    while messages.len() < 50 {
        let id = format!("call_{}", messages.len());
        messages.push(call(&id, "write_file"));
        messages.push(result(
            Role::Tool,
            &id,
            format!("src/file_{id}.ts written, 120 lines ").repeat(40),
        ));
    }
    assert_eq!(layer::select(&messages, 10).compact, Some(1..40));
    let compaction = compact(PresetName::Layer, &messages);
    assert_eq!(compaction.plan.span, 1..40);
    let view = compaction.view(50);
    let expected = [
        ViewItem::Entries(0..1),
        ViewItem::AssistantSummary,
        ViewItem::Entries(40..50),
    ];
    assert_eq!(view.items, expected);
    let text = &compaction.summary.text;
    assert!(
        text.starts_with("## Session Summary (Compaction Round 1)"),
        "{text}"
    );
    for heading in [
        "Original Task",
        "Completed Work",
        "Current State",
        "Pending Work",
    ] {
        assert!(text.contains(&format!("### {heading}")), "{heading}");
    }
    assert!(text.contains("Build a flashcard app"));
}

#[test]
fn spacebot_stacks_three_summaries_oldest_first() {
    let mut messages = vec![Message::text(Role::System, "You chat.")];
    let mut stack: Vec<String> = Vec::new();
    for day in 0..3 {
        for turn in 0..20 {
            let said =
                format!("Day {day}, turn {turn}: we meet at 10:{turn:02} about LED-{day}{turn}. ");
            messages.push(Message::text(Role::User, said.repeat(6)));
            messages.push(Message::text(
                Role::Assistant,
                format!("Noted LED-{day}{turn}. ").repeat(12),
            ));
        }
        let compaction = compact(PresetName::Spacebot, &messages);
        assert_eq!(
            compaction.plan.head,
            0..1 + stack.len(),
            "earlier summaries are not drained"
        );
        let text = compaction.summary.text.clone();
        assert!(text.starts_with(spacebot::SUMMARY_MARK));
        stack.push(text.clone());
        messages.splice(compaction.plan.span, [Message::text(Role::User, text)]);
    }
    let shown: Vec<&str> = messages
        .iter()
        .skip(1)
        .take(3)
        .flat_map(Message::spoken)
        .collect();
    assert_eq!(shown, stack);
}

#[test]
fn vibe_warns_compacts_and_goes_on() {
    let threshold = 100_000;
    let mut stats = Stats::default();
    let mut lines = Vec::new();
    for prompt in [30_000, 49_000, 55_000, 99_500, 15_000] {
        match before_turn(stats.context_tokens as i64, threshold, Warnings::On) {
            BeforeTurn::Continue => {}
            BeforeTurn::Warn => lines.push("warn".to_owned()),
            BeforeTurn::Compact => lines.push(vibe::done_line(stats.context_tokens, prompt)),
        }
        stats.update(prompt, 1_000, 2.0);
    }
    assert_eq!(
        lines,
        [
            "warn",
            "warn",
            "Compaction complete: 100,500 → 15,000 tokens (-85%)"
        ]
    );
    assert_eq!(stats.context_tokens, 16_000);

    let messages = [
        Message::text(Role::System, "You code."),
        Message::text(Role::User, "Port the parser. ".repeat(90)),
        Message::text(
            Role::Assistant,
            "Ported parser.rs and lexer.rs. ".repeat(200),
        ),
        Message::text(Role::User, "Now the tests, please."),
    ];
    let compaction = compact(PresetName::Vibe, &messages);
    let view = compaction.view(messages.len());
    assert_eq!(view.items, [ViewItem::Entries(0..1), ViewItem::Summary]);
    let text = &compaction.summary.text;
    assert!(
        text.ends_with("\n\nLast request from user was: Now the tests, please."),
        "{text}"
    );
}

#[test]
fn openclaw_compacts_after_an_overflow_and_sends_again_once() {
    let settings = Settings::of(PresetName::Openclaw);
    let mut session =
        Session::from_settings(&settings, Window::configured(200_000), Meter::Estimate);
    session.push(Message::text(
        Role::User,
        "Find the leak in the parser. Never touch the lexer.",
    ));
    let mut step = 0;
    while session.view_tokens() < 120_000 {
        let id = format!("call_{step}");
        session.push(call(&id, "read"));
        session.push(result(
            Role::Tool,
            &id,
            format!("src/parse_{step}.rs: nothing leaks here. ").repeat(40),
        ));
        step += 1;
    }
    // By its own count the conversation is far below the line, but the endpoint serves a smaller model.
    assert_eq!(session.decide(), Decision::Proceed);
    session.overflowed(Some(128_000)).unwrap();
    let events = session.take_events();
    let [Event::Started(started), Event::Finished(finished)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(
        (started.reason, finished.reason),
        (Reason::Overflow, Reason::Overflow)
    );
    // About twenty thousand recent tokens stay, and the rule with them.
    assert!(
        (18_000..40_000).contains(&session.view_tokens()),
        "{}",
        session.view_tokens()
    );
    let summary = &session.compaction().unwrap().summary.text;
    assert!(summary.contains("Never touch the lexer."), "{summary}");

    // Refused again, the provider's error is the answer: this design tries once.
    assert_eq!(
        session.overflowed(None).unwrap_err().reason,
        Reason::AlreadyTried
    );
    // An answer came: from here on it may try again.
    session.observe(Usage {
        fresh_tokens: 30_000,
        output_tokens: 500,
        ..Usage::default()
    });
    session.push(Message::text(Role::User, "And now?"));
    assert!(session.overflowed(None).is_ok());
}

#[test]
fn openclaw_tells_the_beginning_of_a_split_turn_by_itself() {
    let mut messages = vec![
        Message::text(Role::User, "Tidy up src/old.rs."),
        Message::text(
            Role::Assistant,
            "Tidied up src/old.rs, 40 lines less. ".repeat(40),
        ),
        Message::text(Role::User, "Now port every parser to the new lexer."),
    ];
    for step in 0..120 {
        let id = format!("call_{step}");
        let mut reading = call(&id, "read");
        if let Some(Block::Call(call)) = reading.blocks.first_mut() {
            call.arguments = format!("{{\"path\":\"src/parse_{step}.rs\"}}").into();
        }
        messages.push(reading);
        let text = format!("src/parse_{step}.rs: {step} uses of the old lexer. ").repeat(40);
        messages.push(result(Role::Tool, &id, text));
    }
    let compaction = compact(PresetName::Openclaw, &messages);
    let plan = &compaction.plan;
    assert_eq!(
        plan.turn_prefix,
        2..plan.span.end,
        "the second request goes on behind the cut"
    );
    let kept = log_of(&messages).tokens(plan.span.end..messages.len());
    assert!(
        (19_000..=22_000).contains(&kept),
        "about what the design keeps: {kept}"
    );
    let text = &compaction.summary.text;
    let (history, turn) = text
        .split_once("## Record: the turn that goes on (split turn)")
        .unwrap();
    assert!(text.contains("Tidied up src/old.rs"), "{text}");
    assert!(
        history.contains("Now port every parser to the new lexer."),
        "{text}"
    );
    assert!(turn.contains("src/parse_"), "{text}");
    assert!(turn.contains("## Record: files read"), "{text}");
}

#[test]
fn openclaw_drops_the_oldest_chunks_first_where_history_takes_more_than_its_share() {
    let mut settings = Settings::of(PresetName::Openclaw);
    let safeguard = Value::Table(vec![(
        "mode".to_owned(),
        Value::Text("safeguard".to_owned()),
    )]);
    settings.apply(&safeguard).unwrap();
    let mut session =
        Session::from_settings(&settings, Window::configured(100_000), Meter::Estimate);
    for turn in 0..90 {
        session.push(Message::text(
            Role::User,
            format!("Question {turn} about src/part_{turn}.rs. ").repeat(60),
        ));
        session.push(Message::text(
            Role::Assistant,
            format!("Answer {turn}: line {turn}. ").repeat(60),
        ));
    }
    let job = session.begin(Reason::Manual).unwrap();
    assert!(!job.oldest().is_empty() && job.oldest().end < job.plan().span.end);
    let events = session.take_events();
    let Some(Event::Pruned(pruned)) = events
        .iter()
        .find(|event| matches!(event, Event::Pruned(_)))
    else {
        panic!("{events:?}");
    };
    assert_eq!(pruned.budget_tokens, 50_000);
    assert_eq!(pruned.dropped_count, job.oldest().len());
    assert!(pruned.kept_tokens <= 50_000, "{pruned:?}");
    // The part that went first is handed on: the summary stands for all of it.
    let prepared = job.extract().unwrap();
    let record = session.commit(prepared).unwrap();
    assert_eq!(record.covers[0].start, 0);
}

#[test]
fn spacebot_drops_half_at_once_when_nothing_else_kept_up() {
    let preset = Preset::named(PresetName::Spacebot);
    let mut session = Session::new(Window::configured(20_000), Meter::Estimate).with_preset(preset);
    let mut removed = 0;
    for round in 0..3 {
        while session.due_tokens() < 19_000 {
            session.push(Message::text(
                Role::User,
                format!("Line {round}: how are you today? ").repeat(12),
            ));
            session.push(Message::text(
                Role::Assistant,
                "Fine, thank you. ".repeat(12),
            ));
        }
        let shown = session.log().len() - usize::from(round > 0);
        assert_eq!(session.decide(), Decision::Compact(Reason::HardLine));
        session.compact(Reason::HardLine).unwrap();
        removed += shown / 2;
        let first = session.view_messages()[0]
            .spoken()
            .next()
            .unwrap()
            .to_owned();
        assert_eq!(
            first,
            spacebot::emergency_marker(removed),
            "one marker, and it counts everything"
        );
        let markers = session
            .view_messages()
            .iter()
            .flat_map(|m| m.spoken().map(str::to_owned).collect::<Vec<_>>())
            .filter(|text| spacebot::truncated_count(text).is_some())
            .count();
        assert_eq!(markers, 1);
    }
    assert!(session.take_events().contains(&Event::Truncated {
        removed_count: removed
    }));
}

#[test]
fn micro_shows_fifty_messages_at_most() {
    let settings = Settings::of(PresetName::Micro);
    let mut session = Session::from_settings(&settings, Window::assumed(), Meter::Estimate);
    session.push(Message::text(Role::User, "Keep score."));
    for game in 0..60 {
        session.push(Message::text(
            Role::Assistant,
            format!("Game {game}: 1 to 0."),
        ));
        session.push(Message::text(Role::User, "Next."));
        if let Decision::Compact(reason) = session.decide() {
            assert_eq!(reason, Reason::TooManyMessages);
            session.compact(reason).unwrap();
        }
        assert!(session.log().len() <= 50);
        assert_eq!(
            session.view_messages()[0].spoken().next(),
            Some("Keep score.")
        );
    }
    assert_eq!(session.messages().len(), 121, "a view, not a deletion");
}
