//! Tenants of the proxy: tables by name, whose keys are in no file, no message and no debug output.

use epitome_config::{Files, Period, Sources, VariableName};

use crate::support::{Folder, named, problems};

const DIGEST: &str = "epitome:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[test]
fn tenants_are_tables_by_name() {
    let folder = Folder::new();
    let file = folder.write(
        "epitome.toml",
        &format!(
            "[server]\nprincipalHeader = \"x-remote-user\"\ntrusted_peers = [\"10.0.0.0/8\"]\n\
             [tenants.alpha]\nkeys = [\"{DIGEST}\"]\nmaxConversations = 5\nmax_summary_usd = 2\nsummary_period = \"day\"\n\
             [tenants.\"team.b-1\"]\nkey_env = \"BETA_KEY\"\nkey_file = \"keys/beta\"\nprincipals = [\"ann\", \"bob\"]\nmax_bytes = 10_000\n"
        ),
    );
    let loaded = named(file.clone()).load().unwrap();
    assert_eq!(loaded.server.principal_header, "x-remote-user");
    assert_eq!(loaded.server.trusted_peers.as_slice(), ["10.0.0.0/8"]);
    let names: Vec<&str> = loaded.tenants.keys().map(String::as_str).collect();
    assert_eq!(names, ["alpha", "team.b-1"]);
    let alpha = &loaded.tenants["alpha"];
    assert_eq!(alpha.keys.as_slice(), [DIGEST]);
    assert_eq!((alpha.max_conversations, alpha.max_bytes), (Some(5), None));
    assert_eq!(
        (alpha.max_summary_usd, alpha.summary_period),
        (Some(2.0), Period::Day)
    );
    let beta = &loaded.tenants["team.b-1"];
    assert_eq!(
        beta.key_env.as_ref().map(VariableName::as_str),
        Some("BETA_KEY")
    );
    // A path begins at the folder of the file.
    assert_eq!(
        beta.key_file,
        Some(file.parent().unwrap().join("keys/beta"))
    );
    assert_eq!(beta.principals.as_slice(), ["ann", "bob"]);
    assert_eq!(
        (beta.max_bytes, beta.summary_period),
        (Some(10_000), Period::Month)
    );
    // They are shown with where they come from.
    let shown = loaded.value("tenants.\"team.b-1\".principals").unwrap();
    assert_eq!(shown.toml(), "[\"ann\", \"bob\"]");
    assert!(shown.origin.to_string().contains("epitome.toml"));
    assert!(
        loaded.values().all(|entry| entry.path != "tenants.keys"),
        "a row of none"
    );
}

#[test]
fn a_key_in_the_place_of_its_digest_is_refused_and_not_repeated() {
    for text in [
        "[tenants.a]\nkeys = [\"sk-123\"]\n",
        "[tenants.a]\nkeys = \"sk-123\"\n",
        "[tenants.a]\nprovider_keys = [\"epitome:sk-123\"]\n",
        "[tenants.a]\nkey = \"sk-123\"\n",
        "[tenants.a]\nkey_env = \"sk-123\"\n",
    ] {
        let said = problems(text);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(!said[0].contains("sk-123"), "{said:?}");
        assert!(
            said[0].starts_with("epitome.toml:2: `tenants.a."),
            "{said:?}"
        );
    }
    let said = problems("[tenants.a]\nkeys = [\"sk-123\"]\n");
    assert!(said[0].contains("epitome config key"), "{said:?}");
}

#[test]
fn what_is_wrong_with_a_tenant_is_said_with_its_line() {
    let cases = [
        ("[tenants.\"a b\"]\nkeys = []\n", "64 letters"),
        ("[tenants.a]\n", "`keys`"),
        ("[tenants]\na = 5\n", "a table"),
        ("[tenants.a]\nprincipal = [\"x\"]\n", "principals"),
        ("[tenants.a]\nprincipals = [\"\"]\n", "a list of texts"),
        ("[tenants.a]\nmax_bytes = -1\n", "max_bytes"),
        ("[tenants.a]\nmax_summary_usd = -0.5\n", "max_summary_usd"),
        ("[tenants.a]\nsummary_period = \"week\"\n", "month"),
    ];
    for (text, says) in cases {
        let said = problems(text);
        assert_eq!(said.len(), 1, "{text}: {said:?}");
        assert!(said[0].contains(says), "{text}: {said:?}");
    }
}

#[test]
fn a_project_names_no_tenants() {
    let folder = Folder::new();
    folder.write(
        "project/epitome.toml",
        &format!("window = 1000\n[tenants.a]\nkeys = [\"{DIGEST}\"]\n[server]\ntrusted_peers = [\"0.0.0.0/0\"]\n"),
    );
    let sources = Sources {
        files: Files::Searched {
            system: None,
            user: None,
            folder: Some(folder.path().join("project")),
            trusted: None,
        },
        ..Sources::default()
    };
    let loaded = sources.load().unwrap();
    assert!(loaded.tenants.is_empty());
    assert_eq!(loaded.server.trusted_peers.as_slice(), Vec::<String>::new());
    let told = loaded
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect::<String>();
    assert!(
        told.contains("tenants.a.keys") && told.contains("trusted_peers"),
        "{told}"
    );
}
