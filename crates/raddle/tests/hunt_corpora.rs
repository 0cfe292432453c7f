//! Hunts programs of all corpora, shuffled, wrong ones and right twins, and says how many were
//! confirmed.
//!
//! Not part of the usual tests: it measures, and takes as long as it is told to.
//!
//!     RADDLE_HUNT_SAMPLE=60 RADDLE_HUNT_SECONDS=20 cargo test -p raddle --test hunt_corpora -- --ignored --nocapture
//!
//! `RADDLE_HUNT_BINARY` names another raddle, such as a release build. `RADDLE_HUNT_REPORTS` names a
//! folder that keeps the report of each hunt, to read why a suspicion was not settled.
//!
//! Its one assertion is the one that a hunt stands for: nothing is confirmed in a correct program.

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use common::Bench;
use serde_json::Value;

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// All programs that can be built from one file and whose name says whether they are right.
fn programs(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["race", "explore", "conseq", "tsvd"].map(|f| root.join(f)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with("_bad") || name.ends_with("_ok") {
                found.push(path);
            }
        }
    }
    found.retain(|p| p.extension().is_some_and(|e| ["c", "cc", "rs"].contains(&e.to_str().unwrap_or(""))));
    found.sort();
    found
}

/// What of the corpus a hunt does not claim: stale reads need `--memory c11`, leaks and outputs a
/// monitor of their own. Programs that are wrong by locksets alone, and that their own flags keep
/// in one order, have no execution that shows it.
fn is_in_scope(path: &Path, text: &str) -> bool {
    let weak = path.components().any(|c| c.as_os_str() == "weak");
    let silent = |l: &str| l.contains("expect(hb") && l.trim_end().ends_with(": nothing");
    let is_bad = path.to_string_lossy().contains("_bad.");
    let by_locksets = is_bad && text.lines().any(silent);
    // A cycle of locks that a flag of the program keeps from being one.
    let is_mark = |l: &&str| l.contains("expect") && !l.trim_end().ends_with(": anything");
    let expected: Vec<&str> = text.lines().filter(is_mark).collect();
    let in_one_order = is_bad
        && text.contains("fixes the order of the run")
        && !expected.is_empty()
        && expected.iter().all(|l| l.contains("lock-order"));
    !weak
        && !by_locksets
        && !in_one_order
        && !text.contains("//@ monitors:")
        && !text.contains("//@ options:")
}

fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|l| l.trim().strip_prefix(&format!("//@ {name}:"))).map(str::trim)
}

/// xorshift: a sample that a seed repeats.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for i in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(i, (state % (i as u64 + 1)) as usize);
    }
}

fn raddle(bench: &Bench, line: &str) -> Command {
    let binary =
        std::env::var_os("RADDLE_HUNT_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_raddle").into());
    let mut command = bench.command(binary);
    command.args(line.split_whitespace());
    command
}

fn build(bench: &Bench, path: &Path, text: &str) -> Result<PathBuf, String> {
    let out = bench.path(&path.file_stem().unwrap().to_string_lossy());
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let tsvd = path.components().any(|c| c.as_os_str() == "tsvd");
    let mut command = match path.extension().and_then(|e| e.to_str()) {
        Some("rs") => raddle(bench, "rustc --edition 2021 -g"),
        Some("cc") => raddle(bench, "c++ -g -pthread"),
        _ => raddle(bench, "cc -g -pthread"),
    };
    let usual = match path.extension().is_some_and(|e| e == "rs") {
        // Calls of containers that are inlined are not seen, and a hunt asks for these builds.
        true if tsvd => "-Copt-level=0",
        true => "-Copt-level=1",
        false => "-O1",
    };
    command.args(directive(text, "flags").unwrap_or(usual).split_whitespace());
    if path.extension().is_some_and(|e| e != "rs") {
        command.arg("-I").arg(&include);
        if tsvd && path.extension().is_some_and(|e| e == "cc") {
            command.args(["-std=c++17", "-fno-inline"]);
        }
    }
    command.arg(path).args(directive(text, "libs").unwrap_or("").split_whitespace()).arg("-o").arg(&out);
    let output = command.output().unwrap();
    match output.status.success() {
        true => Ok(out),
        false => Err(common::stderr(&output).lines().next().unwrap_or("").to_owned()),
    }
}

#[derive(Default)]
struct Sum {
    bad: u64,
    bad_confirmed: u64,
    ok: u64,
    false_confirmed: Vec<String>,
    missed: Vec<String>,
    could_not: Vec<String>,
    suspicions: u64,
    settled: u64,
    explained: u64,
}

#[test]
#[ignore = "a measurement that takes many minutes"]
fn corpora_are_hunted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let (sample, seconds) = (setting("RADDLE_HUNT_SAMPLE", 60), setting("RADDLE_HUNT_SECONDS", 20));
    let seed = setting("RADDLE_HUNT_SEED", 1);
    let mut all: Vec<PathBuf> = programs(&root)
        .into_iter()
        .filter(|p| is_in_scope(p, &std::fs::read_to_string(p).unwrap_or_default()))
        .collect();
    shuffle(&mut all, seed);
    all.truncate(sample as usize);
    let mut sum = Sum::default();
    for path in &all {
        let line = hunt(path, &root, seconds, seed, &mut sum);
        println!("{line}");
    }
    println!(
        "\n{} programs, {seconds} s each: {} of {} bugs confirmed, {} of {} correct programs with a confirmed finding, \
         {} of {} suspicions settled, {} explained, {} not hunted",
        all.len(),
        sum.bad_confirmed,
        sum.bad,
        sum.false_confirmed.len(),
        sum.ok,
        sum.settled,
        sum.suspicions,
        sum.explained,
        sum.could_not.len()
    );
    println!("missed: {:#?}\nnot hunted: {:#?}", sum.missed, sum.could_not);
    assert!(sum.false_confirmed.is_empty(), "confirmed in correct programs: {:#?}", sum.false_confirmed);
}

fn keep_report(path: &Path, report: &[u8]) {
    if let Some(folder) = std::env::var_os("RADDLE_HUNT_REPORTS") {
        let name = format!("{}.json", path.file_name().unwrap().to_string_lossy());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(name), report).unwrap();
    }
}

fn hunt(path: &Path, root: &Path, seconds: u64, seed: u64, sum: &mut Sum) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let bench = Bench::new();
    let is_bad = path.file_stem().unwrap().to_string_lossy().ends_with("_bad");
    let program = match build(&bench, path, &text) {
        Ok(program) => program,
        Err(why) => {
            sum.could_not.push(format!("{name}: {why}"));
            return format!("{name}: not built");
        }
    };
    let begun = Instant::now();
    let mut command = raddle(
        &bench,
        &format!("hunt --whole --suspects --format json --seconds {seconds} --seed {seed} --"),
    );
    command.arg(&program).args(directive(&text, "args").unwrap_or("").split_whitespace());
    let output = command.output().unwrap();
    let took = begun.elapsed().as_secs_f64();
    keep_report(path, &output.stdout);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let kinds: Vec<&str> =
        report["findings"].as_array().into_iter().flatten().filter_map(|f| f["kind"].as_str()).collect();
    let stat = |key: &str| report["stats"][key].as_u64().unwrap_or(0);
    sum.suspicions += stat("suspicions");
    sum.settled += stat("suspicions_confirmed") + stat("suspicions_refuted");
    let mut line = format!("{name}: {:?} {kinds:?} in {took:.1} s", output.status.code());
    sum.explained += stat("suspicions_explained");
    let (explained, open) = (stat("suspicions_explained"), stat("suspicions_open"));
    let _ = write!(line, ", {} suspicions, {explained} explained, {open} open", stat("suspicions"));
    for suspect in report["suspects"].as_array().into_iter().flatten().filter(|s| s["verdict"] == "open") {
        let why = suspect["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let why = why.collect::<Vec<_>>().join("; ");
        let _ = write!(line, "\n    open: {}: {why}", suspect["message"].as_str().unwrap_or_default());
    }
    match output.status.code() {
        Some(0 | 66) if is_bad => {
            sum.bad += 1;
            if kinds.is_empty() {
                sum.missed.push(name);
            } else {
                sum.bad_confirmed += 1;
            }
        }
        Some(0 | 66) => {
            sum.ok += 1;
            if !kinds.is_empty() {
                let why = report["findings"][0]["message"].as_str().unwrap_or_default();
                sum.false_confirmed.push(format!("{name}: {kinds:?} {why}"));
            }
        }
        _ => {
            let why = common::stderr(&output);
            sum.could_not.push(format!("{name}: {}", why.lines().last().unwrap_or_default()));
        }
    }
    line
}
