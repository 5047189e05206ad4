use std::sync::Arc;

use bytes::Bytes;
use epitome::{Digest, Meter};
use epitome_engine::record::{ChainRecord, LinkTrims, MadeFor, StoredTrim};
use epitome_wire::{Body, ChainKey, Conversation, Memo, Wire};

use super::{Epochs, newest};
use crate::epoch::Epoch;

fn conversation() -> Conversation {
    let messages: Vec<String> = (0..6)
        .map(|at| match at % 2 {
            0 => format!(r#"{{"role":"user","content":"Lamp {at}?"}}"#),
            _ => format!(r#"{{"role":"assistant","content":"Lamp {at} burns."}}"#),
        })
        .collect();
    let body = format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","));
    let body = Body::scan(Bytes::from(body), Wire::OpenAiChat).unwrap();
    let memo = Memo::new(Meter::Estimate, 100);
    Conversation::of(&body, &memo, &ChainKey::new([7; 32])).unwrap()
}

/// One that covers so many links and shortens the last one.
fn epoch(node: Digest, covered_links: usize) -> Arc<Epoch> {
    Arc::new(Epoch {
        id: format!("covers-{covered_links}"),
        node,
        class: MadeFor::Window(30_000),
        summary: "Lamps.".into(),
        tokens_before: 100,
        tokens_after: 50,
        record: ChainRecord {
            covered_links,
            trims: vec![LinkTrims {
                link: 5,
                trims: vec![StoredTrim::Ends(0, 0, 3, 3)],
            }],
            ..ChainRecord::default()
        },
    })
}

#[test]
fn of_two_that_end_with_the_same_result_the_one_that_covers_more_is_in_force() {
    let conversation = conversation();
    let (_, node) = *conversation.chain.last().unwrap();
    for order in [[2, 4], [4, 2]] {
        let mut epochs = Epochs::default();
        for covered in order {
            epochs.insert(epoch(node, covered));
        }
        let found = newest(&epochs, &conversation, |_| true).unwrap();
        assert_eq!(found.id, "covers-4", "{order:?}");
        let found = newest(&epochs, &conversation, |epoch| epoch.id != "covers-4").unwrap();
        assert_eq!(found.id, "covers-2", "{order:?}");
    }
}
