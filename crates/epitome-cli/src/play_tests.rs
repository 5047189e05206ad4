use super::{Priced, assumed};

#[test]
fn prices_are_those_of_the_model_or_it_is_said_why_not() {
    assert_eq!(assumed().name, super::ASSUMED_MODEL);
    let told = |name| Priced::of(name).told();
    assert!(told(Some("gpt-5.5")).starts_with("prices of gpt-5.5 ("));
    assert!(told(Some("my-model")).ends_with(": those of my-model are not known"));
    assert!(told(None).contains("names no model"));
}
