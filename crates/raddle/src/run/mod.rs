//! `raddle run`: watches a program, and every instrumented process it starts, for data races and
//! lock-order cycles.
//!
//! `raddle_harness::detection` runs it and reads its logs. [`crate::report`] handles the findings,
//! as for every command.

pub mod args;
mod tsan_options;

pub use args::{Args, DetectorOptions};

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use raddle_finding::Stat;

use crate::report::{Settler, TextTo};
use raddle_harness::detection::explain;
use raddle_harness::detection::session::{DetectionSession, Served};
use raddle_harness::relocated::libraries::Libraries;
use raddle_harness::say::{count, say};
use raddle_harness::{collect, gaps, launch, relocated, target};

/// Runs the target and reports the findings.
pub fn run(args: Args) -> Result<ExitCode> {
    let begun = Instant::now();
    let tsan_options = std::env::var("TSAN_OPTIONS").ok();
    let options = tsan_options::merge(args.options, tsan_options.as_deref());
    // Everything that can be wrong with the request is checked before the target runs.
    let mut settler = Settler::new(&options.report, TextTo::Stderr)?;
    let program = target::find(&args.command)?;
    let runtime = raddle_harness::install::Runtime::open()?;
    let detection = options.detection();
    let copy = match options.instrument {
        args::Instrument::No => None,
        args::Instrument::Auto => relocated::prepare(&program, false, options.probes())?,
        _ => relocated::prepare(&program, true, options.probes())?,
    };
    let libraries = options.instrument.libraries();
    // Exceptions find their way through copies by functions of the shared runtime.
    let has_runtime = program.has_runtime && matches!(libraries, Libraries::None | Libraries::Usual);
    let launched = target::TargetProgram { has_runtime, ..program.clone() };
    let session = DetectionSession::open_with(&detection, libraries, options.probes())?;
    if let Some(copy) = &copy {
        say!("{} is not instrumented: {}", program.path.display(), relocated::coverage(copy.counts));
        session.relocate(copy)?;
    }

    let status = launch::run(&launched, &args.command, &runtime, &session)?;
    let served = session.close();
    collect::await_children(served.dir());
    let processes = collect::read(served.dir())?;
    let mut report = explain::report(&args.command, &processes, &detection);
    if let Err(trouble) = target::complain(&program, &processes) {
        // Findings of other processes are still reported.
        if report.findings.is_empty() {
            // A build that failed, or a program that was killed, has its own reason.
            let why = match status.code() {
                0 => String::new(),
                code => format!("; the command ended with status {code}"),
            };
            anyhow::bail!("{trouble}{why}");
        }
        say!("{trouble}");
    }
    let unwanted = tsan_options::Unwanted::new(&processes, tsan_options.as_deref());
    report.findings.retain(|f| unwanted.is_wanted(f));
    if unwanted.nothing_is_wanted() {
        say!("no finding is reported: the program, or TSAN_OPTIONS, says report_bugs=0");
    }
    for process in processes.iter().filter(|p| !p.default_suppressions.is_empty()) {
        let name = format!("__tsan_default_suppressions of {}", process.executable);
        if let Err(trouble) = settler.suppress_also(&name, &process.default_suppressions) {
            say!("{trouble}");
        }
    }
    let left = say_what_is_not_seen(&served, &processes, copy.is_some());

    for (name, share) in copy.iter().flat_map(relocated::share) {
        report.stats.insert(name.into(), Stat::from(share));
    }
    let libraries = relocated::libraries::shares(&served.answered.libraries, &processes);
    if !libraries.is_empty() {
        report.stats.insert("libraries_watched".into(), Stat::Text(libraries));
    }
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    report.stats.insert("processes_left".into(), Stat::Int(left as i64));
    report.stats.insert("target_status".into(), Stat::Int(status.code() as i64));
    report.stats.insert("interrupted".into(), Stat::Bool(launch::interrupted_by().is_some()));
    // The same status as without raddle. No status is above 255.
    settler.settle(report, status.code() as u8)
}

/// Reports what was not watched but a reader would think was. Returns the number of processes left.
fn say_what_is_not_seen(served: &Served, processes: &[collect::Process], is_copy: bool) -> usize {
    if let Some(signal) = launch::interrupted_by() {
        say!("interrupted by {signal}: this is what was seen until then");
    }
    let left = collect::say_who_is_left(processes);
    let seen = &served.answered.libraries;
    relocated::libraries::sentences(seen, processes).iter().for_each(|sentence| say!("{sentence}"));
    let mut blind = served.answered.unreadable.clone();
    blind.extend(processes.iter().filter(|p| p.without_plan).map(|p| p.executable.clone()));
    for executable in blind {
        say!(
            "{executable} could not be read in time, or at all: `--ignore` has no effect on its code, and its locks of Rust's standard library count as atomics"
        );
    }
    // Of a copied program its libraries were told above.
    let watched = processes.iter().filter(|p| p.instrumented && !(p.relocated && is_copy));
    let modules = watched.flat_map(|p| &p.modules).filter(|m| !seen.contains_key(&m.path));
    if let Some(sentence) = gaps::say_own_without_probes(modules) {
        say!("{sentence}");
    }
    let lost: u64 = processes.iter().map(|p| p.lost).sum();
    if lost > 0 {
        say!(
            "{} found no room in a log: there may be more to find; set TMPDIR to a folder on a disk with more room",
            count(lost, "record", "records")
        );
    }
    left
}
