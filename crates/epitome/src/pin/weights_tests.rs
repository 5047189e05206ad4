use super::weights::{Key, TABLE, WEIGHTS, Weights, entries};

/// Every line of the table is read, and everything it names is known.
#[test]
fn every_weight_is_read() {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let names: usize = lines.map(|line| line.split(", ").count()).sum();
    assert_eq!(entries(TABLE).count(), names);
    let mut weights = Weights::read("");
    let mut phrases = 0;
    for (points, name) in entries(TABLE) {
        match name.strip_prefix('@') {
            Some("start") => {}
            Some(name) => assert!(weights.named(name).is_some(), "{name}"),
            None => {
                assert_eq!(WEIGHTS.of(Key::of(name)), Some(points), "{name}");
                phrases += 1;
            }
        }
    }
    assert_eq!(
        WEIGHTS.phrases.len(),
        phrases,
        "no two phrases have the same key"
    );
}
