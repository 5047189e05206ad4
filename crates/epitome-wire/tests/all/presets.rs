//! Every preset on every kind of conversation: valid views, within their budgets, round after round.

use epitome::{
    Basis, Compaction, Facts, Log, Message, Meter, NoPlan, Plan, Preset, PresetName, Reason,
    SummaryPlace, leading_system,
};
use epitome_testkit::cases::property;
use epitome_testkit::{Kind, Random};
use epitome_wire::{Body, Wire};

use crate::cuts::rescan;
use crate::fixtures::{Judge, assert_no_new_problems, bytes, decoded, generated};

const RULE: &str = "Never rename the column tenant_ref, whatever happens.";

fn log_of(messages: &[Message]) -> Log {
    let mut log = Log::new();
    for message in messages {
        log.push(&Facts::of(message, Meter::Estimate));
    }
    log
}

fn size(log: &Log) -> u64 {
    log.tokens(leading_system(log)..log.len())
}

/// One round: plan, extract, render; everything a law says about the result.
fn round(name: PresetName, body: &Body, budget: Option<u64>) -> Result<Body, NoPlan> {
    let messages = decoded(body);
    let log = log_of(&messages);
    let preset = Preset::named(name);
    let before = size(&log);
    let plan = Plan::with(
        &preset,
        &log,
        budget,
        epitome::Room::of(before / 2),
        Reason::Manual,
    )?;
    let floor = plan.floor_tokens;
    let again = plan.clone();
    let basis = Basis {
        design: name.design(),
        ..Basis::new(&log, &messages, Meter::Estimate)
    };
    let made = |plan| Compaction::extract(plan, &basis);
    let compaction = made(plan)?;
    assert_eq!(
        made(again),
        Ok(compaction.clone()),
        "{name}: not the same twice"
    );

    let view = compaction.view(log.len());
    let out = body
        .render(&view, &compaction.summary.text)
        .unwrap()
        .into_bytes();
    let result = rescan(body, &out);
    let after = size(&log_of(&decoded(&result)));
    assert!(after * 10 <= before * 9, "{name}: {before} -> {after}");
    if let Some(budget) = budget {
        assert!(
            after <= budget,
            "{name}: {after} above {budget} (floor {floor})"
        );
    }
    let mut judge = Judge::of(body);
    assert_no_new_problems(
        name.as_str(),
        &judge.problems(body),
        &judge.problems(&result),
    );
    Ok(result)
}

fn random_body(random: &mut Random, size: usize) -> Body {
    let wire = *random.pick(Wire::ALL);
    let kind = *random.pick(&Kind::ALL);
    let value = generated(wire, kind, random.bits(), 12 + size);
    Body::scan(bytes(&value), wire).unwrap()
}

#[test]
fn every_preset_makes_valid_smaller_views_without_a_budget() {
    property(8, 120, |random, size| {
        let body = random_body(random, size);
        for name in PresetName::ALL.iter().copied() {
            match round(name, &body, None) {
                Ok(_) => {}
                Err(no) => assert!(
                    matches!(
                        no.reason,
                        Reason::NothingToRemove | Reason::NotSmaller | Reason::FloorAboveBudget
                    ),
                    "{name}: {no}"
                ),
            }
        }
    });
}

#[test]
fn every_preset_keeps_a_budget_for_up_to_five_rounds() {
    property(20, 120, |random, size| {
        let first = random_body(random, size);
        for name in PresetName::ALL.iter().copied() {
            let mut body = first.clone();
            for _ in 0..5 {
                let budget = self::size(&log_of(&decoded(&body))) * 2 / 3;
                match round(name, &body, Some(budget)) {
                    Ok(next) => body = next,
                    Err(_) => break,
                }
            }
        }
    });
}

/// The conversation goes on.
fn grown(body: &Body, seed: u64) -> Body {
    let mut value: serde_json::Value = serde_json::from_slice(body.bytes()).unwrap();
    let more = generated(body.wire(), Kind::Chat, 100 + seed, 40);
    let name = body.wire().list_name();
    let more = more[name].as_array().unwrap().iter();
    let list = value[name].as_array_mut().unwrap();
    list.extend(more.filter(|message| message["role"] != "system").cloned());
    Body::scan(bytes(&value), body.wire()).unwrap()
}

#[test]
fn a_rule_of_the_user_survives_four_rounds_of_every_preset() {
    for name in PresetName::ALL.iter().copied() {
        for &wire in Wire::ALL {
            let mut value = generated(wire, Kind::Chat, 3, 120);
            let list = value[wire.list_name()].as_array_mut().unwrap();
            let at = list
                .iter()
                .skip(6)
                .position(|m| m["role"] == "user")
                .unwrap()
                + 6;
            list[at] = serde_json::json!({"role": "user", "content": format!("By the way. {RULE} Thanks.")});
            let bytes = serde_json::to_vec(&value).unwrap();
            let mut body = Body::scan(bytes.into(), wire).unwrap();
            let mut rounds = 0;
            for _ in 0..4 {
                let budget = size(&log_of(&decoded(&body))) * 3 / 5;
                body = round(name, &body, Some(budget.max(1_500))).unwrap();
                rounds += 1;
                let text = String::from_utf8(body.bytes().to_vec()).unwrap();
                let count = text.matches(RULE).count();
                let stacks = Preset::named(name).place == SummaryPlace::Stack;
                assert!(count >= 1, "{name} {wire}: lost in round {rounds}");
                assert!(
                    stacks || count == 1,
                    "{name} {wire}: {count} times in round {rounds}"
                );
                body = grown(&body, rounds);
            }
        }
    }
}
