//! `raddle explore`: search the interleavings of a program for one that fails.
//!
//! After CHESS (*Finding and reproducing Heisenbugs in concurrent programs*, OSDI 2008). What searches is the crate
//! `raddle-explore`; what takes control of the threads is the runtime; this is what brings them together.
//!
//! ```text
//! cases       the tests of a test program, each explored by itself
//! first_runs  under the race detector: racy accesses become scheduling points
//! look        the other accesses to the same variables
//! worker      the target in a process, orders in, traces out
//! crew        a worker and its successors
//! search      one strategy, several workers
//! coverage    whether what was searched is all there is
//! verdict     what an execution came to
//! monitors    what was seen in it besides: data races, leaks, output
//! shrink      the same failure, smaller
//! words, held, told, race   a failure as a finding: places, names, who holds what, the table
//! schedule    the .raddle file
//! resume      an interrupted search
//! ```

pub mod args;
pub mod cases;
mod coverage;
pub mod crew;
mod first_runs;
mod held;
mod interrupt;
mod look;
mod monitors;
pub mod outcome;
mod progress;
mod race;
mod resume;
pub mod schedule;
mod scope;
mod search;
mod shared_file;
mod shrink;
mod sites;
pub mod told;
pub mod verdict;
pub mod watch;
pub mod words;
pub mod worker;

pub use args::Args;
pub use first_runs::{build_id, is_rust};
pub use interrupt::{came as interrupted, watch as watch_for_interrupts};

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_explore::Limits;
use raddle_finding::Report;
use raddle_wire::explore::flag;

use crate::install::Runtime;
use crate::report::{Settler, TextTo};
use crate::run::target;
use coverage::Fresh;
use crew::Notes;
use first_runs::Seen;
use outcome::Results;
use resume::Saved;
use scope::{Scope, Scoped};
use search::{Clock, Search, Searcher};
use worker::Recipe;

/// Orders that a worker has at once.
const SLOTS: u32 = 32;
/// What a search may remember: a few hundred megabytes at most.
const LIMITS: Limits = Limits { bound: u32::MAX, states: 1 << 22, items: 1 << 21, prune: true };

/// Searches, and reports what was found.
pub fn run(args: Args) -> Result<ExitCode> {
    // Everything that can be wrong with the request is found out before the target runs.
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    scope::check(&args.search)?;
    let program = target::find(&args.command)?;
    let runtime = Runtime::open()?;
    let folder = &args.search.schedules_to;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let recipe = recipe(&args, program, runtime);
    interrupt::watch();
    let notes = Notes::default();
    let report = match cases::of(&args, &recipe) {
        Some(cases) => cases::explore_each(&args, &recipe, &cases, &notes)?,
        None => explore(&args, recipe, args.search.limit(), &notes)?,
    };
    settler.settle(report, crate::exit::CLEAN)
}

/// One search, of what `recipe` starts, in at most so many seconds.
fn explore(args: &Args, mut recipe: Recipe, seconds: f64, notes: &Notes) -> Result<Report> {
    let begun = Instant::now();
    let build_id = build_id(&recipe.program.path);
    // Where older values can be read, which of them is a choice that an operation must be there for.
    if is_rust(&recipe.program.path) && args.search.memory == args::Memory::Sc {
        recipe.quiet = sites::of(&recipe.program.path);
    }
    let resume_file = resume::path(&args.search.schedules_to, &outcome::program_name(&recipe));
    let saved = match args.search.resume {
        true => Some(Saved::read(&resume_file, &build_id)?),
        false => None,
    };
    let limit = Duration::from_secs_f64(seconds.min(1e9));
    let mut clock = Clock::new(limit);
    let (seen, search) = prepare(args, &mut recipe, saved, &clock)?;
    // However slow the first runs were, half of the time is the search's.
    clock.leave(limit / 2);

    let search = Mutex::new(search);
    let recipe = watched(&search, &recipe, args.search.jobs as usize, notes, &clock)?;
    let search = search.into_inner().unwrap_or_else(|e| e.into_inner());

    anyhow::ensure!(
        search.schedules > 0 || search.alone || interrupt::came(),
        "no schedule came to its end in {seconds} s: give it more time with --seconds"
    );
    if recipe.flags & flag::PLAIN != 0 {
        notes.say(&format!(
            "`{}` is not instrumented: its calls that synchronise, wait, allocate and free were explored; its accesses to memory and its \
             atomic operations were not seen, so no race and no use after free is found, and a loop that spins on one of them is a hang. \
             Build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`",
            recipe.program.path.display()
        ));
    }
    let results = Results { recipe, search, build_id, notes, seconds: begun.elapsed().as_secs_f64() };
    // One of several tests is not to be taken for the whole.
    if results.recipe.words == args.command {
        results.keep_for_later(&resume_file, args.search.resume)?;
    }
    results.report(args, seen.races)
}

/// Each execution is a process whose threads are the system's.
pub const OS_THREADS: u32 = flag::OS_THREADS | flag::FORK | flag::FORK_AT_START;

fn recipe(args: &Args, program: target::Program, runtime: Runtime) -> Recipe {
    let chosen = [
        (args.search.fork, flag::FORK),
        (args.search.os_threads, OS_THREADS),
        (!args.search.no_spurious, flag::SPURIOUS),
        (args.search.sleep_is_not_yield, flag::SLEEP_IS_NOT_YIELD),
        (args.search.memory == args::Memory::C11, flag::C11),
        (args.search.races, flag::RACES),
        (args.search.leaks, flag::LEAKS),
        (args.search.same_output, flag::OUTPUT),
        (true, flag::HIDDEN),
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
        max_steps: args.search.max_steps,
        points: Vec::new(),
        quiet: Vec::new(),
        lazy: false,
        patience: Duration::from_secs_f64(args.search.patience),
        watch: watch::Watch::default(),
    }
}

/// The first runs and a fresh search, or what an interrupted one has left.
fn prepare(args: &Args, recipe: &mut Recipe, saved: Option<Saved>, clock: &Clock) -> Result<(Seen, Search)> {
    let options = &args.search;
    let scope = Scope::new(&options.only, &options.skip);
    if let Some(saved) = saved {
        recipe.points = saved.points;
        recipe.donors = saved.donors;
        recipe.flags |= saved.flags;
        let mut search = Search::new(saved.strategy, saved.usual, options.schedules, options.keep_going);
        (search.most, search.schedules) = (saved.most, saved.schedules);
        (search.round, search.gaps) = (saved.round, saved.gaps);
        search.points = recipe.points.clone().into();
        search.fresh = Some(fresh(search.strategy.name(), options));
        search.scoped = (!scope.is_all()).then(|| Scoped::new(scope));
        return Ok((Seen::default(), search));
    }
    let limit = Duration::from_secs_f64((options.limit() / 3.0).clamp(2.0, 10.0));
    let seen = first_runs::see(recipe, &scope, options.races, limit)?;
    if !recipe.program.has_runtime && !seen.instrumented {
        recipe.flags |= flag::PLAIN;
    }
    recipe.points.clone_from(&seen.points);
    recipe.donors = recipe.donors.max(seen.threads).min(raddle_explore::MAX_THREADS as u32 - 1);
    let name =
        if scope.is_all() || options.strategy != "portfolio" { &options.strategy } else { "preemption" };
    let strategy = Searcher::by_name(name, options.seed, limits(options)).context("no such strategy")?;
    let name = strategy.name();
    let mut search = Search::new(strategy, seen.usual, options.schedules, options.keep_going);
    if !seen.points.is_empty() || seen.cut_off {
        look::complete(recipe, &scope, options.seed, &mut search, &|| clock.is_over());
    }
    search.scoped = (!scope.is_all()).then(|| Scoped::new(scope));
    search.points = recipe.points.clone().into();
    search.fresh = Some(fresh(name, options));
    Ok((seen, search))
}

fn limits(options: &args::SearchArgs) -> Limits {
    Limits { bound: options.bound.unwrap_or(u32::MAX), ..LIMITS }
}

fn fresh(name: &'static str, options: &args::SearchArgs) -> Fresh {
    Fresh { name, seed: options.seed, limits: limits(options) }
}

/// Searches, with a line on the terminal that says how far it is.
fn watched(
    search: &Mutex<Search>,
    recipe: &Recipe,
    jobs: usize,
    notes: &Notes,
    clock: &Clock,
) -> Result<Recipe> {
    let (end, ended) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || progress::show(search, clock, &ended));
        let result = search::run(search, recipe, jobs, notes, clock);
        drop(end);
        result
    })
}
