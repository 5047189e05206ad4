use bytes::Bytes;
use epitome::Digest;
use epitome_store::{CompactionRow, CompactionState, ConversationId, EntryRow};

use super::summary_lines;

fn entry(role: &str, text: &str) -> EntryRow {
    let raw = serde_json::json!({"role": role, "content": text}).to_string();
    EntryRow {
        key: Digest::of(raw.as_bytes()),
        raw: Bytes::from(raw),
        wire: "openai-chat".to_owned(),
        tokens: 10,
    }
}

fn compaction(summary: &str, covered_entries: u32) -> CompactionRow {
    CompactionRow {
        id: "c".to_owned(),
        conversation: ConversationId::new("s").unwrap(),
        node: Digest::of(b"n"),
        model_class: "any".to_owned(),
        state: CompactionState::Published,
        head_entries: 1,
        covered_entries,
        tokens_before: 100,
        tokens_after: 10,
        summary: summary.to_owned(),
        record: "{}".to_owned(),
        created_ms: 0,
    }
}

#[test]
fn a_line_leads_to_the_messages_that_said_it() {
    let entries = [
        entry("user", "Build a tide table for the harbour of Husum."),
        entry(
            "assistant",
            "I looked at gauge 7 and the readings are in metres.",
        ),
        entry("user", "Never touch prod.env, whatever happens."),
        entry("assistant", "Understood: prod.env stays as it is."),
        entry(
            "assistant",
            "The build fails in tides.rs with error E0308, a u64 where an i64 is wanted.",
        ),
        entry("user", "Beyond the span: never touch prod.env either."),
    ];
    let summary = "## Instructions of the user (verbatim)\n- Never touch prod.env, whatever happens.\n\n## Record\n\
                   - build failed: tides.rs E0308; gauge 7 readings in metres\n- zebras quickly juggle xylophones";
    let lines = summary_lines(&compaction(summary, 4), &entries);
    let found: Vec<&[u64]> = lines.iter().map(|line| line.entries.as_slice()).collect();
    // The last two say as much of it; the shorter one says it more plainly.
    assert_eq!(found, [&[][..], &[3], &[], &[], &[2, 5], &[]]);
    assert_eq!(lines[1].text, "- Never touch prod.env, whatever happens.");
}

#[test]
fn a_proxys_task_is_not_counted_twice() {
    let mut row = compaction("", 10);
    row.record = r#"{"covered_links":10}"#.to_owned();
    assert_eq!(super::span(&row), 1..10);
}
