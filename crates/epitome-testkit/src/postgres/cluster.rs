//! A temporary PostgreSQL server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::account::Account;
use super::watchdog::Watchdog;

/// Where Debian puts the programs, one folder for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

const PORT: u16 = 5432;

const PAUSE: Duration = Duration::from_millis(50);
const PAUSES: u32 = 2_400;

/// A role that needs a password; everybody else is trusted.
pub(super) const RULES: &str =
    "local all locked scram-sha-256\nlocal all all trust\nlocal replication all trust\n";

/// The programs of a server, and who may run them.
#[derive(Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    pub(super) account: Account,
}

/// A temporary server, on a socket in its folder. It ends when dropped, and with this process.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    folder: PathBuf,
    watchdog: Option<Watchdog>,
}

impl Cluster {
    /// The newest version that is installed, or why there is none.
    pub(super) fn find() -> Result<Programs, String> {
        let missing = || "no PostgreSQL server (Debian: apt-get install postgresql)".to_owned();
        let versions = fs::read_dir(DEBIAN).map_err(|_| missing())?;
        let folders = versions.map(|entry| entry.unwrap().path().join("bin"));
        let found = folders.filter(|folder| folder.join("initdb").exists());
        let version = |folder: &PathBuf| -> u32 {
            let name = folder.parent().and_then(Path::file_name);
            let name = name.map(|name| name.to_string_lossy().parse());
            name.and_then(Result::ok).unwrap_or_default()
        };
        Ok(Programs {
            folder: found.max_by_key(version).ok_or_else(missing)?,
            account: Account::find()?,
        })
    }

    pub(super) fn start(programs: Programs) -> Self {
        let folder = temporary_folder("postgres", programs.account);
        let data = folder.join("data");
        let output = programs
            .account
            .command(programs.folder.join("initdb"))
            .args(["--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8"])
            .args(["--locale", "C", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(output.status.success(), "initdb: {output:?}");
        fs::write(data.join("pg_hba.conf"), RULES).unwrap();
        let mut cluster = Self {
            programs,
            folder,
            watchdog: None,
        };
        cluster.start_again();
        cluster
    }

    /// Starts it after [`kill`](Self::kill), and waits until it takes connections.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start_again(&mut self) {
        let folder = self.folder.to_string_lossy();
        let mut command = vec![
            self.program("postgres"),
            "-D".to_owned(),
            format!("{folder}/data"),
            "-k".to_owned(),
            folder.to_string(),
            "-p".to_owned(),
            PORT.to_string(),
        ];
        for setting in [
            "listen_addresses=",
            // The operating system does not crash here.
            "fsync=off",
            "full_page_writes=off",
            "max_connections=400",
            "shared_buffers=64MB",
        ] {
            command.extend(["-c".to_owned(), setting.to_owned()]);
        }
        let log = self.folder.join("log");
        for _ in 0..PAUSES {
            // What the killed one left in memory may keep the next from starting for a moment.
            if let Some(before) = self.watchdog.take() {
                before.end_and_keep();
            }
            let account = self.programs.account;
            let watchdog = Watchdog::start(account, &self.folder, &log, &command);
            self.watchdog = Some(watchdog);
            if self.is_up() {
                return;
            }
        }
        let said = fs::read_to_string(&log).unwrap_or_default();
        panic!("PostgreSQL does not start: {said}");
    }

    /// A second server that holds a copy of this one and follows it. From now on nothing that this one acknowledges is not there
    /// too: it waits for the other one with every commit.
    ///
    /// # Panics
    /// When there is none to be had.
    #[must_use]
    pub fn synchronous_standby(&self) -> Self {
        let account = self.programs.account;
        let folder = temporary_folder("standby", account);
        let output = account
            .command(self.program("pg_basebackup"))
            .args([
                "--no-sync",
                "-c",
                "fast",
                "-X",
                "stream",
                "-R",
                "-U",
                "postgres",
            ])
            .args(["-p", &PORT.to_string(), "-h"])
            .arg(&self.folder)
            .arg("-D")
            .arg(folder.join("data"))
            .output()
            .unwrap();
        assert!(output.status.success(), "pg_basebackup: {output:?}");
        let mut standby = Self {
            programs: Programs {
                folder: self.programs.folder.clone(),
                account,
            },
            folder,
            watchdog: None,
        };
        standby.start_again();
        self.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.run("SELECT pg_reload_conf()");
        for _ in 0..PAUSES {
            let state = self.ask("SELECT sync_state FROM pg_stat_replication");
            if state.trim() == "sync" {
                return standby;
            }
            std::thread::sleep(PAUSE);
        }
        panic!("the standby does not follow");
    }

    /// Makes a standby the server that takes writes, waiting for nobody.
    ///
    /// # Panics
    /// When it cannot be.
    pub fn promote(&self) {
        // It copied from the other one whom that one waits for.
        self.run("ALTER SYSTEM SET synchronous_standby_names = ''");
        assert_eq!(self.ask("SELECT pg_promote(true, 60)").trim(), "t");
        self.run("SELECT pg_reload_conf()");
    }

    /// Runs a statement as an administrator.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn run(&self, statement: &str) {
        let _ = self.ask(statement);
    }

    /// The same, for what it gives, unadorned.
    ///
    /// # Panics
    /// When the server refuses.
    #[must_use]
    pub fn ask(&self, statement: &str) -> String {
        let output = self
            .programs
            .account
            .command(self.program("psql"))
            .args(["-X", "-A", "-t", "-U", "postgres", "-d", "postgres"])
            .args(["-v", "ON_ERROR_STOP=1", "-p", &PORT.to_string(), "-h"])
            .arg(&self.folder)
            .args(["-c", statement])
            .output()
            .unwrap();
        assert!(output.status.success(), "{statement}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Makes a folder that this server may use.
    ///
    /// # Panics
    /// When there is one already.
    pub fn own_folder(&self, path: &Path) {
        fs::create_dir(path).unwrap();
        self.programs.account.give(path);
    }

    /// Kills the server with SIGKILL, as a crash does.
    ///
    /// # Panics
    /// When it does not run.
    pub fn kill(&mut self) {
        self.signal("-KILL");
    }

    /// Ends the server as an administrator does who does not wait for clients.
    ///
    /// # Panics
    /// When it does not run.
    pub fn stop(&mut self) {
        self.signal("-INT");
    }

    /// The address of a database of this server.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display();
        format!("postgres://postgres@localhost/{database}?host={folder}")
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) const fn account(&self) -> Account {
        self.programs.account
    }

    pub(super) const fn port() -> u16 {
        PORT
    }

    fn signal(&self, signal: &str) {
        let file = self.folder.join("data/postmaster.pid");
        let text = fs::read_to_string(&file).unwrap();
        let process = text.lines().next().unwrap();
        let status = std::process::Command::new("kill")
            .args([signal, process])
            .status()
            .unwrap();
        assert!(status.success(), "kill {signal} {process}");
        // Nobody who connects from now on may reach the old one.
        let path = PathBuf::from("/proc").join(process);
        for _ in 0..PAUSES {
            let state = fs::read_to_string(path.join("stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        panic!("process {process} does not end");
    }

    fn program(&self, name: &str) -> String {
        let path = self.programs.folder.join(name);
        path.to_string_lossy().into_owned()
    }

    /// Waits until the server takes connections; `false` when it gave up.
    fn is_up(&mut self) -> bool {
        for _ in 0..PAUSES {
            let ready = std::process::Command::new(self.program("pg_isready"))
                .args(["-q", "-p", &PORT.to_string(), "-h"])
                .arg(&self.folder)
                .status()
                .unwrap();
            if ready.success() {
                return true;
            }
            let said = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            if said.contains("FATAL:  pre-existing shared memory") {
                return false;
            }
            assert!(!said.contains("FATAL:  could not"), "{said}");
            std::thread::sleep(PAUSE);
        }
        false
    }
}

/// A new folder that the server may use. Names of sockets must be short, so it is not deep.
pub(super) fn temporary_folder(name: &str, account: Account) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("epitome-{name}-{}-{count}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    // Left over from a process of the same number whose machine went down.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    account.give(&folder);
    folder
}
