//! Who runs the server: PostgreSQL and PgBouncer refuse to be root.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Whom the server runs as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Account {
    /// Whoever runs the test.
    Own,
    /// The user `postgres` of Debian's package.
    Postgres { user: u32, group: u32 },
}

impl Account {
    /// Root starts it as `postgres`.
    pub(super) fn find() -> Result<Self, String> {
        let own = std::fs::metadata("/proc/self").map_err(|error| error.to_string())?;
        if own.uid() != 0 {
            return Ok(Self::Own);
        }
        let users = std::fs::read_to_string("/etc/passwd").map_err(|error| error.to_string())?;
        let found = users.lines().find_map(|line| {
            let mut fields = line.strip_prefix("postgres:")?.split(':').skip(1);
            let user = fields.next()?.parse().ok()?;
            let group = fields.next()?.parse().ok()?;
            Some(Self::Postgres { user, group })
        });
        found.ok_or_else(|| "root cannot run a server, and there is no user postgres".to_owned())
    }

    pub(super) fn command(self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if let Self::Postgres { user, group } = self {
            command.uid(user).gid(group);
        }
        command
    }

    pub(super) fn give(self, path: &Path) {
        if let Self::Postgres { user, group } = self {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }
}
