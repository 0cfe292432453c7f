//! `raddle hunt`: runs every detector, and reports only what is proven.
//!
//! The crate `raddle-hunt` has the design and decides what is suspected, confirmed and refuted.
//! This module drives the other commands for it.
//!
//! ```text
//! since      what has changed since a revision comes first
//! source     a source file is built first
//! cargo      the test programs of a crate or workspace
//! suite      the tests of a test program, or of CTest: each is hunted by itself
//! rounds     one look at each test, then the time goes where something is left to settle
//! summary    the results of all tests together
//! prey       one command: runs, searches, campaigns, in the order of their shares of the time
//! input      what the program finds on its standard input
//! doubt      what keeps a finding open that was seen twice
//! detectors  the other commands with the options that a hunt gives them
//! live       the line on a terminal
//! journal    what is written down at once, and the lines on the terminal
//! report     findings with their explanation, suspicions as counts
//! decisions  `raddle list`, `show`, `triage`, `merge`
//! diff       `raddle diff`
//! verify     `raddle verify`
//! build      `raddle build`
//! ```

pub mod args;
pub mod build;
mod cargo;
pub mod decisions;
mod detectors;
pub mod diff;
mod doubt;
mod input;
mod journal;
mod live;
mod prey;
mod report;
mod rounds;
mod since;
mod source;
mod suite;
mod summary;
pub mod verify;

pub use args::Args;

use std::cell::RefCell;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::report::{Settler, TextTo};
use journal::Journal;
use prey::Prey;
use rounds::Rounds;
use suite::Suite;
use summary::Summary;

pub fn run(args: Args) -> Result<ExitCode> {
    let begun = Instant::now();
    // Everything that can be wrong with the request is checked before the target runs.
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    std::fs::create_dir_all(&args.schedules_to)
        .with_context(|| format!("cannot make the folder {}", args.schedules_to.display()))?;
    input::feed(args.stdin.as_deref(), &args.schedules_to)?;
    raddle_harness::interrupt::watch();
    let changes = args.since.as_deref().map(since::Changes::since).transpose()?;
    let listing = Instant::now();
    let (suite, building) = suite(&args)?;
    // To list the tests, or to run a command to see what it starts, is part of the hunt; a build is
    // not.
    let spent = listing.elapsed().saturating_sub(building);
    let ignored = suite.ignored_in_words();
    if let (true, Some(ignored)) = (suite.preys.is_empty(), &ignored) {
        anyhow::bail!("there is nothing to hunt: {ignored}");
    }
    let preys = suite::part(suite.preys, args.shard);
    let (preys, concerned) = match &changes {
        Some(changes) => changes.first(preys),
        None => (preys, 0),
    };
    let journal = RefCell::new(Journal::open(&args));
    let mut summary = Summary::default();
    if let (Some(changes), Some(revision)) = (&changes, &args.since) {
        summary.coverage.push(changes.in_words(revision, concerned, preys.len()));
    }
    if args.cargo {
        let here = std::env::current_dir().unwrap_or_default();
        summary.coverage.extend(cargo::says_of_nextest(&here));
    }
    summary.coverage.extend(ignored);
    let deadline = Instant::now() + args.limit().saturating_sub(spent);
    let rounds =
        Rounds { args: &args, preys: &preys, concerned, changes: changes.as_ref(), journal: &journal };
    rounds.hunt(deadline, &mut summary)?;
    let otherwise = summary.status_without_findings();
    let report = summary.report(&args, &preys, &journal.borrow(), begun.elapsed());
    // The live line disappears before the report is printed.
    drop(journal);
    settler.settle(report, otherwise)
}

fn name(prey: &Prey) -> String {
    prey.name
        .clone()
        .unwrap_or_else(|| prey.words.first().map_or(String::new(), |w| w.to_string_lossy().into()))
}

/// What is to be hunted, and how long it took to build it.
fn suite(args: &Args) -> Result<(Suite, Duration)> {
    let begun = Instant::now();
    let mut building = Duration::ZERO;
    let listed = if let Some(folder) = &args.ctest {
        suite::of_ctest(folder)?
    } else if let Some(folder) = &args.meson {
        suite::of_meson(folder)?
    } else if args.cargo {
        let programs = cargo::test_programs(&args.command)?;
        building = begun.elapsed();
        let tests = suite::split(args, programs);
        anyhow::ensure!(!tests.is_empty(), "none of the test programs that cargo built has a test");
        return Ok((tests, building));
    } else if source::is_source(&args.command) {
        let built = source::build(&args.command)?;
        building = begun.elapsed();
        vec![built]
    } else {
        let whole = Prey { words: args.command.clone(), ..Prey::default() };
        if let Some(started) = suite::started_by(args, &whole)? {
            return Ok((started, building));
        }
        vec![whole]
    };
    Ok((suite::split(args, listed), building))
}
