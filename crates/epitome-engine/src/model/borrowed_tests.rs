use http::{HeaderMap, HeaderValue};

use super::{Borrowed, CallLimits, Delivery, Lender, SpendLedger};
use crate::clock::Clock;

const KEY: &str = "sk-client-0123456789";

fn lent() -> Borrowed {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("authorization", "Bearer sk-client-0123456789"),
        ("cookie", "stays=here"),
        ("openai-project", "harbour"),
    ] {
        headers.append(name, HeaderValue::from_static(value));
    }
    Borrowed::from_headers(&headers)
}

#[test]
fn what_is_lent_is_shown_to_nobody() {
    let lender = Lender::new(
        CallLimits::default(),
        Delivery::Whole,
        std::sync::Arc::new(SpendLedger::default()),
        Clock::default(),
    );
    let caller = lender
        .caller(
            epitome_wire::Wire::OpenAiChat,
            "http://127.0.0.1:9",
            "m",
            lent(),
        )
        .unwrap();
    for shown in [
        format!("{:?}", lent()),
        format!("{caller:?}"),
        format!("{lender:?}"),
    ] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    let said =
        lent().hidden_in("Incorrect API key sk-client-0123456789 for Bearer sk-client-0123456789.");
    assert!(
        !said.contains(KEY) && said.contains("Incorrect API key"),
        "{said}"
    );
}

#[test]
fn only_what_says_who_asks_is_lent() {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer other"));
    lent().put_into(&mut headers);
    assert_eq!(headers.len(), 2);
    assert_eq!(headers["authorization"], "Bearer sk-client-0123456789");
    assert!(headers["authorization"].is_sensitive());
    assert_eq!(headers["openai-project"], "harbour");
}
