//! `--summarizer`: who writes the summary, and what happens when nobody does.

use epitome_testkit::{ModelConfig, Reply, Script, ScriptedModel};

use super::support::{epitome, example, json, stderr};

const TEXT: &str = "The work of the coding session goes on where it was left.";

fn compact(arguments: &[&str], model: Option<&str>) -> std::process::Output {
    let file = example("coding-session.jsonl");
    let mut command = epitome();
    command
        .arg("compact")
        .arg(file)
        .args(["--budget", "3000", "--json"]);
    command.args(arguments);
    if let Some(model) = model {
        command.env("EPITOME_SUMMARIZER_MODEL", model);
    }
    command
        .env_remove("OPENAI_API_KEY")
        .env_remove("ANTHROPIC_API_KEY");
    command.output().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_at_an_address_writes_it() {
    for path in [
        "",
        "/v1",
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
    ] {
        let model = ScriptedModel::start(ModelConfig {
            script: Script::Fixed(vec![Reply::text(TEXT); 20]),
            ..ModelConfig::default()
        })
        .await;
        let url = format!("{}{path}", model.base_url());
        let output =
            tokio::task::spawn_blocking(move || compact(&["--summarizer", &url], Some("scripted")))
                .await
                .unwrap();
        assert!(output.status.success(), "{path}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!(report["compacted"], true, "{path}");
        let summary = report["summary"].as_str().unwrap();
        assert!(summary.contains(TEXT), "{path}: {summary}");
        assert!(report["tokens_after"].as_u64() <= Some(3_000), "{path}");
        let requests = model.requests();
        assert!(!requests.is_empty());
        for request in requests {
            assert_eq!(request.violations, [], "{path}");
        }
    }
}

#[test]
fn a_dead_server_leaves_the_built_in_summary_and_says_so() {
    let output = compact(&["--summarizer", "http://127.0.0.1:9/v1"], Some("m"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("summary_failed"),
        "{}",
        stderr(&output)
    );
    assert_eq!(json(&output)["compacted"], true);
    assert!(
        json(&output)["summary"]
            .as_str()
            .unwrap()
            .contains("## Record")
    );
}

#[test]
fn nobody_writes_a_note() {
    let output = compact(&["--summarizer", "none"], None);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = json(&output)["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("no summary was asked for"), "{summary}");
}

#[test]
fn wrong_calls_say_what_to_do() {
    let output = compact(&["--summarizer", "gpt"], None);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("extractive, none, openai"),
        "{}",
        stderr(&output)
    );
    let output = compact(&["--summarizer", "http://127.0.0.1:9"], None);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("EPITOME_SUMMARIZER_MODEL"),
        "{}",
        stderr(&output)
    );
    // A provider wants a key; without one the built-in summary stands, and the reason is said.
    let output = compact(&["--summarizer", "anthropic"], Some("claude-sonnet-4-5"));
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("ANTHROPIC_API_KEY"),
        "{}",
        stderr(&output)
    );
}
