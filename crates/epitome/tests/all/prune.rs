//! Pruning: decided once, never larger, never what is in flight.

use epitome::{
    Block, Cache, Call, EntryCap, ErrorResults, Facts, Frozen, Media, Message, Meter, OldResults,
    PLACEHOLDER_MARK, PresetName, PruneCause, PruneSettings, Pruned, Recall, ResultPart, Role,
    Shown, ToolResult, ViewItem,
};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};

use crate::support::{assistant, autonomous, calls, property, result, text, user};

const METER: Meter = Meter::Estimate;

fn replacing(keep_steps: usize) -> PruneSettings {
    PruneSettings {
        old: OldResults::Replace { keep_steps },
        smallest_tokens: 100,
        ..PruneSettings::off()
    }
}

fn capped(tokens: u64) -> PruneSettings {
    PruneSettings {
        entry_cap: EntryCap::Tokens(tokens),
        ..PruneSettings::off()
    }
}

fn positions(decisions: &[Pruned]) -> Vec<usize> {
    decisions.iter().map(|pruned| pruned.position).collect()
}

fn texts(message: &Message) -> Vec<&str> {
    message.results().flat_map(ToolResult::texts).collect()
}

fn failing(id: &str, text: impl Into<String>) -> Message {
    let mut message = result(id, text);
    if let Some(Block::Result(result)) = message.blocks.first_mut() {
        result.is_error = true;
    }
    message
}

#[test]
fn a_result_above_the_cap_is_cut_when_it_arrives() {
    let mut frozen = Frozen::new(capped(1_000), METER);
    let mut messages = vec![user("go"), calls(&["a"]), result("a", "word ".repeat(900))];
    assert!(frozen.prune(&messages, Cache::Warm).is_empty(), "below it");
    messages.extend([calls(&["b"]), result("b", "word ".repeat(9_000))]);
    let new = frozen.prune(&messages, Cache::Warm).to_vec();
    assert_eq!(positions(&new), [4]);
    assert_eq!(new[0].cause, PruneCause::EntryCap);
    let shown = frozen.shown(4, &messages[4]);
    let size = METER.text(texts(&shown)[0]);
    assert!((950..=1_000).contains(&size), "{size}");
    assert_eq!(
        new[0].saved_tokens,
        METER.message(&messages[4]) - METER.message(&shown)
    );
    assert_eq!(frozen.shown(2, &messages[2]).as_ref(), &messages[2]);
}

/// The reference cuts at 40,000 characters for good; here the result is only shown so.
#[test]
fn micro_cuts_at_forty_thousand_characters() {
    let settings = PruneSettings::of(PresetName::Micro, 200_000);
    let mut frozen = Frozen::new(settings, METER);
    let messages = [
        calls(&["a", "b"]),
        result("a", "é".repeat(40_000)),
        result("b", "one line of output\n".repeat(3_000)),
    ];
    assert_eq!(positions(frozen.prune(&messages, Cache::Warm)), [2]);
    let shown = frozen.shown(2, &messages[2]);
    let chars = texts(&shown)[0].chars().count();
    assert!((39_000..=40_000).contains(&chars), "{chars}");
    let again = frozen.fork(3);
    assert_eq!(again.decisions(), frozen.decisions());
}

#[test]
fn old_results_give_way_to_a_line_that_names_them() {
    let mut frozen = Frozen::new(replacing(2), METER);
    let messages = autonomous(5, 2_000);
    let new = frozen.prune(&messages, Cache::Warm).to_vec();
    assert_eq!(positions(&new), [3, 5, 7], "all but the newest two");
    let shown = frozen.shown(5, &messages[5]);
    let original = texts(&messages[5])[0];
    assert_eq!(
        texts(&shown),
        [format!(
            "[Left out: result of read_file {{\"path\":\"src/call_1.rs\"}}, {} characters, about {} tokens.]",
            "2,040",
            METER.text(original)
        )]
    );
    assert_eq!(original.chars().count(), 2_040);
    assert!(texts(&shown)[0].starts_with(PLACEHOLDER_MARK));
}

#[test]
fn a_way_to_recall_is_named_only_where_there_is_one() {
    let messages = autonomous(2, 2_000);
    let line = |recall: Recall| {
        let settings = PruneSettings {
            recall,
            ..replacing(1)
        };
        let mut frozen = Frozen::new(settings, METER);
        frozen.prune(&messages, Cache::Warm);
        texts(&frozen.shown(3, &messages[3]))[0].to_owned()
    };
    assert!(line(Recall::None).ends_with(" tokens.]"));
    let phrase = Recall::Phrase("To read it, call `recall` with {id}.".to_owned());
    assert!(line(phrase).ends_with(" tokens. To read it, call `recall` with call_0.]"));
}

#[test]
fn a_warm_cache_is_not_broken_for_little() {
    let messages = autonomous(8, 2_000);
    let mut one = Frozen::new(replacing(1), METER);
    let each = one.prune(&messages[..6], Cache::Warm)[0].saved_tokens;
    let settings = || PruneSettings {
        smallest_saving_tokens: each * 3,
        ..replacing(1)
    };
    let mut frozen = Frozen::new(settings(), METER);
    let new: Vec<usize> = (0..=messages.len())
        .map(|len| frozen.prune(&messages[..len], Cache::Warm).len())
        .filter(|new| *new > 0)
        .collect();
    assert!(new.iter().all(|count| *count >= 3), "together: {new:?}");
    assert!(!new.is_empty());
    let mut cold = Frozen::new(settings(), METER);
    assert!(cold.prune(&messages[..6], Cache::Warm).is_empty());
    assert_eq!(positions(cold.prune(&messages[..6], Cache::Cold)), [3]);
}

#[test]
fn what_is_protected_or_small_stays() {
    let mut messages = vec![
        user("go"),
        calls(&["a"]),
        failing("a", "error: no such file\n".repeat(200)),
        calls(&["b"]),
        result(
            "b",
            "Error: it was refused, and there is more to say. ".repeat(100),
        ),
        calls(&["c"]),
        result("c", "short"),
        calls(&["d"]),
        result("d", "long enough to go ".repeat(200)),
    ];
    messages.extend(autonomous(2, 100));
    let mut frozen = Frozen::new(replacing(2), METER);
    assert_eq!(positions(frozen.prune(&messages, Cache::Warm)), [8]);

    let settings = PruneSettings {
        entry_cap: EntryCap::Tokens(200),
        protected_tools: vec!["read_file".to_owned()],
        ..replacing(2)
    };
    let mut frozen = Frozen::new(settings, METER);
    assert!(frozen.prune(&messages, Cache::Cold).is_empty());
}

#[test]
fn a_failure_that_is_shortened_keeps_its_error() {
    let noise = "reading one more block of the file\n".repeat(100);
    let messages = [
        calls(&["a"]),
        failing("a", format!("{noise}error: block 7 is damaged\n{noise}")),
        calls(&["b"]),
        result("b", "done"),
    ];
    let settings = PruneSettings {
        errors: ErrorResults::Shorten,
        ..replacing(1)
    };
    let mut frozen = Frozen::new(settings, METER);
    assert_eq!(positions(frozen.prune(&messages, Cache::Warm)), [1]);
    let shown = frozen.shown(1, &messages[1]);
    assert!(texts(&shown)[0].contains("error: block 7 is damaged"));
    assert!(METER.message(&shown) < METER.message(&messages[1]) / 5);
}

#[test]
fn the_step_in_flight_is_left_alone_until_it_is_complete() {
    let large = || "word ".repeat(3_000);
    let mut frozen = Frozen::new(capped(500), METER);
    let mut messages = vec![user("go"), calls(&["a", "b"]), result("a", large())];
    assert!(frozen.prune(&messages, Cache::Cold).is_empty(), "b is open");
    messages.push(result("b", large()));
    assert_eq!(positions(frozen.prune(&messages, Cache::Cold)), [2, 3]);

    // A call that nobody answers any more holds nothing up.
    messages.extend([calls(&["c", "d"]), result("c", large()), user("never mind")]);
    assert_eq!(positions(frozen.prune(&messages, Cache::Cold)), [5]);
}

#[test]
fn nothing_but_results_that_a_client_sent_is_touched() {
    let mut by_the_provider = result("s", "word ".repeat(3_000));
    by_the_provider.role = Role::Assistant;
    let messages = [
        user("word ".repeat(3_000)),
        assistant("word ".repeat(3_000)),
        by_the_provider,
    ];
    let settings = PruneSettings {
        entry_cap: EntryCap::Tokens(100),
        ..replacing(1)
    };
    let mut frozen = Frozen::new(settings, METER);
    assert!(frozen.prune(&messages, Cache::Cold).is_empty());
}

#[test]
fn a_picture_gives_way_to_its_name() {
    let mut with_picture = result("a", "see below");
    if let Some(Block::Result(result)) = with_picture.blocks.first_mut() {
        result.parts.push(ResultPart::Media(Media {
            kind: "image".to_owned(),
            tokens: 1_600,
        }));
        result.parts.push(ResultPart::Opaque { chars: 9_000 });
    }
    let messages = [
        calls(&["a"]),
        with_picture,
        calls(&["b"]),
        result("b", "ok"),
    ];
    let mut frozen = Frozen::new(replacing(1), METER);
    let saved = frozen.prune(&messages, Cache::Warm)[0].saved_tokens;
    assert!(saved > 1_500, "{saved}");
    let shown = frozen.shown(1, &messages[1]);
    let Some(Block::Result(shown)) = shown.blocks.first() else {
        panic!("a result stays a result");
    };
    assert_eq!(
        shown.parts,
        [
            ResultPart::Text("see below".to_owned()),
            ResultPart::Text(
                "[Left out: result of read_file {\"path\":\"src/a.rs\"}, image, about 1,600 tokens.]"
                    .to_owned()
            ),
            ResultPart::Opaque { chars: 9_000 },
        ]
    );
}

#[test]
fn entries_that_were_sent_whole_are_not_cut_afterwards() {
    let messages = [
        calls(&["a"]),
        result("a", "word ".repeat(3_000)),
        calls(&["b"]),
        result("b", "word ".repeat(3_000)),
    ];
    let mut frozen = Frozen::resume(capped(500), METER, [], 2);
    assert_eq!(positions(frozen.prune(&messages, Cache::Warm)), [3]);
}

#[test]
fn a_view_shows_what_was_decided() {
    let messages = autonomous(4, 2_000);
    let mut frozen = Frozen::new(replacing(2), METER);
    frozen.prune(&messages, Cache::Warm);
    let trims = |position: usize| frozen.at(position).unwrap().trims.clone();
    assert_eq!(
        frozen.view(messages.len()).items,
        [
            ViewItem::Entries(0..3),
            ViewItem::Trimmed(3, trims(3)),
            ViewItem::Entries(4..5),
            ViewItem::Trimmed(5, trims(5)),
            ViewItem::Entries(6..10),
        ]
    );
    assert_eq!(frozen.trims(4..10), [(5, trims(5))]);
    let none = Frozen::new(PruneSettings::off(), METER);
    assert_eq!(none.view(2).items, [ViewItem::Entries(0..2)]);
    assert_eq!(none.view(0).items, []);
}

/// Messages as agents send them, damaged ones among them.
fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let output = || (text(400), 0_usize..8).prop_map(|(text, times)| text.repeat(times));
    let part = prop_oneof![
        6 => output().prop_map(ResultPart::Text),
        1 => (1_u32..3_000).prop_map(|tokens| ResultPart::Media(Media {
            kind: "image".to_owned(),
            tokens,
        })),
        1 => (0_usize..5_000).prop_map(|chars| ResultPart::Opaque { chars }),
    ];
    let results = vec((vec(part, 0..3), any::<bool>(), 0_usize..10), 1..4);
    let step =
        (results, any::<bool>(), text(80)).prop_map(|(results, is_one_message, arguments)| {
            let call = |at: usize| {
                Block::Call(Call::new(
                    format!("call_{at}"),
                    ["bash", "read_file", "skill"][at % 3],
                    arguments.clone(),
                ))
            };
            let mut messages = vec![Message {
                role: Role::Assistant,
                blocks: (0..results.len()).map(call).collect(),
            }];
            let answers: Vec<Block> = results
                .into_iter()
                .enumerate()
                .filter(|(_, (_, _, luck))| *luck > 0)
                .map(|(at, (parts, is_error, luck))| {
                    Block::Result(ToolResult {
                        call_id: format!("call_{at}").into(),
                        parts,
                        is_error: is_error && luck < 5,
                    })
                })
                .collect();
            if is_one_message {
                messages.push(Message {
                    role: Role::User,
                    blocks: answers,
                });
            } else {
                messages.extend(answers.into_iter().map(|answer| Message {
                    role: Role::Tool,
                    blocks: vec![answer],
                }));
            }
            messages
        });
    let turn = text(200).prop_map(|text| vec![user(text)]);
    vec(prop_oneof![6 => step, 1 => turn], 1..14).prop_map(|steps| steps.concat())
}

fn settings() -> impl Strategy<Value = PruneSettings> {
    let cap = prop_oneof![
        (0_usize..5_000).prop_map(EntryCap::Chars),
        (0_u64..1_500).prop_map(EntryCap::Tokens),
        any::<bool>().prop_map(|_| EntryCap::Off),
    ];
    (cap, 0_usize..4, any::<bool>(), 0_u64..600, 0_u64..3_000).prop_map(
        |(entry_cap, keep_steps, shortens, smallest_tokens, smallest_saving_tokens)| {
            PruneSettings {
                entry_cap,
                old: OldResults::Replace { keep_steps },
                errors: if shortens {
                    ErrorResults::Shorten
                } else {
                    ErrorResults::Keep
                },
                protected_tools: vec!["skill".to_owned()],
                smallest_tokens,
                smallest_saving_tokens,
                recall: Recall::None,
            }
        },
    )
}

/// As a conversation grows, decisions are only added; forks and restarts keep them.
#[test]
fn what_is_decided_stays_decided() {
    let strategy = (conversation(), settings(), any::<u64>());
    property(5, &strategy, |(messages, settings, choices)| {
        let cache = |len: usize| match choices >> (len % 64) & 7 {
            0 => Cache::Cold,
            _ => Cache::Warm,
        };
        let mut frozen = Frozen::new(settings, METER);
        let mut restarted = frozen.clone();
        for len in 0..=messages.len() {
            let before = frozen.decisions().to_vec();
            let new = frozen.prune(&messages[..len], cache(len)).to_vec();
            let (old, added) = frozen.decisions().split_at(before.len());
            assert_eq!((old, added), (before.as_slice(), new.as_slice()));
            assert!(
                frozen.prune(&messages[..len], cache(len)).is_empty(),
                "once"
            );

            let mut all = positions(frozen.decisions());
            all.sort_unstable();
            assert!(all.is_sorted_by(|a, b| a < b), "one decision for an entry");
            assert!(all.iter().all(|position| *position < len));

            restarted.prune(&messages[..len], cache(len));
            assert_eq!(restarted.decisions(), frozen.decisions());
            restarted = restarted.fork(len);
            assert_eq!(restarted.decisions(), frozen.decisions());
        }
        let len = messages.len() / 2;
        let fork = frozen.fork(len);
        let shared = frozen.decisions().iter().filter(|one| one.position < len);
        assert!(fork.decisions().iter().eq(shared));
    });
}

#[test]
fn a_decision_makes_a_message_smaller_and_touches_nothing_but_results() {
    property(5, &(conversation(), settings()), |(messages, settings)| {
        let mut frozen = Frozen::new(settings.clone(), METER);
        frozen.prune(&messages, Cache::Cold);
        for pruned in frozen.decisions() {
            let message = &messages[pruned.position];
            let shown = frozen.shown(pruned.position, message);
            let (before, after) = (METER.message(message), METER.message(&shown));
            assert!(after < before, "{after} of {before}");
            assert_eq!(pruned.saved_tokens, before - after);
            assert_ne!(message.role, Role::Assistant);
            assert_same_frame(message, &shown);
            let facts = |message: &Message| {
                let facts = Facts::of(message, METER);
                (
                    facts.role,
                    facts.calls,
                    facts.answers,
                    facts.is_typed_by_user,
                )
            };
            assert_eq!(facts(message), facts(&shown), "the log sees the same steps");
            for trim in &pruned.trims {
                let Block::Result(result) = &message.blocks[trim.block] else {
                    panic!("no result");
                };
                if pruned.cause == PruneCause::Old && result.is_error {
                    assert_eq!(settings.errors, ErrorResults::Shorten);
                }
                if let Shown::Placeholder(line) = &trim.shown {
                    assert!(line.starts_with(PLACEHOLDER_MARK) && line.ends_with(".]"));
                    assert!(!line.contains('\n'));
                    assert_eq!(pruned.cause, PruneCause::Old);
                }
            }
        }
        let saved: u64 = frozen.decisions().iter().map(|one| one.saved_tokens).sum();
        assert_eq!(frozen.saved_tokens(), saved);
    });
}

fn assert_same_frame(message: &Message, shown: &Message) {
    assert_eq!(message.blocks.len(), shown.blocks.len());
    for (before, after) in message.blocks.iter().zip(&shown.blocks) {
        match (before, after) {
            (Block::Result(before), Block::Result(after)) => {
                assert_eq!(before.call_id, after.call_id);
                assert_eq!(before.is_error, after.is_error);
                assert_eq!(before.parts.len(), after.parts.len());
                for (part, shown) in before.parts.iter().zip(&after.parts) {
                    let is_text = matches!(shown, ResultPart::Text(text) if !text.is_empty());
                    assert!(part == shown || is_text, "{part:?} {shown:?}");
                }
            }
            (before, after) => assert_eq!(before, after),
        }
    }
}
