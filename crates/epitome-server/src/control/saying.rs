//! Actions and reasons in words, for people who do not know the codes.

/// What was done with a request.
pub(super) fn action(code: &str) -> String {
    match code {
        "passthrough" => "passed on".to_owned(),
        "compacted" => "shortened".to_owned(),
        "observed" => "would be shortened".to_owned(),
        "bypassed" => "left alone".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Why. A code that has no words of its own is shown with spaces.
pub(super) fn reason(code: &str) -> String {
    let words = match code {
        "below_line" => "it fits",
        "hard_line" => "it would not have fitted",
        "threshold" | "too_many_messages" => "the line of the preset was reached",
        "near_line" => "the line is near",
        "epoch" => "with the summary made before",
        "overflow" => "the provider said that it is too long",
        "pays" => "a summary lay ready, and showing it pays",
        "cache_cold" => "a summary lay ready, and the cache was cold",
        "not_a_conversation" => "no conversation",
        "bypassed" => "the client asked for it",
        "observing" => "only watching",
        "floor_above_window" => "what must stay is larger than the window",
        "window_below_reserves" => "the answer asked for leaves no room",
        "nothing_to_remove" => "nothing can go",
        "not_smaller" => "it would not get smaller",
        "rewrite_refused" => "the provider refused what was made of the request",
        other => return other.replace('_', " "),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_code_is_shown_as_it_is_written() {
        for code in epitome::Reason::ALL {
            assert!(!super::reason(code.as_str()).contains('_'), "{code}");
        }
        assert_eq!(super::action("compacted"), "shortened");
    }
}
