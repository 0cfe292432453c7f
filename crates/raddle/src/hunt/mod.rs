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
mod since;
mod source;
mod suite;
pub mod verify;

pub use args::Args;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_finding::subject::{self, Command};
use raddle_finding::{Report, Stat};
use raddle_hunt::target::same_cause;
use raddle_hunt::{Counts, Verdict, plan};
use raddle_store::Standing;

use crate::report::{Settler, TextTo};
use journal::Journal;
use prey::{Hunter, Outcome, Prey};
use raddle_harness::say::count;

/// The least time for one of several tests.
const LEAST: Duration = Duration::from_secs(3);

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
    let (preys, building) = preys(&args)?;
    // To list the tests, or to run a command to see what it starts, is part of the hunt; a build is
    // not.
    let spent = listing.elapsed().saturating_sub(building);
    let preys = suite::part(preys, args.shard);
    let (preys, concerned) = match &changes {
        Some(changes) => changes.first(preys),
        None => (preys, 0),
    };
    let mut journal = Journal::open(&args);
    let mut all = All::default();
    if let (Some(changes), Some(revision)) = (&changes, &args.since) {
        all.coverage.push(changes.in_words(revision, concerned, preys.len()));
    }
    let deadline = Instant::now() + args.limit().saturating_sub(spent);
    for (i, prey) in preys.iter().enumerate() {
        if prey.is_fallback && all.has_hunted_each() {
            all.not_needed += 1;
            continue;
        }
        if raddle_harness::interrupt::came() || Instant::now() >= deadline {
            all.not_reached.push(prey.name.clone().unwrap_or_default());
            continue;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        // Less time settles nothing: better to hunt the first tests well than all of them badly.
        let limit = plan::turn(left, preys.len() - i).max(LEAST).min(left);
        journal.begin(prey, i + 1, preys.len(), deadline);
        let hunted = Hunter::new(&args, prey, limit, &mut journal, changes.as_ref()).and_then(Hunter::hunt);
        match hunted {
            Ok(outcome) => all.add(prey, outcome, &args, &journal.command(prey)),
            // One test that cannot be hunted must not keep the others from being hunted.
            Err(error) if preys.len() > 1 => all.failed.push(format!("{}: {error:#}", name(prey))),
            Err(error) => return Err(error),
        }
    }
    anyhow::ensure!(all.hunted > 0 || all.failed.is_empty(), "nothing was hunted: {}", all.failed.join("; "));
    let otherwise = all.status_without_findings();
    let report = all.report(&args, &preys, &journal, begun.elapsed());
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
fn preys(args: &Args) -> Result<(Vec<Prey>, Duration)> {
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

/// The results of everything that was hunted.
#[derive(Default)]
struct All {
    /// What was confirmed anywhere, one entry per cause.
    findings: Vec<raddle_finding::Finding>,
    suspects: Vec<raddle_finding::Finding>,
    counts: Counts,
    coverage: Vec<String>,
    /// Sentences, each with the tests to which it applies.
    said: Vec<(String, Vec<String>)>,
    schedules: u64,
    hunted: u64,
    exhausted: u64,
    without_threads: Vec<String>,
    hung: Vec<String>,
    failed: Vec<String>,
    not_reached: Vec<String>,
    /// The number of commands all of whose programs were hunted by themselves.
    not_needed: usize,
}

impl All {
    /// Whether everything so far was hunted to its end.
    fn has_hunted_each(&self) -> bool {
        self.hunted > 0
            && self.hung.is_empty()
            && self.failed.is_empty()
            && self.not_reached.is_empty()
            && !raddle_harness::interrupt::came()
    }

    fn add(&mut self, prey: &Prey, outcome: Outcome, args: &Args, command: &Command) {
        self.hunted += 1;
        self.exhausted += u64::from(outcome.exhausted);
        self.schedules += outcome.schedules;
        if outcome.alone {
            self.without_threads.push(name(prey));
        }
        if outcome.hung {
            self.hung.push(name(prey));
        }
        report::add(&mut self.counts, outcome.ledger.counts());
        for confirmed in outcome.ledger.confirmed() {
            let mut finding = report::finding(confirmed, &outcome.ledger, command);
            // Another test may have shown the same cause.
            if !self.findings.iter().any(|f| same_cause(f, &finding) && subject::overlap(f, &finding)) {
                if let Some(name) = &prey.name {
                    finding.notes.insert(0, format!("in the test `{name}`"));
                }
                self.findings.push(finding);
            }
        }
        for sentence in outcome.coverage {
            match self.said.iter_mut().find(|(said, _)| *said == sentence) {
                Some((_, of)) => of.extend(prey.name.clone()),
                None => self.said.push((sentence, prey.name.iter().cloned().collect())),
            }
        }
        if args.suspects {
            let targets = outcome.ledger.targets().iter();
            let settled = targets.filter(|t| !matches!(t.verdict, Verdict::Confirmed { .. }));
            self.suspects.extend(settled.map(report::suspect));
        }
    }

    /// The exit status if nothing is confirmed. An interrupted hunt, or one in which nothing ended,
    /// has not shown that there is nothing to find.
    fn status_without_findings(&self) -> u8 {
        let nothing_ended = self.hung.len() as u64 == self.hunted;
        match raddle_harness::interrupt::came() || nothing_ended {
            true => crate::exit::FAILURE,
            false => crate::exit::CLEAN,
        }
    }

    fn report(self, args: &Args, preys: &[Prey], journal: &Journal, took: Duration) -> Report {
        let words = if args.command.is_empty() { Vec::new() } else { args.command.clone() };
        let target = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        let mut report = Report::new("hunt", target);
        let (mut accepted, mut regressions) = (0u64, 0u64);
        for mut finding in self.findings {
            match journal.standing(&finding.key()) {
                Standing::Accepted => {
                    accepted += 1;
                    continue;
                }
                Standing::Regression => {
                    regressions += 1;
                    finding
                        .notes
                        .insert(0, "a regression: it was said to be fixed (`raddle show` says when)".into());
                }
                Standing::New | Standing::Known => {}
            }
            report.findings.push(finding);
        }
        report.suspects = self.suspects;
        report::put_counts(&mut report, &self.counts);
        for (key, n) in [
            ("schedules", self.schedules),
            ("hunted", self.hunted),
            ("exhausted", self.exhausted),
            ("without_threads", self.without_threads.len() as u64),
            ("hung", self.hung.len() as u64),
            ("could_not", self.failed.len() as u64),
            ("not_reached", self.not_reached.len() as u64),
            ("accepted", accepted),
            ("regressions", regressions),
            ("seed", args.seed),
        ] {
            report.stats.insert(key.into(), Stat::from(n));
        }
        report.stats.insert("seconds".into(), Stat::Float(took.as_secs_f64()));
        report.stats.insert("interrupted".into(), Stat::Bool(raddle_harness::interrupt::came()));
        report.coverage = self.coverage;
        let told = |(sentence, of): &(String, Vec<String>)| match of[..] {
            [] => sentence.clone(),
            _ => format!("{}: {sentence}", report::names(of)),
        };
        report.coverage.extend(self.said.iter().map(told));
        if preys.len() > 1 {
            report.coverage.push(format!(
                "{}: {} hunted, {} with nothing to interleave, {} not reached in the time",
                count((preys.len() - self.not_needed) as u64, "test", "tests"),
                self.hunted - self.without_threads.len() as u64,
                self.without_threads.len(),
                self.not_reached.len()
            ));
        } else if !self.without_threads.is_empty() || !self.hung.is_empty() {
            // This has been said already.
        } else if self.exhausted > 0 {
            report.coverage.push(format!(
                "all {} that the program has under sequential consistency were executed",
                count(self.schedules, "schedule", "schedules")
            ));
        } else {
            report
                .coverage
                .push(format!("{} executed", count(self.schedules, "schedule was", "schedules were")));
        }
        if let [name] = &self.hung[..] {
            report.coverage.push(format!(
                "`{name}` came to its end in no run, so nothing is known of it: give it more time, or a command that \
                 ends by itself"
            ));
        } else if !self.hung.is_empty() {
            report.coverage.push(format!(
                "{} came to their end in no run, so nothing is known of them ({}): give them more time, or commands that end by themselves",
                count(self.hung.len() as u64, "test", "tests"),
                report::names(&self.hung)
            ));
        }
        if raddle_harness::interrupt::came() {
            report.coverage.push("interrupted: what is said here is of what was done until then".into());
        }
        report.coverage.extend(self.failed.iter().map(|why| format!("not hunted: {why}")));
        if accepted > 0 {
            let what = count(accepted, "confirmed finding is", "confirmed findings are");
            report.coverage.push(format!("{what} left out, as `raddle triage` accepted them"));
        }
        let hint = match self.counts.open > 0 && !args.suspects {
            true => " (`--suspects` lists them)",
            false => "",
        };
        report.coverage.push(format!("{}{hint}", report::counts(&self.counts)));
        report
    }
}
