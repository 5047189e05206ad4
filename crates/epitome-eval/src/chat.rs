//! Long chats with questions about them (BEAM).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::session::{Entry, Speaker};
use crate::text::{is_digit, is_space};

/// A chat whose messages have numbers, by which questions cite them.
#[derive(Clone, Debug)]
pub struct Chat {
    /// What was said.
    pub entries: Vec<Entry>,
    /// The number of each message.
    pub numbers: Vec<i64>,
}

/// A question about a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What kind of memory it asks for.
    pub ability: String,
    /// The question.
    pub text: String,
    /// The expected answer with all that the judges look for.
    pub answer: String,
    /// The numbers of the messages that hold the answer.
    pub evidence: Vec<i64>,
}

/// A file of another shape.
#[derive(Debug, Error)]
#[error("not a chat or its questions: {0}")]
pub struct NoChat(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Batch {
    turns: Vec<Vec<Turn>>,
}

#[derive(Deserialize)]
struct Turn {
    role: Speaker,
    id: i64,
    content: String,
}

impl Chat {
    /// Reads a chat.
    ///
    /// # Errors
    /// [`NoChat`] says where the JSON is not of that shape.
    pub fn read(json: &[u8]) -> Result<Self, NoChat> {
        let batches: Vec<Batch> = serde_json::from_slice(json)?;
        let turns = || batches.iter().flat_map(|batch| &batch.turns).flatten();
        Ok(Self {
            entries: turns()
                .map(|turn| Entry::text(turn.role, without_number(&turn.content)))
                .collect(),
            numbers: turns().map(|turn| turn.id).collect(),
        })
    }
}

/// A message without the mark `->-> 1,2` at its end, which is not part of what was said.
fn without_number(content: &str) -> &str {
    let is_number = |c: char| is_digit(c) || c == ',';
    let rest = content.trim_end_matches(is_space);
    let unnumbered = rest.trim_end_matches(is_number);
    if unnumbered.len() == rest.len() {
        return content;
    }
    match unnumbered.trim_end_matches(is_space).strip_suffix("->->") {
        Some(said) => said.trim_end_matches(is_space),
        None => content,
    }
}

/// Where an answer may stand.
const ANSWER_FIELDS: [&str; 7] = [
    "answer",
    "ideal_answer",
    "ideal_response",
    "ideal_summary",
    "expected_compliance",
    "instruction_being_tested",
    "preference_being_tested",
];

impl Question {
    /// Reads the questions of a chat.
    ///
    /// # Errors
    /// [`NoChat`] says where the JSON is not of that shape.
    pub fn read_all(json: &[u8]) -> Result<Vec<Self>, NoChat> {
        let abilities: BTreeMap<String, Vec<BTreeMap<String, Value>>> =
            serde_json::from_slice(json)?;
        let questions = abilities.into_iter().flat_map(|(ability, questions)| {
            questions
                .into_iter()
                .map(move |fields| Self::of(&ability, &fields))
        });
        Ok(questions.collect())
    }

    fn of(ability: &str, fields: &BTreeMap<String, Value>) -> Self {
        let text = |name: &str| fields.get(name).map(said).unwrap_or_default();
        let mut answer: Vec<String> = ANSWER_FIELDS.into_iter().map(text).collect();
        if let Some(Value::Array(rubric)) = fields.get("rubric") {
            answer.extend(rubric.iter().map(said));
        }
        let mut evidence = Vec::new();
        if let Some(cited) = fields.get("source_chat_ids") {
            collect_numbers(cited, &mut evidence);
        }
        Self {
            ability: ability.to_owned(),
            text: text("question"),
            answer: answer.join(" "),
            evidence,
        }
    }
}

fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn collect_numbers(value: &Value, out: &mut Vec<i64>) {
    match value {
        Value::Number(number) => out.extend(number.as_i64()),
        Value::String(text) => {
            let numbers = text.split(|c: char| !c.is_ascii_digit());
            out.extend(numbers.filter_map(|number| number.parse::<i64>().ok()));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_numbers(item, out)),
        Value::Object(fields) => fields.values().for_each(|item| collect_numbers(item, out)),
        Value::Bool(_) | Value::Null => {}
    }
}
