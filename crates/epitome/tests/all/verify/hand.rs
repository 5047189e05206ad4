//! Small conversations in several languages, each with a summary as a careful person would write it.

use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};

use super::samples::Sample;

/// `U:`, `A:`, `C:` (a call) and `T:` (its result) begin an entry; `==` begins the summary.
const CONVERSATIONS: [(&str, &str); 5] = [
    ("english", include_str!("hand/english.txt")),
    ("german", include_str!("hand/german.txt")),
    ("spanish", include_str!("hand/spanish.txt")),
    ("french", include_str!("hand/french.txt")),
    ("chinese", include_str!("hand/chinese.txt")),
];

pub(crate) fn samples() -> Vec<Sample> {
    CONVERSATIONS
        .iter()
        .map(|(name, text)| {
            let (conversation, summary) = text.split_once("\n==\n").unwrap();
            Sample {
                name: (*name).to_owned(),
                set: "hand",
                messages: conversation.lines().enumerate().map(entry).collect(),
                previous: None,
                summary: summary.to_owned(),
            }
        })
        .collect()
}

fn entry((number, line): (usize, &str)) -> Message {
    let (who, text) = line.split_once(": ").unwrap();
    let text = text.replace("\\n", "\n");
    match who {
        "U" => Message::text(Role::User, text),
        "A" => Message::text(Role::Assistant, text),
        "C" => Message {
            role: Role::Assistant,
            blocks: vec![Block::Call(Call::new(
                format!("call_{number}"),
                text.split(' ').next().unwrap(),
                text.split_once(' ').unwrap().1,
            ))],
        },
        "T" => Message {
            role: Role::Tool,
            blocks: vec![Block::Result(ToolResult {
                call_id: format!("call_{}", number - 1).into(),
                parts: vec![ResultPart::Text(text)],
                is_error: false,
            })],
        },
        other => panic!("{other}"),
    }
}
