//! Pages as templates. Whatever a conversation says is escaped: nothing of it is ever HTML.

use std::fmt::Write as _;
use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value, escape_formatter};

use super::saying;

const FILES: &[(&str, &str)] = &[
    ("layout.html", include_str!("../../pages/layout.html")),
    ("overview.html", include_str!("../../pages/overview.html")),
    (
        "conversations.html",
        include_str!("../../pages/conversations.html"),
    ),
    (
        "conversation.html",
        include_str!("../../pages/conversation.html"),
    ),
    (
        "compaction.html",
        include_str!("../../pages/compaction.html"),
    ),
    ("entry.html", include_str!("../../pages/entry.html")),
    ("recall.html", include_str!("../../pages/recall.html")),
    ("settings.html", include_str!("../../pages/settings.html")),
    ("message.html", include_str!("../../pages/message.html")),
];

static PAGES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut pages = Environment::new();
    // Escaping does not depend on what a file is called.
    pages.set_auto_escape_callback(|_| AutoEscape::Html);
    // What an answer does not say is left empty.
    pages.set_undefined_behavior(UndefinedBehavior::Chainable);
    pages.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() && text.contains(is_unseen) => {
            escape_formatter(out, state, &Value::from(made_visible(text)))
        }
        _ => escape_formatter(out, state, value),
    });
    pages.add_filter("grouped", grouped);
    pages.add_filter("moment", moment);
    pages.add_filter("words", words);
    pages.add_filter("because", saying::reason);
    pages.add_filter("done", saying::action);
    pages.add_filter("saved", saved);
    pages.add_filter("share", share);
    pages.add_filter("dollars", dollars);
    pages.add_filter("milliseconds", milliseconds);
    pages.add_filter("ago", ago);
    for (name, text) in FILES {
        if let Err(error) = pages.add_template(name, text) {
            tracing::error!(%error, "a page of the dashboard is broken");
        }
    }
    pages
});

/// A page with what it shows.
pub(super) fn render(name: &str, shown: &serde_json::Value) -> Result<String, Error> {
    PAGES.get_template(name)?.render(shown)
}

/// Whether a character does something to a text and is not seen in it: orders to terminals, and what turns a line round.
fn is_unseen(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
}

/// The same with such characters spelled out, as the command prints them.
fn made_visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_unseen(letter) {
            // Writing to a string does not fail.
            true => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            false => out.push(letter),
        }
    }
    out
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    epitome::reference::vibe::grouped(number)
}

/// Milliseconds since 1970 as a date and a time, in UTC.
fn moment(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms)
        .map(|at| at.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

/// A code in words: `floor_above_window` as `floor above window`.
fn words(code: &str) -> String {
    code.replace('_', " ")
}

/// How much less the second number is than the first, in percent.
fn saved(before: u64, after: u64) -> Value {
    let less = before.saturating_sub(after);
    Value::from(less.saturating_mul(100).checked_div(before).unwrap_or(0))
}

/// What part the second number is of the first, in percent.
fn share(whole: u64, part: u64) -> Value {
    Value::from(part.saturating_mul(100).checked_div(whole).unwrap_or(0))
}

/// Dollars: small amounts with as many digits as tell something.
fn dollars(usd: f64) -> String {
    match usd {
        usd if usd >= 0.01 || usd == 0.0 => format!("${usd:.2}"),
        usd if usd >= 0.000_05 => format!("${usd:.4}"),
        _ => "under $0.0001".to_owned(),
    }
}

/// Microseconds as milliseconds.
fn milliseconds(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}

/// How long ago something was, in one word or two.
fn ago(at_ms: i64, now_ms: i64) -> String {
    let seconds = now_ms.saturating_sub(at_ms) / 1_000;
    let (count, unit) = match seconds {
        ..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FILES, ago, dollars, milliseconds, render};

    #[test]
    fn quantities_are_words() {
        assert_eq!(ago(0, 59_000), "just now");
        assert_eq!(ago(0, 60_000), "1 minute ago");
        assert_eq!(ago(0, 7_200_000), "2 hours ago");
        assert_eq!(ago(0, 86_400_000 * 3), "3 days ago");
        assert_eq!(milliseconds(1_250), "1.2 ms");
        let amounts = [12.345, 0.0, 0.0023, 0.000_001].map(dollars);
        assert_eq!(amounts, ["$12.35", "$0.00", "$0.0023", "under $0.0001"]);
    }

    #[test]
    fn every_page_renders_with_nothing_to_show() {
        for (name, _) in FILES {
            let rendered = render(name, &json!({ "shown": {}, "page": "", "chart": "" }));
            assert!(rendered.is_ok(), "{name}: {rendered:?}");
        }
    }

    #[test]
    fn what_is_shown_is_never_html() {
        let hostile = "<script>alert(1)</script>\"'";
        let shown = json!({ "shown": {"conversations": [{"session": hostile, "label": hostile}], "q": hostile} });
        let page = render("conversations.html", &shown).unwrap();
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        let shown = json!({ "shown": {"title": "a\u{1b}[31mred\u{202e}\n<b>"} });
        let page = render("message.html", &shown).unwrap();
        assert!(page.contains("a\\u001b[31mred\\u202e\n&lt;b&gt;"), "{page}");
    }
}
