use super::*;

fn links(names: &[&str]) -> Vec<(usize, Digest)> {
    let digests = names.iter().map(|name| Digest::of(name.as_bytes()));
    digests.enumerate().collect()
}

fn id(number: u128) -> ConversationId {
    ConversationId::from_number(number)
}

#[test]
fn what_another_node_added_is_gone_on_with() {
    let index = Index::default();
    let place = index.attach(&links(&["a", "b"]), id(1), 7, 1);
    assert_eq!(place.conversation, id(1));
    // The second request went to another node; the third one comes here again.
    let learned = ["c", "d"].map(|name| (Digest::of(name.as_bytes()), id(1)));
    index.learn(learned);
    let chain = links(&["a", "b", "c", "d", "e"]);
    let place = index.attach(&chain, id(2), 7, 2);
    assert_eq!((place.conversation, place.parent), (id(1), None));
    assert_eq!(place.known_links, 4);
}

#[test]
fn what_leaves_the_known_way_is_a_branch() {
    let index = Index::default();
    index.attach(&links(&["a", "b", "c"]), id(1), 7, 1);
    let place = index.attach(&links(&["a", "b", "x"]), id(2), 7, 2);
    assert_eq!((place.conversation, place.parent), (id(2), Some(id(1))));
    // Another node added to the first one, but not behind what is known of it here.
    index.learn([(Digest::of(b"y"), id(1))]);
    let place = index.attach(&links(&["a", "b", "y", "z"]), id(3), 7, 3);
    assert_eq!((place.conversation, place.parent), (id(3), Some(id(1))));
}
