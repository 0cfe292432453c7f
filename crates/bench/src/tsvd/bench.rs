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
use super::program::{Op, Program, Side};
use super::record::{Failure, Found, Record, Row, Run, SCHEMA, Subject};
use super::series::Series;
use crate::error::Error;
use crate::explore::subject::Language;
use crate::machine::{Machine, today};
use crate::measure::{Broken, USAGE_FILE, Usage, wait_within};
use crate::runner::progress;

/// One run may last so long; a target that needs more is broken.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs what the options ask for and is not in the record yet, until all is done or the budget is spent.
pub fn run(
    options: &TsvdOptions,
    raddle: PathBuf,
    launcher: PathBuf,
    folder: &Path,
) -> Result<Record, Error> {
    let programs = Program::all(&options.suite, &options.only)?;
    let mut record = match options.output.json.as_deref().map(Record::read).transpose()?.flatten() {
        Some(record) => record,
        None => Record {
            schema: SCHEMA.to_owned(),
            date: today(),
            command: String::new(),
            machine: Machine::look([raddle.as_path(), Path::new("g++"), Path::new("rustc")]),
            jobs: options.jobs,
            subjects: Vec::new(),
            series: Vec::new(),
            rows: Vec::new(),
            failures: Vec::new(),
        },
    };
    // What was measured in parts is worth what the worst of them is.
    record.machine.load = record.machine.load.max(Machine::look([]).load);
    record.jobs = record.jobs.max(options.jobs);
    record.command = options.command.clone();
    record.subjects = Program::all(&options.suite, &[])?.iter().map(Subject::new).collect();
    for series in &options.series {
        record.series.retain(|known| known.name != series.name);
        record.series.push(series.clone());
    }
    let bench = Bench { raddle, launcher, folder: folder.to_owned(), jobs: options.jobs };
    bench.build_all(&programs)?;
    let work = work(&programs, options, &record);
    bench.run_all(work, options, record)
}

/// One program in one series (or natively).
struct Item<'a> {
    program: &'a Program,
    series: Option<&'a Series>,
}

/// What is to be done: each program natively and in each series, one series after the other, so that a bench that is
/// cut short has whole series.
fn work<'a>(programs: &'a [Program], options: &'a TsvdOptions, record: &Record) -> VecDeque<Item<'a>> {
    let series = [None].into_iter().chain(options.series.iter().map(Some));
    let items = series.flat_map(|series| programs.iter().map(move |program| Item { program, series }));
    let done = |item: &Item<'_>| {
        let wanted = item.series.map_or(options.reps, |series| series.runs) as usize;
        let row = record.row(&item.program.name, item.series.map(|series| series.name.as_str()));
        row.is_some_and(|row| row.runs.len() >= wanted)
    };
    items.filter(|item| !done(item)).collect()
}

struct Bench {
    raddle: PathBuf,
    launcher: PathBuf,
    folder: PathBuf,
    jobs: u32,
}

impl Bench {
    fn run_all(
        &self,
        work: VecDeque<Item<'_>>,
        options: &TsvdOptions,
        record: Record,
    ) -> Result<Record, Error> {
        let begin = Instant::now();
        let (work, record) = (Mutex::new(work), Mutex::new(record));
        let next = || {
            let within = begin.elapsed() < options.budget;
            work.lock().expect("no thread panics here").pop_front().filter(|_| within)
        };
        let worker = |job: u32| -> Result<(), Error> {
            let folder = self.folder.join(format!("job{job}"));
            fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
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
        progress("");
        Ok(record.into_inner().expect("no thread panics here"))
    }

    fn build_all(&self, programs: &[Program]) -> Result<(), Error> {
        programs
            .iter()
            .filter(|program| !self.binary(program).exists())
            .try_for_each(|program| self.build(program))
    }

    fn binary(&self, program: &Program) -> PathBuf {
        self.folder.join(program.name.replace('.', "-"))
    }

    /// C as anybody builds it; C++ so that container methods stay calls; Rust without optimisation, for the same reason.
    fn build(&self, program: &Program) -> Result<(), Error> {
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
        let output = output.map_err(Error::file("run", Path::new(command.get_program())))?;
        if output.status.success() {
            return Ok(());
        }
        let diagnostics = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Error::Build { kernel: program.name.clone(), tool: "raddle tsvd".to_owned(), diagnostics })
    }

    fn run(&self, item: &Item<'_>, reps: u32, folder: &Path) -> Result<Row, String> {
        let name = item.series.map(|series| series.name.clone());
        progress(&format!("{}: {}", item.program.name, name.as_deref().unwrap_or("native")));
        let (usage, report) = (folder.join("usage"), folder.join("report.json"));
        for leftover in [&usage, &report] {
            if leftover.exists() {
                fs::remove_file(leftover).map_err(|error| error.to_string())?;
            }
        }
        let mut row = Row {
            program: item.program.name.clone(),
            series: name,
            runs: Vec::new(),
            found: Vec::new(),
            false_reports: Vec::new(),
            delays: Vec::new(),
            delayed_seconds: 0.0,
            calls: 0,
            command_seconds: 0.0,
        };
        let begin = Instant::now();
        match item.series {
            None => {
                for _ in 0..reps {
                    self.launch(Vec::new(), item.program, folder, &usage, LIMIT)?;
                }
            }
            Some(series) => {
                let before = tool(&self.raddle, series, &report);
                self.launch(before, item.program, folder, &usage, LIMIT * series.runs)?;
            }
        }
        row.command_seconds = begin.elapsed().as_secs_f64();
        row.runs = usages(&usage)?;
        if item.series.is_some() {
            let text = fs::read_to_string(&report).map_err(|error| format!("no report: {error}"))?;
            read_report(&text, item.program, &mut row)?;
        }
        Ok(row)
    }

    fn launch(
        &self,
        before: Vec<OsString>,
        program: &Program,
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

fn tool(raddle: &Path, series: &Series, report: &Path) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![raddle.into(), "tsvd".into(), "--no-store".into(), "--fresh".into()];
    line.extend(series.options.iter().map(OsString::from));
    line.extend(["--runs".into(), series.runs.to_string().into()]);
    line.extend(["--format".into(), "json".into(), "-o".into(), report.into(), "--".into()]);
    line
}

fn usages(file: &Path) -> Result<Vec<Run>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("no usage: {error}"))?;
    let usages = text.lines().map(serde_json::from_str::<Usage>).collect::<Result<Vec<_>, _>>();
    let usages = usages.map_err(|error| error.to_string())?;
    // A target that failed has no time.
    if let Some(failed) = usages.iter().find(|usage| usage.status != 0) {
        return Err(format!("the program itself ended with status {}", failed.status));
    }
    let run = |u: Usage| Run { seconds: u.seconds, cpu_seconds: u.cpu_seconds, peak_kib: u.peak_kib };
    Ok(usages.into_iter().map(run).collect())
}

/// What the report says, held against what was planted.
fn read_report(text: &str, program: &Program, row: &mut Row) -> Result<(), String> {
    let report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let stats = &report["stats"];
    row.calls = stats["calls"].as_u64().unwrap_or(0);
    row.delayed_seconds = stats["delay_ms"].as_f64().unwrap_or(0.0) / 1000.0;
    row.delays = match stats["delays_by_run"].as_str() {
        Some(list) => list.split(',').filter_map(|n| n.trim().parse().ok()).collect(),
        None => vec![stats["delays"].as_u64().ok_or("stats.delays is missing")?],
    };
    for finding in report["findings"].as_array().ok_or("findings are missing")? {
        let run = caught_in(finding).unwrap_or(1);
        match sides(finding, &program.name).and_then(|sides| program.pair(sides)) {
            Some(pair) if row.found.iter().any(|found| found.pair == pair && found.run <= run) => {}
            Some(pair) => {
                row.found.retain(|found| found.pair != pair);
                row.found.push(Found { pair, run });
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

/// Both sides of a finding: operation, and line of the innermost frame in the program's own file.
fn sides(finding: &Value, name: &str) -> Option<[Side; 2]> {
    let side = |access: &Value| {
        let op = match access["op"].as_str()? {
            "read" => Op::Read,
            "write" => Op::Write,
            _ => return None,
        };
        let own = |frame: &&Value| frame["file"].as_str().is_some_and(|file| Path::new(file).ends_with(name));
        let line = access["stack"].as_array()?.iter().find(own)?["line"].as_u64()?;
        Some((op, u32::try_from(line).ok()?))
    };
    let accesses = finding["accesses"].as_array()?;
    Some([side(accesses.first()?)?, side(accesses.get(1)?)?])
}

fn put(record: &mut Record, item: &Item<'_>, done: Result<Row, String>) {
    let series = item.series.map(|series| series.name.clone());
    let same = |program: &str, of: &Option<String>| program == item.program.name && *of == series;
    record.failures.retain(|failure| !same(&failure.program, &failure.series));
    match done {
        Ok(row) => {
            record.rows.retain(|row| !same(&row.program, &row.series));
            record.rows.push(row);
        }
        Err(reason) => record.failures.push(Failure { program: item.program.name.clone(), series, reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{ "stats": { "calls": 40, "delays": 3 }, "findings": [
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
        let program = Program::parse(Path::new("a_bad.cc"), text).unwrap();
        let mut record = super::super::record::tests::sample();
        super::super::record::tests::add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0], &[]);
        let mut row = record.rows.remove(0);
        read_report(REPORT, &program, &mut row).unwrap();
        assert_eq!(row.found, [Found { pair: 1, run: 2 }]);
        assert_eq!(
            (row.false_reports, row.delays, row.calls),
            (vec!["nobody planted this".to_owned()], vec![3], 40)
        );
    }
}
