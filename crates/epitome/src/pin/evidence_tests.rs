//! What the weights are fitted to: with `EPITOME_SENTENCES`, a file with a sentence a line, what is found in each is written
//! beside it, as `epitome-eval/labels/fit/fit.py` reads it.

use std::fmt::Write as _;

use super::class::Class;
use super::clauses::Sentence;
use super::evidence::READINGS;
use super::languages::Tongue;
use super::standing::Reader;

#[test]
fn what_is_found_is_written_for_the_fit() {
    let path = std::env::var_os("EPITOME_SENTENCES");
    let text = match &path {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => "Never push to main, please.\nCan you add 2 tests?\n".to_owned(),
    };
    let found: String = text.lines().map(found).collect();
    match path {
        Some(path) => std::fs::write(format!("{}.found", path.display()), found).unwrap(),
        None => assert_eq!(found.lines().count(), 2, "{found}"),
    }
}

/// Points, where the sentence begins, its words and what the grammar finds.
fn found(line: &str) -> String {
    let sentence = Sentence::read(line.trim());
    let reader = Reader::new(&sentence, Tongue::English);
    let first = reader.first();
    let mut out = format!("{}\t{first}\t", reader.points());
    for (at, word) in sentence.words().enumerate() {
        let clause = if sentence.begins(at) { "|" } else { "" };
        let number = if sentence.is_number(at) { "#" } else { "" };
        let space = if at > 0 { " " } else { "" };
        write!(out, "{space}{clause}{number}{word}").unwrap();
    }
    out.push('\t');
    for (name, check) in READINGS {
        if check(&reader) {
            write!(out, "@{name},").unwrap();
        }
    }
    for class in Class::ALL {
        let later = |class: Class| reader.heads().skip(1).any(|head| head.class == class);
        let places = [
            ("anywhere", reader.has(*class)),
            ("first", reader.is(first, *class)),
            (
                "head",
                reader.head(first).is_some_and(|head| head.class == *class),
            ),
            ("later", later(*class)),
        ];
        for (place, _) in places.iter().filter(|(_, is_there)| *is_there) {
            write!(out, "@{place} {},", class.name()).unwrap();
        }
    }
    out.push('\n');
    out
}

/// The grammar is asked no further than it can change the answer, which stays the same.
#[test]
fn asking_less_says_the_same() {
    let sentences = [
        "Never push to main, please.",
        "Can you add 2 tests?",
        "The button is green.",
        "Use tabs for indentation, and keep commits small.",
        "It never worked on my machine, I tried it twice last week.",
        "Comments must explain why; whatever you change, the budget is 300.",
        "Write a test.",
    ];
    for line in sentences {
        let sentence = Sentence::read(line);
        let reader = Reader::new(&sentence, Tongue::English);
        for needed in -80..80 {
            assert_eq!(
                reader.has_points(needed),
                reader.points() >= needed,
                "{line}: {needed}"
            );
        }
    }
}
