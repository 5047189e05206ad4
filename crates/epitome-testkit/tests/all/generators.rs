use epitome_testkit::generate::{self, Growth};
use epitome_testkit::{Damage, Kind, Rule, Wire, shape, strict, tokens};
use serde_json::Value;

fn messages(request: &Value) -> &Vec<Value> {
    request[Wire::of(request).list_name()].as_array().unwrap()
}

#[test]
fn every_generated_request_is_valid() {
    for wire in Wire::ALL {
        for kind in Kind::ALL {
            for seed in 0..200 {
                let count = usize::try_from(seed % 40).unwrap();
                let request = generate::request(wire, kind, seed, count);
                let violations = strict::check(wire, &request);
                assert!(
                    violations.is_empty(),
                    "{wire:?} {kind:?} {seed}: {violations:?}"
                );
                // A step adds at most an assistant message and five results; where one item is one thing said or
                // done, two of reasoning, a text, five calls and five results.
                let step = match wire {
                    Wire::OpenaiResponses => 13,
                    Wire::OpenaiChat | Wire::Anthropic => 6,
                };
                assert!((count..count.max(2) + step).contains(&messages(&request).len()));
                let last = messages(&request).last().unwrap();
                let is_output = last["type"]
                    .as_str()
                    .is_some_and(|kind| kind.ends_with("_output"));
                assert!(is_output || matches!(last["role"].as_str(), Some("user" | "tool")));
                assert_eq!(Wire::of(&request), wire, "{kind:?} {seed}");
            }
        }
    }
}

fn expected(way: Damage) -> Rule {
    match way {
        Damage::DropResult => Rule::UnansweredCall,
        Damage::DropCall | Damage::CutInPair => Rule::UnexpectedResult,
        Damage::DuplicateId => Rule::DuplicateCallId,
        Damage::EmptyContent => Rule::EmptyContent,
    }
}

#[test]
fn every_damage_is_found() {
    for wire in Wire::ALL {
        for kind in Kind::ALL {
            for seed in 0..200 {
                let request = generate::request(wire, kind, seed, 12);
                let (broken, way) = generate::damage(&request, seed);
                assert_ne!(broken, request);
                let found = strict::check(wire, &broken);
                assert!(
                    found
                        .iter()
                        .any(|violation| violation.rule == expected(way)),
                    "{wire:?} {kind:?} {seed}: {way:?} gave {found:?}\n{}",
                    shape::of(wire, &broken)
                );
            }
        }
    }
}

#[test]
fn each_way_to_damage_applies_to_tool_conversations() {
    for wire in Wire::ALL {
        let request = generate::request(wire, Kind::Parallel, 3, 20);
        for way in Damage::ALL {
            let broken = generate::damage_with(&request, way, 11).unwrap();
            assert!(!strict::check(wire, &broken).is_empty(), "{wire:?} {way:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_request_and_another_does_not() {
    for wire in Wire::ALL {
        for kind in Kind::ALL {
            let request = generate::request(wire, kind, 7, 20);
            assert_eq!(request, generate::request(wire, kind, 7, 20));
            assert_ne!(request, generate::request(wire, kind, 8, 20));
        }
    }
}

#[test]
fn growth_extends_the_request_before() {
    for wire in Wire::ALL {
        for kind in Kind::ALL {
            let requests = generate::grow(wire, kind, 5, 30);
            assert_eq!(requests.len(), 30);
            for pair in requests.windows(2) {
                let (shorter, longer) = (messages(&pair[0]), messages(&pair[1]));
                assert!(shorter.len() < longer.len());
                // The mark that moves is on the last message only.
                let same =
                    shorter.len() - usize::from(kind == Kind::Mixed && wire == Wire::Anthropic);
                assert_eq!(shorter[..same], longer[..same], "{wire:?} {kind:?}");
            }
        }
    }
}

#[test]
fn five_hundred_messages_are_about_eight_hundred_kilobytes() {
    for wire in Wire::ALL {
        // The same story takes more items than messages.
        let count = match wire {
            Wire::OpenaiResponses => 650,
            Wire::OpenaiChat | Wire::Anthropic => 500,
        };
        for kind in [Kind::ToolHeavy, Kind::Autonomous, Kind::Mixed] {
            let length = generate::request(wire, kind, 1, count).to_string().len();
            assert!(
                (600_000..1_050_000).contains(&length),
                "{wire:?} {kind:?}: {length}"
            );
        }
    }
}

#[test]
fn growth_can_be_read_one_request_at_a_time() {
    let request = Growth::new(Wire::Anthropic, Kind::Chat, 1).nth(4).unwrap();
    assert_eq!(messages(&request).len(), 9);
}

#[test]
fn untidy_spelling_is_the_same_value() {
    for seed in 0..50 {
        let request = generate::anthropic(Kind::Mixed, seed, 12);
        let untidy = generate::untidy(&request, seed);
        assert_ne!(untidy, request.to_string().into_bytes());
        assert_eq!(serde_json::from_slice::<Value>(&untidy).unwrap(), request);
    }
}

#[test]
fn shapes_are_short_lines() {
    let openai = generate::openai_chat(Kind::Autonomous, 1, 4);
    let lines = shape::openai_chat(&openai);
    assert!(
        lines.starts_with("00 system text\n01 user text\n02 assistant "),
        "{lines}"
    );
    assert!(lines.ends_with("03 tool result"), "{lines}");
    let anthropic = generate::anthropic(Kind::Autonomous, 1, 3);
    let lines = shape::anthropic(&anthropic);
    assert!(
        lines.starts_with("-- system text*\n00 user text\n01 assistant "),
        "{lines}"
    );
    assert!(lines.contains("call "), "{lines}");
    assert!(
        lines.ends_with("02 user result") || lines.ends_with("02 user result error"),
        "{lines}"
    );
}

#[test]
fn tokens_are_not_a_quarter_of_the_characters() {
    let request = serde_json::json!({"messages": [{"role": "user", "content": "x".repeat(36)}]});
    assert_eq!(tokens::count(Wire::OpenaiChat, &request), 10 + 4 + 3);
    assert_eq!(tokens::count(Wire::Anthropic, &request), 10 + 4 + 3);
}
