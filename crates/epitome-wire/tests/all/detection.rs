//! What a file is, found by looking at what it says.

use bytes::Bytes;
use epitome_testkit::Kind;
use epitome_testkit::cases::property;
use epitome_wire::{Wire, detect};

use crate::fixtures::generated;

fn found(text: &str, wire: Option<Wire>) -> Option<(Wire, usize, bool)> {
    let detected = detect(&Bytes::copy_from_slice(text.as_bytes()), wire).ok()?;
    let body = detected.body;
    Some((body.wire(), body.len(), detected.is_request))
}

#[test]
fn all_three_containers_of_every_format_are_known() {
    property(20, 20, |random, size| {
        for &wire in Wire::ALL {
            for kind in [Kind::ToolHeavy, Kind::Parallel, Kind::Thinking, Kind::Mixed] {
                let request = generated(wire, kind, random.bits(), size + 6);
                let list = request[wire.list_name()].as_array().unwrap();
                let lines: Vec<String> = list.iter().map(ToString::to_string).collect();
                let array = request[wire.list_name()].to_string();
                let count = list.len();
                let request = request.to_string();
                assert_eq!(found(&request, None), Some((wire, count, true)), "{kind:?}");
                assert_eq!(found(&array, None), Some((wire, count, false)), "{kind:?}");
                let lines = lines.join("\n");
                assert_eq!(found(&lines, None), Some((wire, count, false)), "{kind:?}");
            }
        }
    });
}

#[test]
fn what_is_asked_for_wins_and_what_is_nothing_is_refused() {
    let plain = r#"[{"role":"user","content":"a"}]"#;
    assert_eq!(found(plain, None), Some((Wire::OpenAiChat, 1, false)));
    assert_eq!(
        found(plain, Some(Wire::Anthropic)),
        Some((Wire::Anthropic, 1, false))
    );
    for text in [
        "",
        "hello",
        "{}",
        "{\"a\":1}\n{\"a\":2}",
        "[1,",
        "{\"messages\":3}",
    ] {
        assert_eq!(found(text, None), None, "{text}");
    }
}
