//! Executions to the first failure: each wrong program of the suite under each strategy.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::options::EffectOptions;
use super::search::{Explorer, Request, SearchResult};
use super::subject;
use crate::error::BenchError;
use crate::machine::{MachineInfo, today};
use crate::runner::progress;
use crate::stats;

/// Changes when a reader of the older form would misread it.
pub const SCHEMA: &str = "raddle.bench.explore-effect/1";

/// In the order of the table. Randomised strategies run with several seeds.
pub const STRATEGIES: [(&str, Lots); 10] = [
    ("preemption", Lots::None),
    ("delay", Lots::None),
    ("dfs", Lots::None),
    ("random", Lots::Drawn),
    ("pct", Lots::Drawn),
    ("pos", Lots::Drawn),
    ("surw", Lots::Drawn),
    ("rff", Lots::Drawn),
    ("aim", Lots::Drawn),
    ("portfolio", Lots::Drawn),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lots {
    None,
    Drawn,
}

/// What the default strategy must achieve: find the failure in this many seconds with this many
/// jobs.
pub const DEFAULT_SECONDS: f64 = 60.0;
pub const DEFAULT_JOBS: u16 = 2;

/// The execution under the race detector, which no search counts.
const DETECTOR_RUN: u64 = 1;

/// A wrong program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuiteProgram {
    /// Its file name.
    pub name: String,
    pub path: PathBuf,
    pub expected: Vec<String>,
    pub flags: Vec<String>,
}

impl SuiteProgram {
    /// Reads the header. None for a correct program.
    pub fn parse(path: &Path, text: &str) -> Option<SuiteProgram> {
        let header = || text.lines().take_while(|line| line.starts_with("//"));
        let kinds = header().find_map(|line| line.strip_prefix("// expect: "))?;
        let expected: Vec<String> = kinds.split('|').map(|kind| kind.trim().to_owned()).collect();
        if expected == ["nothing"] {
            return None;
        }
        let flags = header().find_map(|line| line.strip_prefix("//@ flags: ")).unwrap_or_default();
        Some(SuiteProgram {
            name: path.file_name()?.to_string_lossy().into_owned(),
            path: path.to_owned(),
            expected,
            flags: flags.split_whitespace().map(str::to_owned).collect(),
        })
    }

    /// The wrong programs of a folder whose names contain one of `only`, by name.
    pub fn all(folder: &Path, only: &[String]) -> Result<Vec<SuiteProgram>, BenchError> {
        let mut programs = Vec::new();
        for entry in fs::read_dir(folder).map_err(BenchError::file("read", folder))? {
            let path = entry.map_err(BenchError::file("read", folder))?.path();
            if subject::Language::of(&path).is_none() {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(BenchError::file("read", &path))?;
            programs.extend(SuiteProgram::parse(&path, &text));
        }
        programs.retain(|program| only.is_empty() || only.iter().any(|part| program.name.contains(part)));
        if programs.is_empty() {
            let what = format!("no wrong program in {} has such a name", folder.display());
            return Err(BenchError::Usage(what));
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }
}

/// One search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchRun {
    pub strategy: String,
    pub seed: u64,
    pub jobs: u16,
    /// The number of executions up to and including the first failure.
    pub found: Option<u64>,
    /// The number of all executions.
    pub executions: u64,
    pub seconds: f64,
    pub exhausted: bool,
    pub kinds: Vec<String>,
}

impl SearchRun {
    fn new(request: &Request, search: SearchResult) -> SearchRun {
        let failed = (!search.kinds.is_empty())
            .then(|| search.first_failure.unwrap_or(search.schedules) + DETECTOR_RUN);
        SearchRun {
            strategy: request.strategy.clone(),
            seed: request.seed,
            jobs: request.jobs,
            found: failed,
            executions: search.schedules + DETECTOR_RUN,
            seconds: search.seconds,
            exhausted: search.exhausted,
            kinds: search.kinds,
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EffectRow {
    pub program: String,
    pub expected: Vec<String>,
    pub runs: Vec<SearchRun>,
    /// With no option except `--jobs`.
    pub default: Option<SearchRun>,
}

impl EffectRow {
    pub fn of<'a>(&'a self, strategy: &'a str) -> impl Iterator<Item = &'a SearchRun> {
        self.runs.iter().filter(move |run| run.strategy == strategy)
    }

    /// The median over the seeds that found the failure.
    pub fn median(&self, strategy: &str) -> Option<f64> {
        stats::median(self.of(strategy).filter_map(|run| run.found).map(|found| found as f64))
    }

    /// The number of runs that found the failure, and the number of all runs.
    pub fn found(&self, strategy: &str) -> (usize, usize) {
        (self.of(strategy).filter(|run| run.found.is_some()).count(), self.of(strategy).count())
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SearchFailure {
    pub program: String,
    pub strategy: String,
    pub reason: String,
}

/// The record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EffectRecord {
    pub schema: String,
    pub date: String,
    pub command: String,
    pub machine: MachineInfo,
    pub schedules: u64,
    pub seeds: u64,
    pub strategies: Vec<String>,
    pub rows: Vec<EffectRow>,
    pub failures: Vec<SearchFailure>,
}

/// Runs all searches.
pub fn run(options: &EffectOptions, raddle: PathBuf, folder: &Path) -> Result<EffectRecord, BenchError> {
    let programs = SuiteProgram::all(&options.suite, &options.only)?;
    let mut effect = EffectRecord {
        schema: SCHEMA.to_owned(),
        date: today(),
        command: options.command.clone(),
        machine: MachineInfo::look([
            raddle.as_path(),
            Path::new("gcc"),
            Path::new("g++"),
            Path::new("rustc"),
        ]),
        schedules: options.schedules,
        seeds: options.seeds,
        strategies: options.strategies.clone(),
        rows: Vec::new(),
        failures: Vec::new(),
    };
    let folder = fs::canonicalize(folder).map_err(BenchError::file("find", folder))?;
    let explorer = Explorer { raddle, folder: folder.clone() };
    for program in &programs {
        let binary = folder.join(program.name.replace('.', "-"));
        let binary = subject::build(&explorer.raddle, &program.path, &program.flags, &binary)?;
        let row =
            Searches { options, explorer: &explorer, program, binary: &binary }.row(&mut effect.failures);
        effect.rows.push(row);
    }
    progress("");
    Ok(effect)
}

/// All searches of one program.
struct Searches<'a> {
    options: &'a EffectOptions,
    explorer: &'a Explorer,
    program: &'a SuiteProgram,
    binary: &'a Path,
}

impl Searches<'_> {
    fn row(&self, failures: &mut Vec<SearchFailure>) -> EffectRow {
        let mut row = EffectRow {
            program: self.program.name.clone(),
            expected: self.program.expected.clone(),
            runs: Vec::new(),
            default: None,
        };
        for request in requests(self.options) {
            row.runs.extend(self.run(&request, failures));
        }
        if self.options.default {
            let request = Request { jobs: DEFAULT_JOBS, ..Request::new("portfolio", DEFAULT_SECONDS) };
            row.default = self.run(&request, failures);
        }
        row
    }

    fn run(&self, request: &Request, failures: &mut Vec<SearchFailure>) -> Option<SearchRun> {
        progress(&format!("{}: {} with seed {}", self.program.name, request.strategy, request.seed));
        let mut fail = |reason: String| {
            let (program, strategy) = (self.program.name.clone(), request.strategy.clone());
            failures.push(SearchFailure { program, strategy, reason });
        };
        match self.explorer.run(self.binary, request) {
            Ok(search) => {
                let run = SearchRun::new(request, search);
                complain(self.program, &run).into_iter().for_each(&mut fail);
                Some(run)
            }
            Err(reason) => {
                fail(reason);
                None
            }
        }
    }
}

/// The searches that end after this many schedules.
fn requests(options: &EffectOptions) -> Vec<Request> {
    let mut requests = Vec::new();
    for (name, lots) in STRATEGIES {
        if !options.strategies.iter().any(|chosen| chosen == name) {
            continue;
        }
        let seeds = if lots == Lots::Drawn { options.seeds } else { 1 };
        requests.extend((1..=seeds).map(|seed| Request {
            schedules: Some(options.schedules),
            seed,
            ..Request::new(name, options.seconds)
        }));
    }
    requests
}

/// A result that must be wrong: another kind of failure, or the claim that there is none.
fn complain(program: &SuiteProgram, run: &SearchRun) -> Option<String> {
    if let Some(kind) = run.kinds.iter().find(|kind| !program.expected.contains(kind)) {
        return Some(format!("seed {}: it reported `{kind}`", run.seed));
    }
    if run.exhausted && run.kinds.is_empty() {
        return Some(format!("seed {}: it says that no schedule fails, after {}", run.seed, run.executions));
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::explore::options::EffectOptions;
    use crate::options::{self, BenchCommand};

    pub fn run_of(strategy: &str, seed: u64, found: Option<u64>) -> SearchRun {
        let kinds = found.map(|_| "deadlock".to_owned()).into_iter().collect();
        SearchRun {
            strategy: strategy.to_owned(),
            seed,
            jobs: 1,
            found,
            executions: found.unwrap_or(10_001),
            seconds: 0.5,
            exhausted: false,
            kinds,
        }
    }

    fn program() -> SuiteProgram {
        let text = "// expect: deadlock | crash\n//@ bound: 1\n//@ flags: -O2 -std=c11\n// Why.\nint x; // expect: nothing here\n";
        SuiteProgram::parse(Path::new("s/a_bad.c"), text).unwrap()
    }

    fn options(line: &str) -> EffectOptions {
        let words = ["explore-effect"].into_iter().chain(line.split_whitespace());
        let BenchCommand::ExploreEffect(options) = options::parse(words.map(Into::into)).unwrap() else {
            panic!("another command")
        };
        *options
    }

    #[test]
    fn headers_are_read_and_right_programs_left_out() {
        let program = program();
        assert_eq!(
            (program.name.as_str(), program.expected.join(",").as_str()),
            ("a_bad.c", "deadlock,crash")
        );
        assert_eq!(program.flags, ["-O2", "-std=c11"]);
        assert_eq!(SuiteProgram::parse(Path::new("a.c"), "// expect: nothing\n"), None);
        assert_eq!(SuiteProgram::parse(Path::new("a.c"), "int x;\n// expect: crash\n"), None);
    }

    #[test]
    fn the_suite_is_large_enough_and_can_be_narrowed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/suite");
        let all = SuiteProgram::all(&folder, &[]).unwrap();
        assert!(all.len() >= 25 && all.iter().all(|program| program.name.contains("_bad.")));
        let some = SuiteProgram::all(&folder, &["wronglock".to_owned()]).unwrap();
        assert!(some.len() >= 2 && some.iter().all(|program| program.name.starts_with("wronglock")));
        assert!(SuiteProgram::all(&folder, &["no_such".to_owned()]).is_err());
    }

    #[test]
    fn only_those_who_draw_lots_are_run_again() {
        let requests = requests(&options("--strategies dfs,pct,portfolio --seeds 2 --schedules 7"));
        let shown: Vec<String> = requests.iter().map(|r| format!("{} {}", r.strategy, r.seed)).collect();
        assert_eq!(shown, ["dfs 1", "pct 1", "pct 2", "portfolio 1", "portfolio 2"]);
        assert!(requests.iter().all(|request| request.schedules == Some(7) && !request.keep_going));
    }

    #[test]
    fn the_run_under_the_detector_counts() {
        let text = r#"{"stats": {"schedules": 9, "first_failure": 4, "seconds": 1, "exhausted": false, "fork": false,
            "steps_max": 1}, "findings": [{"kind": "deadlock"}]}"#;
        let run = SearchRun::new(&Request::new("pos", 1.0), SearchResult::parse(text).unwrap());
        assert_eq!((run.found, run.executions), (Some(5), 10));
        let none = text.replace(r#""first_failure": 4,"#, "").replace(r#"{"kind": "deadlock"}"#, "");
        assert_eq!(
            SearchRun::new(&Request::new("pos", 1.0), SearchResult::parse(&none).unwrap()).found,
            None
        );
    }

    #[test]
    fn a_wrong_claim_is_a_failure() {
        let mut run = run_of("dfs", 1, None);
        assert_eq!(complain(&program(), &run), None, "not found in time is no claim");
        run.exhausted = true;
        assert!(complain(&program(), &run).unwrap().contains("no schedule fails"));
        run.kinds = vec!["livelock".to_owned()];
        assert!(complain(&program(), &run).unwrap().contains("`livelock`"));
        run.kinds = vec!["crash".to_owned()];
        assert_eq!(complain(&program(), &run), None);
    }

    #[test]
    fn medians_are_of_the_seeds_that_found_it() {
        let runs =
            [Some(3), None, Some(5)].into_iter().zip(1..).map(|(found, seed)| run_of("pct", seed, found));
        let row =
            EffectRow { program: "a".to_owned(), expected: Vec::new(), runs: runs.collect(), default: None };
        assert_eq!((row.median("pct"), row.found("pct")), (Some(4.0), (2, 3)));
        assert_eq!((row.median("pos"), row.found("pos")), (None, (0, 0)));
    }
}
