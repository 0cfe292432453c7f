//! What raddle stores of a project between runs: findings, and data that one command leaves for a
//! later one.
//!
//! Each project has one SQLite file, `store.db`, in the user's state folder ([`home`]). The store
//! is a cache, never the only copy of anything. A command that cannot write it prints one line and
//! ends as it would have ended. Deleting it loses nothing that another run would not find again.
//!
//! - [`home`]: which folder is the project, and where its store is.
//! - [`Store::record`]: the findings of one run. They replace what the same command found before
//!   with the same target, so the store has the latest result of each command.
//! - [`Store::findings_for_file`]: the findings in a file, with the text of each line at that time.
//!   With the text, a reader of an edited file can tell where the line has moved.
//! - [`Store::keep`]: traps, schedules and coverage, as named byte strings. The commands that store
//!   them define their formats.
//!
//! Invariants:
//! - The format is versioned ([`VERSION`]). Opening a store migrates what an older version wrote,
//!   and refuses what a newer one wrote.
//! - Several processes may write at the same time: each change is one transaction that waits for
//!   its turn.
//! - Of two runs the later one counts, in whichever order they are written.

mod error;
mod findings;
mod history;
pub mod home;
mod named_values;
mod schema;
mod subjects;

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

pub use error::StoreError;
pub use findings::{CommandRun, RunSummary, Stored, StoredPlace};
pub use history::{Decided, Decision, KnownFinding, Sighting, Standing};
pub use named_values::Category;
pub use schema::VERSION;
pub use subjects::command;

/// The file in a store's folder.
pub const FILE: &str = "store.db";

/// How long a change waits for the changes of other processes.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store of the project that `folder` lies in, and creates it if there is none.
    pub fn open_for_project(folder: &Path) -> Result<Store, StoreError> {
        Store::open(&home::folder_for(folder)?)
    }

    /// Opens the store in a folder, and creates both if there are none. Only the owner can read it.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|why| StoreError::Folder { folder: folder.into(), why })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        Store::open_file(folder.join(FILE), flags)
    }

    /// Opens the store in a folder if there is one. That one cannot be looked for is an error.
    pub fn open_existing(folder: &Path) -> Result<Option<Store>, StoreError> {
        Store::open_existing_file(&folder.join(FILE))
    }

    /// Opens a store by its file if there is one.
    pub fn open_existing_file(path: &Path) -> Result<Option<Store>, StoreError> {
        match std::fs::metadata(path) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(StoreError::Unreachable { path: path.into(), why }),
            // SQLite would take an empty file for a new database, in which nothing was found.
            Ok(meta) if meta.is_file() && meta.len() == 0 => {
                return Err(StoreError::Damaged { path: path.into() });
            }
            Ok(_) => {}
        }
        Store::open_file(path.into(), OpenFlags::SQLITE_OPEN_READ_WRITE).map(Some)
    }

    fn open_file(path: PathBuf, flags: OpenFlags) -> Result<Store, StoreError> {
        if is_something_else(&path) {
            return Err(StoreError::Damaged { path });
        }
        let fail = |e| StoreError::of(&path, e);
        let connection =
            Connection::open_with_flags(&path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        let mut store = Store { connection, path };
        store.bring_up_to_date()?;
        Ok(store)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fail(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }
}

/// Whether there is a file that is neither empty nor a database. SQLite takes one that is shorter
/// than a page for a new database, and would write over it.
fn is_something_else(path: &Path) -> bool {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut head = Vec::new();
    let read = File::open(path).and_then(|f| f.take(MAGIC.len() as u64).read_to_end(&mut head));
    read.is_ok() && !head.is_empty() && head != MAGIC
}

/// A value that differs after a store has changed. It is only good for comparison. Reading it costs
/// two `stat` calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp([Option<(u64, i64, i64, u64)>; 2]);

impl Stamp {
    /// The stamp of the store in a folder, which need not exist.
    pub fn of(folder: &Path) -> Stamp {
        let of = |name: &str| {
            let meta = std::fs::metadata(folder.join(name)).ok()?;
            Some((meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len()))
        };
        // The latest writes are in the log beside the file until SQLite moves them into the file.
        Stamp([of(FILE), of("store.db-wal")])
    }
}

#[cfg(test)]
mod tests;
