//! `raddle conseq`: start from what could go wrong, and work back to the interleaving.
//!
//! After ConSeq (Zhang et al., ASPLOS 2011). The crate `raddle-conseq` has the analyses, the
//! runtime traces, and `explore` schedules. This module connects them.
//!
//! ```text
//! suite          the programs that a command starts, or the tests of a test program
//! campaign       one program, from its traced runs to the report
//! traced_runs    a few correct executions, with values
//! analysis       what the runs show: invariants and suspects
//! custom_names   names of the program's own reporting functions
//! result_cache   the results of the static analysis, kept between runs
//! static_server  the same for the threads of one command
//! listing        sites and reads of a file, without a run
//! machine_code   a program that was not built with raddle executes a copy of its code
//! certainty      whether a consequence is certainly wrong
//! rust_locks     atomics that implement locks
//! rust_scopes    the order that scopes of threads imply
//! rust_channels  the order in which the two sides of a channel let go of it
//! sites          which values at which reads lead to which error site
//! stacks         the call stacks of the accesses in question
//! tester         forces each suspect with the scheduler
//! completeness   whether a search has executed every interleaving
//! delays         tests suspects by delays, without a scheduler
//! unscheduled    traced runs without a scheduler
//! ordinary_runs  runs without a scheduler, for these two
//! findings       the report
//! suspect_list   what was neither shown nor ruled out, on request
//! coverage       what was examined, in numbers and in words
//! ```

mod analysis;
pub mod args;
mod campaign;
mod certainty;
mod completeness;
mod coverage;
mod custom_names;
mod delays;
mod findings;
mod listing;
mod machine_code;
mod ordinary_runs;
mod result_cache;
mod rust_channels;
mod rust_locks;
mod rust_scopes;
mod sites;
mod stacks;
mod static_server;
pub mod suite;
mod suspect_list;
mod tester;
mod traced_runs;
mod unscheduled;

pub use args::Args;
pub use suspect_list::{EXPLAINED, RULED_OUT};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_conseq::Options;
use raddle_finding::{Report, Stat};
use raddle_wire::explore::flag;

use crate::report::{Settler, TextTo};
use campaign::CampaignDeadlines;
use raddle_harness::cases::is_one_of_libtest;
use raddle_harness::crew::Notes;
use raddle_harness::install::Runtime;
use raddle_harness::relocated;
use raddle_harness::say::say;
use raddle_harness::target;
use raddle_harness::watch::Watch;
use raddle_harness::worker::Recipe;
use static_server::StaticServer;

/// How many threads there is room for at first.
const DONORS: u32 = 8;

pub fn run(args: Args) -> Result<ExitCode> {
    // Everything that can be wrong with the request is checked before the target runs.
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    let program = target::find(&args.command)?;
    let options = options(&args)?;
    if args.sites_only {
        return list(&program.path, &options);
    }
    let notes = Notes::default();
    if has_input() {
        notes.say("what is on standard input is not passed on, and the program finds it empty: give it a file by name");
    }
    let mut report = investigate(&args, program, &options, None, &notes)?;
    report.coverage.extend(coverage::sentences(&report.stats, args.suspects || args.no_test));
    let interrupted = raddle_harness::interrupt::came();
    report.stats.insert("interrupted".into(), Stat::Bool(interrupted));
    if interrupted {
        report.coverage.push("interrupted: what is said here is of what was done until then".into());
    }
    let left_out = matches!(report.stats.get(LEFT_OUT), Some(Stat::Int(n)) if *n > 0);
    settler.settle(report, if interrupted || left_out { crate::exit::FAILURE } else { crate::exit::CLEAN })
}

/// The same for `hunt`, with nothing printed. No execution continues after `end_at`, whatever is
/// left to do.
pub fn report(args: &Args, end_at: Instant, notes: &Notes) -> Result<Report> {
    investigate(args, target::find(&args.command)?, &options(args)?, Some(end_at), notes)
}

/// Whether the static half of the program is known by then, from the cache or because it was
/// computed. If not, a thread goes on with it, so that a later call may find it done. If there are
/// too many such threads, it is begun when one of them has ended.
pub fn is_analysed_by(args: &Args, until: Instant) -> bool {
    // What is wrong with these is said by `report`.
    let (Ok(program), Ok(options)) = (target::find(&args.command), options(args)) else { return true };
    let path = program.path;
    let analyse = move |path: &Path| drop(result_cache::analysis(path, &options));
    ANALYSES.is_done_by(&path, &analyse, until)
}

/// Whether the static half of the program was begun by [`is_analysed_by`]. If not, it waits for its
/// turn.
pub fn has_begun_to_analyse(args: &Args) -> bool {
    target::find(&args.command).is_ok_and(|program| ANALYSES.has_begun(&program.path))
}

static ANALYSES: Analyses = Analyses(Mutex::new(BTreeMap::new()));

/// Threads that analyse programs, one for each program.
struct Analyses(Mutex<BTreeMap<PathBuf, JoinHandle<()>>>);

impl Analyses {
    /// How many may go on at once. An analysis cannot be ended, so a hunt of many large programs
    /// would leave ever more of them behind, which take the processor from it.
    const MOST: usize = 2;
    const PAUSE: Duration = Duration::from_millis(5);

    fn is_done_by(
        &self,
        path: &Path,
        analyse: &(impl Fn(&Path) + Clone + Send + 'static),
        until: Instant,
    ) -> bool {
        loop {
            match self.is_done(path, analyse) {
                Some(is_done) if is_done => return true,
                // It cannot be begun; the caller computes it.
                None => return true,
                _ if Instant::now() >= until || raddle_harness::interrupt::came() => return false,
                _ => std::thread::sleep(Self::PAUSE),
            }
        }
    }

    fn has_begun(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).contains_key(path)
    }

    /// Whether the analysis of a program has ended. It is begun if there is room for it. `None`: no
    /// thread can be started.
    fn is_done(&self, path: &Path, analyse: &(impl Fn(&Path) + Clone + Send + 'static)) -> Option<bool> {
        let mut all = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(thread) = all.get(path) {
            return Some(thread.is_finished());
        }
        if all.values().filter(|thread| !thread.is_finished()).count() < Self::MOST {
            let (analyse, of) = (analyse.clone(), path.to_owned());
            all.insert(path.to_owned(), std::thread::Builder::new().spawn(move || analyse(&of)).ok()?);
        }
        Some(false)
    }
}

/// Finds what could go wrong in a command, and makes it happen.
fn investigate(
    args: &Args,
    program: target::TargetProgram,
    options: &Options,
    end_at: Option<Instant>,
    notes: &Notes,
) -> Result<Report> {
    let runtime = Runtime::open()?;
    let halves = StaticServer::start(options.clone()).context("cannot start a thread")?;
    let folder = &args.schedules_to;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    raddle_harness::interrupt::watch();
    let mut instrumented = program.has_runtime;
    let mut recipe = Recipe { end_at, ..recipe(args, program, runtime) };
    if !instrumented && let Some(copied) = machine_code::prepare(args, &recipe, notes)? {
        (recipe, instrumented) = (copied, true);
    }
    // A libtest test selected by arguments is treated like one from the program's list.
    if args.command.len() > 1 && is_one_of_libtest(&recipe, &args.command[1..]) {
        recipe.flags |= flag::LIBTEST;
    }
    if !instrumented {
        suite::run(args, &halves, &recipe, notes)
    } else if let Some(tests) = suite::tests_of(args, &recipe, notes) {
        suite::each(args, &halves, &recipe, tests, (Instant::now(), None), notes)
    } else {
        campaign::run_alone(args, &halves, &recipe, CampaignDeadlines::new(args.seconds), notes)
    }
}

/// Key of `stats`: programs that the command started and that could not be examined.
pub const LEFT_OUT: &str = "programs_left_out";

/// Whether a file is redirected to raddle's own standard input.
fn has_input() -> bool {
    let stat = rustix::fs::fstat(std::io::stdin());
    stat.is_ok_and(|s| rustix::fs::FileType::from_raw_mode(s.st_mode).is_file() && s.st_size > 0)
}

/// Prints what is known without a run.
fn list(path: &Path, options: &Options) -> Result<ExitCode> {
    let (text, limits) = listing::of_file(path, options)?;
    raddle_harness::say::print(&text);
    limits.iter().for_each(|note| say!("{}", listing::sentence(note, path)));
    Ok(ExitCode::from(crate::exit::CLEAN))
}

fn options(args: &Args) -> Result<Options> {
    let custom = custom_names::names(&std::env::current_dir().unwrap_or_default())?;
    Ok(Options { kinds: args.sites.clone(), max_distance: args.max_distance, custom, ..Options::default() })
}

/// The error for a program that cannot be traced.
fn not_instrumented(program: &target::TargetProgram, options: &Options) -> anyhow::Error {
    let name = program.path.display();
    let why = match relocated::is_left_alone(program) {
        true => "can start other programs",
        false => "starts no threads",
    };
    match result_cache::analysis(&program.path, options) {
        Ok(analysis) => anyhow::anyhow!(
            "`{name}` is not instrumented and {why}, so its machine code is not copied: it has {}, which --sites-only lists, and a \
             traced run needs `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`",
            raddle_harness::say::count(analysis.sites.len() as u64, "error site", "error sites")
        ),
        Err(error) => anyhow::anyhow!("{error}, and nothing of it can be traced"),
    }
}

fn recipe(args: &Args, program: target::TargetProgram, runtime: Runtime) -> Recipe {
    Recipe {
        program,
        words: args.command.clone(),
        runtime,
        folder: None,
        environment: Vec::new(),
        flags: flag::SPURIOUS,
        donors: DONORS,
        slots: 1,
        max_steps: args.max_steps,
        points: Vec::new(),
        patience: Duration::from_secs_f64(args.patience),
        quiet: Vec::new(),
        lazy: false,
        watch: Watch::default(),
        copy: None,
        end_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    /// What it waits for is done once, and whoever asks again finds it.
    #[test]
    fn the_static_half_is_waited_for() {
        let line = ["raddle", "conseq", "--", "/bin/true"];
        let crate::cli::Command::Conseq(args) = crate::cli::Cli::try_parse_from(line).unwrap().command else {
            panic!("not conseq")
        };
        assert!(is_analysed_by(&args, Instant::now() + Duration::from_secs(600)));
        assert!(is_analysed_by(&args, Instant::now()), "it is known by now");
    }

    #[test]
    fn few_programs_are_analysed_at_once() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
        let analyses = Analyses(Mutex::default());
        let (may_end, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (waits_for, counts) = (Arc::clone(&may_end), Arc::clone(&begun));
        let analyse = move |_: &Path| {
            counts.fetch_add(1, SeqCst);
            while !waits_for.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let names = ["a", "b", "c"].map(Path::new);
        for name in names {
            assert!(!analyses.is_done_by(name, &analyse, Instant::now()));
        }
        assert_eq!(names.map(|name| analyses.has_begun(name)), [true, true, false]);
        may_end.store(true, SeqCst);
        for name in names {
            assert!(analyses.is_done_by(name, &analyse, Instant::now() + Duration::from_secs(600)));
        }
        assert_eq!(begun.load(SeqCst), names.len(), "each is analysed once");
        assert!(analyses.has_begun(names[2]));
    }
}
