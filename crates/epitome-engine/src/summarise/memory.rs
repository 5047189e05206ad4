//! What should outlive a conversation: saved by the model that summarises it, or found by rule.

use epitome::{Compaction, LineKind, PinKind};
use serde_json::{Value, json};

use crate::model::Tool;

/// The name of the tool by which a model saves something.
pub(super) const MEMORY_SAVE: &str = "memory_save";
/// The longest text that is saved, in characters.
const MEMORY_CHARS: usize = 2_000;
/// How many are taken from one compaction.
const MOST: usize = 50;

/// Something to be known in other conversations too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What it is.
    pub kind: MemoryKind,
    /// The text.
    pub text: String,
    /// The entries it comes from, where that is known.
    pub entries: Vec<usize>,
}

/// What a memory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Something that is so.
    Fact,
    /// What somebody likes or wants done.
    Preference,
    /// What was decided.
    Decision,
    /// What was noticed.
    Observation,
}

impl MemoryKind {
    const ALL: [Self; 4] = [
        Self::Fact,
        Self::Preference,
        Self::Decision,
        Self::Observation,
    ];

    /// The stored name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Observation => "observation",
        }
    }
}

impl Memory {
    /// What makes two memories the same: their words, whatever the spaces and capitals.
    #[must_use]
    pub fn normal_text(&self) -> String {
        let words = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.trim_end_matches(['.', '!', ' ']).to_lowercase()
    }

    /// Reads the arguments of a call; `Err` is what the model is told.
    pub(super) fn from_call(arguments: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(arguments)
            .map_err(|_| String::from("the arguments are not JSON: send {\"content\": \"…\"}"))?;
        let field = |name: &str| value.get(name).and_then(Value::as_str);
        let text = field("content")
            .or_else(|| field("text"))
            .unwrap_or("")
            .trim();
        if text.is_empty() {
            return Err(String::from("`content` is empty: there is nothing to save"));
        }
        let kind = field("kind")
            .or_else(|| field("memory_type"))
            .unwrap_or("fact");
        let kind = MemoryKind::ALL
            .into_iter()
            .find(|known| known.as_str() == kind.to_lowercase());
        Ok(Self {
            kind: kind.unwrap_or(MemoryKind::Fact),
            text: text.chars().take(MEMORY_CHARS).collect(),
            entries: Vec::new(),
        })
    }
}

/// The tool as models see it.
pub(super) fn tool() -> Tool {
    Tool {
        name: MEMORY_SAVE.to_owned(),
        description: String::from(
            "Saves one thing that will still matter in another conversation: a fact, a preference, a decision or an observation.",
        ),
        schema: json!({
            "type": "object",
            "properties": {
                "content": {"type": "string", "description": "What to remember, in one or two sentences."},
                "kind": {"type": "string", "enum": ["fact", "preference", "decision", "observation"]},
            },
            "required": ["content"],
        }),
    }
}

/// What a compaction of the built-in summariser has that should outlive the conversation: the user's standing
/// instructions, and what was decided and not taken back.
#[must_use]
pub fn extracted(compaction: &Compaction) -> Vec<Memory> {
    let pins = compaction.pins.iter().filter(|pin| pin.is_active());
    let pins = pins.filter(|pin| matches!(pin.kind, PinKind::Instruction | PinKind::Passage));
    let preferences = pins.map(|pin| (MemoryKind::Preference, &pin.text, pin.position));
    let lines = compaction.summary.lines.iter();
    let decisions = lines
        .filter(|line| line.kind == LineKind::Decided)
        .map(|line| (MemoryKind::Decision, &line.text, line.position));
    let mut out: Vec<Memory> = Vec::new();
    for (kind, text, position) in preferences.chain(decisions).take(MOST) {
        let memory = Memory {
            kind,
            text: text.chars().take(MEMORY_CHARS).collect(),
            entries: vec![position],
        };
        if out
            .iter()
            .all(|known| known.normal_text() != memory.normal_text())
        {
            out.push(memory);
        }
    }
    out
}
