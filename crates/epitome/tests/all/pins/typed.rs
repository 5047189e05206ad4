//! Sentences as people type them, hard on purpose: rules without the words of rules, and requests and facts full of
//! them. Part `unseen` was never looked into while the rules were written.

use std::collections::BTreeMap;

use epitome::{PinKind, find_pins};

use crate::support::user;

/// Part, language, label, sentence; a heading comes first.
const TYPED: &str = include_str!("../../vectors/pins/typed.tsv");
/// Part, label, sentence, all of them English: written after weights had been fitted to the first.
/// Part `unseen` is never looked into.
const SECOND: &str = include_str!("../../vectors/pins/typed_second.tsv");

/// What English comes to at least in either part, and all other languages together: precision, recall.
const ENGLISH: (f64, f64) = (0.73, 0.72);
const ENGLISH_SECOND: (f64, f64) = (0.85, 0.77);
const OTHERS: (f64, f64) = (0.47, 0.56);

#[derive(Debug, Default)]
struct Tally {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Tally {
    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }

    fn count(&mut self, is_rule: bool, is_found: bool) {
        match (is_rule, is_found) {
            (true, true) => self.right += 1,
            (false, true) => self.wrong += 1,
            (true, false) => self.missed += 1,
            (false, false) => {}
        }
    }
}

fn is_in_force(sentence: &str) -> bool {
    let pins = find_pins([(0, &user(sentence))]);
    pins.iter()
        .any(|pin| pin.is_active() && pin.kind != PinKind::Todo)
}

#[test]
fn more_of_what_is_typed_is_in_force_only_if_it_is_a_rule() {
    let mut parts: BTreeMap<&str, Tally> = BTreeMap::new();
    for line in SECOND.lines().skip(1) {
        let [part, label, sentence] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}");
        };
        let tally = parts.entry(part).or_default();
        tally.count(label == "in_force", is_in_force(sentence));
    }
    for (part, tally) in &parts {
        let (precision, recall) = (tally.precision(), tally.recall());
        println!("second, {part}: precision {precision:.3} recall {recall:.3} {tally:?}");
        let is_enough = precision >= ENGLISH_SECOND.0 && recall >= ENGLISH_SECOND.1;
        assert!(is_enough, "{part}: {precision} {recall}");
    }
}

#[test]
fn what_is_typed_is_in_force_only_if_it_is_a_rule() {
    let mut languages: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    let mut groups: BTreeMap<(&str, bool), Tally> = BTreeMap::new();
    for line in TYPED.lines().skip(1) {
        let [part, language, label, sentence] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}");
        };
        let (is_rule, is_found) = (label == "in_force", is_in_force(sentence));
        let language_tally = languages.entry((part, language)).or_default();
        language_tally.count(is_rule, is_found);
        let group = groups.entry((part, language == "en")).or_default();
        group.count(is_rule, is_found);
    }
    for ((part, language), tally) in &languages {
        let (precision, recall) = (tally.precision(), tally.recall());
        println!("{part} {language}: precision {precision:.3} recall {recall:.3} {tally:?}");
    }
    for ((part, is_english), tally) in &groups {
        let least = if *is_english { ENGLISH } else { OTHERS };
        let reached = (tally.precision(), tally.recall());
        let is_enough = reached.0 >= least.0 && reached.1 >= least.1;
        assert!(is_enough, "{part}, English {is_english}: {reached:?}");
    }
}
