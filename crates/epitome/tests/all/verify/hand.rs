//! Small conversations in several languages, each with a summary as a careful person would write it.

use epitome::{Block, Call, Message, ResultPart, Role, ToolResult};

use super::corrupt::Corruption;
use super::samples::Sample;

/// `U:`, `A:`, `C:` (a call) and `T:` (its result) begin an entry; `==` begins the summary; `!!` begins what goes wrong
/// with it, written by hand too: which kind, what stood there, what stands there instead, what must come back.
const CONVERSATIONS: [(&str, &str); 8] = [
    ("english", include_str!("hand/english.txt")),
    ("german", include_str!("hand/german.txt")),
    ("spanish", include_str!("hand/spanish.txt")),
    ("french", include_str!("hand/french.txt")),
    ("chinese", include_str!("hand/chinese.txt")),
    ("cluster", include_str!("hand/cluster.txt")),
    ("thesis", include_str!("hand/thesis.txt")),
    ("italian", include_str!("hand/italian.txt")),
];

pub(crate) fn samples() -> Vec<Sample> {
    CONVERSATIONS
        .iter()
        .map(|(name, text)| {
            let (conversation, summary) = parts(text);
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

fn parts(text: &str) -> (&str, &str) {
    let (conversation, rest) = text.split_once("\n==\n").unwrap();
    (conversation, rest.split("!!\n").next().unwrap())
}

/// A summary that somebody got wrong.
pub(crate) struct Wrong {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) corruption: Corruption,
}

/// The mistakes that are written down for each conversation. Before a heading they are put in as a line.
pub(crate) fn wrong() -> Vec<Wrong> {
    let mut found = Vec::new();
    for (name, text) in CONVERSATIONS {
        let (_, summary) = parts(text);
        let Some((_, mistakes)) = text.split_once("!!\n") else {
            continue;
        };
        for mistake in mistakes.lines() {
            let fields: Vec<&str> = mistake.split('|').map(str::trim).collect();
            let [kind, original, bad, rest @ ..] = fields.as_slice() else {
                panic!("{mistake}");
            };
            assert!(summary.contains(original), "{name}: {original}");
            let text = match original.starts_with("## ") {
                true => summary.replacen(original, &format!("{bad}\n\n{original}"), 1),
                false => summary.replacen(original, bad, 1),
            };
            let wanted = rest.first().map(|wanted| (*wanted).to_owned());
            let bad = (*bad).to_owned();
            let corruption = Corruption { text, bad, wanted };
            found.push(Wrong {
                name,
                kind,
                corruption,
            });
        }
    }
    found
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
