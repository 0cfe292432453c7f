//! The step to findings that are known by id and subject: each gets the subject of the command
//! that showed it.
//!
//! Before, two programs whose findings had one id shared a record, and a decision about one of them
//! reached the other. Here the record is taken apart: each command keeps its own sightings. The
//! decision stays with the command that was seen last when somebody decided, because its finding is
//! the one that they were shown; the others are undecided again. A question too many costs less
//! than a bug that is hidden.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use raddle_finding::Finding;
use raddle_finding::subject::UserCommand;
use rusqlite::{Row, Transaction, params};

use crate::home::{project_root, real};

/// A record of version 3.
struct Old {
    id: String,
    document: String,
    schedule: Option<Vec<u8>>,
    target: String,
    folder: PathBuf,
    build: String,
    decision: Option<String>,
    reason: Option<String>,
    decided: Option<i64>,
}

/// When a command showed it, as milliseconds, and with which build.
type Sightings = Vec<(i64, String)>;

/// Fills the tables of version 4 from those of version 3, and drops the latter.
pub(crate) fn add(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let records: Vec<Old> = {
        let sql = "SELECT id, document, schedule, target, folder, build, decision, reason, decided
            FROM history_by_id";
        transaction.prepare(sql)?.query_map([], old)?.collect::<rusqlite::Result<_>>()?
    };
    for record in &records {
        let mut by_target: BTreeMap<String, Sightings> = BTreeMap::new();
        let sql = "SELECT target, at, build FROM sightings_by_id WHERE id = ?1 ORDER BY at";
        let mut statement = transaction.prepare_cached(sql)?;
        let mut rows = statement.query([&record.id])?;
        while let Some(row) = rows.next()? {
            by_target.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
        }
        let owner = owner(record, &by_target);
        // Commands that share a subject share the record of the last one, with its schedule.
        let mut targets: Vec<_> = by_target.iter().collect();
        targets.sort_by_key(|(target, _)| **target != record.target);
        for (target, sightings) in targets {
            insert(transaction, record, target, sightings, *target == owner)?;
        }
    }
    transaction.execute_batch("DROP TABLE sightings_by_id; DROP TABLE history_by_id;")
}

fn old(row: &Row<'_>) -> rusqlite::Result<Old> {
    Ok(Old {
        id: row.get(0)?,
        document: row.get(1)?,
        schedule: row.get(2)?,
        target: row.get(3)?,
        folder: row.get::<_, String>(4)?.into(),
        build: row.get(5)?,
        decision: row.get(6)?,
        reason: row.get(7)?,
        decided: row.get(8)?,
    })
}

/// The command that the decision is about.
fn owner(record: &Old, by_target: &BTreeMap<String, Sightings>) -> String {
    let Some(decided) = record.decided else { return record.target.clone() };
    let last = |sightings: &Sightings| sightings.iter().map(|s| s.0).filter(|at| *at <= decided).max();
    let seen = by_target.iter().filter_map(|(target, sightings)| Some((last(sightings)?, target)));
    seen.max().map_or_else(|| record.target.clone(), |(_, target)| target.clone())
}

fn insert(
    transaction: &Transaction<'_>,
    record: &Old,
    target: &str,
    sightings: &Sightings,
    is_decided: bool,
) -> rusqlite::Result<()> {
    // What a newer raddle wrote keeps its id as its key.
    let (key, document) =
        with_subject(record, target).unwrap_or((record.id.clone(), record.document.clone()));
    let sql =
        "INSERT INTO history (key, document, schedule, target, folder, build) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (key) DO NOTHING";
    let schedule = record.schedule.as_ref().filter(|_| target == record.target);
    let (build, folder) = (sightings.last().map_or(&record.build, |s| &s.1), record.folder.to_string_lossy());
    transaction.execute(sql, params![key, document, schedule, target, folder, build])?;
    if is_decided && record.decision.is_some() {
        let sql = "UPDATE history SET decision = ?2, reason = ?3, decided = ?4 WHERE key = ?1";
        transaction.execute(sql, params![key, record.decision, record.reason, record.decided])?;
    }
    for (at, build) in sightings {
        let sql = "INSERT OR IGNORE INTO sightings (key, at, target, build) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![key, at, target, build])?;
    }
    Ok(())
}

fn with_subject(record: &Old, target: &str) -> Option<(String, String)> {
    let mut finding: Finding = serde_json::from_str(&record.document).ok()?;
    let command = command(&serde_json::from_str::<Vec<String>>(target).ok()?, &record.folder);
    finding.subject = Some(command.subject(&finding));
    Some((finding.key(), serde_json::to_string(&finding).ok()?))
}

/// A command that was started in a folder, for the subjects of its findings.
pub fn command(words: &[String], folder: &Path) -> UserCommand {
    UserCommand { words: words.to_vec(), folder: real(folder), root: project_root(folder) }
}
