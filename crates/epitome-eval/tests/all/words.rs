use epitome_eval::{Index, Mersenne, content_words, rare_tokens, terms, tokens};

use crate::support::characters;

#[test]
fn a_token_is_four_characters_whatever_their_bytes() {
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("abcd"), 1);
    assert_eq!(tokens("éééé漢"), 2);
}

#[test]
fn content_words_leave_out_small_words() {
    let words = content_words(&characters("It's 3.50 or 12. don't re-run the-x a1 I'm bb"));
    assert_eq!(words, ["3.50", "re-run", "the-x"]);
    for word in ["about", "because", "i'm", "your", "please", "don't"] {
        assert!(content_words(&characters(word)).is_empty(), "{word}");
    }
}

#[test]
fn rare_tokens_are_plain() {
    let found = rare_tokens(&characters("Use a.b/c:d@e#f-g_ and ab. abc. ABCD- x_y1"));
    let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, ["a.b/c:d@e#f-g_", "abcd", "x_y1"]);
}

#[test]
fn search_terms_are_stemmed() {
    assert_eq!(
        terms("The user's testing v1.2+build 12:30, 5% boxes a's classes."),
        [
            "user",
            "test",
            "v1.2+build",
            "12:30",
            "5",
            "boxe",
            "a",
            "class"
        ]
    );
}

#[test]
fn the_document_with_the_rarer_word_comes_first() {
    let index = Index::of(["red apple", "red pear", "red plum and red plum", "blue sky"]);
    assert_eq!(index.rank("red plum"), [2, 0, 1]);
    assert!(index.rank("green").is_empty());
    assert!(index.has(1, "pear") && !index.has(0, "pear"));
    assert_eq!(index.spread("red"), 3);
    // ln(1 + (4 - 1 + 0.5) / (1 + 0.5))
    assert!((index.weight("sky") - (1.0_f64 + 3.5 / 1.5).ln()).abs() < 1e-12);
}

#[test]
fn draws_are_those_of_the_scripts() {
    let mut items: Vec<usize> = (0..10).collect();
    Mersenne::from_number(7).shuffle(&mut items);
    assert_eq!(items, [8, 3, 1, 4, 7, 0, 9, 6, 2, 5]);
    let mut generator = Mersenne::from_number(1);
    let drawn: Vec<usize> = (0..10).map(|_| generator.below(24)).collect();
    assert_eq!(drawn, [4, 18, 2, 8, 3, 15, 14, 15, 20, 12]);
    let mut generator = Mersenne::from_text("étude");
    assert_eq!((generator.below(1_000), generator.below(7)), (609, 6));
    let mut generator = Mersenne::from_number((1 << 40) + 5);
    assert_eq!((generator.below(1_000), generator.below(7)), (516, 4));
}
