use epitome_eval::{Entry, Method, tokens};

use crate::support::{assistant, call, history, result, system, user};

fn session() -> Vec<Entry> {
    let mut entries = vec![
        system("Be brief."),
        user("Never touch vendor/lib.rs, and keep the retry limit at 4711 tries."),
    ];
    for number in 0..40 {
        let id = number.to_string();
        let arguments = format!(r#"{{"path":"src/file_{number:02}.rs"}}"#);
        entries.push(call(&id, "read", &arguments));
        let line = format!("line of output number {number} with words to choose\n");
        entries.push(result(&id, &line.repeat(6)));
    }
    entries.push(assistant("All files are read."));
    entries
}

fn compact(method: Method, budget: u64) -> String {
    let history = history(&session());
    method.compact(&history, history.len(), budget)
}

#[test]
fn every_method_stays_within_its_budget() {
    for method in Method::ALL {
        for budget in [200, 400, 800] {
            let size = tokens(&compact(method, budget));
            assert!(size <= budget, "{method} took {size} of {budget}");
        }
    }
}

#[test]
fn system_messages_are_kept_aside() {
    for method in Method::ALL {
        assert!(!compact(method, 800).contains("Be brief."), "{method}");
    }
}

#[test]
fn methods_keep_what_their_names_say() {
    assert!(compact(Method::DropOldest, 400).ends_with("\nAll files are read."));
    assert!(!compact(Method::DropOldest, 400).contains("Never touch"));
    assert!(compact(Method::HeadTail, 400).starts_with("Never touch"));
    assert!(compact(Method::MaskTools, 800).contains("[tool result omitted]"));
    assert!(compact(Method::MaskUsers, 400).starts_with("Never touch"));
    assert!(compact(Method::Ledger, 800).contains(" src/file_00.rs"));
    assert!(compact(Method::CoverLines, 800).contains("read src/file_00.rs"));
}

#[test]
fn a_message_too_large_for_the_budget_is_kept_by_its_end() {
    let history = history(&[user("start"), assistant(&format!("{}end", "x".repeat(900)))]);
    let text = Method::DropOldest.compact(&history, 2, 10);
    assert_eq!(text, format!("{}end", "x".repeat(37)));
}

#[test]
fn methods_have_names() {
    for method in Method::ALL {
        assert_eq!(method.as_str().parse(), Ok(method));
    }
    let error = "best".parse::<Method>().unwrap_err().to_string();
    assert!(error.contains("best is no method") && error.contains("builtin"));
}
