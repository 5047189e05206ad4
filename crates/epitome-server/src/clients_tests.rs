use http::{HeaderMap, HeaderValue};

use super::{Clients, MOST_CONVERSATIONS, name};

#[test]
fn programs_are_called_as_people_call_them() {
    for (said, expected) in [
        ("claude-cli/2.0.14 (external, cli)", Some("Claude Code")),
        (
            "codex_cli_rs/0.46.0 (Debian 12; x86_64) xterm",
            Some("Codex"),
        ),
        ("opencode/1.0.1 ai-sdk/openai/2.0", Some("OpenCode")),
        ("Aider/1.0", Some("aider")),
        ("OpenAI/Python 1.99.1", Some("OpenAI for Python")),
        ("AsyncAnthropic/Python 0.60", Some("Anthropic for Python")),
        ("Mozilla/5.0 RooCode/3.1", Some("Roo Code")),
        ("my-own-agent/3.1 (beta)", Some("my-own-agent")),
        ("/1", None),
        (" ", None),
    ] {
        assert_eq!(name(said).as_deref(), expected, "{said}");
    }
    let long = "x".repeat(200);
    assert_eq!(name(&long).map(|name| name.len()), Some(30));
}

#[test]
fn the_newest_program_counts_and_the_oldest_conversation_is_forgotten() {
    let of = |said: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert("user-agent", HeaderValue::from_static(said));
        headers
    };
    let clients = Clients::default();
    clients.saw("first", &of("Aider/1.0"));
    clients.saw("first", &of("codex_exec/1"));
    assert_eq!(clients.of("first").as_deref(), Some("Codex"));
    clients.saw("first", &HeaderMap::new());
    assert_eq!(clients.of("first").as_deref(), Some("Codex"));
    for number in 0..MOST_CONVERSATIONS {
        clients.saw(&number.to_string(), &of("Aider/1.0"));
    }
    assert_eq!(clients.of("first"), None);
    assert_eq!(clients.of("0").as_deref(), Some("aider"));
}
