//! Confirmed findings over time: when each was seen, the schedule that shows it, and what people
//! decided about it.
//!
//! Each sighting is a row; there are no counters. So nothing is counted twice when processes write
//! at the same time or when stores are merged twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use raddle_finding::Finding;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::findings::milliseconds;
use crate::home::real;
use crate::{Store, StoreError};

/// What somebody decided about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The bug is fixed. If it is seen again, that is a regression.
    Fixed,
    /// The bug does no harm.
    Benign,
    /// The bug is known and stays.
    WontFix,
}

impl Decision {
    pub fn name(self) -> &'static str {
        match self {
            Decision::Fixed => "fixed",
            Decision::Benign => "benign",
            Decision::WontFix => "wontfix",
        }
    }

    fn by_name(name: &str) -> Option<Decision> {
        [Decision::Fixed, Decision::Benign, Decision::WontFix].into_iter().find(|d| d.name() == name)
    }
}

/// A decision, its reason, and its date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub decision: Decision,
    pub reason: String,
    pub at: SystemTime,
}

/// A finding that was confirmed.
#[derive(Debug, Clone)]
pub struct Sighting<'a> {
    pub finding: &'a Finding,
    /// The content of its `.raddle` file.
    pub schedule: Option<&'a [u8]>,
    pub target: &'a [String],
    pub folder: &'a Path,
    /// The build id of the program.
    pub build: &'a str,
    pub at: SystemTime,
}

/// The status of a finding when it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    New,
    Known,
    /// The finding was marked as fixed and was seen after that.
    Regression,
    /// Somebody decided to live with it.
    Accepted,
}

/// Everything that is known of a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFinding {
    pub finding: Finding,
    pub first_seen: SystemTime,
    pub last_seen: SystemTime,
    /// The number of hunts that have confirmed it.
    pub times: u64,
    pub schedule: Option<Vec<u8>>,
    pub target: Vec<String>,
    pub folder: PathBuf,
    pub build: String,
    pub decided: Option<Decided>,
}

impl KnownFinding {
    pub fn standing(&self) -> Standing {
        standing(self.decided.as_ref(), self.last_seen)
    }
}

fn standing(decided: Option<&Decided>, seen: SystemTime) -> Standing {
    match decided {
        None => Standing::Known,
        Some(Decided { decision: Decision::Fixed, at, .. }) if seen > *at => Standing::Regression,
        Some(Decided { decision: Decision::Fixed, .. }) => Standing::Known,
        Some(_) => Standing::Accepted,
    }
}

impl Store {
    /// Stores a sighting at once, so that it survives whatever ends raddle afterwards.
    pub fn sight(&mut self, sighting: &Sighting<'_>) -> Result<Standing, StoreError> {
        let path = self.path.clone();
        let connection = &mut self.connection;
        let mut write = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let standing = sight(&transaction, sighting)?;
            transaction.commit()?;
            Ok(standing)
        };
        write().map_err(|e| StoreError::of(&path, e))
    }

    /// Every finding that was ever confirmed. The one that was seen last comes first.
    pub fn history(&self) -> Result<Vec<KnownFinding>, StoreError> {
        let records = || -> rusqlite::Result<Vec<KnownFinding>> {
            let sql = format!("{RECORD} GROUP BY h.key ORDER BY max(s.at) DESC, h.key");
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map([], record)?.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(rows.into_iter().flatten().collect())
        };
        records().map_err(|e| self.fail(e))
    }

    /// The keys of the findings that were seen in a build.
    pub fn seen_in(&self, build: &str) -> Result<BTreeSet<String>, StoreError> {
        let keys = || -> rusqlite::Result<BTreeSet<String>> {
            let mut statement =
                self.connection.prepare("SELECT DISTINCT key FROM sightings WHERE build = ?1")?;
            statement.query_map([build], |row| row.get(0))?.collect()
        };
        keys().map_err(|e| self.fail(e))
    }

    /// Every build in which something was seen, the latest first.
    pub fn builds(&self) -> Result<Vec<String>, StoreError> {
        let builds = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT build FROM sightings GROUP BY build ORDER BY max(at) DESC, build";
            self.connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        builds().map_err(|e| self.fail(e))
    }

    /// The number of findings that a newer raddle wrote and this one cannot read. They are not in
    /// [`Store::history`].
    pub fn unreadable(&self) -> Result<usize, StoreError> {
        let count = || -> rusqlite::Result<usize> {
            let mut statement = self.connection.prepare("SELECT document FROM history")?;
            let documents = statement.query_map([], |row| row.get::<_, String>(0))?;
            let documents = documents.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(documents.iter().filter(|d| serde_json::from_str::<Finding>(d).is_err()).count())
        };
        count().map_err(|e| self.fail(e))
    }

    /// Stores a decision. Returns false if there is no finding with this key.
    pub fn decide(&self, key: &str, decided: &Decided) -> Result<bool, StoreError> {
        let sql = "UPDATE history SET decision = ?2, reason = ?3, decided = ?4 WHERE key = ?1";
        let values = params![key, decided.decision.name(), decided.reason, milliseconds(decided.at)];
        self.connection.execute(sql, values).map(|n| n > 0).map_err(|e| self.fail(e))
    }

    /// Takes in everything that another store knows of confirmed findings. Returns how many
    /// findings are new here. A second merge changes nothing.
    pub fn merge(&mut self, other: &Store) -> Result<usize, StoreError> {
        let (records, sightings) = (other.history()?, other.sightings().map_err(|e| other.fail(e))?);
        let path = self.path.clone();
        let connection = &mut self.connection;
        let mut write = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut new = 0;
            for record in &records {
                new += usize::from(take_in(&transaction, record)?);
            }
            for (key, at, target, build) in &sightings {
                let sql = "INSERT OR IGNORE INTO sightings (key, at, target, build)
                    SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM history WHERE key = ?1)";
                transaction.execute(sql, params![key, at, target, build])?;
            }
            transaction.commit()?;
            Ok(new)
        };
        write().map_err(|e| StoreError::of(&path, e))
    }

    fn sightings(&self) -> rusqlite::Result<Vec<(String, i64, String, String)>> {
        let mut statement = self.connection.prepare("SELECT key, at, target, build FROM sightings")?;
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        statement.query_map([], row)?.collect()
    }
}

const RECORD: &str =
    "SELECT h.document, min(s.at), max(s.at), count(*), h.schedule, h.target, h.folder, h.build,
        h.decision, h.reason, h.decided
    FROM history h JOIN sightings s ON s.key = h.key";

/// None if a newer raddle wrote something that this one cannot read.
fn record(row: &Row<'_>) -> rusqlite::Result<Option<KnownFinding>> {
    let Ok(finding) = serde_json::from_str(&row.get::<_, String>(0)?) else { return Ok(None) };
    let decision: Option<String> = row.get(8)?;
    let decided = match decision.as_deref().and_then(Decision::by_name) {
        Some(decision) => Some(Decided {
            decision,
            reason: row.get::<_, Option<String>>(9)?.unwrap_or_default(),
            at: time(row.get(10)?),
        }),
        None => None,
    };
    Ok(Some(KnownFinding {
        finding,
        first_seen: time(row.get(1)?),
        last_seen: time(row.get(2)?),
        times: row.get::<_, i64>(3)?.max(0) as u64,
        schedule: row.get(4)?,
        target: serde_json::from_str(&row.get::<_, String>(5)?).unwrap_or_default(),
        folder: row.get::<_, String>(6)?.into(),
        build: row.get(7)?,
        decided,
    }))
}

fn find(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<Option<KnownFinding>> {
    let sql = format!("{RECORD} WHERE h.key = ?1 GROUP BY h.key");
    Ok(transaction.query_row(&sql, [key], record).optional()?.flatten())
}

fn sight(transaction: &Transaction<'_>, s: &Sighting<'_>) -> rusqlite::Result<Standing> {
    let key = s.finding.key();
    let before = find(transaction, &key)?;
    let target = serde_json::to_string(s.target).unwrap_or_default();
    // A record without a replayable schedule does not replace one that has it.
    let sql = "INSERT INTO history (key, document, schedule, target, folder, build) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (key) DO UPDATE SET document = ?2, schedule = coalesce(?3, schedule), target = ?4, folder = ?5,
            build = ?6";
    let document = serde_json::to_string(s.finding).unwrap_or_default();
    let folder = real(s.folder).to_string_lossy().into_owned();
    transaction.execute(sql, params![key, document, s.schedule, target, folder, s.build])?;
    let sql = "INSERT OR IGNORE INTO sightings (key, at, target, build) VALUES (?1, ?2, ?3, ?4)";
    transaction.execute(sql, params![key, milliseconds(s.at), target, s.build])?;
    Ok(match before {
        None => Standing::New,
        Some(record) => standing(record.decided.as_ref(), s.at.max(record.last_seen)),
    })
}

/// Adds a record of another store without its sightings. Returns true if it is new.
fn take_in(transaction: &Transaction<'_>, theirs: &KnownFinding) -> rusqlite::Result<bool> {
    let key = theirs.finding.key();
    let ours = find(transaction, &key)?;
    let newer = ours.as_ref().is_none_or(|o| o.last_seen < theirs.last_seen);
    let target = serde_json::to_string(&theirs.target).unwrap_or_default();
    let document = serde_json::to_string(&theirs.finding).unwrap_or_default();
    let folder = theirs.folder.to_string_lossy().into_owned();
    if newer {
        let sql = "INSERT INTO history (key, document, schedule, target, folder, build)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (key) DO UPDATE SET document = ?2, schedule = coalesce(?3, schedule), target = ?4, folder = ?5,
                build = ?6";
        let values = params![key, document, theirs.schedule, target, folder, theirs.build];
        transaction.execute(sql, values)?;
    }
    let decided = |r: &KnownFinding| r.decided.as_ref().map(|d| d.at);
    if let Some(theirs_decided) = &theirs.decided
        && ours.as_ref().and_then(decided) < Some(theirs_decided.at)
    {
        let sql = "UPDATE history SET decision = ?2, reason = ?3, decided = ?4 WHERE key = ?1";
        let at = milliseconds(theirs_decided.at);
        let values = params![key, theirs_decided.decision.name(), theirs_decided.reason, at];
        transaction.execute(sql, values)?;
    }
    Ok(ours.is_none())
}

fn time(milliseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::{Confidence, Kind};

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn finding(id: &str) -> Finding {
        let mut finding = Finding::new(Kind::Deadlock, Confidence::Confirmed, "a circle");
        finding.id = id.into();
        finding
    }

    fn see(store: &mut Store, id: &str, second: u64, schedule: Option<&[u8]>) -> Standing {
        let (finding, target) = (finding(id), ["./t".to_owned()]);
        let sighting = Sighting {
            finding: &finding,
            schedule,
            target: &target,
            folder: Path::new("/p"),
            build: "b1",
            at: at(second),
        };
        store.sight(&sighting).unwrap()
    }

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        (dir, store)
    }

    fn fixed(second: u64) -> Decided {
        Decided { decision: Decision::Fixed, reason: "commit 1".into(), at: at(second) }
    }

    #[test]
    fn first_and_last_are_kept_with_the_schedule() {
        let (_dir, mut store) = store();
        assert_eq!(see(&mut store, "d1", 5, Some(b"one")), Standing::New);
        assert_eq!(see(&mut store, "d1", 9, None), Standing::Known);
        assert_eq!(see(&mut store, "d1", 9, None), Standing::Known);
        let all = store.history().unwrap();
        assert_eq!((all.len(), all[0].times), (1, 2), "one sighting a moment");
        assert_eq!((all[0].first_seen, all[0].last_seen), (at(5), at(9)));
        assert_eq!(all[0].schedule.as_deref(), Some(b"one".as_slice()));
    }

    #[test]
    fn what_comes_back_after_it_was_fixed_is_a_regression() {
        let (_dir, mut store) = store();
        see(&mut store, "d1", 5, None);
        assert!(store.decide("d1", &fixed(6)).unwrap());
        assert_eq!(store.history().unwrap()[0].standing(), Standing::Known);
        assert_eq!(see(&mut store, "d1", 7, None), Standing::Regression);
        assert_eq!(see(&mut store, "d1", 8, None), Standing::Regression, "until somebody decides anew");
        assert!(store.decide("d1", &fixed(9)).unwrap());
        assert_eq!(store.history().unwrap()[0].standing(), Standing::Known);
        assert!(!store.decide("d2", &fixed(9)).unwrap());
    }

    #[test]
    fn what_is_accepted_stays_accepted() {
        let (_dir, mut store) = store();
        see(&mut store, "d1", 5, None);
        let benign = Decided { decision: Decision::Benign, reason: "a hint".into(), at: at(6) };
        store.decide("d1", &benign).unwrap();
        assert_eq!(see(&mut store, "d1", 7, None), Standing::Accepted);
        assert_eq!(store.history().unwrap()[0].decided, Some(benign));
    }

    #[test]
    fn stores_are_merged_and_twice_is_once() {
        let ((_a, mut ours), (_b, mut theirs)) = (store(), store());
        see(&mut ours, "d1", 5, None);
        see(&mut theirs, "d1", 7, Some(b"theirs"));
        see(&mut theirs, "d2", 6, None);
        theirs.decide("d1", &fixed(8)).unwrap();
        assert_eq!(ours.merge(&theirs).unwrap(), 1);
        assert_eq!(ours.merge(&theirs).unwrap(), 0);
        let all = ours.history().unwrap();
        let told: Vec<_> = all.iter().map(|r| (r.finding.id.as_str(), r.times, r.first_seen)).collect();
        assert_eq!(told, [("d1", 2, at(5)), ("d2", 1, at(6))]);
        assert_eq!(all[0].decided, Some(fixed(8)));
        assert_eq!(all[0].schedule.as_deref(), Some(b"theirs".as_slice()));
    }

    #[test]
    fn several_processes_lose_nothing_and_count_nothing_twice() {
        let dir = tempfile::tempdir().unwrap();
        Store::open(dir.path()).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8u64 {
                let folder = dir.path();
                scope.spawn(move || {
                    let mut store = Store::open(folder).unwrap();
                    for n in 0..5 {
                        see(&mut store, &format!("d{n}"), 100 + writer, None);
                    }
                });
            }
        });
        let all = Store::open(dir.path()).unwrap().history().unwrap();
        assert_eq!(all.iter().map(|r| r.times).collect::<Vec<_>>(), [8; 5]);
    }
}
