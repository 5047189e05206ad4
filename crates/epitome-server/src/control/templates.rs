//! Pages as templates. Whatever a conversation says is escaped: nothing of it is ever HTML.

use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

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
    pages.add_filter("grouped", grouped);
    pages.add_filter("moment", moment);
    pages.add_filter("words", words);
    pages.add_filter("saved", saved);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FILES, render};

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
}
