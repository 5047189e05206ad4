//! What a short answer answers.

use super::{sentences, without_mark};

/// A question further from the end of a text is not what was answered.
const QUESTION_LINES: usize = 4;
/// How many choices are looked for, and how many lines of each are told.
const CHOICES: usize = 4;
const CHOICE_LINES: usize = 3;
/// What may stand before the number or letter of a choice.
const NAMES: &[&str] = &[
    "option ",
    "choice ",
    "variant ",
    "approach ",
    "alternative ",
];

/// The question that a text ends with, or nearly, and the choices of it that the answer names by number or letter.
pub(crate) fn asked<'a>(text: &'a str, answer: &str) -> Vec<&'a str> {
    let lines: Vec<&'a str> = text.lines().map(str::trim).collect();
    let mut asked = Vec::new();
    let near = lines.iter().rev().filter(|line| !line.is_empty());
    let mut near = near.take(QUESTION_LINES);
    if let Some(line) = near.find(|line| line.contains('?')) {
        let sentences = sentences(without_mark(line));
        asked.extend(sentences.filter(|sentence| sentence.ends_with('?')).last());
    }
    for mark in marks(answer).into_iter().take(CHOICES) {
        let Some(at) = lines.iter().rposition(|line| mark_of(line) == Some(mark)) else {
            continue;
        };
        let body = lines.iter().skip(at);
        let mut body = body.enumerate().take_while(|(number, line)| {
            // A choice ends where the next one begins, with its paragraph, and before the question.
            *number == 0 || !(line.is_empty() || line.ends_with('?') || mark_of(line).is_some())
        });
        asked.extend(
            body.by_ref()
                .take(CHOICE_LINES)
                .flat_map(|(_, line)| choice_sentences(line)),
        );
    }
    asked
}

fn choice_sentences(line: &str) -> impl Iterator<Item = &str> {
    sentences(without_mark(line)).take(2)
}

/// The numbers and single letters that an answer names, in small letters.
fn marks(answer: &str) -> Vec<char> {
    let words = answer.split(|one: char| !one.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_mark = |(at, word): &(usize, &&str)| {
        let mut characters = word.chars();
        let first = characters.next().unwrap_or_default();
        let is_alone = characters.next().is_none();
        // "I" and "a" are words of sentences; at the beginning, or behind "option", they choose.
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_named = before.is_some_and(|word| {
            NAMES
                .iter()
                .any(|name| name.trim_end().eq_ignore_ascii_case(word))
        });
        let is_letter = first.is_ascii_alphabetic()
            && (is_named
                || words.len() == 1
                || first.is_ascii_uppercase() && first != 'I' && first != 'A');
        is_alone && (first.is_ascii_digit() || is_letter)
    };
    let marks = words.iter().enumerate().filter(is_mark);
    marks
        .filter_map(|(_, word)| word.to_ascii_lowercase().chars().next())
        .collect()
}

/// The number or letter by which a line names a choice: `2. …`, `**B)** …`, `Option 2: …`, `| A. …`.
fn mark_of(line: &str) -> Option<char> {
    let bare = line.trim_start_matches(['*', '#', '-', '|', '>', ' ', '_', '(']);
    let named = NAMES.iter().find_map(|name| {
        let front = bare.get(..name.len())?;
        front
            .eq_ignore_ascii_case(name)
            .then(|| bare.get(name.len()..))?
    });
    let is_named = named.is_some();
    let mut characters = named.unwrap_or(bare).chars();
    let mark = characters.next().filter(char::is_ascii_alphanumeric)?;
    let behind = characters.next();
    let ends = match behind {
        Some('.' | ')' | ':') => true,
        Some(other) => is_named && !other.is_alphanumeric(),
        None => is_named,
    };
    ends.then(|| mark.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::asked;

    const NUMBERED: &str = "Two ways:\n\n1. Keep the file. It is old.\n2. Drop it.\n\nWhich one?";

    #[test]
    fn a_number_chooses() {
        assert_eq!(asked(NUMBERED, "2"), ["Which one?", "Drop it."]);
        assert_eq!(
            asked(NUMBERED, "go with 1 please"),
            ["Which one?", "Keep the file.", "It is old."]
        );
    }

    #[test]
    fn a_letter_chooses_and_what_stands_below_it_belongs_to_it() {
        let text =
            "**A. Now** - at once\nSlow.\n**B. Later** - in a job\nNeeds a queue.\n\nYour pick?";
        let told = asked(text, "B");
        assert!(told.iter().any(|line| line.contains("Later")), "{told:?}");
        assert!(told.contains(&"Needs a queue."), "{told:?}");
        assert!(!told.iter().any(|line| line.contains("Slow")), "{told:?}");
    }

    #[test]
    fn an_option_is_chosen_by_its_name() {
        let text = "Option 1: a new crate.\nOption 2: a module.\nWhat do you prefer?";
        let told = asked(text, "option 2");
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told.iter().any(|line| line.contains("a module")),
            "{told:?}"
        );
    }

    #[test]
    fn words_of_a_sentence_choose_nothing() {
        assert_eq!(asked("A. one\nI. two\nGo on?", "I want a look"), ["Go on?"]);
        assert!(asked("No question here.", "yes").is_empty());
    }
}
