//! The five reference designs, case by case: every step computes what the reference computes.
//!
//! Cases are read from `tests/vectors`, or from the folder that `EPITOME_VECTORS` names.

use std::path::{Path, PathBuf};

use epitome::reference::{layer, micro, openclaw, spacebot, vibe};
use epitome::{Block, Message, Meter, Role};
use epitome_wire::{Wire, decode, json};
use serde_json::{Value, json};

#[test]
fn every_case_of_every_suite_conforms() {
    let folder = std::env::var_os("EPITOME_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"),
        PathBuf::from,
    );
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no suites", folder.display());
    let mut cases = 0;
    let mut failures = Vec::new();
    for file in &files {
        let suite: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let name = suite["suite"].as_str().unwrap();
        let list = suite["cases"].as_array().unwrap();
        assert!(!list.is_empty(), "{name} holds no cases");
        for (index, case) in list.iter().enumerate() {
            cases += 1;
            let computed = compute(name, &case["input"], &case["expect"]);
            if !same(&computed, &case["expect"]) {
                failures.push(format!(
                    "{name}[{index}]: {computed} instead of {}",
                    case["expect"]
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {cases} differ, first: {}",
        failures.len(),
        failures[0]
    );
    eprintln!("{cases} cases of {} suites conform", files.len());
}

/// Floats within 1e-9, everything else exactly.
fn same(computed: &Value, expected: &Value) -> bool {
    match (computed, expected) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && b.iter()
                    .all(|(key, value)| a.get(key).is_some_and(|x| same(x, value)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
        }
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9
        }
        _ => computed == expected,
    }
}

fn compute(suite: &str, input: &Value, expect: &Value) -> Value {
    match suite.split_once('.').unwrap() {
        ("estimate", "text") => json!({"tokens": Meter::Chars4.text(text(&input["text"]))}),
        ("layer", step) => layer_step(step, input),
        ("micro", step) => micro_step(step, input, expect),
        ("openclaw", step) => openclaw_step(step, input),
        ("spacebot", step) => spacebot_step(step, input),
        ("vibe", step) => vibe_step(step, input),
        _ => panic!("no such suite: {suite}"),
    }
}

fn layer_step(step: &str, input: &Value) -> Value {
    let messages = || messages(Wire::OpenAiChat, &input["messages"]);
    let keep = || number(&input["keep"]) as usize;
    match step {
        "estimate" => json!({"tokens": layer::estimate(&messages())}),
        "format" => json!({"text": layer::transcript(&messages())}),
        "original_task" => json!({"task": layer::original_task(&messages())}),
        "threshold" => json!({"threshold": layer_settings(input).threshold()}),
        "should_compact" => {
            json!({"compact": layer_settings(&input["config"]).is_due(&messages())})
        }
        "window" => json!({"window": layer::window(text(&input["model"]))}),
        "select" => {
            let selection = layer::select(&messages(), keep());
            json!({
                "compact": selection.compact.map(|range| [range.start, range.end]),
                "previous_summary": selection.previous_summary,
            })
        }
        "rebuild" => {
            let original = input["messages"].as_array().unwrap();
            let rebuilt = match layer::select(&messages(), keep()).compact {
                None => original.clone(),
                Some(range) => {
                    let mut out = vec![original[0].clone()];
                    out.push(json!({"role": "assistant", "content": input["summary"]}));
                    out.extend_from_slice(&original[range.end..]);
                    out
                }
            };
            json!({"messages": rebuilt})
        }
        _ => panic!("no such suite: layer.{step}"),
    }
}

fn layer_settings(config: &Value) -> layer::Settings {
    layer::Settings {
        model_context_limit: signed(&config["model_context_limit"]),
        system_reserve: signed(&config["system_reserve"]),
        output_reserve: signed(&config["output_reserve"]),
        safety_buffer: signed(&config["safety_buffer"]),
        threshold_percent: config["threshold_percent"].as_f64().unwrap(),
        recent_messages_to_keep: number(&config["recent_messages_to_keep"]) as usize,
    }
}

fn micro_step(step: &str, input: &Value, expect: &Value) -> Value {
    let messages = || messages(Wire::Anthropic, &input["messages"]);
    let tail = || number(&input["tail"]) as usize;
    match step {
        "estimate" => json!({"tokens": micro::estimate(&messages())}),
        "decide" => {
            let switch = if input["enabled"] == true {
                micro::Switch::On
            } else {
                micro::Switch::Off
            };
            let zone = number(&input["zone_messages"]) as usize;
            let action = micro::decide(
                number(&input["tokens"]),
                number(&input["threshold"]),
                switch,
                zone,
            );
            json!({"action": match action {
                micro::Action::None => "none",
                micro::Action::Trim => "trim",
                micro::Action::Compact => "compact",
            }})
        }
        "zone" => {
            json!({"zone": micro::zone(&messages(), tail()).map(|zone| [zone.start, zone.end])})
        }
        "preview" => {
            let whole = text(&input["text"]);
            let preview = micro::preview(whole);
            assert!(preview.chars().count() <= 800 || preview == whole);
            let head: String = preview.chars().take(500).collect();
            let tail: String = preview
                .chars()
                .rev()
                .take(200)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            let mut out = json!({"whole": preview == whole, "head": head, "tail": tail});
            if preview == whole {
                out["head"] = expect["head"].clone();
                out["tail"] = expect["tail"].clone();
                assert!(
                    whole.starts_with(text(&expect["head"]))
                        && whole.ends_with(text(&expect["tail"]))
                );
            }
            out
        }
        "input_cap" => {
            let chars = number(&input["chars"]) as usize;
            let seed = text(&input["text_seed"]);
            let whole: String = seed.chars().cycle().take(chars).collect();
            let capped = micro::capped_input(&whole);
            // A probe that the repeated text itself does not begin or end with says nothing about the cap; the ends
            // of the text have to be there in any case.
            for probe in [text(&input["head_probe"]), &whole[..40]] {
                assert!(
                    capped.starts_with(probe) || !whole.starts_with(probe),
                    "head: {probe}"
                );
            }
            for probe in [text(&input["tail_probe"]), &whole[whole.len() - 40..]] {
                assert!(
                    capped.ends_with(probe) || !whole.ends_with(probe),
                    "tail: {probe}"
                );
            }
            assert!(capped.chars().count() as u64 <= number(&expect["max_chars"]));
            json!({"whole": capped == whole, "max_chars": expect["max_chars"]})
        }
        "rebuild" => {
            let original = input["messages"].as_array().unwrap();
            let decoded = messages();
            let rebuilt = match micro::zone(&decoded, tail()) {
                None => original.clone(),
                Some(zone) => {
                    let mut first = original[0].clone();
                    merge(&mut first, &decoded[0], text(&input["summary"]));
                    let mut out = vec![first];
                    if micro::needs_acknowledgement(decoded.get(zone.end)) {
                        out.push(json!({"role": "assistant", "content": [
                            {"type": "text", "text": micro::ACKNOWLEDGEMENT}
                        ]}));
                    }
                    out.extend_from_slice(&original[zone.end..]);
                    out
                }
            };
            json!({"messages": rebuilt})
        }
        _ => panic!("no such suite: micro.{step}"),
    }
}

/// The summary joins the first text block of a message.
fn merge(message: &mut Value, decoded: &Message, summary: &str) {
    let at = decoded
        .blocks
        .iter()
        .position(|block| matches!(block, Block::Text(_)))
        .unwrap();
    let Block::Text(own) = &decoded.blocks[at] else {
        unreachable!()
    };
    let merged = micro::merged_text(own, summary);
    match &mut message["content"] {
        Value::String(content) => *content = merged,
        blocks => blocks[at]["text"] = merged.into(),
    }
}

fn openclaw_step(step: &str, input: &Value) -> Value {
    let tokens = || -> Vec<u64> {
        input["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .map(number)
            .collect()
    };
    let pairs = |chunks: Vec<std::ops::Range<usize>>| -> Value {
        chunks
            .iter()
            .map(|chunk| json!([chunk.start, chunk.end]))
            .collect()
    };
    match step {
        "after_compaction" => {
            let state = &input["state"];
            let counters = openclaw::Counters {
                total_tokens: state["total_tokens"].as_u64(),
                input_tokens: state["input_tokens"].as_u64(),
                output_tokens: state["output_tokens"].as_u64(),
                compactions: state["compaction_count"].as_u64().unwrap_or(0),
            };
            let after = input["tokens_after"]
                .as_i64()
                .and_then(|tokens| u64::try_from(tokens).ok());
            let counters = counters.after_compaction(after);
            json!({
                "total_tokens": counters.total_tokens,
                "input_tokens": counters.input_tokens,
                "output_tokens": counters.output_tokens,
                "compaction_count": counters.compactions,
            })
        }
        "chunk_by_max" => {
            json!({"chunks": pairs(openclaw::chunks_by_max(&tokens(), number(&input["max"])))})
        }
        "chunk_ratio" => {
            json!({"ratio": openclaw::chunk_ratio(&tokens(), number(&input["window"]))})
        }
        "memory_flush" => json!({"flush": openclaw::is_flush_due(
            input["total_tokens"].as_u64().unwrap_or(0),
            number(&input["window"]),
            number(&input["reserve"]),
            number(&input["soft"]),
            input["compaction_count"].as_u64().unwrap_or(0),
            input["last_flush_count"].as_u64(),
        )}),
        "prune" => {
            let share = input["share"].as_f64().unwrap();
            let parts = number(&input["parts"]) as usize;
            let pruned = openclaw::prune(&tokens(), number(&input["max_context"]), share, parts);
            json!({
                "kept_from": pruned.kept_from,
                "dropped_chunks": pruned.dropped_chunks,
                "dropped_messages": pruned.kept_from,
                "dropped_tokens": pruned.dropped_tokens,
                "kept_tokens": pruned.kept_tokens,
                "budget_tokens": pruned.budget_tokens,
            })
        }
        "reserve" => {
            let (reserve, overridden) =
                openclaw::reserve(number(&input["current"]), number(&input["floor"]));
            json!({"reserve": reserve, "overridden": overridden})
        }
        "split_by_share" => {
            let parts = number(&input["parts"]) as usize;
            json!({"chunks": pairs(openclaw::chunks_by_share(&tokens(), parts))})
        }
        "trigger" => json!({"compact": openclaw::is_due(
            number(&input["tokens"]),
            number(&input["window"]),
            number(&input["reserve"]),
        )}),
        "window" => json!({"window": openclaw::window(input["window"].as_f64())}),
        _ => panic!("no such suite: openclaw.{step}"),
    }
}

fn spacebot_step(step: &str, input: &Value) -> Value {
    let messages = || messages(Wire::OpenAiChat, &input["messages"]);
    let user = |content: String| json!({"role": "user", "content": content});
    match step {
        "tier" => {
            let part = |name: &str| input[name].as_f64().unwrap();
            let thresholds = spacebot::Thresholds {
                background: part("background"),
                aggressive: part("aggressive"),
                emergency: part("emergency"),
            };
            let tier = spacebot::tier(
                number(&input["tokens"]),
                number(&input["window"]),
                thresholds,
            );
            json!({"tier": tier.map(|tier| match tier {
                spacebot::Tier::Background => "background",
                spacebot::Tier::Aggressive => "aggressive",
                spacebot::Tier::Emergency => "emergency",
            })})
        }
        "estimate" => json!({"tokens": spacebot::estimate(&messages())}),
        "cut" => json!({"cut": spacebot::cut(&messages(), input["fraction"].as_f64().unwrap())}),
        "emergency" => {
            let original = input["messages"].as_array().unwrap();
            let removed = spacebot::cut(&messages(), spacebot::Tier::Emergency.fraction());
            let mut out = Vec::new();
            if removed > 0 {
                out.push(user(spacebot::emergency_marker(removed)));
            }
            out.extend_from_slice(&original[removed..]);
            json!({"removed": removed, "messages": out})
        }
        "rebuild" => {
            let original = input["messages"].as_array().unwrap();
            let removed = spacebot::cut(&messages(), input["fraction"].as_f64().unwrap());
            let mut out = vec![json!({"role": "system", "content": input["system"]})];
            out.extend(
                input["summaries"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|s| user(text(s).to_owned())),
            );
            if removed > 0 {
                out.push(user(format!(
                    "{}{}",
                    spacebot::SUMMARY_MARK,
                    text(&input["summary"])
                )));
            }
            out.extend_from_slice(&original[removed..]);
            json!({"messages": out})
        }
        _ => panic!("no such suite: spacebot.{step}"),
    }
}

fn vibe_step(step: &str, input: &Value) -> Value {
    let decoded = || messages(Wire::OpenAiChat, &input["messages"]);
    match step {
        "before_turn" => {
            let warnings = if input["warnings"] == true {
                vibe::Warnings::On
            } else {
                vibe::Warnings::Off
            };
            let action = vibe::before_turn(
                signed(&input["context_tokens"]),
                signed(&input["threshold"]),
                warnings,
            );
            json!({"action": match action {
                vibe::BeforeTurn::Continue => "continue",
                vibe::BeforeTurn::Warn => "warn",
                vibe::BeforeTurn::Compact => "compact",
            }})
        }
        "clean" => {
            let original = input["messages"].as_array().unwrap();
            let cleaned: Vec<Value> = vibe::clean(&decoded())
                .into_iter()
                .map(|item| match item {
                    vibe::Cleaned::Entry(position) => original[position].clone(),
                    vibe::Cleaned::Filled(message) => filled(&message),
                })
                .collect();
            json!({"messages": cleaned})
        }
        "compact" => {
            let original = input["messages"].as_array().unwrap();
            let summary = vibe::summary_text(&decoded(), text(&input["summary"]));
            json!({"messages": [original[0], {"role": "user", "content": summary}]})
        }
        "message" => json!({"line": vibe::done_line(number(&input["old"]), number(&input["new"]))}),
        "stats" => {
            let mut stats = vibe::Stats::default();
            for turn in input["turns"].as_array().unwrap() {
                let seconds = turn["seconds"].as_f64().unwrap();
                stats.update(
                    number(&turn["prompt"]),
                    number(&turn["completion"]),
                    seconds,
                );
            }
            json!({
                "steps": stats.steps,
                "session_prompt_tokens": stats.session_prompt_tokens,
                "session_completion_tokens": stats.session_completion_tokens,
                "context_tokens": stats.context_tokens,
                "last_turn_prompt_tokens": stats.last_turn_prompt_tokens,
                "last_turn_completion_tokens": stats.last_turn_completion_tokens,
                "tokens_per_second": stats.tokens_per_second,
            })
        }
        _ => panic!("no such suite: vibe.{step}"),
    }
}

fn filled(message: &Message) -> Value {
    match message.role {
        Role::Tool => {
            let result = message.results().next().unwrap();
            json!({
                "role": "tool",
                "tool_call_id": result.call_id,
                "content": result.texts().next().unwrap(),
            })
        }
        role => json!({"role": role.as_str(), "content": message.spoken().next().unwrap()}),
    }
}

fn messages(wire: Wire, list: &Value) -> Vec<Message> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let raw = message.to_string();
            let value = json::read(raw.as_bytes()).unwrap();
            decode(wire, &value).unwrap().message
        })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn signed(value: &Value) -> i64 {
    value.as_i64().unwrap()
}
