//! Opening: folders, rights and fall-backs.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::pool::{self, Purpose};
use super::{Access, SqliteStore, schema};
use crate::{Error, Keys, Result, clock};

/// How often and at what distance a file is opened again while somebody else is creating it.
const BUSY_TRIES: u32 = 40;
const BUSY_PAUSE: Duration = Duration::from_millis(25);

/// A file that was opened.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: PathBuf,
    identity: Option<Identity>,
}

/// What tells a file from another one at the same path.
type Identity = (u64, u64);

impl Place {
    fn of(path: PathBuf) -> Self {
        let identity = identity(&path);
        Self { path, identity }
    }

    pub(super) fn is_gone(&self) -> bool {
        identity(&self.path) != self.identity
    }
}

/// Device and number of a file, where there is one. A file whose metadata cannot be had is as good as none.
fn identity(path: &Path) -> Option<Identity> {
    let file = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt as _;
        (file.dev(), file.ino())
    };
    #[cfg(not(unix))]
    let identity = (0, u64::from(file.is_file()));
    Some(identity)
}

pub(super) async fn open(path: PathBuf, keys: Keys) -> Result<SqliteStore> {
    let path = absolute(&path)?;
    create_if_missing(&path)?;
    let mut tries = BUSY_TRIES;
    loop {
        match open_for_writing(&path, &keys).await {
            Err(Error::ReadOnly(_) | Error::CannotOpen(_)) => {
                return open_read_only(path, keys).await;
            }
            // Whoever creates the file switches it to write-ahead mode, and for that SQLite makes nobody wait.
            Err(Error::Busy(_)) if tries > 0 => tries -= 1,
            result => return result,
        }
        clock::sleep(BUSY_PAUSE).await;
    }
}

pub(super) async fn open_read_only(path: PathBuf, keys: Keys) -> Result<SqliteStore> {
    let path = absolute(&path)?;
    if !path.exists() {
        let missing = format!("there is no file {}", path.display());
        let missing = io::Error::new(ErrorKind::NotFound, missing);
        return Err(Error::CannotOpen(Box::new(missing)));
    }
    let readers = match open_verified(&path, Purpose::Read, &keys).await {
        // Next to a file in write-ahead mode SQLite wants to put two more. Where it cannot, and none is left over from
        // a writer, the file is all there is.
        Err(Error::ReadOnly(_) | Error::CannotOpen(_)) if path.exists() && !has_wal(&path) => {
            open_verified(&path, Purpose::ReadFrozen, &keys).await?
        }
        result => result?,
    };
    Ok(SqliteStore {
        writer: readers.clone(),
        readers,
        access: Access::ReadOnly,
        keys,
        place: Some(Place::of(path)),
    })
}

pub(super) async fn in_memory(keys: Keys) -> Result<SqliteStore> {
    let writer = pool::open(Path::new(":memory:"), Purpose::Memory).await?;
    schema::migrate(&writer, &keys).await?;
    Ok(SqliteStore {
        readers: writer.clone(),
        writer,
        access: Access::ReadWrite,
        keys,
        place: None,
    })
}

async fn open_for_writing(path: &Path, keys: &Keys) -> Result<SqliteStore> {
    let writer = pool::open(path, Purpose::Write).await?;
    schema::migrate(&writer, keys).await?;
    let readers = pool::open(path, Purpose::Read).await?;
    Ok(SqliteStore {
        readers,
        writer,
        access: Access::ReadWrite,
        keys: keys.clone(),
        place: Some(Place::of(path.to_owned())),
    })
}

async fn open_verified(path: &Path, purpose: Purpose, keys: &Keys) -> Result<sqlx::SqlitePool> {
    let readers = pool::open(path, purpose).await?;
    schema::verify(&readers, keys).await?;
    Ok(readers)
}

/// SQLite reads meaning into names such as `file:x` and `:memory:`, but not into absolute paths.
fn absolute(path: &Path) -> Result<PathBuf> {
    match std::path::absolute(path) {
        Ok(path) if path.is_dir() => Err(Error::io(path, ErrorKind::IsADirectory.into())),
        result => result.map_err(|source| Error::io(path.to_owned(), source)),
    }
}

/// An existing file is never opened here: closing it would drop the locks that SQLite holds on it in this process.
fn create_if_missing(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        create_folder(folder).map_err(|source| Error::io(folder.to_owned(), source))?;
    }
    match create_file(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        result => result.map_err(|source| Error::io(path.to_owned(), source)),
    }
}

fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn create_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn has_wal(path: &Path) -> bool {
    let mut wal = OsString::from(path);
    wal.push("-wal");
    fs::metadata(wal).is_ok_and(|file| file.len() > 0)
}
