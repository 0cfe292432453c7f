//! `raddle check`: finds races and deadlocks in C and C# source, without building or running it.
//!
//! ```text
//! walk         finds the files below paths: folders, links, limits
//! database     compile_commands.json: where it is, and which entry belongs to a file
//! preprocess   a compiler that raddle chooses, with flags from a fixed list, under limits
//! includes     where the built-in preprocessor looks when there is no compiler for a file
//! load         reads, preprocesses and lowers each file, on several threads
//! test_code    recognises findings in tests
//! left_out     a sentence for each file that was not checked
//! ```
//!
//! The crate `raddle-check` does the checking; it opens no files and starts no threads. Everything
//! from the project is data: none of it is executed, and each file gets a bounded share of time and
//! memory.

pub mod args;
mod database;
mod includes;
mod left_out;
mod load;
mod preprocess;
mod test_code;
mod walk;

pub use args::Args;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;
use raddle_check::{CheckOutcome, CheckPlan, CheckStats, CheckedProgram};
use raddle_finding::{Report, Stat};

use crate::report::args::ReportFormat;
use crate::report::{Settler, TextTo};
use left_out::LeftOut;

/// Checks the files and reports the findings.
pub fn run(args: Args) -> Result<ExitCode> {
    let settler = Settler::new(&args.report, TextTo::Stdout)?;
    let Checked { report, stats, left_out, suspects } = check(&args)?;
    left_out.print();
    let nothing = nothing_checked(&left_out, &stats).filter(|_| !suspects);
    if let (Some(why), ReportFormat::Text) = (&nothing, args.report.format) {
        // Not "no findings": nothing was checked.
        anyhow::bail!("{why}");
    }
    let code = settler.settle(report, crate::exit::CLEAN)?;
    nothing.map_or(Ok(code), |why| Err(anyhow::anyhow!("{why}")))
}

/// Why nothing was checked, if nothing was.
fn nothing_checked(left_out: &LeftOut, stats: &CheckStats) -> Option<String> {
    if left_out.files() > 0 && stats.files == stats.files_left_out {
        return Some("nothing was checked: every file was left out".into());
    }
    if stats.entries > 0 && stats.functions > 0 && stats.functions_reached == 0 {
        return Some(format!(
            "nothing was checked: of {} none could be followed",
            counted(stats.functions, "function", "functions")
        ));
    }
    (stats.entries == 0).then(|| {
        format!(
            "nothing was checked: of {} none is main, a test, or starts a thread, a timer or a signal handler",
            counted(stats.functions, "function", "functions")
        )
    })
}

/// The results of checking.
struct Checked {
    report: Report,
    stats: CheckStats,
    left_out: LeftOut,
    /// Whether anything was suspected, be it ignored or not listed. Some of it needs no run.
    suspects: bool,
}

/// The same with nothing printed: suspicions from the source, for `hunt`.
pub fn report(args: &Args) -> Result<Report> {
    check(args).map(|checked| checked.report)
}

fn check(args: &Args) -> Result<Checked> {
    let begun = Instant::now();
    let mut left_out = LeftOut::default();
    let files = walk::files(&args.paths, &mut left_out)?;
    anyhow::ensure!(
        !files.is_empty() || left_out.files() > 0,
        "there is no C or C# file in {}",
        args.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
    );

    let databases = database::Databases::open(args.compile_commands.as_deref(), &mut left_out)?;
    let preprocessor = preprocess::CompilerPreprocessor::choose(args)?;
    let loaded = load::load(&files, args, databases, preprocessor.as_ref(), &mut left_out);
    let (mut session, sources, read) = (loaded.session, loaded.sources, loaded.read);
    let plan = session.plan(&sources, None);
    let parts = check_all(&plan, args.jobs(), &mut left_out);
    let mut outcome = plan.finish(parts);
    let suspects = !(outcome.findings.is_empty() && outcome.guesses.is_empty() && outcome.ignored.is_empty());
    if args.all {
        outcome.list_guesses();
    }
    includes::apply_ignores(&mut outcome);
    if args.no_tests {
        outcome.findings.retain(|f| !test_code::is_in_tests(f));
        outcome.guesses.retain(|f| !test_code::is_in_tests(f));
    }
    left_out.take(&mut outcome);
    left_out.unparsed(&outcome);
    let report = told(args, &mut outcome, &left_out, &read, begun);
    Ok(Checked { report, stats: outcome.stats, left_out, suspects })
}

/// Checks the programs on several threads. The number of threads does not change the findings.
fn check_all(plan: &CheckPlan<'_>, jobs: usize, left_out: &mut LeftOut) -> Vec<CheckedProgram> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= plan.len() {
                return done;
            }
            done.push((i, catch_unwind(AssertUnwindSafe(|| plan.check(i, None)))));
        }
    };
    let mut parts: Vec<_> =
        raddle_harness::threads::in_parallel(jobs.min(plan.len()), work).into_iter().flatten().collect();
    parts.sort_by_key(|p| p.0);
    let mut out = Vec::new();
    for (i, part) in parts {
        match part {
            Ok(part) => out.push(part),
            Err(_) => left_out.note(plan.name(i), "raddle itself failed on this program: please report it"),
        }
    }
    out
}

fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

/// One sentence about what was checked and what was not.
fn looked_at(stats: &CheckStats, guesses: u64) -> String {
    let mut text = format!(
        "{} of {}, {} of {}, {}, {} of {}",
        stats.files - stats.files_left_out,
        counted(stats.files, "file", "files"),
        stats.functions_reached,
        counted(stats.functions, "function", "functions"),
        counted(stats.entries, "entry", "entries"),
        stats.thread_starts_reached,
        counted(stats.thread_starts, "thread start", "thread starts")
    );
    for (count, what) in [
        (counted(stats.entries_cut_short, "entry", "entries"), "cut short by the step budget"),
        (
            counted(stats.entries_out_of_room, "entry", "entries"),
            "cut short by the bound on memory and threads",
        ),
        (counted(stats.entries_not_run, "entry", "entries"), "not run, for the step budget was used up"),
        (counted(stats.unparsed, "place", "places"), "that could not be parsed"),
    ] {
        if !count.starts_with("0 ") {
            text += &format!("; {count} {what}");
        }
    }
    match guesses {
        0 => {}
        1 => text += "; 1 suspicion rests on a guess: --all lists it",
        n => text += &format!("; {n} suspicions rest on guesses: --all lists them"),
    }
    text
}

/// The outcome as a report.
fn told(
    args: &Args,
    outcome: &mut CheckOutcome,
    left_out: &LeftOut,
    read: &load::FilesRead,
    begun: Instant,
) -> Report {
    let target = args.paths.iter().map(|p| p.display().to_string()).collect();
    let mut report = Report::new("check", target);
    report.findings = std::mem::take(&mut outcome.findings);
    outcome.stats.files += left_out.before_reading();
    outcome.stats.files_left_out += left_out.before_reading();
    let stats = outcome.stats;
    for (key, value) in [
        ("steps", stats.steps),
        ("runs", stats.runs),
        ("entries", stats.entries),
        ("entries_cut_short", stats.entries_cut_short),
        ("entries_out_of_room", stats.entries_out_of_room),
        ("entries_not_run", stats.entries_not_run),
        ("functions", stats.functions),
        ("functions_reached", stats.functions_reached),
        ("thread_starts", stats.thread_starts),
        ("thread_starts_reached", stats.thread_starts_reached),
        ("unparsed", stats.unparsed),
        ("files", stats.files),
        ("files_left_out", stats.files_left_out),
        ("files_preprocessed", read.preprocessed),
        ("ignored", outcome.ignored.len() as u64),
        ("guesses", outcome.guesses.len() as u64),
        ("in_tests", report.findings.iter().filter(|f| test_code::is_in_tests(f)).count() as u64),
    ] {
        report.stats.insert(key.into(), Stat::from(value));
    }
    report.stats.insert("looked_at".into(), Stat::Text(looked_at(&stats, outcome.guesses.len() as u64)));
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    if let Some(text) = left_out.summary() {
        report.stats.insert("left_out".into(), Stat::Text(text));
    }
    report
}
