//! Summaries are checked both ways: untouched ones pass, corrupted ones are repaired or rejected.

#[path = "verify/cases.rs"]
mod cases;
#[path = "verify/corrupt.rs"]
mod corrupt;
#[path = "verify/hand.rs"]
mod hand;
#[path = "verify/own_words.rs"]
mod own_words;
#[path = "verify/samples.rs"]
mod samples;
#[path = "verify/taken_back.rs"]
mod taken_back;
#[path = "verify/turned.rs"]
mod turned;

use std::collections::BTreeMap;

use epitome::Message;
use epitome::verify::{Verdict, Verification, VerifyLimits, repaired};

use crate::support::seed;
use corrupt::text::SourceText;
use corrupt::{Corruption, Operator, Random};
use samples::Sample;

/// Corruptions of each kind that are tried on one summary.
const TRIES: usize = 8;
/// What must be caught of each kind.
const CAUGHT_PERCENT: usize = 95;
/// What may be alarmed of the anchors of untouched summaries.
const FALSE_PERCENT: usize = 2;

fn all_samples(test: &str) -> Vec<Sample> {
    let mut samples = hand::samples();
    samples.extend(samples::built_in_examples());
    samples.extend(samples::real(test));
    samples
}

#[test]
fn corrupted_summaries_are_repaired_or_rejected() {
    let samples = all_samples("corrupted_summaries_are_repaired_or_rejected");
    let mut table: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut misses = Vec::new();
    let tries = std::env::var("EPITOME_TRIES").map_or(TRIES, |tries| tries.parse().unwrap());
    for (number, sample) in samples.iter().enumerate() {
        let plain = verification(sample, None);
        let source = SourceText::of(sample);
        for operator in Operator::ALL {
            let planted = operator
                .planted()
                .map(|message| verification(sample, Some(message)));
            let verification = planted.as_ref().unwrap_or(&plain);
            let mut random = Random::new(seed() ^ ((number as u64) << 8) ^ operator as u64);
            for corruption in operator.corrupt(sample, &source, tries, &mut random) {
                let is_caught = is_caught(verification, &corruption);
                for set in [sample.set, "all"] {
                    let (caught, total) = table.entry((operator.as_str(), set)).or_default();
                    *caught += usize::from(is_caught);
                    *total += 1;
                }
                if !is_caught {
                    misses.push(format!(
                        "{} | {} | {} | {}",
                        operator.as_str(),
                        sample.name,
                        corruption.bad.replace('\n', "⏎"),
                        line_of(&corruption)
                    ));
                }
            }
        }
    }
    let mut below = Vec::new();
    for ((operator, set), (caught, total)) in &table {
        eprintln!("{operator:<18} {set:<9} {caught:>5} of {total:>5}");
        if caught * 100 < total * CAUGHT_PERCENT {
            below.push((*operator, *set));
        }
    }
    if std::env::var_os("EPITOME_MISSES").is_some() {
        misses.iter().for_each(|miss| eprintln!("{miss}"));
    }
    for operator in Operator::ALL {
        let total = table
            .get(&(operator.as_str(), "all"))
            .map_or(0, |(_, total)| *total);
        assert!(
            total >= 10,
            "only {total} corruptions by {}",
            operator.as_str()
        );
    }
    assert!(
        below.is_empty(),
        "below {CAUGHT_PERCENT} %: {below:?}\n{misses:#?}"
    );
}

/// The line that was corrupted.
fn line_of(corruption: &Corruption) -> &str {
    let at = corruption.text.find(&corruption.bad).unwrap_or_default();
    let end = at + corruption.bad.len();
    let start = corruption.text[..end].rfind('\n').map_or(0, |at| at + 1);
    corruption.text[start..].lines().next().unwrap_or_default()
}

/// The source of a sample, with a message more before its last.
fn verification(sample: &Sample, planted: Option<Message>) -> Verification {
    let mut messages = sample.messages.clone();
    let last = messages.len().saturating_sub(1);
    messages.splice(last..last, planted);
    let source: Vec<(usize, &Message)> = messages.iter().enumerate().collect();
    Verification::of(&source, sample.previous.as_deref())
}

/// Whether what was put in is gone, and what was taken out is back.
fn is_caught(verification: &Verification, corruption: &Corruption) -> bool {
    let checked = verification.check(&corruption.text);
    if matches!(checked.verdict, Verdict::Rejected(_)) {
        return true;
    }
    let is_gone = corruption.bad.is_empty() || !checked.text.contains(&corruption.bad);
    let is_back = corruption
        .wanted
        .as_ref()
        .is_none_or(|wanted| checked.text.contains(wanted));
    is_gone && is_back
}

/// Reading a source for one summary leaves out what that does not ask about, and nothing else.
#[test]
fn a_source_read_for_one_summary_says_the_same_of_it() {
    let samples = all_samples("a_source_read_for_one_summary_says_the_same_of_it");
    for (number, sample) in samples.iter().enumerate() {
        let plain = verification(sample, None);
        let source = SourceText::of(sample);
        let operators = Operator::ALL.into_iter().cycle().skip(3 * number).take(3);
        let mut random = Random::new(seed() ^ number as u64);
        let corrupted =
            operators.flat_map(|operator| operator.corrupt(sample, &source, 1, &mut random));
        let texts = corrupted.map(|corruption| corruption.text);
        for text in texts.chain([sample.summary.clone()]) {
            let expected = plain.check(&text);
            let limits = VerifyLimits::default();
            let found = repaired(&sample.source(), sample.previous.as_deref(), &text, limits);
            match expected.verdict {
                Verdict::Rejected(reason) => assert_eq!(found, Err(reason), "{}", sample.name),
                _ => assert_eq!(found, Ok(expected), "{}", sample.name),
            }
        }
    }
}

#[test]
fn mistakes_that_people_make_are_repaired_or_rejected() {
    let samples = hand::samples();
    let mut table: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for wrong in hand::wrong() {
        let sample = samples
            .iter()
            .find(|sample| sample.name == wrong.name)
            .unwrap();
        let is_caught = is_caught(&verification(sample, None), &wrong.corruption);
        let (caught, total) = table.entry(wrong.kind).or_default();
        *caught += usize::from(is_caught);
        *total += 1;
        if !is_caught {
            eprintln!("{} | {} | {}", wrong.kind, wrong.name, wrong.corruption.bad);
        }
    }
    let (mut all_caught, mut all) = (0, 0);
    for (kind, (caught, total)) in &table {
        eprintln!("{kind:<18} by hand {caught:>5} of {total:>5}");
        all_caught += caught;
        all += total;
    }
    assert!(
        all_caught * 100 >= all * CAUGHT_PERCENT,
        "{all_caught} of {all}"
    );
}

#[test]
fn untouched_summaries_raise_few_alarms() {
    let samples = all_samples("untouched_summaries_raise_few_alarms");
    let mut table: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for sample in &samples {
        let source = sample.source();
        let checked = Verification::of(&source, sample.previous.as_deref()).check(&sample.summary);
        let untrue: Vec<_> = checked
            .report
            .alarms
            .iter()
            .filter(|alarm| alarm.kind.is_untrue())
            .collect();
        let (alarms, anchors) = table.entry(sample.set).or_default();
        *alarms += untrue.len();
        *anchors += checked.report.checked;
        assert!(
            !matches!(checked.verdict, Verdict::Rejected(_)),
            "{}: {untrue:#?}",
            sample.name
        );
        if std::env::var_os("EPITOME_MISSES").is_some() {
            for alarm in untrue {
                let line = sample
                    .summary
                    .lines()
                    .nth(alarm.line - 1)
                    .unwrap_or_default();
                eprintln!(
                    "{} | {} | {} | {line}",
                    sample.name,
                    alarm.kind.as_str(),
                    alarm.text
                );
            }
        }
    }
    for (set, (alarms, anchors)) in &table {
        let percent = *alarms as f64 * 100.0 / (*anchors).max(1) as f64;
        eprintln!("{set:<9} {alarms:>4} alarms on {anchors:>5} anchors: {percent:.2} %");
        assert!(alarms * 100 <= anchors * FALSE_PERCENT, "{set}");
    }
}

#[test]
fn what_was_repaired_stands() {
    for sample in all_samples("what_was_repaired_stands") {
        let source = sample.source();
        let verification = Verification::of(&source, sample.previous.as_deref());
        let once = verification.check(&sample.summary);
        let twice = verification.check(&once.text);
        assert_eq!(twice.text, once.text, "{}", sample.name);
        assert_eq!(
            twice.verdict,
            Verdict::Accepted,
            "{}: {:#?}",
            sample.name,
            twice.report.alarms
        );
        assert_eq!(verification.check(&sample.summary), once);
    }
}
