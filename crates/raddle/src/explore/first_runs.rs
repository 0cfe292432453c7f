//! The first runs: the program under the race detector, as in `raddle run` (section 3.5 of the
//! paper).
//!
//! Both ends of each race become scheduling points. A switch can make a difference at an unordered
//! access; the other accesses need no points. Hybrid mode also finds races that this run happened
//! to order. The runs also show how the program usually ends and how many threads it has.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_finding::{Finding, Kind, Report};

use super::scope::Scope;
use super::visits::Suspected;
use raddle_harness::collect::{self, Process};
use raddle_harness::detection::session::DetectionSession;
use raddle_harness::detection::{DetectionOptions, DetectorMode, explain};
use raddle_harness::processor_time;
use raddle_harness::program::is_rust;
use raddle_harness::relocated::libraries::{self, Libraries};
use raddle_harness::relocated::{self, Prepared, Probes};
use raddle_harness::verdict::Usual;
use raddle_harness::worker::{Recipe, apart, end};
use raddle_harness::{gaps, launch, target};

/// What the first runs showed.
#[derive(Default)]
pub struct FirstRuns {
    /// Program counters of racy accesses, sorted.
    pub points: Vec<u64>,
    pub threads: u32,
    pub usual: Usual,
    /// Data races, if the search does not look for them.
    pub races: Vec<Finding>,
    pub instrumented: bool,
    /// The program was killed, so it may have more races than were found.
    pub cut_off: bool,
    /// It ended with a status other than 0, or by a signal.
    pub failed: bool,
}

/// Runs the program under the detector, each time for at most `limit`.
pub fn see(recipe: &Recipe, scope: &Scope, with_races: bool, limit: Duration) -> Result<FirstRuns> {
    let mut options = DetectionOptions::new(DetectorMode::Hybrid);
    let copy = match recipe.copy.is_some() {
        true => relocated::prepare(&recipe.program, true, Probes::All)?,
        false => None,
    };
    let copy = copy.as_ref().map(|copy| (copy, Libraries::None));
    let (processes, ending, _) = run(recipe, copy.clone(), &options, limit)?;
    target::complain(&recipe.program, &processes).or_else(|e| match e {
        // Whatever can be seen is explored anyway; the caller reports the rest.
        target::TargetError::NothingInstrumented(_) | target::TargetError::NothingInstrumentedYet(_) => {
            Ok(())
        }
        other => Err(other),
    })?;
    let mut seen = FirstRun { processes, ending }.seen(recipe, scope);
    // With more threads than clocks, and in machine code, the search does not check executions for
    // races.
    if with_races && (copy.is_some() || seen.threads as usize >= raddle_explore::clock::THREADS) {
        options.mode = DetectorMode::Hb;
        let (processes, ..) = run(recipe, copy, &options, limit)?;
        let report = explain::report(&recipe.words, &processes, &options);
        seen.races = report.findings.into_iter().filter(|f| f.kind == Kind::DataRace).collect();
    }
    Ok(seen)
}

/// A run in hybrid mode, from which searches can begin.
pub struct FirstRun {
    processes: Vec<Process>,
    ending: RunEnding,
}

impl FirstRun {
    /// Whether [`see`] would make just this run: it ended by itself, and a search can check its
    /// executions for races.
    fn serves(&self, program: &target::TargetProgram) -> bool {
        let threads = self.processes.iter().map(|p| p.threads_seen).max().unwrap_or(0);
        let is_few = (threads as usize) < raddle_explore::clock::THREADS;
        self.ending.status().is_some() && is_few && target::complain(program, &self.processes).is_ok()
    }

    pub fn seen(&self, recipe: &Recipe, scope: &Scope) -> FirstRuns {
        let mut seen = FirstRuns::default();
        // A run that a signal ended says nothing, like one that was killed.
        let status = self.ending.status();
        seen.instrumented = self.processes.iter().any(|p| p.instrumented);
        seen.usual.status = status.unwrap_or(0);
        seen.cut_off = status.is_none();
        seen.failed = !matches!(self.ending, RunEnding::Status(0) | RunEnding::CutOff);
        seen.usual.rust = is_rust(&recipe.program.path);
        for process in &self.processes {
            seen.threads = seen.threads.max(process.threads_seen as u32);
            seen.points.extend(points(process, scope));
        }
        seen.points.sort_unstable();
        seen.points.dedup();
        seen
    }
}

/// What one ordinary run under the detector showed.
pub struct WatchedRun {
    /// The report of `raddle run`, not yet grouped.
    pub report: Report,
    pub instrumented: bool,
    pub ending: RunEnding,
    /// A sentence about the project's files that were not watched, if there are any.
    pub unseen: Vec<String>,
    /// The number of threads of the process that had most, including its first thread.
    pub threads: u64,
    /// The places of what it suspects.
    pub suspected: Suspected,
    /// The run itself, if a search can begin from it.
    pub first: Option<FirstRun>,
}

/// How an ordinary run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnding {
    Status(i32),
    /// A signal that raddle did not send.
    Signal(i32),
    /// It was killed because its time was up or it was stuck.
    CutOff,
}

impl RunEnding {
    fn status(self) -> Option<i32> {
        match self {
            RunEnding::Status(status) => Some(status),
            RunEnding::Signal(_) | RunEnding::CutOff => None,
        }
    }
}

/// Runs the program once under the detector, for at most `limit`, without showing its output. An
/// uninstrumented program executes the copy of its code, if one is given.
pub fn watch_once(
    recipe: &Recipe,
    copy: Option<&Prepared>,
    mode: DetectorMode,
    limit: Duration,
) -> Result<WatchedRun> {
    let options = DetectionOptions::new(mode);
    let with = copy.map(|copy| (copy, Libraries::Usual));
    let (processes, ending, libraries) = run(recipe, with, &options, limit)?;
    let report = explain::report(&recipe.words, &processes, &options);
    let threads = processes.iter().map(|p| p.threads_seen).max().unwrap_or(0);
    let instrumented = processes.iter().any(|p| p.instrumented && !p.relocated);
    let watched = processes.iter().filter(|p| p.instrumented && !p.relocated);
    let unseen = gaps::say_own_without_probes(watched.flat_map(|p| &p.modules));
    let unseen = unseen.into_iter().chain(libraries).collect();
    let suspected = Suspected::of(&processes);
    let is_first = copy.is_none() && mode == DetectorMode::Hybrid;
    let first = FirstRun { processes, ending };
    let first = (is_first && first.serves(&recipe.program)).then_some(first);
    Ok(WatchedRun { report, instrumented, unseen, ending, threads, suspected, first })
}

/// How the program ends without raddle in its process. For failures that raddle could have caused.
pub fn run_plain(recipe: &Recipe, limit: Duration) -> Result<RunEnding> {
    let mut command = Command::new(&recipe.program.path);
    command.arg0(&recipe.words[0]).args(&recipe.words[1..]);
    launch::surroundings().apply_all(&mut command);
    wait(recipe, command, limit)
}

fn run(
    recipe: &Recipe,
    copy: Option<(&Prepared, Libraries)>,
    options: &DetectionOptions,
    limit: Duration,
) -> Result<(Vec<Process>, RunEnding, Vec<String>)> {
    let (copy, libraries) = copy.unzip();
    let session = DetectionSession::open_with(options, libraries.unwrap_or_default(), Probes::All)?;
    if let Some(copy) = copy {
        session.relocate(copy)?;
    }
    let command = launch::command(&recipe.program, &recipe.words, &recipe.runtime, session.dir());
    let ending = wait(recipe, command, limit)?;
    let served = session.close();
    let processes = collect::read(served.dir())?;
    let libraries = libraries::sentences(&served.answered.libraries, &processes);
    Ok((processes, ending, libraries))
}

/// Starts the command without showing its output, and waits for it: at most `limit`, and less if it
/// is stuck.
fn wait(recipe: &Recipe, mut command: Command, limit: Duration) -> Result<RunEnding> {
    command.stdin(launch::input()).stdout(Stdio::null()).stderr(Stdio::null());
    apart(&mut command);
    let mut child =
        command.spawn().with_context(|| format!("cannot start {}", recipe.program.path.display()))?;
    let begun = Instant::now();
    let mut idle = Idle::new();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the target")? {
            return Ok(match status.signal() {
                Some(signal) => RunEnding::Signal(signal),
                None => RunEnding::Status(status.code().unwrap_or(0)),
            });
        }
        idle.look(child.id());
        if begun.elapsed() > limit || idle.is_long() || raddle_harness::interrupt::came() {
            end(&mut child);
            return Ok(RunEnding::CutOff);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// How long a process has used no processor time: a deadlocked process need not be waited for.
struct Idle {
    used: u64,
    since: Instant,
}

impl Idle {
    const LONG: Duration = Duration::from_secs(2);

    fn new() -> Idle {
        Idle { used: 0, since: Instant::now() }
    }

    fn look(&mut self, pid: u32) {
        let used = ticks(pid).unwrap_or(self.used + 1);
        if used != self.used {
            *self = Idle { used, since: Instant::now() };
        }
    }

    fn is_long(&self) -> bool {
        self.since.elapsed() > Self::LONG
    }
}

/// The processor time of a process and of the children that it has waited for, in kernel ticks. A
/// process that waits for its child looks stuck, so a process with children counts as busy.
fn ticks(pid: u32) -> Option<u64> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    if !children.trim().is_empty() {
        return None;
    }
    Some(processor_time::ticks(pid))
}

/// Where a process has raced, within the scope.
fn points(process: &Process, scope: &Scope) -> Vec<u64> {
    let ends = process.races.iter().flat_map(|race| [race.now.stack, race.before.stack]);
    let found = ends.filter_map(|stack| process.stacks.get(&stack)?.pcs.first().copied());
    scope.filter(&process.modules, found.collect())
}
