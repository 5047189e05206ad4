//! PgBouncer before a temporary server.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::cluster::{Cluster, temporary_folder};
use super::watchdog::Watchdog;

const PORT: u16 = 6432;

const PAUSE: Duration = Duration::from_millis(50);
const PAUSES: u32 = 1_200;

/// PgBouncer in transaction mode. Two connections for each database, by turns: what a client leaves in a session, another
/// one finds.
#[derive(Debug)]
pub(super) struct Pooler {
    folder: PathBuf,
    _watchdog: Watchdog,
}

impl Pooler {
    /// Debian puts it where only root's PATH looks.
    pub(super) fn find() -> Result<PathBuf, String> {
        let mut places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
            .map(PathBuf::from)
            .into_iter();
        let found = places.find(|path| path.exists());
        found.ok_or_else(|| "no PgBouncer (Debian: apt-get install pgbouncer)".to_owned())
    }

    pub(super) fn start(program: &std::path::Path, cluster: &Cluster) -> Self {
        let account = cluster.account();
        let folder = temporary_folder("pgbouncer", account);
        let settings = format!(
            "[databases]\n* = host={server} port={server_port} user=postgres\n\
            [pgbouncer]\nunix_socket_dir = {folder}\nlisten_port = {PORT}\nlisten_addr =\n\
            auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nserver_round_robin = 1\n\
            max_client_conn = 2000\nserver_idle_timeout = 2\nlogfile =\n",
            server = cluster.folder().display(),
            server_port = Cluster::port(),
            folder = folder.display(),
        );
        let file = folder.join("pgbouncer.ini");
        fs::write(&file, settings).unwrap();
        let command = [program, &file].map(|path| path.to_string_lossy().into_owned());
        let log = folder.join("log");
        let watchdog = Watchdog::start(account, &folder, &log, &command);
        let pooler = Self {
            folder,
            _watchdog: watchdog,
        };
        let socket = pooler.folder.join(format!(".s.PGSQL.{PORT}"));
        for _ in 0..PAUSES {
            if UnixStream::connect(&socket).is_ok() {
                return pooler;
            }
            std::thread::sleep(PAUSE);
        }
        let said = fs::read_to_string(&log).unwrap_or_default();
        panic!("PgBouncer does not start: {said}");
    }

    pub(super) fn url(&self, database: &str) -> String {
        let folder = self.folder.display();
        format!("postgres://postgres@localhost:{PORT}/{database}?host={folder}")
    }
}
