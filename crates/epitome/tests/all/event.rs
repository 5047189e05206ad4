use epitome::{Event, FieldValue, Finished, PresetName, Pruning, Reason, Started};

fn started(reason: Reason) -> Event {
    Event::Started(Started {
        reason,
        context_tokens: 85_200,
        threshold_tokens: Some(80_000),
        message_count: 25,
        compacting_count: 18,
    })
}

fn finished(reason: Reason) -> Event {
    Event::Finished(Finished {
        reason,
        round: 2,
        tokens_before: 85_200,
        tokens_after: 13_200,
        message_count: 8,
        compacted_count: 18,
        compacted_message_ids: vec!["m1".to_owned()],
        summary: "Größe".to_owned(),
        summary_tokens: 800,
    })
}

fn check(event: &Event, preset: PresetName, expect: &[&str]) {
    assert_eq!(event.lines(preset), expect, "{preset}");
}

#[test]
fn each_preset_tells_a_compaction_in_its_own_words() {
    use PresetName::{Default, Layer, Micro, Openclaw, Spacebot, Vibe};
    let (start, done) = (started(Reason::HardLine), finished(Reason::HardLine));
    for preset in [Default, Vibe, Openclaw, Spacebot] {
        check(&start, preset, &["Compacting conversation history..."]);
        check(
            &done,
            preset,
            &["Compaction complete: 85,200 → 13,200 tokens (-84%)"],
        );
    }
    check(
        &start,
        Micro,
        &["  Compaction: estimated ~85,200 tokens, threshold 80,000 — compacting 18 messages"],
    );
    check(
        &done,
        Micro,
        &["  Compaction: summarized 18 messages into ~800 tokens, freed ~72,000 estimated tokens"],
    );
    check(&start, Layer, &[]);
    check(
        &done,
        Layer,
        &["[Compaction] Round 2: 85200 → 13200 tokens (18 messages summarized)"],
    );
}

#[test]
fn overflow_recovery_is_told_as_such() {
    let preset = PresetName::Openclaw;
    check(
        &started(Reason::Overflow),
        preset,
        &["context overflow detected; attempting auto-compaction"],
    );
    check(
        &finished(Reason::Overflow),
        preset,
        &[
            "Compaction complete: 85,200 → 13,200 tokens (-84%)",
            "auto-compaction succeeded; retrying prompt",
        ],
    );
}

#[test]
fn a_failure_is_one_line_whatever_the_error_says() {
    let event = Event::Failed {
        reason: Reason::SummaryFailed,
        error: "429\n\u{1b}[31mslow\tdown".to_owned(),
    };
    check(
        &event,
        PresetName::Micro,
        &["  Warning: Compaction failed: 429 [31mslow down. Falling back to history trimming."],
    );
    check(
        &event,
        PresetName::Layer,
        &["[Compaction] Failed, continuing without compaction: 429 [31mslow down"],
    );
    check(
        &event,
        PresetName::Openclaw,
        &["auto-compaction failed: 429 [31mslow down"],
    );
    check(
        &event,
        PresetName::Default,
        &["Compaction failed: 429 [31mslow down"],
    );
    let silent = Event::Failed {
        reason: Reason::SummaryEmpty,
        error: " ".to_owned(),
    };
    check(
        &silent,
        PresetName::Vibe,
        &["Compaction failed: summary_empty"],
    );
}

#[test]
fn every_event_has_words_fields_and_a_name() {
    let events = [
        started(Reason::Manual),
        finished(Reason::Manual),
        Event::Failed {
            reason: Reason::SummaryFailed,
            error: "x".repeat(10_000),
        },
        Event::Skipped {
            reason: Reason::BelowLine,
            context_tokens: 1_000,
        },
        Event::Warning {
            context_tokens: 100_000,
            threshold_tokens: 200_000,
        },
        Event::SmallWindow {
            window_tokens: 20_000,
        },
        Event::PinDemoted {
            position: 4,
            text: "Never\npush to main. ".repeat(100),
        },
        Event::BreakerOpened {
            reason: Reason::SummaryTimeout,
            failures: 3,
        },
        Event::MemoryFlushDue {
            context_tokens: 176_000,
            compaction_count: 0,
        },
        Event::Pruned(Pruning {
            dropped_chunks: 1,
            dropped_count: 9,
            ..Pruning::default()
        }),
        Event::Truncated { removed_count: 12 },
    ];
    for preset in PresetName::ALL {
        let mut names = std::collections::BTreeSet::new();
        for event in &events {
            for line in event.lines(preset) {
                assert!(!line.contains('\n') && line.chars().count() < 400, "{line}");
            }
            assert!(!event.fields(preset).is_empty());
            assert!(names.insert(event.name(preset)), "{}", event.name(preset));
        }
    }
    for event in &events {
        assert_eq!(event.lines(PresetName::Default).len(), 1, "{event:?}");
    }
    check(&events[8], PresetName::Openclaw, &[]);
    check(
        &events[4],
        PresetName::Vibe,
        &["Context is at 100,000 tokens; it will be compacted at 200,000"],
    );
}

#[test]
fn fields_have_the_names_of_the_references() {
    let number = FieldValue::Number;
    let (start, done) = (started(Reason::HardLine), finished(Reason::HardLine));
    assert_eq!(start.name(PresetName::Vibe), "CompactStartEvent");
    assert_eq!(
        start.fields(PresetName::Vibe),
        [
            ("currentContextTokens", number(85_200)),
            ("threshold", number(80_000))
        ]
    );
    assert_eq!(
        done.fields(PresetName::Vibe),
        [
            ("oldContextTokens", number(85_200)),
            ("newContextTokens", number(13_200)),
            ("summaryLength", number(5)),
        ]
    );
    assert_eq!(
        start.fields(PresetName::Openclaw),
        [("messageCount", number(25)), ("tokenCount", number(85_200))]
    );
    assert_eq!(
        done.fields(PresetName::Openclaw),
        [
            ("messageCount", number(8)),
            ("tokenCount", number(13_200)),
            ("compactedCount", number(18)),
        ]
    );
    assert_eq!(
        done.fields(PresetName::Layer),
        [
            ("round", number(2)),
            ("tokensBefore", number(85_200)),
            ("tokensAfter", number(13_200)),
            ("summaryContent", FieldValue::Text("Größe".to_owned())),
            (
                "compactedMessageIds",
                FieldValue::Texts(vec!["m1".to_owned()])
            ),
        ]
    );
}
