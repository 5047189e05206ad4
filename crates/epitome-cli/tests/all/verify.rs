//! `epitome verify`.

use crate::support::{example, json, run, stderr};

/// A folder with a summary in it.
fn with_summary(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.md");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn source() -> String {
    example("coding-session.jsonl").to_str().unwrap().to_owned()
}

#[test]
fn an_invention_is_struck_and_the_rest_written() {
    let (folder, summary) = with_summary(
        "Webhooks were added in ledger/webhooks.py. Then ledger/teapot.py was rewritten.\n",
    );
    let out = folder.path().join("repaired.md");
    let output = run(&[
        "verify",
        "--source",
        &source(),
        "--summary",
        &summary,
        "--json",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = json(&output);
    assert_eq!(report["verdict"], "repaired");
    assert_eq!(report["report"]["invented"], 1);
    assert_eq!(report["kinds"]["path"]["invented"], 1);
    assert_eq!(report["struck"][0], "Then ledger/teapot.py was rewritten.");
    assert_eq!(report["alarms"][0]["kind"], "invented_path");
    assert_eq!(report["alarms"][0]["line"], 1);
    let written = std::fs::read_to_string(out).unwrap();
    assert_eq!(report["summary"], written.as_str());
    assert!(written.starts_with("Webhooks were added in ledger/webhooks.py.\n"));
    assert!(written.contains("never touch the files under migrations/"));
}

#[test]
fn the_summary_of_our_own_summariser_stands() {
    let compacted = run(&["compact", &source(), "--json"]);
    let (_folder, summary) = with_summary(json(&compacted)["summary"].as_str().unwrap());
    let output = run(&[
        "verify",
        "--source",
        &source(),
        "--summary",
        &summary,
        "--json",
    ]);
    let report = json(&output);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(report["report"]["invented"], 0, "{}", report["alarms"]);
    assert_eq!(
        report["struck"],
        serde_json::json!([]),
        "{}",
        report["alarms"]
    );
}

#[test]
fn what_is_rejected_says_why_and_writes_nothing() {
    let invented = "- alpha_one.rs\n- beta_two.rs\n- gamma_three.rs\n- delta_four.rs\n";
    for (text, reason) in [(" \n", "summary_empty"), (invented, "summary_rejected")] {
        let (folder, summary) = with_summary(text);
        let out = folder.path().join("repaired.md");
        let arguments = [
            "verify",
            "--source",
            &source(),
            "--summary",
            &summary,
            "--out",
            out.to_str().unwrap(),
        ];
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with(&format!("rejected ({reason})")), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn the_report_is_for_people() {
    let (_folder, summary) = with_summary("Webhooks were added in ledger/webhooks.py.\n");
    let output = run(&["verify", "--source", &source(), "--summary", &summary]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("repaired: "), "{said}");
    for words in ["in source  retained", "\npath ", "\nall ", "pin_missing"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_wrong_call_is_told_apart() {
    let (folder, summary) = with_summary("Fine.\n");
    let binary = folder.path().join("binary");
    std::fs::write(&binary, [0x66, 0xff]).unwrap();
    let none = folder.path().join("none.md").to_str().unwrap().to_owned();
    let source = source();
    let cases: [(&[&str], &str); 5] = [
        (&["--source", &source], "--summary"),
        (&["--source", &source, "--summary", &none], "none.md"),
        (&["--source", &none, "--summary", &summary], "none.md"),
        (
            &["--source", &summary, "--summary", &summary],
            "no conversation",
        ),
        (
            &["--source", &source, "--summary", binary.to_str().unwrap()],
            "byte 1",
        ),
    ];
    for (arguments, words) in cases {
        let arguments: Vec<&str> = ["verify"].iter().chain(arguments).copied().collect();
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}
