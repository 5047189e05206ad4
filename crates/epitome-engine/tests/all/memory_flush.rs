//! The texts of a memory flush, and the answer that is none.

use epitome_engine::memory_folder::MEMORY_TOOL;
use epitome_engine::memory_folder::flush::{FlushPrompts, is_silent};

use super::memory_folder::day;

#[test]
fn flush_texts_name_the_file_and_the_way_out() {
    let texts = FlushPrompts::default().render(day()).unwrap();
    for text in [&texts.prompt, &texts.system_prompt] {
        for word in ["memory/YYYY-MM-DD.md", "memory/2026-11-15.md", "NO_REPLY"] {
            assert!(text.contains(word), "{word} is not in: {text}");
        }
        assert!(!text.contains("{{"));
    }
    assert!(texts.prompt.contains(MEMORY_TOOL));
    let own = |prompt: &str| FlushPrompts {
        prompt: prompt.to_owned(),
        system_prompt: String::new(),
    };
    let rendered = own("Today is {{ date }}.").render(day()).unwrap();
    assert_eq!(rendered.prompt, "Today is 2026-11-15.");
    for bad in ["{{ dat }}", "{% if %}", "{{ date"] {
        assert!(own(bad).render(day()).is_err(), "{bad}");
    }
}

#[test]
fn silence_is_a_word_of_its_own_at_an_end() {
    let silent = [
        "NO_REPLY",
        " NO_REPLY\n",
        "NO_REPLY.",
        "**NO_REPLY**",
        "`NO_REPLY`",
        "_NO_REPLY_",
        "```\nNO_REPLY\n```",
        "\"NO_REPLY\"",
        "(NO_REPLY)",
        "NO_REPLY - nothing to save.",
        "Saved two notes.\n\nNO_REPLY",
        "_NO_REPLY_ because all is saved",
        "Done: __NO_REPLY__!",
        "> NO_REPLY",
        "🤫 NO_REPLY 🤫",
    ];
    let spoken = [
        "",
        " ",
        "no_reply",
        "No_Reply",
        "NO REPLY",
        "NO-REPLY",
        "NO_REPL",
        "NO_REPLYING",
        "XNO_REPLY",
        "NO_REPLY2",
        "NO_REPLY_TOKEN",
        "MY_NO_REPLY",
        "éNO_REPLY",
        "NO_REPLYé",
        "I would say NO_REPLY here.",
        "HEARTBEAT_OK",
        "漢NO_REPLY",
    ];
    for reply in silent {
        assert!(is_silent(reply), "{reply:?}");
    }
    for reply in spoken {
        assert!(!is_silent(reply), "{reply:?}");
    }
}
