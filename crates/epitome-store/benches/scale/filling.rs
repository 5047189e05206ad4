//! Conversations of 100 short messages, written in large pieces.

use epitome_store::{
    AnyStore, Append, CompactionRow, CompactionState, Compactions, ConversationId, Digest, Entries,
    EntryRow, EntryWords, NewConversation, NodeRow, Store, TenantId,
};
use epitome_testkit::Random;

pub(crate) const MESSAGES: usize = 100;
/// How many of them the compaction of each conversation covers.
pub(crate) const COVERED: usize = 70;
/// How many conversations are written in one transaction.
const PIECE: u64 = 50;
/// How many writers there are.
const WRITERS: u64 = 3;
/// Every other message has any of them, as the common words of a language do.
const WORDS: [&str; 24] = [
    "anchor", "basin", "copper", "delta", "ember", "fjord", "gravel", "harbor", "island", "jetty",
    "kelp", "lagoon", "meadow", "north", "orchard", "pier", "quarry", "river", "shore", "tide",
    "upland", "valley", "wharf", "yard",
];

pub(crate) async fn fill(url: &str, conversations: u64) {
    let store = AnyStore::open(url).await.unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let pieces = conversations.div_ceil(PIECE);
            for piece in (0..pieces).filter(|piece| piece % WRITERS == writer) {
                let numbers = piece * PIECE..conversations.min((piece + 1) * PIECE);
                write(&store, numbers).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    store.close().await;
}

async fn write(store: &AnyStore, numbers: std::ops::Range<u64>) {
    let tenant = TenantId::local();
    let appends: Vec<Append> = numbers.clone().map(|number| talk(number, 0)).collect();
    store.append_all(&tenant, &appends).await.unwrap();
    for number in numbers {
        let nothing = Append {
            entries: Vec::new(),
            nodes: Vec::new(),
            words: Vec::new(),
            ..talk(number, MESSAGES)
        };
        let row = compaction(number, &format!("made{number}"), COVERED - 1);
        store
            .commit_compaction(&tenant, &nothing, &row)
            .await
            .unwrap();
        store.publish(&tenant, &row.id, None).await.unwrap();
    }
}

pub(crate) fn id(number: u64) -> ConversationId {
    ConversationId::new(&format!("talk{number}")).unwrap()
}

pub(crate) fn node(number: u64, position: usize) -> Digest {
    Digest::of(format!("{number}/{position}").as_bytes())
}

/// The messages of a conversation from one on.
pub(crate) fn talk(number: u64, first: usize) -> Append {
    let mut append = Append {
        conversation: NewConversation {
            id: id(number),
            parent: None,
            label: Some(format!("Conversation about unique{number}")),
            created_ms: at_ms(number),
        },
        entries: Vec::new(),
        nodes: Vec::new(),
        words: Vec::new(),
        touched_ms: at_ms(number),
    };
    for position in first..MESSAGES.max(first + 2) {
        add(&mut append, number, position);
    }
    append
}

fn add(append: &mut Append, number: u64, position: usize) {
    let mut random = Random::new(number * 10_000 + position as u64);
    let mut text = format!("Message {position} of unique{number}:");
    for _ in 0..14 {
        text.push(' ');
        let word: &&str = random.pick(&WORDS);
        text.push_str(word);
    }
    let role = match position % 2 {
        0 => "user",
        _ => "assistant",
    };
    let raw = format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}");
    let key = Digest::of(raw.as_bytes());
    append.nodes.push(NodeRow {
        digest: node(number, position),
        parent: position.checked_sub(1).map(|before| node(number, before)),
        entry: key,
        position: u32::try_from(position).unwrap(),
        conversation: id(number),
    });
    append.words.push(EntryWords { key, text });
    append.entries.push(EntryRow {
        key,
        raw: raw.into(),
        wire: "openai-chat".to_owned(),
        tokens: 40,
    });
}

pub(crate) fn compaction(number: u64, name: &str, last: usize) -> CompactionRow {
    CompactionRow {
        id: name.to_owned(),
        conversation: id(number),
        node: node(number, last),
        model_class: "window/8000".to_owned(),
        state: CompactionState::Prepared,
        head_entries: 1,
        covered_entries: u32::try_from(last).unwrap(),
        tokens_before: 7_000,
        tokens_after: 3_000,
        summary: "harbor and island, and what was said of them. ".repeat(60),
        record: "{\"pins\":[]}".to_owned(),
        created_ms: at_ms(number),
    }
}

fn at_ms(number: u64) -> i64 {
    1_790_000_000_000 + i64::try_from(number).unwrap() * 1_000
}
