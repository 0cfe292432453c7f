//! Named byte strings, for commands that learn something in one run and need it in the next.

use std::time::SystemTime;

use rusqlite::{OptionalExtension, params};

use crate::findings::milliseconds;
use crate::{Store, StoreError};

/// The category of a stored value. Names are unique within a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// A pair of places that a later run should test with a delay.
    Trap,
    /// The choices that make an execution repeatable.
    Schedule,
    /// What earlier runs have already covered.
    Coverage,
    /// The verdicts on the suspects of a build.
    Verdicts,
}

impl Category {
    fn name(self) -> &'static str {
        match self {
            Category::Trap => "trap",
            Category::Schedule => "schedule",
            Category::Coverage => "coverage",
            Category::Verdicts => "verdicts",
        }
    }
}

impl Store {
    /// Stores `content` under a name and replaces what was there.
    pub fn keep(&self, what: Category, name: &str, content: &[u8], at: SystemTime) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO kept (what, name, at, content) VALUES (?1, ?2, ?3, ?4)";
        let done = self.connection.execute(sql, params![what.name(), name, milliseconds(at), content]);
        done.map(drop).map_err(|e| self.fail(e))
    }

    pub fn kept(&self, what: Category, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT content FROM kept WHERE what = ?1 AND name = ?2";
        let row = self.connection.query_row(sql, params![what.name(), name], |row| row.get(0));
        row.optional().map_err(|e| self.fail(e))
    }

    /// All names of a category, the latest first.
    pub fn kept_names(&self, what: Category) -> Result<Vec<String>, StoreError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM kept WHERE what = ?1 ORDER BY at DESC, name";
            self.connection.prepare(sql)?.query_map([what.name()], |row| row.get(0))?.collect()
        };
        names().map_err(|e| self.fail(e))
    }

    /// Deletes a value. Returns whether it existed.
    pub fn forget_kept(&self, what: Category, name: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM kept WHERE what = ?1 AND name = ?2";
        let gone = self.connection.execute(sql, params![what.name(), name]);
        gone.map(|n| n > 0).map_err(|e| self.fail(e))
    }
}
