//! Runs `raddle conseq` on the programs of `corpus/conseq` and compares what it confirms with what
//! their comments expect, and replays it.
//!
//! One test a program. Most are run by default; `RADDLE_CORPUS=all` runs every one of them, those
//! in Rust and C++, which take longer to build, included. `cargo test --test conseq_corpus -- NAME`
//! runs those whose name contains NAME.
//!
//! Programs in C and C++ are also built without raddle (`NAME (machine code)`) and held against the
//! same comments, except where machine code does not tell enough ([`wanted`]).

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

/// Of those without raddle, run by default: one of each kind, and what is not confirmed.
const MACHINE_CODE: &[&str] = &[
    "beside_exchange_bad.c",
    "beside_exchange_ok.c",
    "cleared_buffer_bad.c",
    "closed_by_both_bad.c",
    "closed_twice_bad.c",
    "exchange_retry_bad.c",
    "first_status_bad.c",
    "freed_session_bad.cc",
    "freed_session_ok.cc",
    "io_pending_bad.c",
    "lost_signal_bad.c",
    "spinlock_depth_ok.cc",
    "statistics_bad.c",
    "tested_pointer_bad.c",
    "tested_pointer_ok.c",
    "url_assert_bad.c",
];

/// How a program is built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Built {
    WithRaddle,
    Plainly,
}

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
        let is_c = !name.ends_with(".rs");
        if is_c && (all || MACHINE_CODE.contains(&name.as_str())) {
            let file = file.clone();
            trials.push(Trial::test(format!("{name} (machine code)"), move || check(&file, Built::Plainly)));
        }
        if all || name.ends_with(".c") || PART.contains(&name.as_str()) {
            trials.push(Trial::test(name, move || check(&file, Built::WithRaddle)));
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

/// What is to be confirmed. Machine code does not say which accesses are atomic, so an unusual line
/// and a broken invariant prove nothing.
fn wanted(file: &Path, built: Built) -> Result<Option<String>, Failed> {
    const ONLY_BY_A_RACE: [&str; 3] = ["output", "error-message", "invariant"];
    let expected = expected(file)?;
    if built == Built::WithRaddle {
        return Ok(expected);
    }
    Ok(expected.filter(|kind| !ONLY_BY_A_RACE.contains(&kind.as_str())))
}

/// Whether the bug may also stay open. The comment `//@ machine-code: perhaps` has the reason.
fn may_be_missed(file: &Path, built: Built) -> Result<bool, Failed> {
    let text = std::fs::read_to_string(file)?;
    Ok(built == Built::Plainly && text.lines().any(|l| l.starts_with("//@ machine-code: perhaps")))
}

/// The words of `//@ flags:`, which are there in place of the usual optimisation.
fn flags(file: &Path) -> Result<Vec<String>, Failed> {
    let text = std::fs::read_to_string(file)?;
    let line = text.lines().find_map(|l| l.strip_prefix("//@ flags:"));
    Ok(line.map(|l| l.split_whitespace().map(str::to_owned).collect()).unwrap_or_default())
}

/// Seconds for a search, and for a second one: a busy machine may give the first too little.
const TIME: [&str; 2] = ["60", "400"];

fn check(file: &Path, built: Built) -> Result<(), Failed> {
    let expected = wanted(file, built)?;
    let folder = tempfile::tempdir()?;
    let executable = folder.path().join(file.file_stem().unwrap());
    build(file, &executable, built)?;
    let mut missed = String::new();
    for seconds in TIME {
        match look(&executable, folder.path(), expected.as_deref(), seconds)? {
            Look::AsExpected => return Ok(()),
            Look::Missed(_) if may_be_missed(file, built)? => return Ok(()),
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

fn build(file: &Path, executable: &Path, built: Built) -> Result<(), Failed> {
    let (language, options) = match file.extension().and_then(|e| e.to_str()) {
        Some("rs") => ("rustc", ["--edition", "2021", "-g"].as_slice()),
        Some("cc") => ("c++", ["-g", "-pthread"].as_slice()),
        _ => ("cc", ["-g", "-pthread"].as_slice()),
    };
    let mut command = Command::new(if built == Built::Plainly { language } else { RADDLE });
    if built == Built::WithRaddle {
        command.arg(language);
    }
    command.args(options);
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
