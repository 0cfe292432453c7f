//! Runs the programs, one after the other, under each tool.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::options::ConseqOptions;
use crate::error::BenchError;
use crate::kernel::{self, Kernel, KernelLanguage, Scale};
use crate::machine::{MachineInfo, today};
use crate::runner::progress;

/// Changes when a reader of the older form would misread it.
pub const SCHEMA: &str = "raddle.bench.conseq/1";

/// The modes of `raddle run`, for comparison.
pub const MODES: [&str; 3] = ["hb", "hybrid", "fast"];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuiteRecord {
    pub schema: String,
    pub date: String,
    pub command: String,
    pub machine: MachineInfo,
    pub rows: Vec<ConseqRow>,
    pub kernels: Vec<Overhead>,
    pub failures: Vec<String>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConseqRow {
    pub program: String,
    /// None for a correct program.
    pub expected: Option<String>,
    pub confirmed: Vec<String>,
    /// The expected failure is confirmed, and its schedule replays.
    pub replays: bool,
    /// The numbers of `stats`.
    pub stats: BTreeMap<String, f64>,
    /// The number of suspects with critical reads off.
    pub base: u64,
    pub atomicity: u64,
    /// The number of data races for each mode of `raddle run`.
    pub races: BTreeMap<String, u64>,
    /// For each MaxDistance, from 1: whether the failure was found, and the number of suspects.
    pub distances: Vec<(bool, u64)>,
}

impl ConseqRow {
    pub fn is_found(&self) -> bool {
        self.expected.is_some() && self.replays
    }

    pub fn stat(&self, key: &str) -> f64 {
        self.stats.get(key).copied().unwrap_or(0.0)
    }
}

/// What a traced run costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    pub kernel: String,
    pub native: f64,
    pub traced: f64,
    pub accesses: f64,
    pub events: f64,
    pub bytes: f64,
    pub analysed: f64,
}

/// Runs everything.
pub fn run(options: &ConseqOptions, raddle: PathBuf, work: &Path) -> Result<SuiteRecord, BenchError> {
    let mut bench = SuiteRecord {
        schema: SCHEMA.to_owned(),
        date: today(),
        command: options.command.clone(),
        machine: MachineInfo::look([
            raddle.as_path(),
            Path::new("gcc"),
            Path::new("g++"),
            Path::new("rustc"),
        ]),
        rows: Vec::new(),
        kernels: Vec::new(),
        failures: Vec::new(),
    };
    let tool = Tool { raddle, work: work.to_owned() };
    for file in programs(options)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        progress(&name);
        match tool.row(&file, &name, options.distances) {
            Ok(row) => bench.rows.push(row),
            Err(why) => bench.failures.push(format!("{name}: {why}")),
        }
    }
    for kernel in kernel::select(&options.kernels)?.iter().filter(|_| !options.kernels.is_empty()) {
        progress(&kernel.name);
        match tool.overhead(kernel) {
            Ok(overhead) => bench.kernels.push(overhead),
            Err(why) => bench.failures.push(format!("{}: {why}", kernel.name)),
        }
    }
    Ok(bench)
}

fn programs(options: &ConseqOptions) -> Result<Vec<PathBuf>, BenchError> {
    let folder = &options.suite;
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(BenchError::file("read", folder))? {
        let path = entry.map_err(BenchError::file("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wanted = options.only.is_empty() || options.only.iter().any(|part| name.contains(part));
        let source = path.extension().is_some_and(|e| ["c", "cc", "rs"].iter().any(|known| e == *known));
        if wanted && source {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(BenchError::Usage(format!("no program in {} has such a name", folder.display()))),
        false => Ok(files),
    }
}

/// The kind in the first line. None for a correct program.
fn expected(text: &str) -> Option<String> {
    let kind = text.lines().next()?.strip_prefix("// expect: ")?.trim();
    (kind != "nothing").then(|| kind.to_owned())
}

struct Tool {
    raddle: PathBuf,
    work: PathBuf,
}

impl Tool {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.raddle);
        command.args(words).current_dir(&self.work).env("RADDLE_NO_STORE", "1").stdin(Stdio::null());
        command
    }

    fn build(&self, file: &Path, words: &[&str], to: &Path) -> Result<(), String> {
        let file = fs::canonicalize(file).map_err(|e| e.to_string())?;
        let output = self.command(words).arg(file).arg("-o").arg(to).output().map_err(|e| e.to_string())?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn report(&self, words: &[&str], target: &[&Path]) -> Result<Value, String> {
        let output = self.command(words).args(["--format", "json", "--"]).args(target).output();
        let output = output.map_err(|e| e.to_string())?;
        // If the target prints to the same stream, the report begins at the first line with a
        // brace.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let at = text.find("{\n").or_else(|| text.find('{')).unwrap_or(0);
        serde_json::from_str(&text[at..])
            .map_err(|e| format!("no report ({e}): {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn row(&self, file: &Path, name: &str, distances: u32) -> Result<ConseqRow, String> {
        let expected = expected(&fs::read_to_string(file).map_err(|e| e.to_string())?);
        let program = self.work.join(name.replace('.', "_"));
        let words: &[&str] = match file.extension().and_then(|e| e.to_str()) {
            Some("rs") => &["rustc", "--edition", "2021", "-g", "-O"],
            Some("cc") => &["c++", "-g", "-O1", "-pthread"],
            _ => &["cc", "-g", "-O1", "-pthread"],
        };
        self.build(file, words, &program)?;
        let report = self.report(&["conseq"], &[&program])?;
        let confirmed = kinds(&report);
        let replays = expected.as_deref().is_some_and(|kind| self.replays(&report, kind));
        let base = self.report(&["conseq", "--all-reads", "--no-test"], &[&program])?;
        let atomicity = self.report(&["conseq", "--atomicity", "--no-test"], &[&program])?;
        let mut races = BTreeMap::new();
        for mode in MODES {
            races.insert(mode.to_owned(), self.races(mode, &program)?);
        }
        let mut by_distance = Vec::new();
        for n in 1..=if expected.is_some() { distances } else { 0 } {
            let report = self.report(&["conseq", "--max-distance", &n.to_string()], &[&program])?;
            let found = expected.as_ref().is_some_and(|kind| kinds(&report).contains(kind));
            by_distance.push((found, stat(&report, "suspects") as u64));
        }
        let numbers = report["stats"].as_object().into_iter().flatten();
        Ok(ConseqRow {
            program: name.to_owned(),
            expected,
            confirmed,
            replays,
            stats: numbers.filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect(),
            base: stat(&base, "suspects") as u64,
            atomicity: stat(&atomicity, "atomicity_violations") as u64,
            races,
            distances: by_distance,
        })
    }

    fn replays(&self, report: &Value, kind: &str) -> bool {
        let findings = report["findings"].as_array().into_iter().flatten();
        let mut confirmed = findings.filter(|f| f["confidence"] == "confirmed" && f["kind"] == kind);
        let Some(schedule) = confirmed.next().and_then(|f| f["schedule"].as_str()) else { return false };
        let status = self.command(&["replay", schedule]).stderr(Stdio::null()).stdout(Stdio::null()).status();
        status.is_ok_and(|s| s.code() == Some(66))
    }

    /// A race detector watches one run, which may hang or fail. It gets ten seconds.
    fn races(&self, mode: &str, program: &Path) -> Result<u64, String> {
        let report = self.work.join("races.json");
        let _ = fs::remove_file(&report);
        let raddle = self.raddle.as_os_str();
        let mut command = Command::new("timeout");
        command.arg("10").arg(raddle).args(["run", "--mode", mode, "--format", "json", "-o"]).arg(&report);
        command.arg("--").arg(program).current_dir(&self.work).env("RADDLE_NO_STORE", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map_err(|e| e.to_string())?;
        let text = fs::read_to_string(&report).map_err(|e| e.to_string())?;
        let report: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let findings = report["findings"].as_array().into_iter().flatten();
        Ok(findings.filter(|f| f["kind"] == "data-race").count() as u64)
    }

    fn overhead(&self, kernel: &Kernel) -> Result<Overhead, String> {
        let source = self.work.join(&kernel.file);
        let (header, text) = kernel::HEADER;
        fs::write(self.work.join(header), text).map_err(|e| e.to_string())?;
        fs::write(&source, kernel.source).map_err(|e| e.to_string())?;
        let (plain, traced) = (self.work.join("plain"), self.work.join("traced"));
        let (cc, wrapped) = match kernel.language {
            KernelLanguage::C => ("gcc", "cc"),
            KernelLanguage::Cpp => ("g++", "c++"),
        };
        let flags = ["-g", "-O2", "-pthread", "-lm"];
        let built = Command::new(cc).arg(&source).arg("-o").arg(&plain).args(flags).status();
        if !built.is_ok_and(|s| s.success()) {
            return Err(format!("{cc} failed"));
        }
        self.build(&source, &[wrapped, "-g", "-O2", "-pthread", "-lm"], &traced)?;
        let arguments = kernel.arguments(Scale::Reduced);
        let words: Vec<&Path> = arguments.iter().map(Path::new).collect();
        let mut native = f64::MAX;
        for _ in 0..3 {
            let begun = Instant::now();
            let status = Command::new(&plain).args(&words).stdout(Stdio::null()).status();
            status.map_err(|e| e.to_string())?;
            native = native.min(begun.elapsed().as_secs_f64());
        }
        let target: Vec<&Path> = std::iter::once(traced.as_path()).chain(words).collect();
        let options = [
            "conseq",
            "--no-test",
            "--runs",
            "1",
            "--max-steps",
            "10000000",
            "--patience",
            "60",
            "--seconds",
            "300",
        ];
        let report = self.report(&options, &target)?;
        Ok(Overhead {
            kernel: kernel.name.clone(),
            native,
            traced: stat(&report, "seconds_traced"),
            accesses: stat(&report, "accesses"),
            events: stat(&report, "trace_events"),
            bytes: stat(&report, "trace_bytes"),
            analysed: stat(&report, "seconds_analysed"),
        })
    }
}

fn stat(report: &Value, key: &str) -> f64 {
    report["stats"][key].as_f64().unwrap_or(0.0)
}

/// The kinds of the confirmed findings.
fn kinds(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().into_iter().flatten();
    let confirmed = findings.filter(|f| f["confidence"] == "confirmed");
    confirmed.filter_map(|f| Some(f["kind"].as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_in_the_first_line() {
        assert_eq!(expected("// expect: hang\n// x"), Some("hang".to_owned()));
        assert_eq!(expected("// expect: nothing\n"), None);
    }

    #[test]
    fn only_what_is_confirmed_counts() {
        let report = serde_json::json!({ "stats": { "suspects": 3 }, "findings": [
            { "kind": "hang", "confidence": "suspected" }, { "kind": "output", "confidence": "confirmed" } ] });
        assert_eq!(kinds(&report), ["output"]);
        assert_eq!((stat(&report, "suspects"), stat(&report, "absent")), (3.0, 0.0));
    }
}
