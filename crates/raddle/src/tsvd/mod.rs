//! `raddle tsvd`: finds thread-safety violations in ordinary test runs.
//!
//! ```text
//! api         which functions are thread-unsafe: lists in TOML
//! sites       their call sites in a file, and their numbers
//! site_cache  the same, kept between commands
//! session     the folder of a run
//! planner     answers processes that ask for their sites
//! modules     the files that processes have mapped
//! traps       what runs have learned about pairs
//! pair_store  the same, kept between commands: the store and the trap file
//! harvest     what processes left in the core's tables
//! findings    what was caught, as findings
//! clr         what .NET processes left
//! messages    sentences besides the report, and errors
//! coverage    which points were hit, as a table and in JSON
//! verdict     runs a command that failed under delays once more without them
//! experiment  settings for benchmarks, which are not options
//! copy        `raddle instrument`: a copy that watches itself, and what it caught
//! pointers    calls through pointers in such a copy
//! libraries   the project's own libraries that such a copy also watches
//! ```
//!
//! The algorithm is in `raddle_tsvd`, its events come from `raddle_rt::tsvd`.

pub mod api;
pub mod args;
mod clr;
mod copy;
mod coverage;
mod experiment;
mod findings;
mod harvest;
mod libraries;
mod messages;
mod modules;
mod pair_store;
mod planner;
mod pointers;
mod session;
mod site_cache;
mod sites;
mod traps;
mod verdict;

pub use args::{Args, DelayOptions, InstrumentArgs};
pub use clr::other_profiler;
pub use copy::instrument;

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_finding::{Finding, Report, Stat};
use raddle_tsvd::Stats;
use raddle_wire::log::fatal;

use crate::report::args::ReportFormat;
use crate::report::output::OutputFile;
use crate::report::{Settler, TextTo};
use api::Catalogue;
use coverage::{Coverage, Covered};
use experiment::{Experiment, PaperVariant};
use harvest::Harvest;
use planner::AnalysedFiles;
use raddle_harness::places::Places;
use raddle_harness::say::{self, count, say};
use raddle_harness::{collect, launch, target};
use session::{Common, TsvdSession};

/// Runs the target, once or more often, and reports what was caught.
pub fn run(mut args: Args) -> Result<ExitCode> {
    if let Some(copy) = &args.collect {
        return copy::collect(copy, &args.options);
    }
    // Everything that can be wrong with the request is checked before the target runs.
    let settler = Settler::new(&args.options.report, TextTo::Stderr)?;
    args.options.parameters.experiment = Experiment::from_environment()?;
    let (report, status) = catch(&args, false)?;
    settler.settle(report, status)
}

/// What was caught, without printing anything or showing the target's output. Each run is killed
/// after `limit`. For `hunt`.
pub fn report_quietly(args: &Args, limit: Duration) -> Result<Report> {
    let caught = launch::quietly(limit, || catch(args, true));
    // Signals were forwarded to the target; from now on they end the hunt.
    raddle_harness::interrupt::watch();
    caught.map(|(report, _)| report)
}

/// Why a hunt could watch nothing, if that is worth saying. Most programs call no function that
/// must have one caller at a time, and that is not worth saying.
pub fn not_seen(why: &anyhow::Error) -> Option<String> {
    match why.downcast_ref() {
        Some(messages::TsvdError::AllInlined(uses)) => Some(messages::inlined_sentence(uses)),
        _ => None,
    }
}

/// The report, and the exit status of the target.
fn catch(args: &Args, quiet: bool) -> Result<(Report, u8)> {
    let begun = Instant::now();
    let options = &args.options;
    let outputs = Outputs::new(options)?;
    let program = target::find(&args.command)?;
    let runtime = raddle_harness::install::Runtime::open()?;
    let keeper = pair_store::Keeper::new(options, &args.command)?;
    let lists = messages::lists(&options.api)?;
    let mut traps = keeper.read()?.resting(options.rest());
    let clr = clr::Clr::new(&lists, traps.split_off(clr::is_site))?;
    let common = Arc::new(Common {
        catalogue: Catalogue::load(&lists)?,
        registry: Mutex::default(),
        traps: Mutex::new(traps),
        modules: options.module.clone(),
        own: runtime.folder().into(),
        force_async: options.parameters.force_async,
        synchronous_await: options.parameters.synchronous_await,
        share: options.parameters.share,
    });

    clr::warn_of_other_profiler();
    let library = runtime.tsvd_library(options.parameters.experiment.policy == PaperVariant::TsvdHb);
    let mut all = Runs::new(&common, clr);
    let mut verdict = verdict::CommandVerdict::default();
    for run in 0..options.runs {
        let session =
            TsvdSession::open(&common, &options.parameters.params(run), std::mem::take(&mut all.files))?;
        all.clr.prepare(session.dir(), &common.modules)?;
        let mut command = launch::tsvd_command(&program, &args.command, &runtime, &library, session.dir());
        clr::set_profiler(&mut command, &runtime.clr_profiler());
        let ended = launch::start(&program, command)?;
        let delays_before = all.stats.delays;
        let clr_before = all.clr.stats.delays;
        all.end(session, (options.runs > 1).then_some(run + 1))?;
        let delays = all.stats.delays - delays_before + all.clr.stats.delays - clr_before;
        verdict.add(ended.code(), delays);
        if let Some(signal) = launch::interrupted_by() {
            let runs = count(options.runs, "run", "runs");
            say!("interrupted by {signal} in run {} of {runs}: this is what was seen until then", run + 1);
            break;
        }
    }
    all.add_clr();
    let again = !options.no_retry && launch::interrupted_by().is_none();
    let again = again.then_some(|| Ok(launch::run_plain(&program, &args.command)?.code()));
    let settled = verdict.settle(again)?;
    clr::say_why_not(&program.path, &all.clr);
    messages::complain(
        &program,
        &common,
        &all.files,
        (&all.all_covered(), all.clr.files() > 0),
        all.processes,
    )?;
    if !quiet {
        messages::warn(&common, options, &all.files, &all.stats);
        all.clr.warn();
    }
    if options.report.format == ReportFormat::Text {
        let native = common.registry.lock().expect("nobody panics with the registry").files.len();
        let files = native + all.clr.files();
        say::answer(format_args!("{}", messages::summary(&all.all_covered(), files, &all.stats)));
    }
    keeper.write(&common, all.clr.keep())?;
    outputs.write(&common, &mut all)?;

    let target = args.command.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    let not_seen = if quiet { messages::not_seen(&common.catalogue, &all.files) } else { Vec::new() };
    let mut report = all.report(target, options.runs, options.parameters.experiment.policy);
    report.coverage.extend(not_seen);
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    report.stats.insert("target_status".into(), Stat::Int(i64::from(settled.status)));
    report.stats.insert("interrupted".into(), Stat::Bool(launch::interrupted_by().is_some()));
    if let Some(delayed) = settled.delayed {
        report.stats.insert("target_status_delayed".into(), Stat::Int(i64::from(delayed)));
    }
    Ok((report, settled.status as u8))
}

/// Files that are written besides the report.
struct Outputs {
    coverage: Option<OutputFile>,
    table: bool,
}

impl Outputs {
    fn new(options: &DelayOptions) -> Result<Outputs> {
        let path = options.coverage.as_ref();
        let file = path.filter(|p| p.as_os_str() != "-");
        let coverage = file.map(|p| OutputFile::new("the coverage", p)).transpose()?;
        Ok(Outputs { coverage, table: path.is_some_and(|p| p.as_os_str() == "-") })
    }

    fn write(&self, common: &Common, all: &mut Runs) -> Result<()> {
        if self.coverage.is_none() && !self.table {
            return Ok(());
        }
        let registry = common.registry.lock().expect("nobody panics with the registry");
        let mut coverage = Coverage::new(&registry, &all.covered, &mut all.places);
        all.clr.add_coverage(&mut coverage);
        if self.table {
            say::error(&coverage.table());
        }
        if let Some(file) = &self.coverage {
            file.write(&coverage.json())?;
        }
        Ok(())
    }
}

/// The sum of all runs so far.
struct Runs<'a> {
    common: &'a Arc<Common>,
    files: AnalysedFiles,
    findings: Vec<Finding>,
    covered: Vec<Covered>,
    stats: Stats,
    /// The delays of each run, for comparisons.
    delays: Vec<String>,
    processes: usize,
    places: Places,
    clr: clr::Clr,
}

impl<'a> Runs<'a> {
    fn new(common: &'a Arc<Common>, clr: clr::Clr) -> Runs<'a> {
        Runs {
            common,
            files: AnalysedFiles::default(),
            findings: Vec::new(),
            covered: Vec::new(),
            stats: Stats::default(),
            delays: Vec::new(),
            processes: 0,
            places: Places::new(),
            clr,
        }
    }

    /// Adds what .NET processes left, after the last run.
    fn add_clr(&mut self) {
        self.findings.append(&mut self.clr.findings);
        self.processes += self.clr.processes;
        let stats = &self.clr.stats;
        self.stats.points += stats.points;
        self.stats.concurrent += stats.concurrent;
        self.stats.delays += stats.delays;
        self.stats.delayed += stats.delayed;
        self.stats.refused += stats.refused;
    }

    /// All points, native ones first.
    fn all_covered(&self) -> Vec<Covered> {
        self.covered.iter().chain(&self.clr.covered).copied().collect()
    }

    /// Takes in a finished run. `number`: which run, if there are several.
    fn end(&mut self, session: TsvdSession, number: Option<u32>) -> Result<()> {
        let (dir, files) = session.close();
        self.files = files;
        let before = self.clr.stats.delays;
        self.clr.read(dir.path(), number);
        let in_clr = self.clr.stats.delays - before;
        collect::await_children(dir.path());
        if !launch::is_quiet() {
            collect::say_who_is_left(&collect::read(dir.path())?);
        }
        let in_native = self.gather(dir.path(), number)?;
        self.delays.push((in_native + in_clr).to_string());
        Ok(())
    }

    /// What native processes have left in the folder of a session. How many delays they had.
    fn gather(&mut self, dir: &Path, number: Option<u32>) -> Result<u64> {
        let registry = self.common.registry.lock().expect("nobody panics with the registry");
        self.covered.resize(registry.sites.len(), Covered::default());
        let harvest = Harvest::read(dir, &mut self.covered);
        let processes = collect::read(dir).context("cannot read what the target left")?;
        if processes.iter().any(|p| p.fatal == Some(fatal::NO_ROOM)) {
            say!(
                "a process was not watched: the temporary folder has no room; set TMPDIR to a folder on a disk with more"
            );
        }
        let mut teller = findings::Teller {
            catalogue: &self.common.catalogue,
            registry: &registry,
            places: &mut self.places,
            run: number,
        };
        for process in &processes {
            self.findings.extend(teller.findings(process));
        }
        self.processes += processes.iter().filter(|p| p.instrumented).count();
        self.stats.points += harvest.stats.points;
        self.stats.concurrent += harvest.stats.concurrent;
        self.stats.delays += harvest.stats.delays;
        self.stats.delayed += harvest.stats.delayed;
        self.stats.refused += harvest.stats.refused;
        self.common.traps.lock().expect("nobody panics with the traps").learn(&registry, &harvest.pairs);
        Ok(harvest.stats.delays)
    }

    fn report(self, target: Vec<String>, runs: u32, policy: PaperVariant) -> Report {
        let mut report = Report::new("tsvd", target);
        let covered = self.all_covered();
        let count = |f: fn(&Covered) -> bool| covered.iter().filter(|c| f(c)).count() as u64;
        let mut put = |key: &str, value: u64| drop(report.stats.insert(key.into(), Stat::from(value)));
        put("runs", u64::from(runs));
        put("sites", covered.len() as u64);
        put("points", count(|c| c.hit));
        put("points_concurrent", count(|c| c.concurrent));
        put("calls", self.stats.points);
        put("calls_concurrent", self.stats.concurrent);
        put("delays", self.stats.delays);
        put("delays_refused", self.stats.refused);
        put("delay_ms", self.stats.delayed / 1_000_000);
        put("processes", self.processes as u64);
        let policy = raddle_tsvd::Policy::from(policy).name();
        report.stats.insert("policy".into(), Stat::from(policy));
        report.stats.insert("delays_by_run".into(), Stat::from(self.delays.join(",").as_str()));
        report.findings = self.findings;
        report
    }
}
