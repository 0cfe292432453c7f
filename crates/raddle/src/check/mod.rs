//! `raddle check`: finds races and deadlocks in C and C# source, without building or running it.
//!
//! ```text
//! walk         finds the files below paths: folders, links, limits
//! database     compile_commands.json: where it is, and which entry belongs to a file
//! preprocess   a compiler that raddle chooses, with flags from a fixed list, under limits
//! includes     where the built-in preprocessor looks when there is no compiler for a file
//! deadline     the time limit of the whole check
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
mod deadline;
mod includes;
mod left_out;
mod load;
mod preprocess;
mod test_code;
mod walk;

pub use args::Args;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Result;
use raddle_check::{CheckOutcome, CheckPlan, CheckStats, CheckedProgram};
use raddle_finding::{Report, Stat};

use crate::report::args::ReportFormat;
use crate::report::{Settler, TextTo};
use deadline::{Deadline, ProgramCounts};
use left_out::LeftOut;

/// Checks the files and reports the findings.
pub fn run(args: Args) -> Result<ExitCode> {
    let settler = Settler::new(&args.report, TextTo::Stdout)?;
    let Checked { report, stats, left_out, suspects, programs } = check(&args)?;
    left_out.print();
    let nothing = nothing_checked(&left_out, &stats, &programs, args.seconds).filter(|_| !suspects);
    if let (Some(why), ReportFormat::Text) = (&nothing, args.report.format) {
        // Not "no findings": nothing was checked.
        anyhow::bail!("{why}");
    }
    let code = settler.settle(report, crate::exit::CLEAN)?;
    nothing.map_or(Ok(code), |why| Err(anyhow::anyhow!("{why}")))
}

/// Why nothing was checked, if nothing was.
fn nothing_checked(
    left_out: &LeftOut,
    stats: &CheckStats,
    programs: &ProgramCounts,
    seconds: f64,
) -> Option<String> {
    // Without an entry the cause may be raddle and not the source.
    if stats.entries == 0
        && let Some(why) = programs.left_by_failure().or_else(|| programs.left_by_time(seconds))
    {
        return Some(format!("nothing was checked: {why}"));
    }
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
    programs: ProgramCounts,
}

/// The same with nothing printed: suspicions from the source, for `hunt`.
pub fn report(args: &Args) -> Result<Report> {
    check(args).map(|checked| checked.report)
}

fn check(args: &Args) -> Result<Checked> {
    let deadline = Deadline::after(args.seconds);
    let mut left_out = LeftOut::default();
    let files = walk::files(&args.paths, &mut left_out)?;
    anyhow::ensure!(
        !files.is_empty() || left_out.files() > 0,
        "there is no C or C# file in {}",
        args.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
    );

    let databases = database::Databases::open(args.compile_commands.as_deref(), &mut left_out)?;
    let preprocessor = preprocess::CompilerPreprocessor::choose(args)?;
    let loaded = load::load(&files, args, databases, preprocessor.as_ref(), &deadline, &mut left_out);
    let (mut session, sources, read) = (loaded.session, loaded.sources, loaded.read);
    let plan = session.plan(&sources, None);
    let (parts, programs) = check_all(&plan, args.jobs(), &deadline, &mut left_out);
    if let Some(why) = programs.left_by_time(args.seconds) {
        left_out.note("raddle check", &why);
    }
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
    let report = told(args, &mut outcome, &left_out, &Done { read, programs, deadline });
    Ok(Checked { report, stats: outcome.stats, left_out, suspects, programs })
}

/// Checks the programs on several threads. The number of threads does not change the findings.
fn check_all(
    plan: &CheckPlan<'_>,
    jobs: usize,
    deadline: &Deadline,
    left_out: &mut LeftOut,
) -> (Vec<CheckedProgram>, ProgramCounts) {
    let mut parts = deadline.watch(|past| check_in_parallel(plan, jobs, past));
    parts.sort_by_key(|p| p.0);
    let mut counts = ProgramCounts { all: plan.len() as u64, ..ProgramCounts::default() };
    counts.not_begun = counts.all - parts.len() as u64;
    let mut out = Vec::new();
    for (i, part, was_past) in parts {
        match part {
            Ok(part) => {
                // It may have come to its end just then, which nobody knows.
                counts.cut_short += u64::from(was_past);
                out.push(part);
            }
            Err(_) => {
                counts.failed += 1;
                left_out.note(plan.name(i), "raddle itself failed on this program: please report it");
            }
        }
    }
    (out, counts)
}

/// The results of the programs that were begun, each with whether the flag was set at its end.
fn check_in_parallel(
    plan: &CheckPlan<'_>,
    jobs: usize,
    past: &AtomicBool,
) -> Vec<(usize, std::thread::Result<CheckedProgram>, bool)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= plan.len() || past.load(Ordering::Relaxed) {
                return done;
            }
            let checked = catch_unwind(AssertUnwindSafe(|| plan.check(i, Some(past))));
            done.push((i, checked, past.load(Ordering::Relaxed)));
        }
    };
    raddle_harness::threads::in_parallel(jobs.min(plan.len()), work).into_iter().flatten().collect()
}

fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

/// One sentence about what was checked and what was not.
fn looked_at(stats: &CheckStats, guesses: u64, programs: &ProgramCounts, seconds: f64) -> String {
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
        (
            counted(stats.entries_not_run, "entry", "entries"),
            match programs.cut_short {
                0 => "not run, for the step budget was used up",
                _ => "not run, for the budget of steps or time was used up",
            },
        ),
        (counted(stats.unparsed, "place", "places"), "that could not be parsed"),
    ] {
        if !count.starts_with("0 ") {
            text += &format!("; {count} {what}");
        }
    }
    for what in [programs.left_by_time(seconds), programs.left_by_failure()].into_iter().flatten() {
        text += &format!("; {what}");
    }
    match guesses {
        0 => {}
        1 => text += "; 1 suspicion rests on a guess: --all lists it",
        n => text += &format!("; {n} suspicions rest on guesses: --all lists them"),
    }
    text
}

/// How the files were read and the programs checked.
struct Done {
    read: load::FilesRead,
    programs: ProgramCounts,
    deadline: Deadline,
}

/// The outcome as a report.
fn told(args: &Args, outcome: &mut CheckOutcome, left_out: &LeftOut, done: &Done) -> Report {
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
        ("files_preprocessed", done.read.preprocessed),
        ("programs", done.programs.all),
        ("programs_failed", done.programs.failed),
        ("programs_not_checked", done.programs.not_begun),
        ("programs_cut_short", done.programs.cut_short),
        ("ignored", outcome.ignored.len() as u64),
        ("guesses", outcome.guesses.len() as u64),
        ("in_tests", report.findings.iter().filter(|f| test_code::is_in_tests(f)).count() as u64),
    ] {
        report.stats.insert(key.into(), Stat::from(value));
    }
    let looked_at = looked_at(&stats, outcome.guesses.len() as u64, &done.programs, args.seconds);
    report.stats.insert("looked_at".into(), Stat::Text(looked_at));
    report.stats.insert("seconds".into(), Stat::Float(done.deadline.elapsed().as_secs_f64()));
    if let Some(text) = left_out.summary() {
        report.stats.insert("left_out".into(), Stat::Text(text));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_raddle_is_not_blamed_on_the_source() {
        let stats = CheckStats { files: 2, functions: 9, ..CheckStats::default() };
        let why = |programs: ProgramCounts| nothing_checked(&LeftOut::default(), &stats, &programs, 60.0);
        let failed = ProgramCounts { all: 2, failed: 2, ..ProgramCounts::default() };
        assert_eq!(why(failed).unwrap(), "nothing was checked: raddle itself failed on 2 of 2 programs");
        let late = ProgramCounts { all: 2, not_begun: 2, ..ProgramCounts::default() };
        assert!(why(late).unwrap().contains("the time limit of 60 s (--seconds) has passed"));
        let none = ProgramCounts { all: 2, ..ProgramCounts::default() };
        assert!(why(none).unwrap().contains("of 9 functions none is main"));
    }

    #[test]
    fn a_failure_beside_other_programs_is_in_the_sentence() {
        let programs = ProgramCounts { all: 2, failed: 1, ..ProgramCounts::default() };
        let text = looked_at(&CheckStats::default(), 0, &programs, 60.0);
        assert!(text.ends_with("; raddle itself failed on 1 of 2 programs"), "{text}");
    }
}
