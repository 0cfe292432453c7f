//! The first runs: the program under the race detector, as `raddle run` does it (section 3.5 of the
//! paper).
//!
//! Both ends of each race become scheduling points: an access that nothing orders is where a switch
//! can make a difference, and the other accesses need none. Hybrid mode finds races that this very
//! run happened to order. The runs also tell how the program usually ends, and how many threads it
//! has.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_finding::{Finding, Kind, Report};

use super::scope::Scope;
use raddle_harness::collect::{self, Process};
use raddle_harness::detection::session::Session;
use raddle_harness::detection::{Mode, Options, explain};
use raddle_harness::processor_time;
use raddle_harness::program::is_rust;
use raddle_harness::relocated::libraries::{self, Libraries};
use raddle_harness::relocated::{Prepared, Probes};
use raddle_harness::verdict::Usual;
use raddle_harness::worker::{Recipe, apart, end};
use raddle_harness::{gaps, launch, target};

/// What the first runs have shown.
#[derive(Default)]
pub struct Seen {
    /// Program counters of racy accesses, sorted.
    pub points: Vec<u64>,
    pub threads: u32,
    pub usual: Usual,
    /// Data races, where the search does not look for them.
    pub races: Vec<Finding>,
    pub instrumented: bool,
    /// The program had to be ended: there may be more races than were found.
    pub cut_off: bool,
}

/// Runs the program under the detector, each time for at most `limit`.
pub fn see(recipe: &Recipe, scope: &Scope, with_races: bool, limit: Duration) -> Result<Seen> {
    let mut seen = Seen::default();
    let mut options = Options::new(Mode::Hybrid);
    let (processes, ending, _) = run(recipe, None, &options, limit)?;
    // One that was ended by a signal says nothing, just as one that had to be ended.
    let status = ending.status();
    target::complain(&recipe.program, &processes).or_else(|e| match e {
        // What can be seen without is explored; the caller says what cannot.
        target::TargetError::NothingInstrumented(_) | target::TargetError::NothingInstrumentedYet(_) => {
            Ok(())
        }
        other => Err(other),
    })?;
    seen.instrumented = processes.iter().any(|p| p.instrumented);
    seen.usual.status = status.unwrap_or(0);
    seen.cut_off = status.is_none();
    seen.usual.rust = is_rust(&recipe.program.path);
    for process in &processes {
        seen.threads = seen.threads.max(process.threads_seen as u32);
        seen.points.extend(points(process, scope));
    }
    seen.points.sort_unstable();
    seen.points.dedup();
    // Where there are more threads than have clocks, no execution of the search is looked at.
    if with_races && seen.threads as usize >= raddle_explore::clock::THREADS {
        options.mode = Mode::Hb;
        let (processes, ..) = run(recipe, None, &options, limit)?;
        let report = explain::report(&recipe.words, &processes, &options);
        seen.races = report.findings.into_iter().filter(|f| f.kind == Kind::DataRace).collect();
    }
    Ok(seen)
}

/// What one ordinary run under the detector has shown.
pub struct Watched {
    /// As `raddle run` would report it, not yet grouped.
    pub report: Report,
    pub instrumented: bool,
    pub ending: Ending,
    /// What of the project was not watched, if something was not.
    pub unseen: Vec<String>,
    /// Threads of the process that had most, its first one among them.
    pub threads: u64,
}

/// How an ordinary run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Status(i32),
    /// By this signal, which raddle did not send.
    Signal(i32),
    /// It had to be ended.
    CutOff,
}

impl Ending {
    fn status(self) -> Option<i32> {
        match self {
            Ending::Status(status) => Some(status),
            Ending::Signal(_) | Ending::CutOff => None,
        }
    }
}

/// Runs the program once under the detector, for at most `limit`, and with nothing of its output
/// shown. A program that is not instrumented executes the copy of its code, if one is given.
pub fn watch_once(recipe: &Recipe, copy: Option<&Prepared>, mode: Mode, limit: Duration) -> Result<Watched> {
    let options = Options::new(mode);
    let (processes, ending, libraries) = run(recipe, copy, &options, limit)?;
    let report = explain::report(&recipe.words, &processes, &options);
    let threads = processes.iter().map(|p| p.threads_seen).max().unwrap_or(0);
    let instrumented = processes.iter().any(|p| p.instrumented && !p.relocated);
    let watched = processes.iter().filter(|p| p.instrumented && !p.relocated);
    let unseen = gaps::say_own_without_probes(watched.flat_map(|p| &p.modules));
    let unseen = unseen.into_iter().chain(libraries).collect();
    Ok(Watched { report, instrumented, unseen, ending, threads })
}

/// How the program ends by itself, without raddle in it. For a failure that raddle could have
/// caused.
pub fn run_plain(recipe: &Recipe, limit: Duration) -> Result<Ending> {
    let mut command = Command::new(&recipe.program.path);
    command.arg0(&recipe.words[0]).args(&recipe.words[1..]);
    launch::surroundings().apply_all(&mut command);
    wait(recipe, command, limit)
}

fn run(
    recipe: &Recipe,
    copy: Option<&Prepared>,
    options: &Options,
    limit: Duration,
) -> Result<(Vec<Process>, Ending, Vec<String>)> {
    let libraries = if copy.is_some() { Libraries::Usual } else { Libraries::None };
    let session = Session::open_with(options, libraries, Probes::All)?;
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

/// Starts the command with nothing of its output shown, and waits for it: for at most `limit`, and
/// not for one that is stuck.
fn wait(recipe: &Recipe, mut command: Command, limit: Duration) -> Result<Ending> {
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
                Some(signal) => Ending::Signal(signal),
                None => Ending::Status(status.code().unwrap_or(0)),
            });
        }
        idle.look(child.id());
        if begun.elapsed() > limit || idle.is_long() || raddle_harness::interrupt::came() {
            end(&mut child);
            return Ok(Ending::CutOff);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// How long a process has used no processor: one that is deadlocked need not be waited for.
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

/// The processor time of a process and of its children that it has waited for, by the kernel's
/// clock. One that waits for a child of its own cannot be told from one that is stuck, so a
/// process with children counts as busy.
fn ticks(pid: u32) -> Option<u64> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    if !children.trim().is_empty() {
        return None;
    }
    Some(processor_time::ticks(pid))
}

/// Where a process has raced, as far as that is in scope.
fn points(process: &Process, scope: &Scope) -> Vec<u64> {
    let ends = process.races.iter().flat_map(|race| [race.now.stack, race.before.stack]);
    let found = ends.filter_map(|stack| process.stacks.get(&stack)?.pcs.first().copied());
    scope.filter(&process.modules, found.collect())
}
