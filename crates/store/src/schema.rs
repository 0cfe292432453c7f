//! The tables, version by version.
//!
//! Each version is a migration step from the one before. Opening a file runs the steps that it
//! lacks, in one transaction. Add steps, but never change one: existing files have already run
//! them.

use rusqlite::{Transaction, TransactionBehavior};

use crate::{Store, StoreError, subjects};

/// "radl", in the header of the file, so that raddle does not mistake another program's database
/// for a store.
const APPLICATION: i64 = 0x7261_646c;

/// The step from version `i` to `i + 1`.
pub(crate) const STEPS: &[&str] = &[
    // 1: findings, and the places that lead from a file to its findings.
    "CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        command TEXT NOT NULL,
        folder TEXT NOT NULL,
        target TEXT NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (command, folder, target)
     ) STRICT;
     CREATE TABLE findings (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (run, id)
     ) STRICT;
     CREATE TABLE places (
        run INTEGER NOT NULL,
        finding TEXT NOT NULL,
        file TEXT NOT NULL,
        line INTEGER NOT NULL,
        is_end INTEGER NOT NULL,
        FOREIGN KEY (run, finding) REFERENCES findings (run, id) ON DELETE CASCADE
     ) STRICT;
     CREATE INDEX places_by_file ON places (file);
     CREATE INDEX places_by_finding ON places (run, finding);",
    // 2: the text of the line, to find it again after an edit; values stored for other commands.
    "ALTER TABLE places ADD COLUMN text TEXT;
     CREATE TABLE kept (
        what TEXT NOT NULL,
        name TEXT NOT NULL,
        at INTEGER NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (what, name)
     ) STRICT;",
    // 3: confirmed findings over time, and what people decided about them.
    "CREATE TABLE history (
        id TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        schedule BLOB,
        target TEXT NOT NULL,
        folder TEXT NOT NULL,
        build TEXT NOT NULL,
        decision TEXT,
        reason TEXT,
        decided INTEGER
     ) STRICT;
     CREATE TABLE sightings (
        id TEXT NOT NULL REFERENCES history (id) ON DELETE CASCADE,
        at INTEGER NOT NULL,
        target TEXT NOT NULL,
        build TEXT NOT NULL,
        PRIMARY KEY (id, at, target)
     ) STRICT;",
    // 4: two programs may have findings with one id, so each is known by id and subject. The keys
    // of what is there already are made afterwards (`subjects`).
    "ALTER TABLE history RENAME TO history_by_id;
     ALTER TABLE sightings RENAME TO sightings_by_id;
     CREATE TABLE history (
        key TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        schedule BLOB,
        target TEXT NOT NULL,
        folder TEXT NOT NULL,
        build TEXT NOT NULL,
        decision TEXT,
        reason TEXT,
        decided INTEGER
     ) STRICT;
     CREATE TABLE sightings (
        key TEXT NOT NULL REFERENCES history (key) ON DELETE CASCADE,
        at INTEGER NOT NULL,
        target TEXT NOT NULL,
        build TEXT NOT NULL,
        PRIMARY KEY (key, at, target)
     ) STRICT;",
];

/// The version from which findings are known by id and subject.
const WITH_SUBJECTS: usize = 4;

/// The version that this raddle writes.
pub const VERSION: u32 = STEPS.len() as u32;

impl Store {
    /// Checks that the file is a store, and runs the steps that it lacks.
    pub(crate) fn bring_up_to_date(&mut self) -> Result<(), StoreError> {
        let set_up = |c: &rusqlite::Connection| {
            c.pragma_update(None, "foreign_keys", true)?;
            c.pragma_update(None, "synchronous", "NORMAL")
        };
        set_up(&self.connection).map_err(|e| self.fail(e))?;
        if self.version()? == VERSION {
            return Ok(());
        }
        // With a log beside the file, readers can continue while another process writes. Some file
        // systems cannot have it, and everything works without it. SQLite does not allow this
        // request inside a transaction.
        let _ = self.connection.pragma_update(None, "journal_mode", "WAL");
        let path = self.path.clone();
        let fail = |e| StoreError::of(&path, e);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        // Read the version again, because another process may have been faster.
        let from = pragma(&transaction, "user_version").map_err(fail)? as usize;
        for step in STEPS.iter().skip(from) {
            transaction.execute_batch(step).map_err(fail)?;
        }
        if from < WITH_SUBJECTS {
            subjects::add(&transaction).map_err(fail)?;
        }
        transaction.pragma_update(None, "user_version", VERSION).map_err(fail)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    /// The version of the file; 0 for an empty one.
    fn version(&self) -> Result<u32, StoreError> {
        let number = |name| {
            self.connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .map_err(|e| self.fail(e))
        };
        let found = number("user_version")?;
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|e| self.fail(e))?;
        if tables > 0 && number("application_id")? != APPLICATION {
            return Err(StoreError::Foreign { path: self.path.clone() });
        }
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        if found > VERSION {
            return Err(StoreError::Newer { path: self.path.clone(), found, known: VERSION });
        }
        Ok(found)
    }
}

fn pragma(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
    transaction.pragma_query_value(None, name, |row| row.get(0))
}

#[cfg(test)]
pub(crate) fn write_version(path: &std::path::Path, version: usize) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    for step in &STEPS[..version] {
        connection.execute_batch(step).unwrap();
    }
    connection.pragma_update(None, "user_version", version as i64).unwrap();
    connection.pragma_update(None, "application_id", APPLICATION).unwrap();
    connection
}
