//! `epitome serve` for tenants, and `epitome config key`.

use epitome_testkit::{ModelConfig, ScriptedModel, Wire, client, generate};
use http::Method;

use crate::serve::serve;
use crate::support::{epitome, run, stderr, stdout};

/// A key and its digest, as the command prints them.
fn key() -> (String, String) {
    let output = run(&["config", "key", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let made: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let member = |name: &str| made.get(name).unwrap().as_str().unwrap().to_owned();
    (member("key"), member("digest"))
}

/// The digest of what stands in a file.
fn digest_of(file: &std::path::Path) -> (Option<i32>, String, String) {
    let input = std::fs::File::open(file).unwrap();
    let output = epitome()
        .args(["config", "key", "--stdin"])
        .stdin(input)
        .output()
        .unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn a_key_is_made_once_and_its_digest_always_the_same() {
    let ((one, digest), (other, _)) = (key(), key());
    assert_ne!(one, other);
    assert!(one.len() > 40 && digest.starts_with("epitome:") && !digest.contains(&one[3..]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, format!("{one}\n")).unwrap();
    assert_eq!(
        digest_of(&file),
        (Some(0), format!("{digest}\n"), String::new())
    );
    for wrong in ["", "\n", "hunter2\nhunter2\n"] {
        std::fs::write(&file, wrong).unwrap();
        let (code, out, said) = digest_of(&file);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(
            said.contains("one key") && !said.contains("hunter2"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn only_tenants_are_served_and_no_key_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (alpha, digest) = key();
    let (beta, _) = key();
    let (variable, in_file) = ("ep-a-key-in-a-variable", "ep-a-key-in-a-file");
    std::fs::write(folder.path().join("keys"), format!("{beta}\n\n{in_file}\n")).unwrap();
    let file = folder.path().join("epitome.toml");
    let text = format!(
        "[tenants.alpha]\nkeys = [\"{digest}\"]\n[tenants.beta]\nkey_file = \"keys\"\n[tenants.gamma]\nkey_env = \"GAMMA_KEY\"\n"
    );
    std::fs::write(&file, &text).unwrap();
    let config = file.display().to_string();
    let store = format!("sqlite:{}/epitome.db", folder.path().display());
    let model = ScriptedModel::start(ModelConfig::default()).await;
    // Without its variable it does not start, and says what to do.
    let output = epitome()
        .args(["serve", "--config", &config, "--store", "none"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("tenants.gamma") && said.contains("GAMMA_KEY"),
        "{said}"
    );
    std::fs::write(&file, text.split("[tenants.gamma]").next().unwrap()).unwrap();

    let serving = serve(
        &model.base_url(),
        &[
            "--store",
            &store,
            "--config",
            &config,
            "--access-log",
            "-vv",
        ],
    );
    serving.says("alpha, beta");
    let body = generate::request(Wire::OpenaiChat, generate::Kind::ToolHeavy, 7, 4).to_string();
    let ask = async |key: &str| {
        let headers = [
            ("x-epitome-key", key),
            ("authorization", "Bearer sk-provider"),
        ];
        let path = Wire::OpenaiChat.path();
        let body = body.clone().into();
        let sent = client::send(serving.address, &Method::POST, path, &headers, body);
        sent.await.unwrap().status
    };
    for key in [&alpha, &beta, in_file] {
        assert_eq!(ask(key).await, 200);
    }
    for key in ["ep-guessed-guessed", variable, &digest, ""] {
        assert_eq!(ask(key).await, 401);
    }
    // A key that is withdrawn opens nothing from then on.
    std::fs::write(folder.path().join("keys"), format!("{in_file}\n")).unwrap();
    // The variable is not set: nothing changes.
    std::fs::write(&file, format!("{text}max_bytes = 100000\n")).unwrap();
    serving.says("stays as it was");
    assert_eq!(ask(&beta).await, 200);
    let two = text.split("[tenants.gamma]").next().unwrap();
    std::fs::write(&file, format!("{two}max_bytes = 100000\n")).unwrap();
    serving.says("the configuration changed");
    for (key, status) in [(&alpha, 200), (&beta, 401), (&in_file.to_owned(), 200)] {
        assert_eq!(ask(key).await, status);
    }
    let mut serving = serving;
    serving.child.kill().unwrap();
    let said: Vec<String> = serving.lines.iter().collect();
    let shown = run(&["config", "show", "--config", &config]);
    let said = format!("{said:?} {} {}", stdout(&shown), stderr(&shown));
    for secret in [&alpha, &beta, in_file, "sk-provider", "ep-guessed-guessed"] {
        assert!(!said.contains(secret), "{said}");
    }
    let log = run(&["log", "--store", &store, "--tenant", "beta", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&stdout(&log)).unwrap();
    let listed = listed
        .get("conversations")
        .unwrap()
        .as_array()
        .unwrap()
        .len();
    assert_eq!(listed, 1, "both keys are the same tenant's");
}
