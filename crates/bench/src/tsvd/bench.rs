//! The runs.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::options::TsvdOptions;
use super::plan::{ProgramSelection, SeriesStage};
use super::program::{PlantedProgram, ReadOrWrite, Side};
use super::record::{
    FoundPair, Planted, ProgramFailure, ProgramRun, ProgramWithPairs, SCHEMA, TsvdRecord, TsvdRow,
};
use super::series::Series;
use crate::error::BenchError;
use crate::explore::subject::Language;
use crate::machine::{MachineInfo, today};
use crate::measure::{Broken, ResourceUsage, USAGE_FILE, wait_within};
use crate::runner::progress;

/// The time limit of one run. A target that needs more is broken.
const LIMIT: Duration = Duration::from_secs(60);

/// The number of runs in one command. Between commands, the bench checks whether there is anything
/// left to find.
const AT_A_TIME: u32 = 10;

/// Runs what the options request and the record does not have yet, until everything is done or the
/// budget is spent.
pub fn run(
    options: &TsvdOptions,
    raddle: PathBuf,
    launcher: PathBuf,
    folder: &Path,
) -> Result<TsvdRecord, BenchError> {
    let programs = PlantedProgram::all(&options.suite, &options.only)?;
    let mut record = match options.output.json.as_deref().map(TsvdRecord::read).transpose()?.flatten() {
        Some(record) => current(record),
        None => TsvdRecord {
            schema: SCHEMA.to_owned(),
            date: today(),
            command: String::new(),
            machine: MachineInfo::look([raddle.as_path(), Path::new("g++"), Path::new("rustc")]),
            jobs: options.jobs,
            subjects: Vec::new(),
            series: Vec::new(),
            rows: Vec::new(),
            failures: Vec::new(),
        },
    };
    // If the bench was run in parts, the worst load of all parts counts.
    let before = if record.rows.is_empty() { 0.0 } else { record.machine.load };
    record.machine.load = before.max(busy(Duration::from_secs(1)).unwrap_or(record.machine.load));
    record.jobs = record.jobs.max(options.jobs);
    record.command = options.command.clone();
    record.subjects = PlantedProgram::all(&options.suite, &[])?.iter().map(ProgramWithPairs::new).collect();
    for SeriesStage { series, .. } in &options.stages {
        let known = record.series.iter().find(|known| known.name == series.name);
        let runs = known.map_or(0, |known| known.runs).max(series.runs);
        record.series.retain(|known| known.name != series.name);
        record.series.push(Series { runs, ..series.clone() });
    }
    let bench = Bench { raddle, launcher, folder: folder.to_owned(), jobs: options.jobs };
    bench.build_all(&programs)?;
    bench.run_all(&programs, options, record)
}

/// The record of an earlier bench.
pub fn kept(file: &Path) -> Result<TsvdRecord, BenchError> {
    let what = || "there is nothing in it".to_owned();
    let record = TsvdRecord::read(file)?;
    record.map(current).ok_or_else(|| BenchError::BadResults { path: file.to_owned(), what: what() })
}

/// The part of a record that was measured with the current algorithm.
fn current(mut record: TsvdRecord) -> TsvdRecord {
    let left_out = record.forget_other_versions();
    if !left_out.is_empty() {
        eprintln!("left out, since they were measured of an earlier algorithm: {}", left_out.join(", "));
    }
    record
}

/// How many processors are busy now. The load average would still include an earlier compilation,
/// or the earlier part of this bench.
fn busy(within: Duration) -> Option<f64> {
    let look = || {
        let text = fs::read_to_string("/proc/stat").ok()?;
        let processors = text.lines().filter(|line| line.starts_with("cpu")).count() - 1;
        let (all, idle) = ticks(text.lines().next()?)?;
        Some((all as f64, idle as f64, processors as f64))
    };
    let before = look()?;
    thread::sleep(within);
    let after = look()?;
    let idle = (after.1 - before.1) / (after.0 - before.0).max(1.0);
    Some((1.0 - idle).max(0.0) * after.2)
}

/// All ticks of the first line of `/proc/stat`, and the idle ones:
/// `cpu user nice system idle iowait …`.
fn ticks(line: &str) -> Option<(u64, u64)> {
    let figures = line.strip_prefix("cpu ")?.split_whitespace().map(str::parse);
    let figures: Vec<u64> = figures.collect::<Result<_, _>>().ok()?;
    Some((figures.iter().take(8).sum(), figures.get(3)? + figures.get(4)?))
}

/// One program in one stage (or natively).
struct Item<'a> {
    program: &'a PlantedProgram,
    stage: Option<&'a SeriesStage>,
    /// The result of earlier runs of the series.
    row: TsvdRow,
    pairs: Vec<Planted>,
    /// Continue to the last run even when all pairs are found.
    to_the_end: bool,
}

impl<'a> Item<'a> {
    fn new(program: &'a PlantedProgram, stage: Option<&'a SeriesStage>, record: &TsvdRecord) -> Item<'a> {
        let series = stage.map(|stage| stage.series.name.as_str());
        let known = record.row(&program.name, series).filter(|_| stage.is_some()).cloned();
        Item {
            program,
            stage,
            row: known.unwrap_or_else(|| TsvdRow::new(&program.name, series)),
            pairs: record.pairs(&program.name).to_vec(),
            to_the_end: match stage.map(|stage| stage.which) {
                Some(ProgramSelection::Unsettled) => false,
                Some(ProgramSelection::UnsettledAndSample) => record.samples(&program.name),
                _ => true,
            },
        }
    }
}

struct Bench {
    raddle: PathBuf,
    launcher: PathBuf,
    folder: PathBuf,
    jobs: u32,
}

impl Bench {
    /// Runs natively, then one stage after the other, so that an interrupted bench has complete
    /// stages.
    fn run_all(
        &self,
        programs: &[PlantedProgram],
        options: &TsvdOptions,
        record: TsvdRecord,
    ) -> Result<TsvdRecord, BenchError> {
        let begin = Instant::now();
        let lacks = |program: &&PlantedProgram| {
            let made = record.row(&program.name, None).map_or(0, |row| row.runs.len());
            made < options.reps as usize
        };
        let work = programs.iter().filter(lacks).map(|program| Item::new(program, None, &record)).collect();
        let mut record = self.run_some(work, options, begin, record)?;
        for stage in &options.stages {
            let due = stage.programs(programs, &record);
            let (expected, left) =
                (stage.expected(&due, &record), options.budget.saturating_sub(begin.elapsed()));
            if expected > left {
                let (name, minutes) = (&stage.series.name, expected.as_secs() / 60 + 1);
                let runs = stage.series.runs;
                progress("");
                eprintln!(
                    "no time left for {name}, {runs} runs: {} programs, about {minutes} min",
                    due.len()
                );
                continue;
            }
            let work = due.into_iter().map(|program| Item::new(program, Some(stage), &record)).collect();
            record = self.run_some(work, options, begin, record)?;
        }
        progress("");
        Ok(record)
    }

    fn run_some(
        &self,
        work: VecDeque<Item<'_>>,
        options: &TsvdOptions,
        begin: Instant,
        record: TsvdRecord,
    ) -> Result<TsvdRecord, BenchError> {
        let (work, record) = (Mutex::new(work), Mutex::new(record));
        let next = || {
            let within = begin.elapsed() < options.budget;
            work.lock().expect("no thread panics here").pop_front().filter(|_| within)
        };
        let worker = |job: u32| -> Result<(), BenchError> {
            let folder = self.folder.join(format!("job{job}"));
            fs::create_dir_all(&folder).map_err(BenchError::file("create", &folder))?;
            while let Some(item) = next() {
                let done = self.run(&item, options.reps, &folder);
                let mut record = record.lock().expect("no thread panics here");
                put(&mut record, &item, done);
                if let Some(file) = &options.output.json {
                    record.write(file)?;
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs).map(|job| scope.spawn(move || worker(job))).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("workers return their errors"))
        })?;
        Ok(record.into_inner().expect("no thread panics here"))
    }

    fn build_all(&self, programs: &[PlantedProgram]) -> Result<(), BenchError> {
        programs
            .iter()
            .filter(|program| !self.binary(program).exists())
            .try_for_each(|program| self.build(program))
    }

    fn binary(&self, program: &PlantedProgram) -> PathBuf {
        self.folder.join(program.name.replace('.', "-"))
    }

    /// Builds C as usual, C++ so that container methods stay calls, and Rust without optimisation,
    /// for the same reason.
    fn build(&self, program: &PlantedProgram) -> Result<(), BenchError> {
        progress(&format!("building {}", program.name));
        let mut command = match program.language {
            Language::C => Command::new("cc"),
            Language::Cpp => Command::new(&self.raddle),
            Language::Rust => Command::new("rustc"),
        };
        command.args(match program.language {
            Language::C => &["-g", "-O1", "-pthread"][..],
            Language::Cpp => &["c++", "--tsvd", "-g", "-std=c++17", "-pthread"],
            Language::Rust => &["--edition", "2021", "-g"],
        });
        let output =
            command.arg(&program.path).arg("-o").arg(self.binary(program)).args(&program.libs).output();
        let output = output.map_err(BenchError::file("run", Path::new(command.get_program())))?;
        if output.status.success() {
            return Ok(());
        }
        let diagnostics = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(BenchError::Build { kernel: program.name.clone(), tool: "raddle tsvd".to_owned(), diagnostics })
    }

    fn run(&self, item: &Item<'_>, reps: u32, folder: &Path) -> Result<TsvdRow, String> {
        let mut row = item.row.clone();
        progress(&format!("{}: {}", item.program.name, row.series.as_deref().unwrap_or("native")));
        let usage = folder.join("usage");
        let Some(stage) = item.stage else {
            remove(&usage)?;
            for _ in 0..reps {
                self.launch(Vec::new(), item.program, folder, &usage, LIMIT)?;
            }
            row.runs = usages(&usage)?;
            return Ok(row);
        };
        while (row.runs.len() as u32) < stage.series.runs && (item.to_the_end || !row.is_settled(&item.pairs))
        {
            let rest = stage.series.runs - row.runs.len() as u32;
            self.go_on(item.program, &stage.series, rest.min(AT_A_TIME), folder, &mut row)?;
        }
        Ok(row)
    }

    /// Makes this many further runs, which begin with the trap file of the earlier ones.
    fn go_on(
        &self,
        program: &PlantedProgram,
        series: &Series,
        runs: u32,
        folder: &Path,
        row: &mut TsvdRow,
    ) -> Result<(), String> {
        let [usage, report, traps] = ["usage", "report.json", "traps.json"].map(|name| folder.join(name));
        [&usage, &report, &traps].into_iter().try_for_each(|file| remove(file))?;
        if let Some(text) = &row.traps {
            fs::write(&traps, text).map_err(|error| error.to_string())?;
        }
        let (begin, done) = (Instant::now(), row.runs.len() as u32);
        let before = tool(&self.raddle, series, (done, runs), &report, &traps);
        self.launch(before, program, folder, &usage, LIMIT * runs)?;
        row.command_seconds += begin.elapsed().as_secs_f64();
        row.runs.extend(usages(&usage)?);
        let text = fs::read_to_string(&report).map_err(|error| format!("no report: {error}"))?;
        read_report(&text, program, done, row)?;
        row.traps = fs::read_to_string(&traps).ok();
        Ok(())
    }

    fn launch(
        &self,
        before: Vec<OsString>,
        program: &PlantedProgram,
        folder: &Path,
        usage: &Path,
        limit: Duration,
    ) -> Result<(), String> {
        let launcher = [self.launcher.clone().into_os_string(), "measure".into(), "--".into()];
        let binary = self.binary(program).into_os_string();
        let line: Vec<OsString> = before.into_iter().chain(launcher).chain([binary]).collect();
        let stderr = folder.join("stderr");
        let opened = |path: &Path| File::create(path).map_err(|error| error.to_string());
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).env(USAGE_FILE, usage).current_dir(folder);
        command.stdin(Stdio::null()).stdout(opened(&folder.join("stdout"))?).stderr(opened(&stderr)?);
        let child = command.process_group(0).spawn().map_err(|error| error.to_string())?;
        match wait_within(child, limit) {
            Ok(status) if [Some(0), Some(FOUND)].contains(&status.code()) => Ok(()),
            Ok(status) => {
                let said = fs::read_to_string(&stderr).unwrap_or_default();
                Err(format!("{status}: {}", said.lines().last().unwrap_or("and said nothing")))
            }
            Err(Broken::TimedOut(limit)) => Err(format!("not done after {} s", limit.as_secs())),
            Err(broken) => Err(format!("{broken:?}")),
        }
    }
}

/// The exit status of raddle when there are findings.
const FOUND: i32 = 66;

/// What raddle is told by this variable, because nobody but a benchmark wants it.
const EXPERIMENT: &str = "RADDLE_TSVD_EXPERIMENT";

/// The words of a series that are options of the command, and those that are for experiments.
fn apart(words: &[String]) -> (Vec<&str>, Vec<&str>) {
    const OF_THE_COMMAND: [&str; 4] = ["--delay", "--window", "--share", "--seed"];
    let (mut options, mut experiment, mut is_option) = (Vec::new(), Vec::new(), false);
    for word in words {
        if word.starts_with("--") {
            is_option = OF_THE_COMMAND.contains(&word.as_str());
        }
        if is_option { options.push(word.as_str()) } else { experiment.push(word.as_str()) }
    }
    (options, experiment)
}

/// `done` is the number of earlier runs, whose random numbers must not repeat.
fn tool(
    raddle: &Path,
    series: &Series,
    (done, runs): (u32, u32),
    report: &Path,
    traps: &Path,
) -> Vec<OsString> {
    let (options, experiment) = apart(&series.options);
    let mut line: Vec<OsString> = Vec::new();
    if !experiment.is_empty() {
        line.extend(["env".into(), format!("{EXPERIMENT}={}", experiment.join(" ")).into()]);
    }
    line.extend([raddle.into(), "tsvd".into(), "--no-store".into()]);
    line.extend(["--trap-file".into(), traps.into()]);
    line.extend(options.iter().map(OsString::from));
    if done > 0 {
        line.extend(["--seed".into(), done.to_string().into()]);
    }
    line.extend(["--runs".into(), runs.to_string().into()]);
    line.extend(["--format".into(), "json".into(), "-o".into(), report.into(), "--".into()]);
    line
}

fn remove(leftover: &Path) -> Result<(), String> {
    match leftover.exists() {
        true => fs::remove_file(leftover).map_err(|error| error.to_string()),
        false => Ok(()),
    }
}

fn usages(file: &Path) -> Result<Vec<ProgramRun>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("no usage: {error}"))?;
    let usages = text.lines().map(serde_json::from_str::<ResourceUsage>).collect::<Result<Vec<_>, _>>();
    let usages = usages.map_err(|error| error.to_string())?;
    // A target that failed has no time.
    if let Some(failed) = usages.iter().find(|usage| usage.status != 0) {
        return Err(format!("the program itself ended with status {}", failed.status));
    }
    let run = |u: ResourceUsage| ProgramRun {
        seconds: u.seconds,
        cpu_seconds: u.cpu_seconds,
        peak_kib: u.peak_kib,
    };
    Ok(usages.into_iter().map(run).collect())
}

/// Compares the report of some runs with what was planted. `done` is the number of earlier runs.
fn read_report(text: &str, program: &PlantedProgram, done: u32, row: &mut TsvdRow) -> Result<(), String> {
    let report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let stats = &report["stats"];
    row.calls += stats["calls"].as_u64().unwrap_or(0);
    row.delayed_seconds += stats["delay_ms"].as_f64().unwrap_or(0.0) / 1000.0;
    let by_run = stats["delays_by_run"].as_str().ok_or("stats.delays_by_run is missing")?;
    row.delays.extend(by_run.split(',').filter_map(|n| n.trim().parse::<u64>().ok()));
    for finding in report["findings"].as_array().ok_or("findings are missing")? {
        let run = done + caught_in(finding).unwrap_or(1);
        match sides(finding, &program.name).and_then(|sides| program.pair(sides)) {
            Some(pair) if row.found.iter().any(|found| found.pair == pair && found.run <= run) => {}
            Some(pair) => {
                row.found.retain(|found| found.pair != pair);
                row.found.push(FoundPair { pair, run });
            }
            None => row.false_reports.push(finding["message"].as_str().unwrap_or("?").to_owned()),
        }
    }
    Ok(())
}

/// `caught in run 2`, among the notes of a finding if there were several runs.
fn caught_in(finding: &Value) -> Option<u32> {
    let notes = finding["notes"].as_array()?;
    notes.iter().find_map(|note| note.as_str()?.strip_prefix("caught in run ")?.parse().ok())
}

/// Both sides of a finding: the operation, and the line of the innermost frame in the program's own
/// file.
fn sides(finding: &Value, name: &str) -> Option<[Side; 2]> {
    let side = |access: &Value| {
        let op = match access["op"].as_str()? {
            "read" => ReadOrWrite::Read,
            "write" => ReadOrWrite::Write,
            _ => return None,
        };
        let own = |frame: &&Value| frame["file"].as_str().is_some_and(|file| Path::new(file).ends_with(name));
        let line = access["stack"].as_array()?.iter().find(own)?["line"].as_u64()?;
        Some((op, u32::try_from(line).ok()?))
    };
    let accesses = finding["accesses"].as_array()?;
    Some([side(accesses.first()?)?, side(accesses.get(1)?)?])
}

fn put(record: &mut TsvdRecord, item: &Item<'_>, done: Result<TsvdRow, String>) {
    let series = item.row.series.clone();
    let same = |program: &str, of: &Option<String>| program == item.program.name && *of == series;
    record.failures.retain(|failure| !same(&failure.program, &failure.series));
    match done {
        Ok(row) => {
            record.rows.retain(|row| !same(&row.program, &row.series));
            record.rows.push(row);
        }
        Err(reason) => {
            record.failures.push(ProgramFailure { program: item.program.name.clone(), series, reason })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{ "stats": { "calls": 40, "delays": 3, "delays_by_run": "1,2" }, "findings": [
        { "message": "m", "notes": ["caught in run 2"], "accesses": [
            { "op": "write", "stack": [ { "file": "/usr/include/c++/12/map", "line": 9 }, { "file": "/x/a_bad.cc", "line": 2 } ] },
            { "op": "read", "stack": [ { "file": "/x/a_bad.cc", "line": 3 }, { "file": "/x/a_bad.cc", "line": 8 } ] } ] },
        { "message": "nobody planted this", "accesses": [
            { "op": "write", "stack": [ { "file": "/x/a_bad.cc", "line": 2 } ] },
            { "op": "write", "stack": [ { "file": "/x/a_bad.cc", "line": 2 } ] } ] } ] }"#;

    #[test]
    fn findings_are_held_against_the_marks() {
        let text = "//@ pair 1: different-keys often\n\
                    a(); // expect: thread-safety-violation write #1\n\
                    b(); // expect: thread-safety-violation read #1\n";
        let program = PlantedProgram::parse(Path::new("a_bad.cc"), text).unwrap();
        let mut row = TsvdRow::new("a_bad.cc", Some("tsvd"));
        read_report(REPORT, &program, 0, &mut row).unwrap();
        assert_eq!(row.found, [FoundPair { pair: 1, run: 2 }]);
        assert_eq!((row.delays.clone(), row.calls), (vec![1, 2], 40));
        assert_eq!(row.false_reports, ["nobody planted this"]);
        read_report(REPORT, &program, 2, &mut row).unwrap();
        assert_eq!(row.found, [FoundPair { pair: 1, run: 2 }], "the first time counts");
        assert_eq!((row.delays, row.calls), (vec![1, 2, 1, 2], 80));
        let mut later = TsvdRow::new("a_bad.cc", Some("tsvd"));
        read_report(REPORT, &program, 10, &mut later).unwrap();
        assert_eq!(later.found, [FoundPair { pair: 1, run: 12 }]);
    }

    #[test]
    fn idle_ticks_are_told_from_busy_ones() {
        assert_eq!(ticks("cpu  10 0 5 70 3 1 1 0 9 9"), Some((90, 73)));
        assert_eq!((ticks("cpu0 1 2 3 4 5"), ticks("cpu  1 x")), (None, None));
    }

    #[test]
    fn later_runs_have_the_traps_of_those_before_and_other_lots() {
        let series = &super::super::series::policies(10)[3];
        let line = |done| {
            let line = tool(Path::new("r"), series, (done, 8), Path::new("j"), Path::new("t"));
            line.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let begin =
            "env RADDLE_TSVD_EXPERIMENT=--policy static-random r tsvd --no-store --trap-file t --share 1000";
        assert_eq!(line(0), format!("{begin} --runs 8 --format json -o j --"));
        assert_eq!(line(2), format!("{begin} --seed 2 --runs 8 --format json -o j --"));
    }
}
