//! `raddle explore`: search the interleavings of a program for one that fails.
//!
//! After CHESS (*Finding and reproducing Heisenbugs in concurrent programs*, OSDI 2008). The crate
//! `raddle-explore` searches, the runtime controls the threads, and `raddle-harness` runs targets.
//! This module connects them.
//!
//! ```text
//! cases            the tests of a test program, each explored by itself
//! machine_code     a program that was not built with raddle executes a copy of its code
//! first_runs       under the race detector: racy accesses become scheduling points
//! raced_variables  the other accesses to the same variables
//! search           one strategy, several workers
//! scope            where `--only` and `--skip` let a thread be preempted
//! progress         the line on the terminal
//! outcome          files to replay, the state to resume from, the report
//! coverage         whether what was searched is all there is
//! shrink           the same failure, smaller
//! resume           an interrupted search
//! ongoing          a search that hands out each failure at once and goes on, for `hunt`
//! visits           which places on which objects the executions of a search come to
//! ```

pub mod args;
pub mod cases;
mod coverage;
mod first_runs;
pub mod machine_code;
pub mod ongoing;
mod outcome;
mod progress;
mod raced_variables;
mod resume;
mod scope;
mod search;
mod shrink;
mod visits;

pub use args::Args;
pub use first_runs::{FirstRun, RunEnding, WatchedRun, run_plain, watch_once};
pub use progress::hide as hide_progress;
pub use visits::{Suspected, Visited};

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_explore::Limits;
use raddle_finding::{Report, Stat};
use raddle_wire::explore::flag;

use crate::report::args::ReportFormat;
use crate::report::{Settler, TextTo};
use cases::Covered;
use coverage::Fresh;
use first_runs::FirstRuns;
use outcome::Results;
use raddle_harness::crew::Notes;
use raddle_harness::gaps::gap;
use raddle_harness::install::Runtime;
use raddle_harness::program::{build_id, is_rust};
use raddle_harness::say::say;
use raddle_harness::schedule_files::program_name;
use raddle_harness::target;
use raddle_harness::watch::Watch;
use raddle_harness::worker::OS_THREADS;
use raddle_harness::worker::Recipe;
use raddle_harness::{interrupt, point_code, rust_sites};
use resume::Saved;
use scope::{Scope, Scoped};
use search::{Search, SearchClock, Searcher};

/// How many orders a worker has at once.
const SLOTS: u32 = 32;
/// The default step limit of an execution, and how far it is raised if no execution ends.
const MAX_STEPS: u32 = 20_000;
const MORE_STEPS: u32 = 10;
const MOST_STEPS: u32 = 2_000_000;
/// Bounds on the memory of a search: a few hundred megabytes.
const LIMITS: Limits = Limits { bound: u32::MAX, states: 1 << 22, items: 1 << 21, prune: true };

/// Searches and reports the findings.
pub fn run(args: Args) -> Result<ExitCode> {
    // Everything that can be wrong with the request is checked before the target runs.
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    scope::check(&args.search)?;
    let program = (!args.cargo).then(|| target::find(&args.command)).transpose()?;
    let runtime = Runtime::open()?;
    let folder = &args.search.schedules_to;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let notes = Notes::default();
    let (report, covered) = match program {
        Some(program) => explore_program(&args, recipe(&args, program, runtime), &notes)?,
        None => {
            let tests = cases::of_cargo(&args, &runtime)?;
            interrupt::watch();
            let (report, covered) = cases::explore_each(&args, tests, &notes)?;
            (report, Some(covered))
        }
    };
    // A program without threads has one schedule, which says nothing about interleavings.
    let threads = report.stats.get("threads_max").cloned();
    if report.findings.is_empty() {
        match &covered {
            None => anyhow::ensure!(
                threads != Some(Stat::from(0u64)),
                "nothing was explored: no thread was created"
            ),
            Some(covered) => {
                anyhow::ensure!(!covered.is_nothing(), "nothing was explored: {}", covered.in_words())
            }
        }
    }
    let status = settler.settle(report, crate::exit::CLEAN)?;
    if let Some(covered) = covered.filter(|_| args.report.format == ReportFormat::Text) {
        say!("{}", covered.in_words());
    }
    Ok(status)
}

/// Explores the program that the command line names: test by test, if it is a test program.
fn explore_program(args: &Args, recipe: Recipe, notes: &Notes) -> Result<(Report, Option<Covered>)> {
    let recipe = machine_code::prepare(recipe, &args.search, notes)?;
    interrupt::watch();
    if let Some(tests) = cases::of(args, &recipe) {
        let (report, covered) = cases::explore_each(args, tests, notes)?;
        return Ok((report, Some(covered)));
    }
    let flags = recipe.flags | cases::flags(args, &recipe);
    Ok((explore(args, Recipe { flags, ..recipe }, args.search.limit(), notes)?, None))
}

/// One search of what `recipe` starts, in at most `seconds`.
fn explore(args: &Args, mut recipe: Recipe, seconds: f64, notes: &Notes) -> Result<Report> {
    let begun = Instant::now();
    let build_id = build_id(&recipe.program.path);
    // If loads can read older values, the choice among them needs the operation as a step.
    if is_rust(&recipe.program.path) && args.search.memory == args::MemoryModel::Sc && recipe.copy.is_none() {
        recipe.quiet = rust_sites::of(&recipe.program.path);
    }
    let resume_file = resume::path(&args.search.schedules_to, &program_name(&recipe));
    let saved = match args.search.resume {
        true => Some(Saved::read(&resume_file, &build_id)?),
        false => None,
    };
    let limit = Duration::from_secs_f64(seconds.min(1e9));
    let mut clock = SearchClock::new(limit);
    let (seen, mut search) = prepare(args, &mut recipe, saved, None, &clock)?;
    // However slow the first runs were, the search gets half of the time.
    clock.leave(limit / 2);
    clock.give_up_late_executions(limit);
    let (recipe, search) = loop {
        search.may_allow_more = args.search.max_steps.is_none() && recipe.max_steps < MOST_STEPS;
        let shared = Mutex::new(search);
        recipe = watched(&shared, &recipe, args.search.jobs as usize, notes, &clock)?;
        search = shared.into_inner().unwrap_or_else(|e| e.into_inner());
        let leftovers = search.has_leftovers(&recipe, notes);
        if clock.is_over() {
            break (recipe, search);
        }
        if search.needs_more_steps() {
            recipe.max_steps *= MORE_STEPS;
            recipe.slots = (recipe.slots / MORE_STEPS).max(2);
        } else if leftovers {
            notes.say(
                "a failure did not come back in a new process, so earlier schedules had left something behind that their memory does not \
                 undo: the search begins again, with a process for each schedule",
            );
            recipe.flags |= flag::FORK | flag::FORK_AT_START;
        } else {
            break (recipe, search);
        }
        let lasting = search.lasting_gaps();
        search = new_search(args, &recipe, &seen)?;
        search.gaps = lasting;
    };
    let name = recipe.program.path.display().to_string();
    if let Some(why) = nothing_ended(name, &search, &recipe, seconds) {
        anyhow::ensure!(
            !interrupt::came(),
            "interrupted before a schedule came to its end: nothing was explored"
        );
        return Err(why.into());
    }
    if recipe.flags & flag::PLAIN != 0 {
        notes.say(&format!(
            "`{}` is not instrumented: its calls that synchronise, wait, allocate and free were explored; its accesses to memory and its \
             atomic operations were not seen, so no race and no use after free is found, and a loop that spins on one of them lets nobody else in. \
             Build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`",
            recipe.program.path.display()
        ));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let mut results =
        Results { recipe, search, build_id, notes, seconds, shrink: outcome::SHRINK, end: None };
    // The state of one test must not be taken for that of the whole program.
    if results.recipe.words == args.command {
        results.keep_for_later(&resume_file, args.search.resume)?;
    }
    results.report(args, seen.races)
}

/// Why a search has no result.
#[derive(Debug, thiserror::Error, PartialEq)]
enum NothingEnded {
    #[error("no schedule of `{0}` came to its end in {1} s: give it more time with --seconds")]
    NoTime(String, f64),
    #[error(
        "no schedule of `{0}` came to its end in {1} s: a thread computes for all that time between two scheduling points, where none can be \
         preempted; give it more time with --seconds, or let the test compute less"
    )]
    Slow(String, f64),
    #[error(
        "no schedule of `{0}` came to its end within {1} steps, and its threads were still at work: allow more with --max-steps, or let the \
         test go round less often"
    )]
    Long(String, u32),
    #[error(
        "no schedule of `{0}` came to its end: it waits for a signal or a client from outside, and nobody is there; explore a test that sends \
         the signal itself (`raise`, `kill(getpid(), …)`), or that has the client in it"
    )]
    Awaits(String),
}

/// Returns the error if no execution ended and none failed: then nothing is known of the program.
fn nothing_ended(name: String, search: &Search, recipe: &Recipe, seconds: f64) -> Option<NothingEnded> {
    if search.ended > 0 || search.alone || search.has_failures() {
        return None;
    }
    let seconds = (seconds * 10.0).round() / 10.0;
    Some(if search.awaiting > 0 || search.sees_waiting {
        NothingEnded::Awaits(name)
    } else if search.cut_off > 0 {
        NothingEnded::Long(name, recipe.max_steps)
    } else if search.slow > 0 {
        NothingEnded::Slow(name, seconds)
    } else {
        NothingEnded::NoTime(name, seconds)
    })
}

/// How the workers of a search are started.
pub fn recipe(args: &Args, program: target::TargetProgram, runtime: Runtime) -> Recipe {
    let chosen = [
        (args.search.fork, flag::FORK),
        (args.search.os_threads, OS_THREADS),
        (!args.search.no_spurious, flag::SPURIOUS),
        (args.search.sleep_is_not_yield, flag::SLEEP_IS_NOT_YIELD),
        (args.search.memory == args::MemoryModel::C11, flag::C11),
        (args.search.races, flag::RACES),
        (args.search.leaks, flag::LEAKS),
        (args.search.same_output, flag::OUTPUT),
        (args.search.spins, flag::SPINS),
        (true, flag::HIDDEN),
        (true, flag::STATES),
    ];
    Recipe {
        program,
        words: args.command.clone(),
        runtime,
        folder: None,
        environment: Vec::new(),
        flags: chosen.iter().filter(|(on, _)| *on).fold(0, |f, (_, bit)| f | bit),
        donors: 4,
        slots: SLOTS,
        max_steps: args.search.max_steps.unwrap_or(MAX_STEPS),
        points: Vec::new(),
        quiet: Vec::new(),
        lazy: false,
        patience: Duration::from_secs_f64(args.search.patience),
        watch: Watch::default(),
        copy: None,
        end_at: None,
    }
}

/// The first runs and a fresh search, or the state of an interrupted search. `first`: a run that
/// was made already.
fn prepare(
    args: &Args,
    recipe: &mut Recipe,
    saved: Option<Saved>,
    first: Option<&FirstRun>,
    clock: &SearchClock,
) -> Result<(FirstRuns, Search)> {
    let options = &args.search;
    let scope = Scope::new(&options.only, &options.skip);
    if let Some(saved) = saved {
        recipe.points = saved.points;
        recipe.donors = saved.donors;
        recipe.flags |= saved.flags;
        let mut search = Search::new(saved.strategy, saved.usual, options.schedules, options.keep_going);
        (search.most, search.schedules, search.ended) = (saved.most, saved.schedules, saved.schedules);
        (search.round, search.gaps, search.called) = (saved.round, saved.gaps, saved.called);
        search.points = point_code::unmarked(&recipe.points).into();
        search.fresh = Some(fresh(search.strategy.name(), options));
        search.scoped = (!scope.is_all()).then(|| Scoped::new(scope));
        search.is_machine_code = recipe.copy.is_some();
        return Ok((FirstRuns::default(), search));
    }
    let limit = Duration::from_secs_f64((options.limit() / 3.0).clamp(2.0, 10.0));
    let seen = match first {
        Some(first) => first.seen(recipe, &scope),
        None => first_runs::see(recipe, &scope, options.races, limit)?,
    };
    if !recipe.program.has_runtime && !seen.instrumented && recipe.copy.is_none() {
        recipe.flags |= flag::PLAIN;
    }
    recipe.points.clone_from(&seen.points);
    recipe.donors = recipe.donors.max(seen.threads).min(raddle_explore::MAX_THREADS as u32 - 1);
    let mut search = new_search(args, recipe, &seen)?;
    if !seen.points.is_empty() || seen.cut_off {
        let end = recipe.end_at;
        recipe.end_at = Some(end.map_or(clock.halfway(), |end| end.min(clock.halfway())));
        raced_variables::complete(recipe, &scope, options.seed, &mut search, &|| clock.is_over());
        recipe.end_at = end;
    }
    search.points = point_code::unmarked(&recipe.points).into();
    Ok((seen, search))
}

/// A search that has executed nothing yet.
fn new_search(args: &Args, recipe: &Recipe, seen: &FirstRuns) -> Result<Search> {
    let options = &args.search;
    let scope = Scope::new(&options.only, &options.skip);
    let name =
        if scope.is_all() || options.strategy != "portfolio" { &options.strategy } else { "preemption" };
    let strategy = Searcher::by_name(name, options.seed, limits(options)).context("no such strategy")?;
    let name = strategy.name();
    let mut search = Search::new(strategy, seen.usual, options.schedules, options.keep_going);
    search.scoped = (!scope.is_all()).then(|| Scoped::new(scope));
    search.points = point_code::unmarked(&recipe.points).into();
    search.fresh = Some(fresh(name, options));
    search.is_machine_code = recipe.copy.is_some();
    search.gaps |= if seen.failed { gap::FIRST_RUN } else { 0 };
    Ok(search)
}

fn limits(options: &args::SearchArgs) -> Limits {
    Limits { bound: options.bound.unwrap_or(u32::MAX), ..LIMITS }
}

fn fresh(name: &'static str, options: &args::SearchArgs) -> Fresh {
    Fresh { name, seed: options.seed, limits: limits(options) }
}

/// Searches, with a progress line on the terminal.
fn watched(
    search: &Mutex<Search>,
    recipe: &Recipe,
    jobs: usize,
    notes: &Notes,
    clock: &SearchClock,
) -> Result<Recipe> {
    let (end, ended) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        // A search without the line is better than none.
        let _ =
            std::thread::Builder::new().spawn_scoped(scope, move || progress::show(search, clock, &ended));
        let result = search::run(search, recipe, jobs, notes, clock);
        drop(end);
        result
    })
}
