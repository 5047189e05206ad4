//! What the pages are about: the examples, a store with conversations that are the same on every machine, and a configuration.

use std::path::Path;

use epitome::Calibration;
use epitome_engine::record::{ChainRecord, StepRecord};
use epitome_store::{
    Append, BeliefRow, Beliefs as _, CompactionRow, CompactionState, Compactions as _,
    ConversationId, Digest, Entries as _, EntryRow, EntryWords, NewConversation, NodeRow, Outcome,
    Outcomes as _, SqliteStore, Store as _, TenantId,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{EXAMPLES, example, json, run};

pub(super) const CONVERSATION: &str = "0199c04f3b1e7d0a8f6e5d4c3b2a1908";
pub(super) const COMPACTION: &str = "0199c0517aa87b3c9d2e1f0a4b5c6d7e";
const OTHER: &str = "0199c04f91c2740b8b77a6f5e4d3c2b1";
const BRANCH: &str = "0199c2a6d10f7be9a4433b2a19f8e7d6";
/// Noon of the eighth of October 2025, in UTC.
const NOON_MS: i64 = 1_759_924_800_000;
const MINUTE_MS: i64 = 60_000;

/// A folder with all of it.
pub(super) struct Kept {
    folder: TempDir,
}

/// A conversation that is kept from one of the examples.
struct Talk {
    id: &'static str,
    parent: Option<&'static str>,
    label: &'static str,
    example: &'static str,
    wire: &'static str,
    messages: usize,
    at_ms: i64,
    outcome: (&'static str, &'static str, u64, u64, &'static str),
}

const TALKS: [Talk; 3] = [
    Talk {
        id: CONVERSATION,
        parent: None,
        label: "We need webhooks in the ledger service: deliveries, retries, signatures",
        example: "coding-session.jsonl",
        wire: "openai-chat",
        messages: usize::MAX,
        at_ms: NOON_MS,
        outcome: ("compacted", "hard_line", 72_503, 7_826, "gpt-5.5"),
    },
    Talk {
        id: OTHER,
        parent: None,
        label: "A parcel of mine is late",
        example: "support-case.jsonl",
        wire: "anthropic",
        messages: 12,
        at_ms: NOON_MS - 90 * MINUTE_MS,
        outcome: ("passthrough", "below_line", 2_210, 2_210, "claude-sonnet-5"),
    },
    Talk {
        id: BRANCH,
        parent: Some(OTHER),
        label: "A parcel of mine is late",
        example: "support-case.jsonl",
        wire: "anthropic",
        messages: 8,
        at_ms: NOON_MS - 1_440 * MINUTE_MS,
        outcome: (
            "passthrough",
            "below_line",
            1_480,
            1_480,
            "a-model-of-our-own",
        ),
    },
];

impl Kept {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, _) in EXAMPLES {
            std::fs::copy(example(name), folder.path().join(name)).unwrap();
        }
        // Nobody listens at port 1: whoever asks there is refused at once, on every machine.
        let configuration = "[server]\nlisten = \"127.0.0.1:1\"\nstore = \"sqlite:log.db\"\n\
            openai_upstream = \"http://127.0.0.1:1\"\nanthropic_upstream = \"http://127.0.0.1:1\"\n";
        std::fs::write(folder.path().join("doctor.toml"), configuration).unwrap();
        let kept = Self { folder };
        kept.fill().await;
        kept
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    async fn fill(&self) {
        let store = SqliteStore::open(self.folder().join("log.db"))
            .await
            .unwrap();
        let tenant = TenantId::local();
        for talk in &TALKS {
            let append = talk.append();
            match talk.id == CONVERSATION {
                true => {
                    let row = compaction(append.nodes.as_slice());
                    store
                        .commit_compaction(&tenant, &append, &row)
                        .await
                        .unwrap();
                }
                false => store.append(&tenant, &append).await.unwrap(),
            }
            store
                .record_outcome(&tenant, &talk.outcome())
                .await
                .unwrap();
        }
        let mut calibration = Calibration::default();
        for request in 1..=12 {
            calibration.observe(request * 4_000, request * 4_480);
        }
        let belief = BeliefRow {
            endpoint: "https://api.openai.com".to_owned(),
            model: "gpt-5.5".to_owned(),
            window: None,
            counts: Some(serde_json::to_string(&calibration).unwrap()),
            at_ms: NOON_MS,
        };
        store.save_belief(&belief).await.unwrap();
        let (endpoint, model) = ("http://127.0.0.1:8080", "a-model-of-our-own");
        store
            .learn_window(endpoint, model, 32_768, NOON_MS)
            .await
            .unwrap();
        store.close().await;
    }
}

impl Talk {
    fn append(&self) -> Append {
        let text = std::fs::read_to_string(example(self.example)).unwrap();
        let raws: Vec<&str> = text.lines().take(self.messages).collect();
        let id = ConversationId::new(self.id).unwrap();
        let key = |at: usize| Digest::of(format!("{} {at}", self.id).as_bytes());
        let entry = |(at, raw): (usize, &&str)| EntryRow {
            key: key(at),
            raw: (*raw).to_owned().into(),
            wire: self.wire.to_owned(),
            tokens: (raw.len() / 4) as u32,
        };
        let node = |at: usize| NodeRow {
            digest: key(at),
            parent: at.checked_sub(1).map(key),
            entry: key(at),
            position: at as u32,
            conversation: id.clone(),
        };
        let words = |(at, raw): (usize, &&str)| EntryWords {
            key: key(at),
            text: (*raw).to_owned(),
        };
        Append {
            entries: raws.iter().enumerate().map(entry).collect(),
            nodes: (0..raws.len()).map(node).collect(),
            words: raws.iter().enumerate().map(words).collect(),
            conversation: NewConversation {
                id: id.clone(),
                parent: self
                    .parent
                    .map(|parent| ConversationId::new(parent).unwrap()),
                label: Some(self.label.to_owned()),
                created_ms: self.at_ms - 45 * MINUTE_MS,
            },
            touched_ms: self.at_ms,
        }
    }

    fn outcome(&self) -> Outcome {
        let (action, reason, tokens_before, tokens_after, model) = self.outcome;
        Outcome {
            conversation: Some(ConversationId::new(self.id).unwrap()),
            at_ms: self.at_ms,
            action: action.to_owned(),
            reason: reason.to_owned(),
            tokens_before,
            tokens_after,
            model: model.to_owned(),
        }
    }
}

/// What `compact` makes of the coding session before its last messages, as a proxy keeps it.
fn compaction(nodes: &[NodeRow]) -> CompactionRow {
    let path = example("coding-session.jsonl");
    let made = json(&run(&[
        "compact",
        path.to_str().unwrap(),
        "--budget",
        "8k",
        "--json",
    ]));
    let number = |at: &str| made.pointer(at).and_then(Value::as_u64).unwrap();
    let (from, until) = (number("/span/0"), number("/span/1"));
    let pins = made.pointer("/pins").and_then(Value::as_array).unwrap();
    let pin = |pin: &Value| {
        let text = pin.as_str().or_else(|| pin.pointer("/text")?.as_str());
        text.unwrap().to_owned()
    };
    let record = ChainRecord {
        covered_links: until as usize,
        task_in_head: true,
        summary_tokens: number("/summary_tokens"),
        reason: "hard_line".to_owned(),
        pins: Some(pins.iter().map(pin).collect()),
        steps: vec![
            StepRecord {
                rung: "model".to_owned(),
                failed: Some("summary_too_long".to_owned()),
            },
            StepRecord {
                rung: "built_in".to_owned(),
                failed: None,
            },
        ],
        ..ChainRecord::default()
    };
    CompactionRow {
        id: COMPACTION.to_owned(),
        conversation: ConversationId::new(CONVERSATION).unwrap(),
        node: nodes.get(until as usize - 1).unwrap().digest,
        model_class: "any".to_owned(),
        state: CompactionState::Published,
        head_entries: from as u32,
        covered_entries: until as u32,
        tokens_before: number("/tokens_before"),
        tokens_after: number("/tokens_after"),
        summary: made
            .pointer("/summary")
            .and_then(Value::as_str)
            .unwrap()
            .to_owned(),
        record: record.write().unwrap(),
        created_ms: NOON_MS - 4 * MINUTE_MS,
    }
}
