//! The store as its users see it: round trips, older versions, several writers, broken files.

use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;

use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Kind, Lock, Taken, ThreadInfo};

use super::*;

fn frame(file: &str, line: u32) -> Frame {
    Frame { function: Some("f".into()), file: Some(file.into()), line: Some(line), ..Frame::default() }
}

fn access(op: AccessOp, stack: Vec<Frame>) -> Access {
    Access { op, size: 4, thread: "T1".into(), locks: vec![], lock: None, stack }
}

/// A race with ends at `/p/a.c:10` and at `/p/b.c:20`, called from `/p/a.c:30`.
fn race(id: &str) -> Finding {
    let mut finding = Finding::new(Kind::DataRace, Confidence::Confirmed, "a race");
    finding.id = id.into();
    finding.accesses = vec![
        access(AccessOp::Write, vec![frame("/p/a.c", 10)]),
        access(AccessOp::Read, vec![frame("b.c", 20), frame("/p/a.c", 30)]),
    ];
    finding
}

fn run(command: &str, target: &str, second: u64) -> CommandRun {
    CommandRun {
        command: command.into(),
        target: vec![target.into()],
        folder: "/p".into(),
        at: UNIX_EPOCH + Duration::from_secs(second),
    }
}

fn source(path: &Path, line: u32) -> Option<String> {
    Some(format!("  line {line} of {}  ", path.display()))
}

fn record(store: &mut Store, run: &CommandRun, ids: &[&str]) {
    let findings: Vec<Finding> = ids.iter().map(|id| race(id)).collect();
    store.record(run, &findings, &source).unwrap();
}

fn ids(stored: Vec<Stored>) -> Vec<String> {
    stored.into_iter().map(|s| s.finding.id).collect()
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("deep/er")).unwrap();
    (dir, store)
}

#[test]
fn a_finding_comes_back_whole() {
    let (_dir, mut store) = store();
    let mut finding = race("data-race-1");
    finding.threads = vec![ThreadInfo {
        label: "T1".into(),
        name: None,
        created_by: Some("T0 (main)".into()),
        stack: vec![frame("/p/main.c", 3)],
        running: true,
    }];
    let taken = Taken { thread: "T1".into(), stack: vec![frame("/p/lock.c", 4)] };
    finding.locks = vec![Lock { label: "L1".into(), what: "mutex".into(), name: None, taken: vec![taken] }];
    let run = run("run", "./t", 7);
    store.record(&run, std::slice::from_ref(&finding), &source).unwrap();

    let stored = store.findings_for_file(Path::new("/p/a.c")).unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!((&stored[0].finding, stored[0].command.as_str(), stored[0].at), (&finding, "run", run.at));
    let places: Vec<_> =
        stored[0].places.iter().map(|p| (p.file.to_str().unwrap(), p.line, p.is_end)).collect();
    assert_eq!(
        places,
        [
            ("/p/a.c", 10, true),
            ("/p/a.c", 30, false),
            ("/p/b.c", 20, true),
            ("/p/lock.c", 4, false),
            ("/p/main.c", 3, false)
        ]
    );
    assert_eq!(stored[0].places[0].text.as_deref(), Some("line 10 of /p/a.c"));
}

#[test]
fn a_file_has_the_findings_that_end_in_it() {
    let (_dir, mut store) = store();
    record(&mut store, &run("run", "./t", 1), &["r1"]);
    assert_eq!(ids(store.findings_for_file(Path::new("/p/x/../b.c")).unwrap()), ["r1"]);
    assert!(store.findings_for_file(Path::new("/p/main.c")).unwrap().is_empty());
    let mut only_called = race("r2");
    only_called.accesses.remove(0);
    store.record(&run("tsvd", "./t", 1), &[only_called], &|_, _| None).unwrap();
    assert_eq!(ids(store.findings_for_file(Path::new("/p/a.c")).unwrap()), ["r1"]);
    assert_eq!(store.findings().unwrap().len(), 2);
}

#[test]
fn the_last_run_of_a_command_and_target_counts() {
    let (_dir, mut store) = store();
    record(&mut store, &run("run", "./t", 1), &["r1", "r2"]);
    record(&mut store, &run("run", "./other", 2), &["r3"]);
    record(&mut store, &run("explore", "./t", 3), &["r4"]);
    record(&mut store, &run("run", "./t", 4), &["r2"]);
    assert_eq!(ids(store.findings().unwrap()), ["r2", "r4", "r3"]);
    let latest = store.latest("run").unwrap().unwrap();
    assert_eq!((latest.run, latest.findings), (run("run", "./t", 4), 1));
    record(&mut store, &run("run", "./t", 5), &[]);
    assert_eq!(ids(store.findings().unwrap()), ["r4", "r3"], "finding nothing counts too");
    record(&mut store, &run("explore", "./t", 2), &["r9"]);
    assert_eq!(ids(store.findings().unwrap()), ["r4", "r3"], "an older run that comes late does not");
    assert_eq!(store.latest("conseq").unwrap(), None);
}

#[test]
fn targets_that_never_come_again_do_not_pile_up() {
    let (_dir, mut store) = store();
    record(&mut store, &run("tsvd", "./t", 1), &["r0"]);
    for second in 1..=60 {
        record(&mut store, &run("run", &format!("./t --seed {second}"), second), &["r1"]);
    }
    let stored = store.findings().unwrap();
    let runs = stored.iter().filter(|s| s.command == "run");
    let oldest = runs.clone().map(|s| s.at).min().unwrap();
    assert_eq!((runs.count(), oldest), (50, UNIX_EPOCH + Duration::from_secs(11)));
    assert_eq!(stored.len(), 51, "another command has its own");
}

#[test]
fn what_is_forgotten_is_gone() {
    let (_dir, mut store) = store();
    record(&mut store, &run("run", "./t", 1), &["r1"]);
    record(&mut store, &run("tsvd", "./t", 1), &["r2"]);
    assert_eq!(store.forget(Some("run")).unwrap(), 1);
    assert_eq!(ids(store.findings_for_file(Path::new("/p/a.c")).unwrap()), ["r2"]);
    assert_eq!(store.forget(None).unwrap(), 1);
    assert!(store.findings().unwrap().is_empty());
    let left: i64 = store.connection.query_row("SELECT count(*) FROM places", [], |r| r.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn kept_things_have_names() {
    let (_dir, store) = store();
    let at = |second| UNIX_EPOCH + Duration::from_secs(second);
    store.keep(Category::Trap, "a", b"one", at(1)).unwrap();
    store.keep(Category::Trap, "b", b"two", at(2)).unwrap();
    store.keep(Category::Schedule, "a", b"three", at(3)).unwrap();
    store.keep(Category::Trap, "a", b"four", at(4)).unwrap();
    assert_eq!(store.kept(Category::Trap, "a").unwrap().as_deref(), Some(b"four".as_slice()));
    assert_eq!(store.kept(Category::Schedule, "a").unwrap().as_deref(), Some(b"three".as_slice()));
    assert_eq!(store.kept(Category::Coverage, "a").unwrap(), None);
    assert_eq!(store.kept_names(Category::Trap).unwrap(), ["a", "b"]);
    assert!(store.forget_kept(Category::Trap, "a").unwrap());
    assert!(!store.forget_kept(Category::Trap, "a").unwrap());
}

#[test]
fn an_older_version_is_read_and_brought_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let old = schema::write_version(&dir.path().join(FILE), 1);
    let document = serde_json::to_string(&race("r1")).unwrap();
    old.execute_batch(
        "INSERT INTO runs (id, command, folder, target, at) VALUES (1, 'run', '/p', '[\"./t\"]', 5000)",
    )
    .unwrap();
    old.execute("INSERT INTO findings (run, id, document) VALUES (1, 'r1', ?1)", [&document]).unwrap();
    old.execute_batch(
        "INSERT INTO places (run, finding, file, line, is_end) VALUES (1, 'r1', '/p/a.c', 10, 1)",
    )
    .unwrap();
    drop(old);

    let mut store = Store::open(dir.path()).unwrap();
    let stored = store.findings_for_file(Path::new("/p/a.c")).unwrap();
    assert_eq!(stored[0].finding, race("r1"));
    assert_eq!(stored[0].places[0].text, None, "version 1 did not know it");
    assert_eq!(store.latest("run").unwrap().unwrap().run, run("run", "./t", 5));
    store.keep(Category::Coverage, "x", b"y", UNIX_EPOCH).unwrap();
    record(&mut store, &run("run", "./t", 6), &["r1"]);
    assert!(store.findings_for_file(Path::new("/p/a.c")).unwrap()[0].places[0].text.is_some());
}

#[test]
fn findings_of_a_kind_that_is_not_known_are_left_out() {
    let (_dir, mut store) = store();
    record(&mut store, &run("run", "./t", 1), &["r1", "r2"]);
    let strange =
        "UPDATE findings SET document = replace(document, 'data-race', 'data-rice') WHERE id = 'r1'";
    assert_eq!(store.connection.execute(strange, []).unwrap(), 1);
    assert_eq!(ids(store.findings().unwrap()), ["r2"]);
}

#[test]
fn a_newer_version_and_a_strangers_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let newer = schema::write_version(&dir.path().join(FILE), 1);
    newer.pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(newer);
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    assert!(error.to_string().contains("newer raddle"), "{error}");

    let dir = tempfile::tempdir().unwrap();
    let foreign = Connection::open(dir.path().join(FILE)).unwrap();
    foreign.execute_batch("CREATE TABLE mine (x)").unwrap();
    drop(foreign);
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Foreign { .. })));
}

#[test]
fn a_damaged_file_is_named_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(FILE), vec![b'x'; 8192]).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("delete it"), "{error}");

    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    let many: Vec<String> = (0..200).map(|i| format!("r{i}")).collect();
    record(&mut store, &run("run", "./t", 1), &many.iter().map(String::as_str).collect::<Vec<_>>());
    store.connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(store);
    let path = dir.path().join(FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open(dir.path()).and_then(|store| store.findings()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_folder_that_cannot_be_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = Store::open(&dir.path().join("file/below")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    std::fs::create_dir(dir.path().join(FILE)).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
}

#[test]
fn nobody_else_can_look_into_it() {
    let (dir, _store) = store();
    let mode = std::fs::metadata(dir.path().join("deep/er")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn nothing_is_made_by_looking() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Store::open_existing(&dir.path().join("none")).unwrap().is_none());
    assert!(Store::open_existing(dir.path()).unwrap().is_none());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn several_writers_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = dir.path();
            scope.spawn(move || {
                // Each opens the store itself, as a process would, and some of them create it.
                for i in 0..10 {
                    let mut store = Store::open(folder).unwrap();
                    record(&mut store, &run("run", &format!("./t{writer}.{i}"), 1), &["r1", "r2"]);
                }
            });
        }
    });
    assert_eq!(Store::open(dir.path()).unwrap().findings().unwrap().len(), 80);
}

#[test]
fn the_stamp_changes_with_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let none = Stamp::of(dir.path());
    let mut store = Store::open(dir.path()).unwrap();
    let empty = Stamp::of(dir.path());
    assert_ne!(none, empty);
    record(&mut store, &run("run", "./t", 1), &["r1"]);
    let one = Stamp::of(dir.path());
    assert_ne!(empty, one);
    assert_eq!(one, Stamp::of(dir.path()));
    drop(store);
    std::fs::remove_file(dir.path().join(FILE)).unwrap();
    assert_ne!(one, Stamp::of(dir.path()));
}

/// A record of version 3: id, and the target that showed it last.
fn old_record(old: &Connection, id: &str, kind: Kind, target: &str) {
    let mut finding = race(id);
    finding.kind = kind;
    let document = serde_json::to_string(&finding).unwrap();
    let sql = "INSERT INTO history (id, document, schedule, target, folder, build) VALUES (?1, ?2, x'01', ?3, '/p', 'b')";
    old.execute(sql, rusqlite::params![id, document, target]).unwrap();
}

fn old_sighting(old: &Connection, id: &str, at: i64, target: &str) {
    let sql = "INSERT INTO sightings (id, at, target, build) VALUES (?1, ?2, ?3, 'b')";
    old.execute(sql, rusqlite::params![id, at, target]).unwrap();
}

#[test]
fn a_decision_of_version_3_stays_with_the_program_that_it_was_about() {
    let dir = tempfile::tempdir().unwrap();
    let old = schema::write_version(&dir.path().join(FILE), 3);
    let (one, two) = (r#"["./one"]"#, r#"["./two"]"#);
    old_record(&old, "assertion-1", Kind::Assertion, two);
    for (at, target) in [(10, one), (30, two)] {
        old_sighting(&old, "assertion-1", at, target);
    }
    let decide = "UPDATE history SET decision = 'benign', reason = 'a hint', decided = 20";
    old.execute(decide, []).unwrap();
    // A race is known by its files, whichever program shows it.
    old_record(&old, "data-race-1", Kind::DataRace, two);
    for (at, target) in [(11, one), (12, two)] {
        old_sighting(&old, "data-race-1", at, target);
    }
    drop(old);
    let all = Store::open(dir.path()).unwrap().history().unwrap();
    let told: Vec<_> =
        all.iter().map(|r| (r.finding.key(), r.times, r.standing(), r.schedule.is_some())).collect();
    assert_eq!(
        told,
        [
            ("assertion-1@two".to_owned(), 1, Standing::Known, true),
            ("data-race-1@a.c,b.c".to_owned(), 2, Standing::Known, true),
            ("assertion-1@one".to_owned(), 1, Standing::Accepted, false),
        ]
    );
}

#[test]
fn findings_with_one_id_and_two_subjects_are_two() {
    let (_dir, mut store) = store();
    let sight = |store: &mut Store, subject: &str, second: u64| {
        let mut finding = race("assertion-1");
        finding.subject = Some(subject.into());
        let sighting = Sighting {
            finding: &finding,
            schedule: None,
            target: &[],
            folder: Path::new("/p"),
            build: "b",
            at: UNIX_EPOCH + Duration::from_secs(second),
        };
        store.sight(&sighting).unwrap()
    };
    assert_eq!((sight(&mut store, "one", 1), sight(&mut store, "two", 1)), (Standing::New, Standing::New));
    let benign = Decided {
        decision: Decision::Benign,
        reason: "a hint".into(),
        at: UNIX_EPOCH + Duration::from_secs(2),
    };
    assert!(store.decide("assertion-1@one", &benign).unwrap());
    assert!(!store.decide("assertion-1", &benign).unwrap(), "no record has the id alone");
    assert_eq!(sight(&mut store, "one", 3), Standing::Accepted);
    assert_eq!(sight(&mut store, "two", 3), Standing::Known);
    let mut run = run("hunt", "./t", 1);
    run.command = "hunt".into();
    let both: Vec<Finding> = store.history().unwrap().into_iter().map(|r| r.finding).collect();
    store.record(&run, &both, &source).unwrap();
    assert_eq!(store.findings().unwrap().len(), 2, "the findings of a run too");
}

#[test]
fn a_store_that_cannot_be_looked_for_or_is_empty_is_an_error_and_none_is_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Store::open_existing(dir.path()).unwrap().is_none());
    assert!(Store::open_existing(&dir.path().join("missing")).unwrap().is_none());
    let file = dir.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let below = Store::open_existing(&file.join("below"));
    assert!(matches!(below, Err(StoreError::Unreachable { .. })), "{below:?}");
    std::fs::write(dir.path().join(FILE), "").unwrap();
    let empty = Store::open_existing(dir.path());
    assert!(matches!(empty, Err(StoreError::Damaged { .. })), "{empty:?}");
    for text in ["x", "some notes of mine"] {
        std::fs::write(dir.path().join(FILE), text).unwrap();
        assert!(matches!(Store::open_existing(dir.path()), Err(StoreError::Damaged { .. })));
        assert!(Store::open(dir.path()).is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), text, "it is left alone");
    }
    std::fs::remove_file(dir.path().join(FILE)).unwrap();
    std::fs::create_dir(dir.path().join(FILE)).unwrap();
    assert!(Store::open_existing(dir.path()).is_err(), "a folder of that name");
}
