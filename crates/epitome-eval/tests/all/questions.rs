use std::collections::BTreeSet;

use epitome_eval::{Archive, Chat, Exam, ExamTable, Hits, Method, Question, Windows};

const CHAT: &str = r#"[{"turns": [[
    {"role": "user", "id": 10, "content": "My dashboard takes 900ms. ->-> 1,1"},
    {"role": "assistant", "id": 11, "content": "Try caching the aggregate queries."}],
   [{"role": "user", "id": 12, "content": "Good, Redis brought the average to 250ms. ->-> 1,2\n"},
    {"role": "assistant", "id": 13, "content": "Well done -> -> 5"}]]},
  {"turns": [[{"role": "user", "id": 14, "content": "Next topic: invoices."}]]}]"#;

const QUESTIONS: &str = r#"{
  "abstention": [{"question": "What is my name?", "answer": "unknown"}],
  "knowledge_update": [{"question": "How fast is the dashboard?", "answer": "250ms average, thanks to Redis",
     "rubric": ["states 250ms"], "source_chat_ids": {"old": [10], "new": ["12"]}}]}"#;

fn archive() -> Archive {
    Archive::of(Chat::read(CHAT.as_bytes()).unwrap())
}

fn question() -> Question {
    let questions = Question::read_all(QUESTIONS.as_bytes()).unwrap();
    questions.into_iter().find(Question::is_answerable).unwrap()
}

#[test]
fn marks_behind_messages_are_not_what_was_said() {
    let texts = archive().history.texts;
    assert_eq!(texts[0], "My dashboard takes 900ms.");
    assert_eq!(texts[2], "Good, Redis brought the average to 250ms.");
    assert_eq!(texts[3], "Well done -> -> 5");
}

#[test]
fn questions_cite_messages_in_any_form() {
    let question = question();
    assert!(question.is_lookup());
    assert_eq!(question.evidence, [12, 10]);
    assert_eq!(archive().evidence(&question), BTreeSet::from([0, 2]));
}

#[test]
fn a_fact_is_kept_when_most_of_it_stands_in_one_place() {
    // With so few messages no word is in at most a tenth of them: give it forty more.
    let mut chat = Chat::read(CHAT.as_bytes()).unwrap();
    for number in 0..40 {
        chat.entries.push(epitome_eval::Entry::text(
            epitome_eval::Speaker::User,
            "invoices again",
        ));
        chat.numbers.push(100 + number);
    }
    let archive = Archive::of(chat);
    let facts = archive.facts(&question());
    // The first message has none of the answer's words.
    assert_eq!(
        facts,
        [BTreeSet::from(
            ["250", "average", "ms", "redi"].map(str::to_owned)
        )]
    );
    let kept = |context: &str| archive.kept(&facts, &Windows::of(context));
    assert_eq!(kept("the average of 250 with Redis"), Some(1.0));
    assert_eq!(kept("Redis"), Some(0.0));
    let apart = format!(
        "average 250 {} Redis",
        "and so on with more of it ".repeat(40)
    );
    assert_eq!(kept(&apart), Some(0.0));
    assert_eq!(archive.kept(&[], &Windows::of("")), None);
}

#[test]
fn hits_are_judged_by_rank() {
    let hits = Hits::of(&[7, 3, 9, 1], &BTreeSet::from([3, 1, 8]));
    assert_eq!(hits.any, [0.0, 1.0, 1.0, 1.0]);
    assert_eq!(hits.recall, [0.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(hits.reciprocal_rank, 0.5);
    let mean = Hits::mean(&[hits, Hits::default()]);
    assert_eq!(mean.reciprocal_rank, 0.25);
}

#[test]
fn an_exam_asks_what_can_be_answered() {
    let archive = archive();
    let questions = Question::read_all(QUESTIONS.as_bytes()).unwrap();
    let methods = [Method::DropOldest];
    let exam = Exam::take(&archive, &questions, &methods, &[1_000]);
    let table = ExamTable::of("100K", &[exam], &methods, &[1_000]);
    assert_eq!(table.abilities["knowledge_update"].questions, 1);
    assert!(!table.abilities.contains_key("abstention"));
    // The question's only word in the chat is "dashboard", in the first message.
    assert_eq!(table.searches[0].hits.any, [1.0; 4]);
}
