//! `epitome serve` as a process.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};

use epitome_testkit::{Fault, Faults, ModelConfig, ScriptedModel, Wire, client, generate};

use crate::support::{epitome, run, stderr};

pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// What it says after its address.
    pub(crate) lines: Receiver<String>,
}

impl Serving {
    /// Waits until it says this.
    pub(crate) fn says(&self, words: &str) {
        while let Ok(line) = self.lines.recv() {
            if line.contains(words) {
                return;
            }
        }
        panic!("it ended without saying {words:?}");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn serve(upstream: &str, arguments: &[&str]) -> Serving {
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
    let (say, said) = mpsc::channel();
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .try_for_each(|line| say.send(line))
    });
    Serving {
        child,
        address,
        lines: said,
    }
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

#[tokio::test]
async fn a_changed_configuration_takes_effect_without_a_restart_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("epitome.toml");
    std::fs::write(&file, "window = 200000\n").unwrap();
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let config = file.display().to_string();
    let serving = serve(&model.base_url(), &["--store", "none", "--config", &config]);
    let wire = Wire::ALL[0];
    let body = generate::request(wire, generate::Kind::ToolHeavy, 7, 120);
    let action = async || {
        let answer = client::post(serving.address, wire, &body).await.unwrap();
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        answer.header("x-epitome-action").to_owned()
    };
    assert_eq!(action().await, "passthrough");
    // What is wrong is said, and nothing changes.
    std::fs::write(&file, "window = \"wide\"\n").unwrap();
    serving.says("stays as it was");
    assert_eq!(action().await, "passthrough");
    std::fs::write(
        &file,
        "window = 6000\n\n[server]\nlisten = \"127.0.0.1:1\"\n",
    )
    .unwrap();
    serving.says("the configuration changed");
    assert_eq!(action().await, "compacted");
    std::fs::write(&file, "window = 6000\n\n[server]\nobserve = true\n").unwrap();
    serving.says("the configuration changed");
    assert_eq!(action().await, "observed");
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

fn signal(serving: &Serving, name: &str) {
    let pid = serving.child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args([name, &pid])
        .status();
    assert!(sent.unwrap().success());
}

/// The most memory a process has taken so far, in kilobytes.
fn peak_kilobytes(serving: &Serving) -> u64 {
    let status = format!("/proc/{}/status", serving.child.id());
    let text = std::fs::read_to_string(status).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.unwrap().trim().trim_end_matches("kB").trim();
    number.parse().unwrap()
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let model = ScriptedModel::start(ModelConfig {
        faults: Faults::none().every(1, Fault::Hang),
        ..ModelConfig::default()
    })
    .await;
    let mut serving = serve(&model.base_url(), &["--store", "none"]);
    let wire = Wire::ALL[0];
    let body = generate::request(wire, generate::Kind::ToolHeavy, 7, 20);
    let address = serving.address;
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(async move { client::post(address, wire, &body).await.is_ok() });
    while model.requests().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    signal(&serving, "-TERM");
    // The answer that somebody waits for is waited for.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert!(serving.child.try_wait().unwrap().is_none());
    signal(&serving, "-INT");
    let status = serving.child.wait().unwrap();
    assert_eq!(status.code(), Some(2));
    serving.says("second signal");
}

/// Small bodies that hold very large ones, alone and nested.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_take_no_memory() {
    const MOST_KILOBYTES: u64 = 64 << 10;
    let megabytes = |count: usize| vec![b' '; count << 20];
    let gzip = |plain: &[u8]| {
        let level = flate2::Compression::best();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    };
    let brotli = |plain: &[u8]| {
        let mut out = Vec::new();
        let mut encoder = brotli::CompressorWriter::new(&mut out, 1 << 16, 5, 24);
        encoder.write_all(plain).unwrap();
        drop(encoder);
        out
    };
    let zstd = |plain: &[u8]| zstd::stream::encode_all(plain, 1).unwrap();
    let large = megabytes(600);
    let bombs = [
        ("gzip", gzip(&large)),
        ("br", brotli(&large)),
        ("zstd", zstd(&large)),
        ("br, gzip", gzip(&brotli(&large))),
        ("zstd, br", brotli(&zstd(&large))),
    ];
    drop(large);
    let model = ScriptedModel::start(ModelConfig {
        echo: epitome_testkit::Echo::Body,
        keeps_records: false,
        ..ModelConfig::default()
    })
    .await;
    let serving = serve(&model.base_url(), &["--store", "none"]);
    let wire = Wire::ALL[0];
    let small = gzip(br#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#);
    let post = async |encoding: &str, body: Vec<u8>| {
        let headers = [("content-encoding", encoding)];
        let method = http::Method::POST;
        let sent = client::send(serving.address, &method, wire.path(), &headers, body.into());
        sent.await.unwrap()
    };
    let got = post("gzip", small).await;
    assert_eq!(got.header("x-epitome-reason"), "below_line");
    let before = peak_kilobytes(&serving);
    for _ in 0..2 {
        let mut all = tokio::task::JoinSet::new();
        for (encoding, bomb) in bombs.clone() {
            let address = serving.address;
            all.spawn(async move {
                let headers = [("content-encoding", encoding)];
                let method = http::Method::POST;
                let got = client::send(address, &method, wire.path(), &headers, bomb.into());
                let got = got.await.unwrap();
                assert_eq!(
                    got.header("x-epitome-reason"),
                    "body_too_large",
                    "{encoding}"
                );
            });
        }
        while let Some(done) = all.join_next().await {
            done.unwrap();
        }
    }
    let grown = peak_kilobytes(&serving) - before;
    assert!(grown <= MOST_KILOBYTES, "{grown} kB");
}
