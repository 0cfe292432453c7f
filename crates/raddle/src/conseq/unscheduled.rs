//! Traced runs of a program that cannot be scheduled. It runs freely, and its events are ordered
//! afterwards (`raddle_rt::trace::plain`), as in the paper (section 7.2). The result is less
//! certain than a scheduled run, and suspects can only be tested with delays.
//!
//! There are no invariants, not even of globals, whose addresses are the same in each run. A
//! relation needs the other variable at the moment of the read, and the trace may have it some
//! instructions off. So a relation that always holds may look broken in training, and one that does
//! not may look kept. And delayed runs are not traced: a broken invariant could not be seen, and
//! each of its suspects would stay open.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use raddle_explore::{Outcome, Trace};
use raddle_wire::config::{Config, ConfigMode, flag};
use raddle_wire::trace::Recording;
use thiserror::Error;

use super::delays::failure;
use super::ordinary_runs::{self, OUTSIDE, Ordinary, ended};
use super::rust_locks::RustLocks;
use super::tester::KILLED;
use super::traced_runs::{LEAST_READING, Run, Runs, TracedOrders};
use raddle_harness::check::events::{self, Told};
use raddle_harness::collect::{self, Process};
use raddle_harness::crew::{CrewError, Notes};
use raddle_harness::program::is_rust;
use raddle_harness::target;
use raddle_harness::verdict::Usual;
use raddle_harness::watch::{Traced, Watch, Watched};
use raddle_harness::worker::Recipe;

/// Why nothing can be said about a program that runs freely.
#[derive(Debug, Error)]
pub enum UnscheduledError {
    #[error("`{0}` did not end in {1:.0} s when it ran by itself: there is no correct run to start from")]
    Endless(String, f64),
    #[error("stopped before `{0}` had come to the end of one traced run")]
    Stopped(String),
    #[error("`{0}` created no thread when it ran by itself: there is nothing to interleave")]
    NoThreads(String),
}

/// The room for one trace: about ten million events, which the driver must all read.
const ROOM: u64 = 128 << 20;
/// The most runs, however many are asked for: each has all accesses.
const MOST: u32 = 3;

/// Whether the error says that the program cannot be scheduled, so that running it freely is worth
/// trying.
pub fn is_refused(error: &anyhow::Error) -> bool {
    use CrewError::*;
    match error.downcast_ref() {
        Some(
            EndedEarly(..) | Killed(_) | NoThreadInTime(..) | TooManyThreads(..) | NoFsgsbase | Cannot(..),
        ) => true,
        Some(NoThreads(..) | NotInstrumented(_) | Stopped(_)) | None => false,
    }
}

/// One run, and what is known of the traced process.
struct Made {
    run: Run,
    ordinary: Ordinary,
    /// `None`: no process created a thread.
    process: Option<Process>,
    reading: f64,
}

/// Makes up to `n` traced runs before the deadline.
pub fn make(recipe: &Recipe, n: u32, deadline: Instant, notes: &Notes) -> Result<Runs> {
    let name = recipe.program.path.display().to_string();
    let (mut usual, mut runs, mut modules) = (Usual::default(), Vec::new(), Vec::new());
    let (mut reading, mut locks) = (0.0, None);
    for i in 0..n.min(MOST) {
        let left = deadline.saturating_duration_since(Instant::now());
        if runs.is_empty() && raddle_harness::interrupt::came() {
            return Err(UnscheduledError::Stopped(name).into());
        }
        if !runs.is_empty() && left.is_zero() || raddle_harness::interrupt::came() {
            break;
        }
        let mut made = one(recipe, left.max(Duration::from_secs(1)))?;
        let Some(status) = made.ordinary.status else {
            if runs.is_empty() && raddle_harness::interrupt::came() {
                return Err(UnscheduledError::Stopped(name).into());
            }
            if runs.is_empty() {
                return Err(UnscheduledError::Endless(name, made.ordinary.took.as_secs_f64()).into());
            }
            break;
        };
        if status.signal().is_some_and(|s| OUTSIDE.contains(&s)) {
            // It shows nothing, not even what is usual.
            notes.say(KILLED);
            continue;
        }
        let Some(process) = made.process else { return Err(UnscheduledError::NoThreads(name).into()) };
        if runs.is_empty() {
            usual.rust = is_rust(Path::new(&process.executable));
            modules = process.modules;
            locks = usual.rust.then(|| RustLocks::of(Path::new(&process.executable), &modules));
            usual.status = status.code().unwrap_or(0);
        }
        if let Some((kind, sentence)) = ended(&made.ordinary, &usual) {
            notes.say(&format!("{sentence} when `{name}` ran by itself, without delays"));
            made.run.trace.outcome = Outcome::Failed { what: 0 };
            made.run.failure = Some(failure(kind, sentence, u64::from(i)));
        }
        locks.iter().for_each(|l: &RustLocks| l.recognise(&mut made.run.events));
        reading += made.reading;
        runs.push(made.run);
    }
    if runs.is_empty() {
        return Err(UnscheduledError::Stopped(name).into());
    }
    let recipe = Recipe { watch: Watch::default(), ..recipe.clone() };
    Ok(Runs { runs, usual, modules, recipe, reading, scheduled: false, orders: TracedOrders::NonPreemptive })
}

fn one(recipe: &Recipe, limit: Duration) -> Result<Made> {
    // In hybrid mode, the signal of a condition variable is recorded, not only its mutex.
    let config = Config::new(ConfigMode::Hybrid, 2, flag::TRACED);
    let traced = Traced { mode: Recording::All, sites: Vec::new(), room: ROOM };
    let look = |folder: &Path, watched: Watched| {
        let begun = Instant::now();
        let (stream, lost) = watched.events();
        let until = begun + (limit / 4).max(LEAST_READING);
        let Told { events, whole, .. } = events::until(stream, &|| Instant::now() >= until);
        let (bytes, accesses) = watched.size();
        let pid = watched.process();
        let processes = collect::read(folder)?;
        if processes.iter().any(|p| p.fatal.is_some()) {
            target::complain(&recipe.program, &processes)?;
        }
        let process = processes.into_iter().find(|p| u64::from(p.pid) == pid);
        Ok((events, lost || !whole, bytes, accesses, process, begun.elapsed().as_secs_f64()))
    };
    let (ordinary, (events, cut_short, bytes, accesses, process, reading)) = ordinary_runs::run(
        recipe,
        &config,
        limit,
        &raddle_harness::interrupt::came,
        |f| traced.open(f),
        look,
    )?;
    let trace = Trace { steps: Vec::new(), wide: Vec::new(), outcome: Outcome::Passed, divergence: None };
    let printed = ordinary.printed.clone();
    let run = Run {
        events,
        printed,
        trace,
        failure: None,
        bytes,
        accesses,
        cut_short,
        lost: cut_short,
        endless: ordinary.status.is_none(),
        unread: false,
        has_forked: false,
    };
    Ok(Made { run, ordinary, process, reading })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_way_is_tried_where_the_scheduler_is_refused() {
        let name = || "./a".to_owned();
        assert!(is_refused(&CrewError::TooManyThreads(name(), 64).into()));
        assert!(is_refused(&CrewError::Cannot(name(), "shares memory".into()).into()));
        assert!(!is_refused(&CrewError::NoThreads(name(), 0).into()), "nothing can be interleaved");
        assert!(!is_refused(&CrewError::Stopped(name()).into()));
        assert!(!is_refused(&anyhow::anyhow!("a full disk")));
    }
}
