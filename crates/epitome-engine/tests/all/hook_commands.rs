//! Commands that misbehave: they end, and all that they started ends with them.

use std::path::Path;
use std::time::Duration;

use epitome_engine::hooks::{FailureKind, HookCommand, Verdict};
use tokio::time::timeout;

use super::hooks::{PATIENCE, ask, shell};

/// More than a pipe holds, so that whoever writes it waits for a reader.
const MUCH: usize = 4 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn no_command_holds_anybody_up() {
    let short = Duration::from_millis(500);
    // A name, what the command does, how long it may take, and how that ends; `None` is a verdict to cancel.
    let cancel = r#"echo '{"action":"cancel"}'"#;
    let cases = [
        ("never reads", cancel.to_owned(), PATIENCE, None),
        (
            "never reads nor ends",
            "sleep 1000".to_owned(),
            short,
            Some("timed out"),
        ),
        (
            "closes its input",
            format!("exec <&-; sleep 0.2; {cancel}"),
            PATIENCE,
            None,
        ),
        (
            "reads a little",
            format!("head -c 10 > /dev/null; {cancel}"),
            PATIENCE,
            None,
        ),
        (
            "writes endlessly",
            "exec yes".to_owned(),
            PATIENCE,
            Some("more than 1048576 bytes"),
        ),
        (
            "complains endlessly",
            "exec yes >&2".to_owned(),
            short,
            Some("timed out"),
        ),
        (
            "complains a lot",
            format!("yes | head -c 300000 >&2; {cancel}"),
            PATIENCE,
            None,
        ),
        (
            "ignores signals",
            "trap '' TERM INT HUP; while :; do sleep 1; done".to_owned(),
            short,
            Some("timed out"),
        ),
        (
            "closes its output",
            "exec >&- 2>&-; sleep 1000".to_owned(),
            short,
            Some("timed out"),
        ),
        (
            "leaves a child with the pipes",
            format!("sleep 1000 & {cancel}"),
            PATIENCE,
            None,
        ),
        (
            "leaves a child in another session",
            format!("setsid sleep 5 & {cancel}"),
            PATIENCE,
            None,
        ),
    ];
    for (name, script, limit, expect) in cases {
        let asked = timeout(PATIENCE / 2, ask(shell(&script, limit), MUCH)).await;
        let verdict = asked.unwrap_or_else(|_| panic!("a command that {name} holds us up"));
        match (verdict, expect) {
            (Ok(Verdict::Cancel { .. }), None) => {}
            (Err(FailureKind::TimedOut(_)), Some("timed out")) => {}
            (Err(FailureKind::Failed(error)), Some(words)) if error.contains(words) => {}
            (verdict, _) => panic!("a command that {name}: {verdict:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_group_ends_with_its_command() {
    let long = Duration::from_secs(30);
    let short = Duration::from_secs(3);
    // Ended by its time, by itself, and by whoever does not wait any longer.
    let cases = [
        ("wait", short, long),
        ("exit 0", long, long),
        ("wait", long, short),
    ];
    for (then, limit, patience) in cases {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "sh -c 'trap \"\" TERM; echo $$ > child; sleep 1000 & echo $! > grandchild; wait' & \
             until [ -s child ] && [ -s grandchild ]; do sleep 0.01; done; {then}"
        );
        let command = HookCommand {
            working_folder: Some(folder.path().to_owned()),
            ..shell(&script, limit)
        };
        let _ = timeout(patience, ask(command, MUCH)).await;
        for name in ["child", "grandchild"] {
            let file = folder.path().join(name);
            let id = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(!id.trim().is_empty(), "{then}: the {name} never ran");
            let ended = timeout(PATIENCE, async {
                while is_running(id.trim()) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            });
            assert!(ended.await.is_ok(), "{then}: the {name} lives on");
        }
    }
}

/// Whether a process lives; one that ended and waits for its parent to notice does not.
fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn commands_see_no_keys() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = HookCommand {
        working_folder: Some(folder.path().to_owned()),
        ..shell("env > seen", PATIENCE)
    };
    command
        .environment
        .insert("GREETING".to_owned(), "hello".to_owned());
    assert_eq!(ask(command, 0).await, Ok(Verdict::Continue));
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    // The last four are the shell's own.
    let passed = [
        "PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL", "GREETING", "PWD", "SHLVL", "_",
        "OLDPWD",
    ];
    let is_hidden = |(name, _): (String, String)| !passed.contains(&name.as_str());
    assert!(std::env::vars().any(is_hidden), "there is nothing to hide");
    for line in seen.lines() {
        let name = line.split('=').next().unwrap();
        assert!(passed.contains(&name), "{line}");
    }
    assert!(seen.contains("GREETING=hello") && seen.contains("PATH="));
}
