use super::{Candidate, Searched, scored};
use crate::words::{Expression, Need};

fn candidate(name: &'static str, words: i64, counts: &[i64]) -> Candidate<&'static str> {
    Candidate {
        item: name,
        words,
        counts: counts.to_vec(),
    }
}

fn names(query: &str, need: Need, candidates: Vec<Candidate<&'static str>>) -> Vec<&'static str> {
    let expression = Expression::of(query, need).unwrap();
    let searched = Searched {
        texts: 10,
        words: 100,
    };
    let mut scored = scored(&expression, searched, candidates);
    assert!(scored.iter().all(|(_, score)| *score > 0.0), "{scored:?}");
    scored.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    scored.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn only_what_meets_the_query_is_ranked() {
    let candidates = || vec![candidate("both", 9, &[1, 1]), candidate("one", 9, &[3, 0])];
    assert_eq!(names("a b", Need::All, candidates()), ["both"]);
    assert_eq!(names("a b", Need::Any, candidates()), ["both", "one"]);
}

#[test]
fn more_and_shorter_and_rarer_is_better() {
    let twice = vec![candidate("once", 10, &[1]), candidate("twice", 10, &[2])];
    assert_eq!(names("a", Need::All, twice), ["twice", "once"]);
    let short = vec![candidate("long", 50, &[1]), candidate("short", 5, &[1])];
    assert_eq!(names("a", Need::All, short), ["short", "long"]);
    let rare = vec![
        candidate("common", 10, &[1, 0]),
        candidate("common too", 10, &[1, 0]),
        candidate("rare", 10, &[0, 1]),
    ];
    assert_eq!(names("a b", Need::Any, rare)[0], "rare");
}
