//! Repair of whole conversations: nothing where nothing is wrong, and no more than it takes where something is.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use epitome_testkit::cases::property;
use epitome_testkit::data::{data, files, stem};
use epitome_testkit::{Kind, Random, Rule, generate, strict};
use epitome_wire::{Body, Item, ProblemCode, Wire, detect, problems, repair};
use serde_json::{Value, json};

use crate::fixtures::{bytes, generated, testkit};
use crate::sessions::{self, Texts};
use crate::traffic::{self, Traffic};

/// What only the provider can know: whether a thought is the one that was signed, or the one that led here.
const UNKNOWABLE: &[Rule] = &[Rule::InvalidSignature, Rule::MissingReasoning];

/// What both judges say about a body.
fn refusals(body: &Body) -> Vec<String> {
    let own = problems(body)
        .into_iter()
        .map(|problem| problem.to_string());
    let request: Value = serde_json::from_slice(body.bytes()).unwrap();
    let mut strict = strict::check(testkit(body.wire()), &request);
    strict.retain(|violation| !UNKNOWABLE.contains(&violation.rule));
    own.chain(strict.iter().map(|violation| format!("{violation:?}")))
        .collect()
}

#[test]
fn what_is_valid_comes_back_byte_for_byte() {
    property(5, 60, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let request = generated(wire, kind, random.bits(), size + 1);
            let source = bytes(&request);
            let body = Body::scan(source.clone(), wire).unwrap();
            assert_eq!(problems(&body), [], "{wire} {kind:?}");
            let repaired = repair(&body);
            assert!(repaired.splice.is_unchanged(), "{wire} {kind:?}");
            assert_eq!(repaired.splice.into_bytes(), source);
        }
    });
}

#[test]
fn what_is_damaged_is_put_right_and_the_rest_stays() {
    property(5, 40, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let mut request = generated(wire, kind, random.bits(), size + 4);
            let mut ways = Vec::new();
            for _ in 0..1 + random.below(4) {
                let Some((broken, way)) = damaged(&request, random.bits()) else {
                    break;
                };
                request = broken;
                ways.push(way);
            }
            let body = Body::scan(bytes(&request), wire).unwrap();
            if body.is_empty() {
                // So much damage that nothing is left to repair.
                continue;
            }
            let what = format!("{wire} {kind:?} {ways:?}");
            let repaired = repair(&body);
            assert_eq!(repaired.left, [], "{what}");
            let done = repaired.done;
            let after = Body::scan(repaired.splice.into_bytes(), wire).unwrap();
            let found = refusals(&after);
            assert!(found.is_empty(), "{what}: {found:#?} after {done:#?}");
            assert!(repair(&after).splice.is_unchanged(), "{what}");
            assert_others_stay(&what, &body, &after, done.len());
        }
    });
}

/// Damages a request once more, unless nothing is left that could be damaged.
fn damaged(request: &Value, seed: u64) -> Option<(Value, generate::Damage)> {
    let ways = generate::Damage::ALL;
    let first = usize::try_from(seed % 5).unwrap();
    let mut ways = ways.iter().cycle().skip(first).take(ways.len());
    ways.find_map(|way| Some((generate::damage_with(request, *way, seed)?, *way)))
}

/// Every message of `after` is one of `before`, byte for byte, but for those that were repaired.
fn assert_others_stay(what: &str, before: &Body, after: &Body, fixes: usize) {
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for index in 0..before.len() {
        *known.entry(before.message(index)).or_default() += 1;
    }
    let is_new = |index: &usize| match known.get_mut(after.message(*index)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let new = (0..after.len()).filter(is_new).count();
    // What moves changes two messages.
    assert!(
        new <= 2 * fixes,
        "{what}: {new} new messages, {fixes} fixes"
    );
    let kept = after.len() - new;
    assert!(
        kept + 2 * fixes >= before.len(),
        "{what}: {kept} of {} kept",
        before.len()
    );
}

#[test]
fn whatever_is_done_to_a_history_repair_ends_and_tells_the_truth() {
    property(4, 12, |random, size| {
        for &wire in Wire::ALL {
            let kind = *random.pick(&Kind::ALL);
            let mut request = generated(wire, kind, random.bits(), size + 3);
            for _ in 0..1 + random.below(6) {
                mangle(&mut request[wire.list_name()], random);
            }
            let body = Body::scan(bytes(&request), wire).unwrap();
            let what = format!("{wire} {}", request[wire.list_name()]);
            let repaired = repair(&body);
            let after = Body::scan(repaired.splice.into_bytes(), wire).unwrap();
            assert_eq!(problems(&after), repaired.left, "{what}");
            let twice = repair(&after).done;
            assert!(twice.is_empty(), "{twice:?} {:?} {what}", repaired.left);
            let are_known = repaired.left.iter().all(|left| {
                matches!(
                    left.code,
                    ProblemCode::NoMessages | ProblemCode::NotAnObject | ProblemCode::UnknownRole
                )
            });
            assert!(are_known, "{:?} {what}", repaired.left);
            if repaired.left.is_empty() {
                let found = refusals(&after);
                assert!(
                    found.is_empty(),
                    "{found:?} {:?} {what} {:?}",
                    repaired.done,
                    after.bytes()
                );
            }
        }
    });
}

/// Moves, repeats or drops a message, or changes something in one.
fn mangle(list: &mut Value, random: &mut Random) {
    let messages = list.as_array_mut().unwrap();
    if messages.is_empty() {
        return;
    }
    let index = random.below(messages.len());
    let other = random.below(messages.len());
    match random.below(6) {
        0 => messages.swap(index, other),
        1 => drop(messages.remove(index)),
        2 => messages.insert(other, messages[index].clone()),
        _ => spoil(&mut messages[index], random),
    }
}

/// Goes down into a value and puts something else in the place where it ends.
fn spoil(value: &mut Value, random: &mut Random) {
    let is_end = random.below(4) == 0;
    match value {
        Value::Array(items) if !items.is_empty() && !is_end => {
            let index = random.below(items.len());
            match random.below(4) {
                0 => drop(items.remove(index)),
                1 => items.push(items[index].clone()),
                _ => spoil(&mut items[index], random),
            }
        }
        Value::Object(members) if !members.is_empty() && !is_end => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = random.pick(&names);
            match random.below(4) {
                0 => drop(members.remove(name)),
                _ => spoil(&mut members[name], random),
            }
        }
        end => {
            let others = [
                json!(null),
                json!(""),
                json!(5),
                json!([]),
                json!({}),
                json!(true),
            ];
            *end = random.pick(&others).clone();
        }
    }
}

/// Real sessions: where the other judge has nothing to say, neither has ours; where it has, repair makes it silent.
fn check_real(name: &str, body: &Body) -> usize {
    let strict = |bytes: &[u8]| {
        let request: Value = serde_json::from_slice(bytes).unwrap();
        match body.wire() {
            Wire::Anthropic => strict::anthropic_foreign(&request),
            wire => strict::check(testkit(wire), &request),
        }
    };
    let before = strict(body.bytes());
    let found = problems(body);
    if before.is_empty() {
        assert_eq!(found, [], "{name}");
    }
    let repaired = repair(body);
    assert_eq!(repaired.left, [], "{name}");
    let after = repaired.splice.into_bytes();
    assert_eq!(strict(&after), [], "{name}");
    assert_eq!(after == body.bytes(), found.is_empty(), "{name}");
    found.len()
}

#[test]
fn real_sessions_are_valid_or_made_so() {
    if let Some(folder) = data("real_sessions_are_valid_or_made_so", "unified") {
        for path in files(&folder, "json") {
            let messages = sessions::read(&path, Texts::Short);
            for &wire in Wire::ALL {
                let request = bytes(&sessions::request(wire, &messages));
                let body = Body::scan(request, wire).unwrap();
                let name = format!("{} {wire}", stem(&path));
                let found = check_real(&name, &body);
                if found > 0 {
                    eprintln!("{name}: {found} problems");
                }
            }
        }
    }
    type Reader = fn(&Path) -> Traffic;
    let readers: [(&str, Reader); 2] = [
        ("native/codex", traffic::codex_items),
        ("native/claude-code", traffic::claude_code),
    ];
    for (folder, read) in readers {
        let Some(folder) = data("real_sessions_are_valid_or_made_so", folder) else {
            continue;
        };
        for path in files(&folder, "jsonl") {
            let traffic = read(&path);
            for run in &traffic.runs {
                let found = check_real(&stem(&path), &traffic.body(&run.spelled));
                if found > 0 {
                    eprintln!("{}: {found} problems", stem(&path));
                }
            }
        }
    }
}

#[test]
fn a_file_keeps_its_layout() {
    let lines = concat!(
        "{\"role\": \"user\", \"content\": \"a\"}\n",
        "\n",
        "{\"role\": \"user\", \"content\": \"\"}\n",
        "{ \"role\":\"assistant\", \"content\":\"b\" }\n",
    );
    let body = detect(&Bytes::from(lines), Some(Wire::OpenAiChat))
        .unwrap()
        .body;
    let after = repair(&body).splice.into_bytes();
    assert_eq!(
        after,
        "{\"role\": \"user\", \"content\": \"a\"}\n{ \"role\":\"assistant\", \"content\":\"b\" }\n"
    );
    let array = "[\n  {\"role\": \"user\", \"content\": 12345678901234567890 , \"x\": 1},\n  {\"role\": \"user\", \"content\": \"b\"}\n]\n";
    let body = detect(&Bytes::from(array), Some(Wire::Anthropic))
        .unwrap()
        .body;
    let after = repair(&body).splice.into_bytes();
    let expected = array.replace("12345678901234567890", "\"12345678901234567890\"");
    assert_eq!(after, expected);
}

#[test]
fn a_late_result_moves_with_every_byte() {
    let request = concat!(
        r#"{"messages":[{"role":"user","content":"a"},"#,
        r#"{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"n","arguments":"{}"}}]},"#,
        r#"{"role":"user","content":"b"},"#,
        r#"{"role":"tool",  "content":"done","tool_call_id":"x","extra":1e5}]}"#,
    );
    let body = Body::scan(Bytes::from(request), Wire::OpenAiChat).unwrap();
    let after = Body::scan(repair(&body).splice.into_bytes(), Wire::OpenAiChat).unwrap();
    assert_eq!(after.message(2), body.message(3));
    assert_eq!(after.message(3), body.message(2));
    let direct = body.splice(&[
        Item::Kept(0..2),
        Item::Inserted(body.message(3).to_vec()),
        Item::Kept(2..3),
    ]);
    assert_eq!(after.bytes(), &direct.into_bytes());
}

#[test]
fn every_code_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> =
        ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), ProblemCode::ALL.len());
    for name in names {
        assert!(
            name.chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_'),
            "{name}"
        );
    }
}
