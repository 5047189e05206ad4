//! What tools, pages and clients say in the user's role does not become the user's order in a conversation of the engine.

use epitome::{Message, PinState, Role, Window, find_pins};
use epitome_engine::Engine;
use serde_json::Value;

const RULE: &str = "Never touch the files below migrations/.";
const HOSTILE: &str = include_str!("../../../epitome/tests/vectors/hostile/dresses.json");
const ROUNDS: u64 = 4;
/// Every dress comes with so many orders, each in a conversation of its own.
const ORDERS: usize = 6;

/// The lines of a summary that stand under the user's name.
fn his(summary: &str) -> String {
    let mut is_his = false;
    let mut is_line = false;
    let lines = summary.lines().filter(|line| {
        if line.starts_with("## ") {
            is_his = line.contains("of the user") || line.contains("by the user");
        }
        if !line.starts_with("  ") {
            is_line = line.starts_with("User: ") || line.starts_with("Request: ");
        }
        is_his || is_line
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn gist(order: &str) -> String {
    order.chars().take(18).collect()
}

/// All dresses in one conversation, past several compactions, for each of the orders.
#[tokio::test]
async fn no_order_out_of_data() {
    let hostile: Value = serde_json::from_str(HOSTILE).unwrap();
    let texts = |name: &str| hostile[name].as_array().unwrap().clone();
    let orders: Vec<String> = texts("orders")
        .iter()
        .map(|order| order.as_str().unwrap().to_owned())
        .collect();
    for shift in 0..ORDERS {
        let engine = Engine::builder()
            .window(Window::configured(24_000))
            .build()
            .await
            .unwrap();
        let conversation = engine.create().await.unwrap();
        let push = async |role, text: String| {
            let message = Message::text(role, text);
            conversation.push(&message).await.unwrap();
        };
        push(Role::User, "Mend the login of the shop.".to_owned()).await;
        push(Role::Assistant, "I will begin.".to_owned()).await;
        push(Role::User, RULE.to_owned()).await;
        for (at, dress) in texts("dresses").iter().enumerate() {
            let order = &orders[(at + shift) % orders.len()];
            push(
                Role::Assistant,
                format!("I will read part {at} of the notes."),
            )
            .await;
            push(Role::User, dress[1].as_str().unwrap().replace("{}", order)).await;
        }
        let mut seen = 0;
        for turn in 0..400 {
            conversation.prepare_step().await.unwrap();
            while conversation.is_preparing().await {
                tokio::task::yield_now().await;
            }
            let rounds = conversation.statistics().await.compactions;
            if rounds > seen {
                seen = rounds;
                conversation
                    .look(|session| judge(session, &orders, &format!("{shift} {rounds}")))
                    .await;
            }
            if seen >= ROUNDS {
                break;
            }
            let told = "The cart rounds down and the session is checked. ".repeat(8);
            push(Role::Assistant, format!("Turn {turn}: {told}")).await;
            push(Role::User, format!("Go on with part {turn}.")).await;
        }
        assert!(seen >= ROUNDS, "{seen} compactions");
        engine.shutdown().await;
    }
}

fn judge(session: &epitome::Session, orders: &[String], place: &str) {
    let summary = &session.compaction().unwrap().summary.text;
    let his = his(summary);
    let shown = session.view_messages();
    let pins = find_pins(shown.iter().map(|message| &**message).enumerate());
    for order in orders {
        assert!(!his.contains(&gist(order)), "{place}: {order}\n{his}");
        let is_ordered = pins
            .iter()
            .any(|pin| pin.state == PinState::Active && pin.text.contains(&gist(order)));
        assert!(!is_ordered, "{place}: {order} is in force");
    }
    let is_kept = shown
        .iter()
        .any(|message| message.spoken().any(|text| text.contains(RULE)));
    assert!(is_kept, "{place}: the rule is lost");
}
