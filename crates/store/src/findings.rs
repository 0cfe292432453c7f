//! The findings of the last run of each command, and the source lines they refer to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use raddle_finding::place::place;
use raddle_finding::{Finding, Frame, Location};
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::home::real;
use crate::{Store, StoreError};

/// The number of runs of a command, with different targets, that the store keeps. Some targets
/// never repeat (a seed, a port, a temporary folder). Without a limit, their findings would pile
/// up, because no later run removes them.
const MOST_RUNS: u32 = 50;

/// One run of one command. A later run of the same command on the same target in the same folder
/// replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    pub command: String,
    pub target: Vec<String>,
    /// Where the run was started. File names in its findings may be relative to this folder.
    pub folder: PathBuf,
    pub at: SystemTime,
}

/// A finding as a run stored it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub command: String,
    pub at: SystemTime,
    /// Where the run was started. File names in the finding may be relative to this folder.
    pub folder: PathBuf,
    pub finding: Finding,
    pub places: Vec<StoredPlace>,
}

/// A source line that a finding refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlace {
    /// Absolute, with links resolved.
    pub file: PathBuf,
    pub line: u32,
    /// The text of the line at the time of the run, trimmed.
    pub text: Option<String>,
    /// The line is one of the ends, not only a frame that leads there.
    pub is_end: bool,
}

/// The last run of a command, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub run: CommandRun,
    pub findings: u64,
}

impl Store {
    /// Stores what a run found. `line` gives a line of source, for [`StoredPlace::text`].
    ///
    /// A run without findings is recorded too: it removes earlier findings. A run that began before
    /// the stored one changes nothing.
    pub fn record(
        &mut self,
        run: &CommandRun,
        findings: &[Finding],
        line: &dyn Fn(&Path, u32) -> Option<String>,
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let connection = &mut self.connection;
        let mut write = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(id) = replace_run(&transaction, run)? {
                for finding in findings {
                    insert(&transaction, id, run, finding, line)?;
                }
                let old = "DELETE FROM runs WHERE command = ?1 AND id NOT IN
                    (SELECT id FROM runs WHERE command = ?1 ORDER BY at DESC, id DESC LIMIT ?2)";
                transaction.execute(old, params![run.command, MOST_RUNS])?;
            }
            transaction.commit()
        };
        write().map_err(|e| StoreError::of(&path, e))
    }

    /// The findings that have an end in a file.
    pub fn findings_for_file(&self, file: &Path) -> Result<Vec<Stored>, StoreError> {
        let file = real(file);
        let sql = "SELECT DISTINCT f.run, f.id, r.command, r.at, f.document, r.folder
            FROM places p JOIN findings f ON f.run = p.run AND f.id = p.finding JOIN runs r ON r.id = f.run
            WHERE p.file = ?1 AND p.is_end ORDER BY r.at DESC, f.id";
        self.stored(sql, &[&file.to_string_lossy()]).map_err(|e| self.fail(e))
    }

    /// All findings, those of the latest run first.
    pub fn findings(&self) -> Result<Vec<Stored>, StoreError> {
        let sql = "SELECT f.run, f.id, r.command, r.at, f.document, r.folder
            FROM findings f JOIN runs r ON r.id = f.run ORDER BY r.at DESC, f.id";
        self.stored(sql, &[]).map_err(|e| self.fail(e))
    }

    fn stored(&self, sql: &str, values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<Vec<Stored>> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(values)?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let (run, id): (i64, String) = (row.get(0)?, row.get(1)?);
            // A newer raddle may know kinds that this one does not. Findings that cannot be read
            // are not shown.
            let Ok(finding) = serde_json::from_str(&row.get::<_, String>(4)?) else { continue };
            let places = self.places(run, &id)?;
            let folder = PathBuf::from(row.get::<_, String>(5)?);
            out.push(Stored { command: row.get(2)?, at: time(row.get(3)?), folder, finding, places });
        }
        Ok(out)
    }

    fn places(&self, run: i64, finding: &str) -> rusqlite::Result<Vec<StoredPlace>> {
        let sql =
            "SELECT file, line, text, is_end FROM places WHERE run = ?1 AND finding = ?2 ORDER BY rowid";
        let mut statement = self.connection.prepare_cached(sql)?;
        let place = |row: &Row<'_>| {
            let file: String = row.get(0)?;
            Ok(StoredPlace { file: file.into(), line: row.get(1)?, text: row.get(2)?, is_end: row.get(3)? })
        };
        statement.query_map(params![run, finding], place)?.collect()
    }

    /// The latest run of a command, whatever its target.
    pub fn latest(&self, command: &str) -> Result<Option<RunSummary>, StoreError> {
        let sql = "SELECT command, target, folder, at, (SELECT count(*) FROM findings f WHERE f.run = r.id)
            FROM runs r WHERE command = ?1 ORDER BY at DESC, id DESC LIMIT 1";
        let summary = |row: &Row<'_>| {
            let target: String = row.get(1)?;
            let folder: String = row.get(2)?;
            let run = CommandRun {
                command: row.get(0)?,
                target: serde_json::from_str(&target).unwrap_or_default(),
                folder: folder.into(),
                at: time(row.get(3)?),
            };
            Ok(RunSummary { run, findings: row.get(4)? })
        };
        self.connection.query_row(sql, [command], summary).optional().map_err(|e| self.fail(e))
    }

    /// Deletes the runs of a command, or of all commands, with their findings. Returns the number
    /// of runs.
    pub fn forget(&self, command: Option<&str>) -> Result<usize, StoreError> {
        let sql = "DELETE FROM runs WHERE ?1 IS NULL OR command = ?1";
        self.connection.execute(sql, [command]).map_err(|e| self.fail(e))
    }
}

/// Makes room for a run. Returns None if the stored run is later.
fn replace_run(transaction: &Transaction<'_>, run: &CommandRun) -> rusqlite::Result<Option<i64>> {
    let target = serde_json::to_string(&run.target).unwrap_or_default();
    let folder = real(&run.folder).to_string_lossy().into_owned();
    let key = params![run.command, folder, target];
    let at = milliseconds(run.at);
    let same = "command = ?1 AND folder = ?2 AND target = ?3";
    let there: Option<i64> = transaction
        .query_row(&format!("SELECT at FROM runs WHERE {same}"), key, |row| row.get(0))
        .optional()?;
    if there.is_some_and(|there| there > at) {
        return Ok(None);
    }
    transaction.execute(&format!("DELETE FROM runs WHERE {same}"), key)?;
    let sql = "INSERT INTO runs (command, folder, target, at) VALUES (?1, ?2, ?3, ?4)";
    transaction.execute(sql, params![run.command, folder, target, at])?;
    Ok(Some(transaction.last_insert_rowid()))
}

fn insert(
    transaction: &Transaction<'_>,
    id: i64,
    run: &CommandRun,
    finding: &Finding,
    line: &dyn Fn(&Path, u32) -> Option<String>,
) -> rusqlite::Result<()> {
    let (document, key) = (serde_json::to_string(finding).unwrap_or_default(), finding.key());
    let sql = "INSERT OR REPLACE INTO findings (run, id, document) VALUES (?1, ?2, ?3)";
    transaction.execute(sql, params![id, key, document])?;
    let sql = "INSERT INTO places (run, finding, file, line, is_end, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut statement = transaction.prepare_cached(sql)?;
    for ((file, number), is_end) in places(&run.folder, finding) {
        let text = line(&file, number).map(|text| text.trim().to_owned());
        statement.execute(params![id, key, file.to_string_lossy(), number, is_end, text])?;
    }
    Ok(())
}

/// The lines that a finding refers to, and which of them are ends.
fn places(folder: &Path, finding: &Finding) -> BTreeMap<(PathBuf, u32), bool> {
    let mut out = BTreeMap::new();
    let mut add = |frame: &Frame, is_end: bool| {
        if let (Some(file), Some(line)) = (&frame.file, frame.line.filter(|line| *line > 0)) {
            *out.entry((real(&folder.join(file)), line)).or_insert(false) |= is_end;
        }
    };
    for access in &finding.accesses {
        place(&access.stack).into_iter().for_each(|frame| add(frame, true));
        access.stack.iter().for_each(|frame| add(frame, false));
    }
    let threads = finding.threads.iter().flat_map(|thread| &thread.stack);
    let locks = finding.locks.iter().flat_map(|lock| &lock.taken).flat_map(|taken| &taken.stack);
    threads.chain(locks).for_each(|frame| add(frame, false));
    match &finding.location {
        Some(Location::Heap { stack, .. }) => stack.iter().for_each(|frame| add(frame, false)),
        Some(Location::Global { file, line, .. }) => {
            add(&Frame { file: file.clone(), line: *line, ..Frame::default() }, false);
        }
        _ => {}
    }
    out
}

/// Milliseconds since 1970. An earlier time counts as 1970.
pub(crate) fn milliseconds(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

fn time(milliseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds.max(0) as u64)
}
