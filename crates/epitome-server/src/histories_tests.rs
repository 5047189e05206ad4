use super::*;

fn request(text: &str) -> (Continued, Bytes) {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    (Continued::read(bytes.clone()).unwrap(), bytes)
}

fn close(histories: &Histories, open: Open, id: &str, items: &[Bytes]) {
    let mut answer = AnswerItems::default();
    answer.response = Some(id.to_owned());
    answer.items = items.to_vec();
    histories.close(open, &answer);
}

fn item(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[test]
fn a_chain_of_ids_is_said_in_full() {
    let histories = Histories::default();
    let (first, _) = request(r#"{"input":"one"}"#);
    let open = histories.open(&first).unwrap();
    close(
        &histories,
        open,
        "r1",
        &[item(r#"{"type":"message","a":1}"#)],
    );
    let (second, _) = request(r#"{"previous_response_id":"r1","input":"two"}"#);
    let open = histories.open(&second).unwrap().sent_under("k");
    close(
        &histories,
        open,
        "r2",
        &[item(r#"{"type":"message","a":2}"#)],
    );
    let (third, bytes) = request(r#"{"previous_response_id":"r2","input":"three"}"#);
    let full = histories.in_full(&third, &bytes).unwrap();
    assert!(full.is_held_under("k"));
    assert!(!full.is_held_under("other"));
    assert_eq!(full.brief, bytes);
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let expected = format!(
        r#"{{"input":[{},{{"type":"message","a":1}},{},{{"type":"message","a":2}},{}]}}"#,
        user("one"),
        user("two"),
        user("three")
    );
    assert_eq!(full.full, expected.as_bytes());
    // Going on from an earlier answer is another branch, with what the provider has there.
    let (branch, bytes) = request(r#"{"previous_response_id":"r1","input":"else"}"#);
    assert!(
        !histories
            .in_full(&branch, &bytes)
            .unwrap()
            .is_held_under("k")
    );
}

#[test]
fn what_nobody_saw_is_not_known() {
    let histories = Histories::default();
    let (request, bytes) = request(r#"{"previous_response_id":"elsewhere","input":"x"}"#);
    assert!(histories.open(&request).is_none());
    assert!(histories.in_full(&request, &bytes).is_none());
}

#[test]
fn the_oldest_are_forgotten_and_long_chains_end_quietly() {
    let histories = Histories::default();
    let (first, _) = request(r#"{"input":"one"}"#);
    close(&histories, histories.open(&first).unwrap(), "0", &[]);
    for turn in 1..50_000 {
        let text = format!(
            r#"{{"previous_response_id":"{}","input":"{turn}"}}"#,
            turn - 1
        );
        let (next, _) = request(&text);
        close(
            &histories,
            histories.open(&next).unwrap(),
            &turn.to_string(),
            &[],
        );
    }
    let large = item(&format!(
        r#"{{"type":"message","text":"{}"}}"#,
        "x".repeat(1 << 20)
    ));
    for turn in 0..80 {
        let open = histories.open(&first).unwrap();
        close(
            &histories,
            open,
            &format!("large {turn}"),
            std::slice::from_ref(&large),
        );
    }
    assert!(histories.find("49999").is_none());
    assert!(histories.find("large 79").is_some());
}
