use epitome::Digest;
use epitome_store::{CompactionRow, CompactionState, ConversationId};

use super::growth;
use crate::archive::{ListedMessage, MessageState};

fn messages(count: u64) -> Vec<ListedMessage> {
    let one = |position: u64| ListedMessage {
        position,
        role: Some(if position % 2 == 1 {
            "user"
        } else {
            "assistant"
        }),
        tokens: 100,
        key: String::new(),
        text: String::new(),
        state: MessageState::InView,
        is_pinned: false,
    };
    (1..=count).map(one).collect()
}

fn compaction(id: &str, covered: u32, summary: u64, before: u64) -> CompactionRow {
    CompactionRow {
        id: id.to_owned(),
        conversation: ConversationId::new("s").unwrap(),
        node: Digest::of(b"n"),
        model_class: "window/1000".to_owned(),
        state: CompactionState::Published,
        head_entries: 1,
        covered_entries: covered,
        tokens_before: before,
        tokens_after: 0,
        summary: String::new(),
        record: format!(
            r#"{{"covered_links":{},"task_in_head":true,"notes_cap_tokens":0,"summary_tokens":{summary},"trimmed_tokens":0,"trims":[],"reason":"hard_line","sources":[]}}"#,
            covered + 1
        ),
        created_ms: 0,
    }
}

#[test]
fn the_context_falls_where_a_compaction_was_made_and_grows_again() {
    // Both were made from the originals: at 900 tokens, and at 1,400.
    let rows = [compaction("a", 5, 50, 900), compaction("b", 11, 80, 1_400)];
    let grown = growth(&messages(20), &rows);
    assert_eq!(grown.rounds, [("a".to_owned(), 9), ("b".to_owned(), 14)]);
    assert_eq!(grown.window_tokens, Some(1_000));
    assert_eq!(grown.points[7], (800, 800));
    // One in front, the summary, three behind the span.
    assert_eq!(grown.points[8], (900, 100 + 50 + 300));
    assert_eq!(grown.points[13], (1_400, 100 + 80 + 200));
    assert_eq!(grown.points[19], (2_000, 100 + 80 + 800));
    // Answers 10, 12, ... 20 went out shorter: six requests.
    assert_eq!(grown.savings.requests, 6);
    assert_eq!(grown.asked, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    assert_eq!(
        grown.savings.tokens_before,
        900 + 1_100 + 1_300 + 1_500 + 1_700 + 1_900
    );
    assert!(grown.savings.tokens() > 0);
}

#[test]
fn without_compactions_everything_is_shown_and_nothing_saved() {
    let grown = growth(&messages(3), &[]);
    assert_eq!(grown.points, [(100, 100), (200, 200), (300, 300)]);
    assert_eq!(grown.savings.requests, 0);
    assert_eq!(growth(&[], &[]).points, []);
}
