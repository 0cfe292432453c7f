//! Runs `raddle conseq` on the programs of `corpus/conseq` and compares what it confirms with what
//! their comments expect, and replays it.
//!
//! One test a program. Most are run by default; `RADDLE_CORPUS=all` runs every one of them, those
//! in Rust and C++, which take longer to build, included. `cargo test --test conseq_corpus -- NAME`
//! runs those whose name contains NAME.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");

/// Of those that take long to build, run by default.
const PART: &[&str] = &[
    "freed_session_bad.cc",
    "freed_session_ok.cc",
    "spinlock_depth_bad.cc",
    "lost_count_bad.rs",
    "job_taken_ok.rs",
    "channel_copied_bad.rs",
    "channel_copied_ok.rs",
    "scoped_total_bad.rs",
    "scoped_total_ok.rs",
    "two_counters_ok.rs",
    "progress_mutex_ok.rs",
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/conseq");
    let all = std::env::var_os("RADDLE_CORPUS").is_some_and(|v| v == "all");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if all || name.ends_with(".c") || PART.contains(&name.as_str()) {
            trials.push(Trial::test(name, move || check(&file)));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// The kind in the first line, `// expect: KIND`; none for `nothing`.
fn expected(file: &Path) -> Result<Option<String>, Failed> {
    let text = std::fs::read_to_string(file)?;
    let kind = text.lines().next().and_then(|l| l.strip_prefix("// expect: ")).ok_or("no expectation")?;
    Ok((kind != "nothing").then(|| kind.trim().to_owned()))
}

/// The words of `//@ flags:`, which are there in place of the usual optimisation.
fn flags(file: &Path) -> Result<Vec<String>, Failed> {
    let text = std::fs::read_to_string(file)?;
    let line = text.lines().find_map(|l| l.strip_prefix("//@ flags:"));
    Ok(line.map(|l| l.split_whitespace().map(str::to_owned).collect()).unwrap_or_default())
}

/// Seconds for a search, and for a second one: a busy machine may give the first too little.
const TIME: [&str; 2] = ["60", "400"];

fn check(file: &Path) -> Result<(), Failed> {
    let expected = expected(file)?;
    let folder = tempfile::tempdir()?;
    let executable = folder.path().join(file.file_stem().unwrap());
    build(file, &executable)?;
    let mut missed = String::new();
    for seconds in TIME {
        match look(&executable, folder.path(), expected.as_deref(), seconds)? {
            Look::AsExpected => return Ok(()),
            Look::Missed(report) => missed = report,
        }
        println!("{}: not confirmed within {seconds} s", file.display());
    }
    Err(missed.into())
}

enum Look {
    AsExpected,
    /// The bug was not confirmed, with the report.
    Missed(String),
}

/// Runs `conseq` for some seconds, holds its report against what is expected, and replays it.
fn look(executable: &Path, folder: &Path, expected: Option<&str>, seconds: &str) -> Result<Look, Failed> {
    // Each trace is held against simpler ways to it on the way: status 2, and no report, where they
    // differ.
    let words = ["conseq", "--seconds", seconds, "--check-traces", "--format", "json", "--no-store", "--"];
    let output = raddle(&words, executable, folder)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("no report ({e}): {said}"))?;
    let wrong = |what: String| Failed::from(format!("{what}\n{:#}\n{said}", report));
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let confirmed: Vec<&Value> = findings.iter().filter(|f| f["confidence"] == "confirmed").collect();
    if confirmed.len() != findings.len() {
        return Err(wrong("a suspect among the findings".into()));
    }
    let status = if findings.is_empty() { 0 } else { 66 };
    if output.status.code() != Some(status) {
        return Err(wrong(format!("status {:?} with {} finding(s)", output.status.code(), findings.len())));
    }
    for key in ["sites", "critical_reads", "suspects"] {
        if !report["stats"][key].is_u64() {
            return Err(wrong(format!("no {key} in stats")));
        }
    }
    let Some(kind) = expected else {
        return if confirmed.is_empty() {
            Ok(Look::AsExpected)
        } else {
            Err(wrong("confirmed, and nothing is wrong".into()))
        };
    };
    let Some(found) = confirmed.iter().find(|f| f["kind"] == kind) else {
        return Ok(Look::Missed(format!("no confirmed {kind}\n{report:#}\n{said}")));
    };
    let schedule = found["schedule"].as_str().ok_or_else(|| wrong("no schedule".into()))?;
    let replayed = raddle(&["replay", "--no-store"], Path::new(schedule), folder)?;
    match replayed.status.code() {
        Some(66) => Ok(Look::AsExpected),
        other => Err(wrong(format!(
            "the replay gives status {other:?}: {}",
            String::from_utf8_lossy(&replayed.stderr)
        ))),
    }
}

fn build(file: &Path, executable: &Path) -> Result<(), Failed> {
    let mut command = Command::new(RADDLE);
    match file.extension().and_then(|e| e.to_str()) {
        Some("rs") => command.args(["rustc", "--edition", "2021", "-g"]),
        Some("cc") => command.args(["c++", "-g", "-pthread"]),
        _ => command.args(["cc", "-g", "-pthread"]),
    };
    let flags = flags(file)?;
    match (flags.is_empty(), file.extension().is_some_and(|e| e == "rs")) {
        (true, true) => command.arg("-O"),
        (true, false) => command.arg("-O1"),
        (false, _) => command.args(&flags),
    };
    let output = command.arg(file).arg("-o").arg(executable).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn raddle(words: &[&str], last: &Path, folder: &Path) -> Result<Output, Failed> {
    Ok(Command::new(RADDLE).args(words).arg(last).current_dir(folder).stdin(Stdio::null()).output()?)
}
