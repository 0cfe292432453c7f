//! `raddle verify`: is a finding fixed in the current build of the program?
//!
//! It replays the finding's schedule. If that does not reach the failure, it searches the space
//! around it: threads are switched only in the functions of the finding. It never claims more than
//! that the finding was not reproduced; only a search of all schedules rules a failure out.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_finding::Stat;
use raddle_hunt::target::same_cause;
use raddle_hunt::{Detector, Goal, Target};
use raddle_store::KnownFinding;

use super::{decisions, detectors};
use crate::exit;
use crate::explore::ongoing::Ongoing;
use crate::explore::{self};
use crate::replay::control::Experiment;
use raddle_harness::crew::Notes;
use raddle_harness::detection::DetectorMode;
use raddle_harness::install::Runtime;
use raddle_harness::launch::{self, Surroundings};
use raddle_harness::say::{count, say};
use raddle_harness::schedule::{Head, Schedule};
use raddle_harness::target;

/// Check whether a finding still occurs in the current build
///
/// Replays its schedule, and searches around it if the failure does not come back. Raddle then says
/// in how many schedules it did not come back, and never that it is fixed.
///
/// Exit status: 0 when it was not reproduced, 66 when it was, 2 when raddle could not do its job.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// Id of the finding, or the beginning of its id
    pub id: String,

    /// How long to search, in seconds
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub seconds: u32,
}

pub fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let record = decisions::find(&args.id)?;
    std::env::set_current_dir(&record.folder)
        .with_context(|| format!("the folder {} is gone", record.folder.display()))?;
    raddle_harness::interrupt::watch();
    let limit = Duration::from_secs(u64::from(args.seconds));
    let is_reached = replays(&record, Instant::now() + limit)?;
    // A replay has surroundings of its own.
    if let Some(head) = head_of(&record) {
        head.input.into_iter().for_each(|input| launch::feed(input.into()));
        let environment = head.environment.into_iter().collect();
        launch::surround(Surroundings { folder: Some(head.folder.into()), environment, unset: head.unset });
    }
    if is_reached {
        say!("{} is still there: its schedule leads to it", record.finding.key());
        return Ok(ExitCode::from(exit::FINDINGS));
    }
    if record.schedule.is_none() && is_seen_in_runs(&record, limit / 2)? {
        say!("{} is still there: an ordinary run shows it", record.finding.key());
        return Ok(ExitCode::from(exit::FINDINGS));
    }
    let (is_there, schedules, whole) = search(&record, limit)?;
    let tried = count(schedules, "schedule", "schedules");
    if is_there {
        say!("{} is still there: found again in {tried} near its schedule", record.finding.key());
        return Ok(ExitCode::from(exit::FINDINGS));
    }
    match whole {
        true => {
            say!("{} was not reproduced in any of the {tried} that the program has", record.finding.key())
        }
        false => say!("{} was not reproduced in {tried} near it", record.finding.key()),
    }
    Ok(ExitCode::from(exit::CLEAN))
}

/// What the stored schedule says of where it was run.
fn head_of(record: &KnownFinding) -> Option<Head> {
    let text = std::str::from_utf8(record.schedule.as_deref()?).ok()?;
    Some(Schedule::parse("the stored schedule", text).ok()?.head)
}

/// Whether the stored schedule leads to the failure, as far as there is time to see it.
fn replays(record: &KnownFinding, end: Instant) -> Result<bool> {
    let Some(schedule) = &record.schedule else { return Ok(false) };
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let file = folder.path().join("stored.raddle");
    std::fs::write(&file, schedule).with_context(|| format!("cannot write {}", file.display()))?;
    // A schedule that cannot be executed leads to nothing; the search says what is wrong.
    Ok(Experiment::open(&file, end).is_ok_and(|experiment| experiment.fails()))
}

/// Whether one of a few ordinary runs shows a finding that has no schedule: such runs had found it.
fn is_seen_in_runs(record: &KnownFinding, limit: Duration) -> Result<bool> {
    const RUNS: u32 = 3;
    let words: Vec<OsString> = record.target.iter().map(OsString::from).collect();
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let args = detectors::hunt(folder.path());
    let options = detectors::explore(&args, &words, &[], args.seed);
    let recipe = explore::recipe(&options, target::find(&words)?, Runtime::open()?);
    for _ in 0..RUNS {
        let watched = explore::watch_once(&recipe, None, DetectorMode::Hb, limit / RUNS)?;
        if watched.report.findings.iter().any(|f| same_cause(f, &record.finding)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Searches near the finding first, then at large with what is left: whether it was found, in how
/// many schedules, and whether these were all.
fn search(record: &KnownFinding, limit: Duration) -> Result<(bool, u64, bool)> {
    let words: Vec<OsString> = record.target.iter().map(OsString::from).collect();
    let program = target::find(&words)?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let args = detectors::hunt(folder.path());
    let target = Target::new(Detector::Explore, record.finding.clone());
    let near: Vec<String> = target.functions().iter().map(|f| format!("fun:{f}")).collect();
    let notes = Notes::quiet();
    let mut schedules = 0;
    for (only, share) in [(near, limit / 2), (Vec::new(), limit / 2)] {
        let begun = Instant::now();
        let options = detectors::explore(&args, &words, &only, args.seed);
        let recipe = explore::recipe(&options, program.clone(), Runtime::open()?);
        let mut search = Ongoing::begin(options, recipe, None, share, &notes)?;
        let before = schedules;
        while !search.is_finished() && !raddle_harness::interrupt::came() && begun.elapsed() < share {
            let (next, report) = search.turn(share.saturating_sub(begun.elapsed()), begun + limit)?;
            search = next;
            let Some(Stat::Int(n)) = report.stats.get("schedules") else { continue };
            schedules = before + *n as u64;
            if report.findings.iter().any(|f| same_cause(f, &record.finding)) {
                return Ok((true, schedules, false));
            }
            if report.stats.get("exhausted") == Some(&Stat::Bool(true)) {
                // An execution keeps only a limited number of races and drops the others.
                let has_left_out = report.stats.get("races_left_out") == Some(&Stat::Bool(true));
                return Ok((false, *n as u64, !(has_left_out && target.goal() == Goal::Race)));
            }
        }
    }
    Ok((false, schedules, false))
}
