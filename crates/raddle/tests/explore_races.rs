//! The race monitor of `explore` on programs of the race corpus.
//!
//! `run` knows far more operations that order threads than a search schedules. What the search does
//! not know must not become a confirmed race of a correct program. A part of the programs is
//! explored by default; `RADDLE_CORPUS=all` takes all correct ones.

mod common;

use std::path::{Path, PathBuf};

use common::{Bench, stderr};
use serde_json::Value;

/// Right programs, whose threads hand over by other means than locks and atomics. Each has a wrong
/// twin or was confirmed wrongly once.
const RIGHT: &[&str] = &[
    "atomics/membarrier_ok.c",
    "descriptors/asynchronous_ok.c",
    "descriptors/file_length_ok.c",
    "descriptors/file_names_ok.c",
    "descriptors/file_positioned_ok.c",
    "descriptors/file_two_descriptors_ok.c",
    "descriptors/inotify_ok.c",
    "descriptors/inotify_names_ok.c",
    "descriptors/kernel_names_ok.c",
    "descriptors/passed_ok.c",
    "libc/cookie_called_back_ok.c",
    "primitives/semaphore_found_ok.c",
    "primitives/semaphore_set_ok.c",
    "process/child_writes_ok.c",
    "process/clone_child_ok.c",
    "process/wait_in_another_thread_ok.c",
];

/// Wrong programs of the same means: what the search takes for an order must not hide their races.
const WRONG: &[&str] = &[
    "descriptors/file_length_bad.c",
    "descriptors/file_names_bad.c",
    "libc/called_back_bad.c",
    "libc/cookie_called_back_bad.c",
    "threads/at_exit_later_bad.c",
];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/race")
}

/// The races that a search of the program confirms. `None`: the program could not be explored.
fn races(bench: &Bench, program: &str, schedules: u32) -> Option<Vec<String>> {
    let compiler = match program.rsplit_once('.') {
        Some((_, "rs")) => "rustc --edition 2024 -g",
        Some((_, "cc")) => "c++ -std=c++20 -g -O1 -pthread -fopenmp",
        _ => "cc -g -O1 -pthread -fopenmp",
    };
    bench.ok(&format!("{compiler} {} -o program", corpus().join(program).display()));
    let line = format!(
        "explore --races --keep-going --seconds 120 --schedules {schedules} --format json -- ./program"
    );
    let output = bench.raddle(&line).output().unwrap();
    if output.status.code() == Some(2) {
        return None;
    }
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{program}: {e}: {}", stderr(&output)));
    let is_race = |f: &&Value| f["kind"] == "data-race" && f["confidence"] == "confirmed";
    let found = report["findings"].as_array().unwrap().iter().filter(is_race);
    Some(found.map(|f| f["message"].to_string()).collect())
}

#[test]
fn no_race_of_a_right_program_is_confirmed() {
    let bench = Bench::new();
    for program in RIGHT {
        let found = races(&bench, program, 12);
        assert_eq!(found, Some(vec![]), "{program}");
    }
    if std::env::var("RADDLE_CORPUS").is_ok_and(|which| which == "all") {
        let all = every_right_program();
        assert!(all.len() > 150, "{} programs", all.len());
        for program in all {
            let found = races(&bench, &program, 12).unwrap_or_default();
            assert!(found.is_empty(), "{program}: {found:?}");
        }
    }
}

/// But for those that are right only by what a detector is told: weak memory, annotations.
fn every_right_program() -> Vec<String> {
    let folders = std::fs::read_dir(corpus()).unwrap().flatten().map(|f| f.path());
    let folders = folders.filter(|f| f.is_dir() && !f.ends_with("annotations"));
    let files = folders.flat_map(|f| std::fs::read_dir(f).unwrap().flatten().map(|e| e.path()));
    let mut all: Vec<String> = files
        .filter(|f| f.file_stem().is_some_and(|n| n.to_string_lossy().ends_with("_ok")))
        .map(|f| f.strip_prefix(corpus()).unwrap().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn the_races_of_their_wrong_twins_are_found() {
    let bench = Bench::new();
    for program in WRONG {
        let found = races(&bench, program, 200);
        assert!(found.as_ref().is_some_and(|races| !races.is_empty()), "{program}: {found:?}");
    }
}
