use super::*;

/// Both ways to read a request say the same of it.
fn read(request: &str) -> Option<Continued> {
    let bytes = Bytes::copy_from_slice(request.as_bytes());
    let read = Continued::read(&bytes);
    if let Ok(body) = Body::scan(bytes, Wire::OpenAiResponses) {
        let of = Continued::of(&body);
        let said = |request: &Option<Continued>| {
            let one = request.as_ref()?;
            Some((one.added().to_vec(), one.in_full(&[])))
        };
        assert_eq!(said(&of), said(&read), "{request}");
    }
    read
}

fn full(request: &str, earlier: &[&str]) -> String {
    let earlier: Vec<Bytes> = earlier
        .iter()
        .map(|item| Bytes::copy_from_slice(item.as_bytes()))
        .collect();
    let full = read(request).unwrap().in_full(&earlier);
    String::from_utf8(full.to_vec()).unwrap()
}

#[test]
fn the_id_goes_wherever_it_stands() {
    for (request, expected) in [
        (
            r#"{"previous_response_id":"r","input":[{"a":1}],"model":"m"}"#,
            r#"{"input":[{"z":0},{"a":1}],"model":"m"}"#,
        ),
        (
            r#"{"input": [ {"a":1} , {"b":2} ] , "previous_response_id" : "r" }"#,
            r#"{"input": [{"z":0},{"a":1},{"b":2}] }"#,
        ),
        (
            r#"{"model":"m", "previous_response_id": "r", "input":[]}"#,
            r#"{"model":"m", "input":[{"z":0}]}"#,
        ),
        (
            r#"{ "previous_response_id":"r" , "input":[{"a":1}] }"#,
            r#"{ "input":[{"z":0},{"a":1}] }"#,
        ),
        (
            r#"{"input":[{"a":1}],"previous\u005fresponse_id":"r\",\"x"}"#,
            r#"{"input":[{"z":0},{"a":1}]}"#,
        ),
        (
            r#"{"input":"\"hi\""}"#,
            r#"{"input":[{"z":0},{"role":"user","content":"\"hi\""}]}"#,
        ),
    ] {
        assert_eq!(full(request, &[r#"{"z":0}"#]), expected);
    }
}

#[test]
fn what_the_provider_does_not_keep_or_nobody_understands_is_left_alone() {
    for request in [
        r#"{"store":false,"input":"x"}"#,
        r#"{"conversation":"conv_1","input":"x"}"#,
        r#"{"input":"x","input":"y"}"#,
        r#"{"previous_response_id":"a","previous_response_id":"b","input":[]}"#,
        r#"{"store":true,"store":true,"input":[]}"#,
        r#"{"store":false,"input":[]}"#,
        r#"{"conversation":{"id":"c"},"input":[]}"#,
        r#"{"previous_response_id":7,"input":"x"}"#,
        r#"{"input":7}"#,
        r#"{"model":"m"}"#,
        r#"[1]"#,
        r#"{"input":"x""#,
    ] {
        assert!(read(request).is_none(), "{request}");
    }
    let plain = read(r#"{"store":true,"previous_response_id":null,"input":"x"}"#).unwrap();
    assert_eq!(plain.previous(), None);
}

#[test]
fn hidden_reasoning_goes_with_the_ids_that_are_bound_to_it() {
    let item = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let call =
        item(r#"{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#);
    let hidden = item(r#"{"id":"rs_1","type":"reasoning","summary":[]}"#);
    let open = item(r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"abc"}"#);
    let bare = item(r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#);
    assert_eq!(sent_back(&[hidden, call.clone()]), [bare]);
    assert_eq!(
        sent_back(&[open.clone(), call.clone()]),
        [open, call.clone()]
    );
    assert_eq!(sent_back(std::slice::from_ref(&call)), [call]);
}
