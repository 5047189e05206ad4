//! `epitome serve` as a process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client, generate};

use crate::support::{epitome, run, stderr};

struct Serving {
    child: Child,
    address: SocketAddr,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn serve(upstream: &str, arguments: &[&str]) -> Serving {
    let mut child = epitome()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args([
            "--openai-upstream",
            upstream,
            "--anthropic-upstream",
            upstream,
        ])
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let address = line.rsplit("http://").next().unwrap().parse().unwrap();
    std::thread::spawn(move || lines.for_each(drop));
    Serving { child, address }
}

#[tokio::test]
async fn a_conversation_goes_through_and_a_signal_ends_it_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}/deep/er/epitome.db", folder.path().display());
    let model = ScriptedModel::start(ModelConfig::default()).await;
    // The path may or may not end in /v1.
    for upstream in [model.base_url(), format!("{}/v1", model.base_url())] {
        let mut serving = serve(&upstream, &["--store", &store, "--window", "24000"]);
        for wire in Wire::ALL.iter().copied() {
            let body = generate::request(wire, generate::Kind::ToolHeavy, 7, 20);
            let answer = client::post(serving.address, wire, &body).await.unwrap();
            assert_eq!(answer.status, 200, "{:?}", answer.body);
            assert_eq!(answer.header("x-epitome-action"), "passthrough");
        }
        let pid = serving.child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        assert!(serving.child.wait().unwrap().success());
    }
    assert!(folder.path().join("deep/er/epitome.db").exists());
}

#[test]
fn a_public_address_and_a_strange_store_are_refused_in_one_line() {
    for (arguments, words) in [
        (["--listen", "0.0.0.0:0"], "loopback"),
        (["--store", "mysql://x"], "mysql"),
        (["--openai-upstream", "ftp://x"], "http"),
        (["--preset", "vibes"], "vibe"),
        (["--summarizer", "none"], "extractive"),
        (["--summarizer", "nobody"], "nobody"),
    ] {
        let output = epitome().arg("serve").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = stderr(&output);
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(run(&["serve", "--window", "x"]).status.code(), Some(2));
}
