//! What `raddle run` leaves for the editor.

mod common;

use common::{Bench, stderr};
use raddle_store::{Store, home};
use std::path::{Path, PathBuf};

/// The store of a bench's project, by the rules that an editor finds it by.
fn folder(bench: &Bench) -> PathBuf {
    let state = bench.state().as_os_str();
    home::folder_by(&bench.path(""), &|name| (name == "XDG_STATE_HOME").then(|| state.to_owned())).unwrap()
}

fn store(bench: &Bench) -> Store {
    Store::open_existing(&folder(bench)).unwrap().expect("a store")
}

#[test]
fn findings_are_kept_with_their_lines() {
    let bench = Bench::with("race");
    let run = bench.run("", &["./race"]);
    run.assert_races(&["counter"]);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let stored = store(&bench).findings_for_file(&bench.path("race.c")).unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!(
        (stored[0].finding.id.as_str(), stored[0].command.as_str()),
        (run.ids().first().unwrap().as_str(), "run")
    );
    let text = include_str!("programs/race.c");
    for end in stored[0].places.iter().filter(|place| place.is_end) {
        let line = text.lines().nth(end.line as usize - 1).unwrap().trim();
        assert_eq!(end.text.as_deref(), Some(line));
        assert!(line.contains("counter"), "{line}");
    }
}

#[test]
fn a_run_from_below_the_project_is_the_projects() {
    let bench = Bench::with("race");
    std::fs::create_dir_all(bench.path("build")).unwrap();
    std::fs::create_dir_all(bench.path(".git")).unwrap();
    let mut run = bench.run_command("-o /dev/null", &["../race"]);
    assert_eq!(run.current_dir(bench.path("build")).status().unwrap().code(), Some(66));
    assert_eq!(store(&bench).findings_for_file(&bench.path("race.c")).unwrap().len(), 1);
}

#[test]
fn a_run_without_findings_takes_the_old_ones_away() {
    let bench = Bench::with("race");
    bench.run("", &["./race"]).assert_races(&["counter"]);
    assert_eq!(store(&bench).findings().unwrap().len(), 1);
    assert_eq!(bench.run("--ignore fun:*", &["./race"]).findings().len(), 0);
    assert!(store(&bench).findings().unwrap().is_empty());
}

#[test]
fn storing_can_be_turned_off() {
    let bench = Bench::with("race");
    bench.run("--no-store", &["./race"]).assert_races(&["counter"]);
    let mut run = bench.run_command("-o /dev/null", &["./race"]);
    assert_eq!(run.env("RADDLE_NO_STORE", "1").status().unwrap().code(), Some(66));
    assert_eq!(std::fs::read_dir(bench.state()).unwrap().count(), 0);
}

#[test]
fn the_folder_can_be_named() {
    let bench = Bench::with("race");
    let mut run = bench.run_command("-o /dev/null", &["./race"]);
    assert_eq!(run.env("RADDLE_STORE", bench.path("mine")).status().unwrap().code(), Some(66));
    assert_eq!(Store::open(&bench.path("mine")).unwrap().findings().unwrap().len(), 1);
}

/// Each is one line on stderr, and the status is what it would have been.
#[test]
fn a_store_that_fails_changes_nothing() {
    let bench = Bench::with("race");
    bench.file("damaged/store.db", &"x".repeat(8192));
    bench.file("file", "");
    std::fs::create_dir_all(bench.path("folder/store.db")).unwrap();
    for (name, word) in [("damaged", "damaged"), ("file", "folder"), ("folder", "writing")] {
        let mut run = bench.run_command("--format json", &["./race"]);
        let output = run.env("RADDLE_STORE", bench.path(name)).output().unwrap();
        assert_eq!(output.status.code(), Some(66), "{name}");
        let said = stderr(&output);
        assert!(said.starts_with("raddle: the findings are not kept") && said.contains(word), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!output.stdout.is_empty());
    }
    assert_eq!(std::fs::read(Path::new(&bench.path("damaged/store.db"))).unwrap(), vec![b'x'; 8192]);
}
