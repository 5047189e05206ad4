//! A server that ends with the process that started it, however that ends.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};

use super::account::Account;

/// `$1` is the folder to remove at the end; the rest is the server. Its input is a pipe: it is closed when the test process is
/// gone, killed or not. Who wants to have the folder afterwards says so in it.
const SCRIPT: &str = r#"
remove="$1"; shift
"$@" >&2 </dev/null &
server=$!
said=$(cat)
kill -INT "$server" 2>/dev/null
wait "$server"
[ "$said" = keep ] || rm -rf "$remove"
"#;

/// Ends the server and removes its folder when dropped.
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    pub(super) fn start(account: Account, remove: &Path, log: &Path, server: &[String]) -> Self {
        let log = std::fs::File::create(log).unwrap();
        let child = account
            .command("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(remove)
            .args(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Ends the server, and leaves its folder as it is.
    pub(super) fn end_and_keep(mut self) {
        let mut input = self.0.stdin.take().unwrap();
        input.write_all(b"keep").unwrap();
        drop(input);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It ends by itself.
        let _ = self.0.wait();
    }
}
