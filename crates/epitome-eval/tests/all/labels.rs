//! Sentences of real users, labelled by somebody who had not seen the extractor: what stands as an instruction in force
//! is one.
//!
//! The data lies beside the project; without it there is nothing to measure, and that is said. `EPITOME_LABELS=tuning`
//! (or `natural`, `customers`) prints what is wrong in that part; the untouched part is never looked into, and only counted
//! where nothing is printed.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that meets another shape stops, and it reports what it measured"
)]

use std::collections::BTreeMap;
use std::path::Path;

use epitome::{Message, PinKind, Role, find_pins};

use serde_json::Value;

use crate::support::data;

/// What the sentences without doubt come to at least, in either part.
const LEAST_PRECISION: f64 = 0.83;
const LEAST_RECALL: f64 = 0.79;

const LABELS: &str = include_str!("../../labels/sentences.tsv");
/// Sentences at the rate at which people type them: hardly any is a rule.
const NATURAL: &str = include_str!("../../labels/natural.tsv");
/// What customers of an airline typed, in conversations of the tuning sources.
const CUSTOMERS: &str = include_str!("../../labels/customers.tsv");
/// The untouched part as two readers see it who knew neither labels nor extractor.
const READERS: &str = include_str!("../../labels/readers.tsv");
/// What is wanted of the extractor: readers have to reach it, or the labels would be worth nothing.
const WANTED_PRECISION: f64 = 0.95;
const WANTED_RECALL: f64 = 0.92;
/// What that part comes to at least: a dozen rules, and the weights were fitted to it.
const LEAST_OF_CUSTOMERS: f64 = 0.9;
/// What of them may stand as a rule and is none, in a thousand, and the share of rules that is found.
const MOST_WRONG_IN_THOUSAND: usize = 12;
const LEAST_NATURAL_RECALL: f64 = 0.9;

struct Unit<'a> {
    part: &'a str,
    file: &'a str,
    message: &'a str,
    range: (usize, usize),
    label: &'a str,
    is_doubtful: bool,
}

fn units() -> impl Iterator<Item = Unit<'static>> {
    let chosen = LABELS.lines().skip(1).map(|line| {
        let (part, rest) = line.split_once('\t').unwrap();
        unit(part, rest)
    });
    // Of a log in Markdown only the place of a request is known, not its bytes.
    let natural = NATURAL.lines().skip(1).map(|line| unit("natural", line));
    let customers = CUSTOMERS.lines().skip(1);
    let customers = customers.map(|line| unit("customers", line));
    chosen
        .chain(natural.filter(|unit| unit.file.ends_with(".json")))
        .chain(customers)
}

fn unit(part: &'static str, line: &'static str) -> Unit<'static> {
    let columns: Vec<&str> = line.split('\t').collect();
    Unit {
        part,
        file: columns[0],
        message: columns[1],
        range: (columns[2].parse().unwrap(), columns[3].parse().unwrap()),
        label: columns[5],
        is_doubtful: columns.get(6) == Some(&"yes"),
    }
}

/// The text of a message as the labels count it.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn message_text(file: &Value, name: &str, at: &str) -> String {
    let path: Vec<usize> = at.split('.').map(|part| part.parse().unwrap()).collect();
    let list = match name.split('/').next().unwrap() {
        "unified" => &file["messages"][path[0]]["content"],
        "qa" => &file[path[0]]["turns"][path[1]][path[2]]["content"],
        _ if name.contains("swe-agent") => &file["history"][path[0]]["content"],
        _ if name.contains("tau2") => &file[path[0]]["messages"][path[1]]["content"],
        _ => &file[path[0]]["traj"][path[1]]["content"],
    };
    text(list)
}

/// What is in force by itself of a message, with single spaces.
fn in_force(text: &str) -> Vec<String> {
    let message = Message::text(Role::User, text);
    let pins = find_pins([(0, &message)]);
    let in_force = pins.iter().filter(|pin| {
        pin.is_active() && matches!(pin.kind, PinKind::Instruction | PinKind::Passage)
    });
    in_force.map(|pin| single(&pin.text)).collect()
}

fn single(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Default)]
struct Tally {
    all: usize,
    right: usize,
    wrong: usize,
    missed: usize,
    not_typed: usize,
}

impl Tally {
    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }
}

#[test]
fn what_is_in_force_is_an_instruction_of_the_user() {
    let test = "what_is_in_force_is_an_instruction_of_the_user";
    let Some(root) = data(test, "") else { return };
    let shown = std::env::var("EPITOME_LABELS").unwrap_or_default();
    let mut tallies: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    let mut wrong: BTreeMap<(&str, String, &str), usize> = BTreeMap::new();
    let mut files: BTreeMap<&str, Value> = BTreeMap::new();
    let mut found: BTreeMap<(&str, &str), (String, Vec<String>)> = BTreeMap::new();
    // Who looks at the rest while working on it leaves the untouched part uncounted.
    let counted = units().filter(|unit| shown.is_empty() || unit.part != "untouched");
    for unit in counted {
        let file = files
            .entry(unit.file)
            .or_insert_with(|| read(&root, unit.file));
        let (text, pins) = found.entry((unit.file, unit.message)).or_insert_with(|| {
            let text = message_text(file, unit.file, unit.message);
            let pins = in_force(&text);
            (text, pins)
        });
        let sentence: String = text
            .chars()
            .skip(unit.range.0)
            .take(unit.range.1 - unit.range.0)
            .collect();
        let sentence = single(&sentence);
        let is_found = pins
            .iter()
            .any(|pin| pin.contains(&sentence) || sentence.contains(pin.as_str()));
        let sure = if unit.is_doubtful { "doubtful" } else { "sure" };
        let family = unit
            .file
            .split(['/', '-'])
            .take(3)
            .collect::<Vec<_>>()
            .join("-");
        if is_found != (unit.label == "in_force") && !unit.is_doubtful {
            *wrong.entry((unit.part, family, unit.label)).or_default() += 1;
        }
        let tally = tallies.entry((unit.part, sure)).or_default();
        tally.all += 1;
        match (unit.label, is_found) {
            ("in_force", true) => tally.right += 1,
            ("in_force", false) => tally.missed += 1,
            (label, true) => {
                tally.wrong += 1;
                tally.not_typed += usize::from(label == "not_typed");
            }
            _ => {}
        }
        let is_wrong = is_found != (unit.label == "in_force");
        if is_wrong && !unit.is_doubtful && unit.part != "untouched" && unit.part == shown {
            println!(
                "{} {}: {} {sentence}",
                unit.label,
                if is_found { "found" } else { "missed" },
                unit.file
            );
        }
    }
    for ((part, family, label), count) in &wrong {
        println!("wrong in {part} {family}: {count} {label}");
    }
    for ((part, sure), tally) in &tallies {
        println!(
            "{part} {sure}: precision {:.3} recall {:.3} {tally:?}",
            tally.precision(),
            tally.recall()
        );
        // Not yet what is wanted (0.95 and 0.92): it must not get worse unnoticed.
        if *part == "natural" && *sure == "sure" {
            let most = tally.all * MOST_WRONG_IN_THOUSAND / 1_000;
            assert!(tally.wrong <= most, "{part}: {tally:?}");
            assert!(tally.recall() >= LEAST_NATURAL_RECALL, "{part}: {tally:?}");
        } else if *part == "customers" && *sure == "sure" {
            assert!(tally.precision() >= LEAST_OF_CUSTOMERS, "{part}: {tally:?}");
            assert!(tally.recall() >= LEAST_OF_CUSTOMERS, "{part}: {tally:?}");
        } else if *sure == "sure" {
            assert!(tally.precision() >= LEAST_PRECISION, "{part}: {tally:?}");
            assert!(tally.recall() >= LEAST_RECALL, "{part}: {tally:?}");
        }
    }
}

fn read(root: &Path, file: &str) -> Value {
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What is wanted can be reached by somebody who reads: the labels are not to blame.
#[test]
fn readers_agree_with_the_labels() {
    let labels = LABELS.lines().skip(1);
    let untouched = labels.filter_map(|line| line.strip_prefix("untouched\t"));
    let mut tallies = [Tally::default(), Tally::default()];
    for (label, readers) in untouched.zip(READERS.lines().skip(1)) {
        let unit = unit("untouched", label);
        let columns: Vec<&str> = readers.split('\t').collect();
        assert_eq!((unit.file, unit.message), (columns[0], columns[1]));
        let range = (columns[2].parse().unwrap(), columns[3].parse().unwrap());
        assert_eq!(unit.range, range, "{readers}");
        if unit.is_doubtful {
            continue;
        }
        for (tally, read) in tallies.iter_mut().zip([columns[4], columns[6]]) {
            match (unit.label == "in_force", read == "in_force") {
                (true, true) => tally.right += 1,
                (true, false) => tally.missed += 1,
                (false, true) => tally.wrong += 1,
                (false, false) => {}
            }
        }
    }
    for tally in tallies {
        let (precision, recall) = (tally.precision(), tally.recall());
        println!("a reader: precision {precision:.3} recall {recall:.3}");
        assert!(precision >= WANTED_PRECISION && recall >= WANTED_RECALL);
    }
}
