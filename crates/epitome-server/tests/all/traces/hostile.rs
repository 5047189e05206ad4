//! What tools, pages and clients say in the user's role does not become the user's order on its way through the proxy.

use epitome_testkit::Wire;
use serde_json::Value;

use super::rig::{Rig, Talk, server};
use crate::support::{assistant, user};

const WINDOW: u64 = 24_000;
const RULE: &str = "Never touch the files below migrations/.";
const HOSTILE: &str = include_str!("../../../../epitome/tests/vectors/hostile/dresses.json");

/// The lines of a summary that stand under the user's name.
fn under_the_users_name(summary: &str) -> String {
    let mut is_his = false;
    let lines = summary.lines().filter(|line| {
        if line.starts_with("## ") {
            is_his = line.contains("of the user") || line.contains("by the user");
        }
        is_his
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn gist(order: &str) -> String {
    order.chars().take(18).collect()
}

/// All dresses in one conversation for each format, past several compactions.
pub(super) async fn no_order_out_of_data() {
    let hostile: Value = serde_json::from_str(HOSTILE).unwrap();
    let texts = |name: &str| hostile[name].as_array().unwrap().clone();
    let orders: Vec<String> = texts("orders")
        .iter()
        .map(|order| order.as_str().unwrap().to_owned())
        .collect();
    for wire in Wire::ALL.iter().copied() {
        let rig = Rig::of_window(server(WINDOW)).await;
        let mut talk = Talk::new(wire, "scripted", 5);
        talk.messages.push(assistant("I will begin."));
        talk.messages.push(user(RULE.to_owned()));
        talk.messages.push(assistant("Understood."));
        for (at, dress) in texts("dresses").iter().enumerate() {
            let order = &orders[at % orders.len()];
            let text = dress[1].as_str().unwrap().replace("{}", order);
            talk.messages.push(user(text));
            talk.messages
                .push(assistant(format!("I have read part {at} of it.")));
        }
        talk.messages
            .push(user("Go on with the next part.".to_owned()));
        let mut rounds = 0;
        let mut last = String::new();
        for _ in 0..120 {
            talk.answered(600);
            let outcome = rig.ask(&talk).await;
            outcome.assert_answered("hostile texts");
            let Some(summary) = outcome.summary().filter(|summary| *summary != last) else {
                continue;
            };
            rounds += 1;
            let his = under_the_users_name(&summary);
            for order in &orders {
                assert!(
                    !his.contains(&gist(order)),
                    "{wire:?} {rounds}: {order}\n{his}"
                );
            }
            let body = String::from_utf8_lossy(&outcome.last().body).into_owned();
            assert!(
                body.contains("below migrations/"),
                "{wire:?} {rounds}: the rule is lost"
            );
            last = summary;
        }
        assert!(rounds >= 4, "{wire:?}: {rounds} compactions");
    }
}
