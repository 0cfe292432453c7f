//! Builds a program, explores it, and compares.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::expect::Program;

const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");
/// The search ends after so many seconds, and raddle must after three times as many. A busy machine
/// may give the first search too little, so there is a second.
const SECONDS: [u64; 2] = [20, 100];
/// Instead of a compiler's name: a plain compiler, so that a copy of the machine code is explored.
pub const MACHINE_CODE: &str = "machine code";
/// Where nothing is to be found, and only a part of the corpus is run.
const SHORT: [u64; 2] = [4, 40];

pub fn check(file: &Path, program: &Program, compiler: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let executable = folder.path().join(file.file_stem().unwrap());
    build(file, program, compiler, &executable)?;
    let short = program.expected.as_ref().is_some_and(Vec::is_empty) && !crate::is_all();
    let [first, second] = if short { SHORT } else { SECONDS };
    match look(file, program, &executable, first) {
        Err((true, why)) => {
            eprintln!("{}: {first} s were too little: {why:?}; once more", file.display());
            look(file, program, &executable, second).map_err(|(_, why)| why)
        }
        other => other.map_err(|(_, why)| why),
    }
}

/// Explores it for some seconds. A failure says whether more time may help.
fn look(file: &Path, program: &Program, executable: &Path, seconds: u64) -> Result<(), (bool, Failed)> {
    let folder = executable.parent().unwrap();
    let report = folder.join("report.json");
    let _ = std::fs::remove_file(&report);
    let mut command = Command::new(RADDLE);
    command.args(["explore", "--seconds", &seconds.to_string(), "--format", "json", "-o"]).arg(&report);
    command.args(program.monitor_options()).args(&program.options);
    command.arg("--").arg(executable).args(&program.args).current_dir(folder);
    let limit = Duration::from_secs(3 * seconds.max(SECONDS[0]));
    let output = within(limit, command).map_err(|why| (false, why))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let status = output.status.code();
    // Where no schedule came to its end in time, there is no report.
    let text = std::fs::read_to_string(&report)
        .map_err(|e| (status == Some(2), format!("no report ({e}), status {status:?}: {said}").into()))?;
    let report: Value = serde_json::from_str(&text).map_err(|why| (false, why.into()))?;
    let has_nothing = status == Some(0) && report["stats"]["exhausted"] != true;
    compare(&report, status, file, program).map_err(|e| {
        (has_nothing, format!("{e}\n{}\n{:#}\n{said}", report["stats"], report["findings"]).into())
    })
}

fn build(file: &Path, program: &Program, compiler: &str, executable: &Path) -> Result<(), Failed> {
    let cxx = file.extension().is_some_and(|e| e == "cc");
    let mut command = Command::new(RADDLE);
    match compiler {
        MACHINE_CODE if file.extension().is_some_and(|e| e == "rs") => {
            let flags = program.flags.iter().filter(|f| !f.starts_with("-O1"));
            command = Command::new("rustc");
            command.args(["--edition", "2021", "-g", "-Copt-level=1"]).args(flags);
        }
        MACHINE_CODE => {
            command = Command::new(if cxx { "g++" } else { "gcc" });
            command.args(["-g", "-pthread"]).args(&program.flags);
        }
        "rustc" => {
            let flags = program.flags.iter().filter(|f| !f.starts_with("-O1"));
            command.arg("rustc").args(["--edition", "2021", "-g", "-Copt-level=1"]).args(flags);
        }
        _ => {
            let real = match (compiler, cxx) {
                ("gcc", true) => "g++",
                ("clang", false) => "clang-19",
                ("clang", true) => "clang++-19",
                (other, _) => other,
            };
            command
                .arg(if cxx { "c++" } else { "cc" })
                .args(["--use", real, "-g", "-pthread"])
                .args(&program.flags);
        }
    }
    command.arg(file).arg("-o").arg(executable).args(&program.libs);
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Ends what does not end by itself.
fn within(limit: Duration, mut command: Command) -> Result<Output, Failed> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let begun = Instant::now();
    while child.try_wait()?.is_none() {
        if begun.elapsed() > limit {
            let _ = child.kill();
            return Err(format!("{command:?} was still running after {limit:?}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(child.wait_with_output()?)
}

fn compare(report: &Value, status: Option<i32>, file: &Path, program: &Program) -> Result<(), String> {
    let findings = report["findings"].as_array().ok_or("no findings")?;
    let expected = program.expected.as_deref().unwrap_or_default();
    if expected.is_empty() {
        return match findings.is_empty() && status == Some(0) {
            true => Ok(()),
            false => Err(format!("status {status:?}, and nothing was expected")),
        };
    }
    if findings.is_empty() || status != Some(66) {
        return Err(format!("status {status:?}, and expected was {expected:?}"));
    }
    for finding in findings {
        let kind = finding["kind"].as_str().unwrap_or_default();
        if !expected.iter().any(|k| k == kind) {
            return Err(format!("a finding of kind {kind}, and expected was {expected:?}"));
        }
        let marks: Vec<u64> =
            program.marks.iter().filter(|(k, _)| k == kind).map(|(_, line)| u64::from(*line)).collect();
        let lines = lines(finding, kind, file);
        if !marks.is_empty() && !lines.iter().all(|line| marks.contains(line)) {
            return Err(format!("{kind} at lines {lines:?}, and expected was {marks:?}"));
        }
        if finding["schedule"].as_str().is_none() {
            return Err("a finding without a schedule".into());
        }
    }
    Ok(())
}

/// Where the threads of a finding are, by the innermost frame in the program's own file.
fn lines(finding: &Value, kind: &str, file: &Path) -> Vec<u64> {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let accesses = finding["accesses"].as_array().cloned().unwrap_or_default();
    // The second end of a use after free is the free.
    let counted = if kind == "deadlock" || kind == "data-race" { accesses.len() } else { 1 };
    let own = |access: &Value| {
        let frames = access["stack"].as_array()?;
        frames.iter().find(|f| f["file"].as_str().is_some_and(|f| f.ends_with(&name)))?["line"].as_u64()
    };
    accesses.iter().take(counted).filter_map(own).collect()
}
