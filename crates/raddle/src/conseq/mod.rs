//! `raddle conseq`: start from what could go wrong, and work back to the interleaving.
//!
//! After ConSeq (Zhang et al., ASPLOS 2011). The analyses are the crate `raddle-conseq`, the tracing the runtime's, the scheduling that of
//! `explore`; this is what brings them together.
//!
//! ```text
//! traced    a few correct executions, with values
//! analysed  what they show: invariants, and suspects
//! custom    names of the program's own functions that report
//! events    their streams as the analyses want them
//! kept      what the static half found, between runs
//! listing   sites and reads of a file, without a run
//! printed   what they print, and what would be unusual
//! check     what to look for in an execution
//! rust_locks  atomics that are locks
//! sites     what the code says: which values at which reads lead to what
//! tester    each suspect forced
//! told      the report
//! ```

mod analysed;
pub mod args;
pub mod check;
mod custom;
mod events;
mod kept;
mod listing;
pub mod printed;
mod rust_locks;
mod sites;
mod tester;
mod told;
mod traced;

pub use args::Args;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_conseq::{Options, SiteKind};
use raddle_finding::Report;
use raddle_wire::explore::flag;

use crate::explore::crew::{CrewError, Notes};
use crate::explore::is_rust;
use crate::explore::watch::Watch;
use crate::explore::worker::Recipe;
use crate::install::Runtime;
use crate::places::Places;
use crate::report::{Settler, TextTo};
use crate::run::target;
use printed::Stream;
use rust_locks::RustLocks;
use sites::Sites;
use tester::{Expect, Tester};
use traced::{Run, Runs};

/// Threads for which there is room at first.
const DONORS: u32 = 8;

pub fn run(args: Args) -> Result<ExitCode> {
    // Everything that can be wrong with the request is found out before the target runs.
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    let program = target::find(&args.command)?;
    let options = options(&args)?;
    if args.sites_only {
        return list(&program.path, &options);
    }
    if !program.has_runtime {
        return Err(not_instrumented(&program.path, &options));
    }
    let runtime = Runtime::open()?;
    let folder = &args.schedules_to;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let begun = Instant::now();
    let deadline = begun + Duration::from_secs_f64(args.seconds);
    crate::explore::watch_for_interrupts();
    let recipe = recipe(&args, program, runtime);
    let notes = Notes::default();
    let rust = is_rust(&recipe.program.path);
    let mut clock = Phases::new(begun);
    let mut runs = match traced::make(&recipe, args.runs, rust, &[], &notes) {
        Err(error) if is_alone(&error) => {
            notes.say(&format!("{error:#}"));
            let mut report = Report::new("conseq", words(&args));
            told::add_empty_stats(&mut report, begun);
            return settler.settle(report, crate::exit::CLEAN);
        }
        made => made?,
    };
    if rust {
        let locks = RustLocks::of(&runs.recipe.program.path, &runs.modules);
        runs.runs.iter_mut().for_each(|r| locks.recognise(&mut r.events));
    }
    clock.traced = clock.lap();
    let mut places = Places::new();
    let sites = Sites::of(&runs.modules, &options);
    clock.static_half = clock.lap();
    let analysed = analysed::analyse(&runs, sites, &args, &mut places);
    clock.analysed = clock.lap();
    say_limits(&runs, &analysed.sites, &notes);
    let mut printed = printed::Usual::default();
    // The random orders among them may well print something wrong.
    let plain = runs.runs.iter().take(traced::PLAIN);
    plain.filter(|r| r.is_correct()).for_each(|r| printed.learn(&r.printed));
    let recipe = Recipe { points: analysed.points.clone(), ..runs.recipe.clone() };
    let suspects = if args.no_test { &[][..] } else { &analysed.suspects };
    let streams = [(SiteKind::Error, Stream::Err), (SiteKind::Output, Stream::Out)];
    let expect = Expect {
        usual: runs.usual,
        printed: &printed,
        streams: streams.into_iter().filter(|(kind, _)| args.sites.contains(kind)).map(|(_, s)| s).collect(),
        guards: &analysed.guards,
    };
    let kinds = suspects.iter().map(|s| analysed.kind(s)).collect();
    let tested = Tester::new(&recipe, suspects, kinds, expect, &notes, deadline).run()?;
    clock.tested = clock.lap();
    let report = told::report(&args, &runs, &analysed, tested, places, &clock)?;
    settler.settle(report, crate::exit::CLEAN)
}

/// Where the time goes, in seconds.
pub struct Phases {
    pub begun: Instant,
    last: Instant,
    pub traced: f64,
    pub static_half: f64,
    pub analysed: f64,
    pub tested: f64,
}

impl Phases {
    fn new(begun: Instant) -> Phases {
        Phases { begun, last: begun, traced: 0.0, static_half: 0.0, analysed: 0.0, tested: 0.0 }
    }

    /// The seconds since the last time.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.last, now)).as_secs_f64()
    }
}

/// What can be said without a run.
fn list(path: &Path, options: &Options) -> Result<ExitCode> {
    let (text, limits) = listing::of_file(path, options)?;
    print!("{text}");
    limits.iter().for_each(|note| eprintln!("raddle: {}", listing::sentence(note, path)));
    Ok(ExitCode::from(crate::exit::CLEAN))
}

fn options(args: &Args) -> Result<Options> {
    let custom = custom::names(&std::env::current_dir().unwrap_or_default())?;
    Ok(Options { kinds: args.sites.clone(), max_distance: args.max_distance, custom, ..Options::default() })
}

pub fn words(args: &Args) -> Vec<String> {
    args.command.iter().map(|w| w.to_string_lossy().into_owned()).collect()
}

/// What can be said of a program that can not be traced.
fn not_instrumented(path: &Path, options: &Options) -> anyhow::Error {
    let name = path.display();
    match kept::analysis(path, options) {
        Ok(analysis) => anyhow::anyhow!(
            "`{name}` is not instrumented: it has {} error site(s), which --sites-only lists, and a traced run needs `raddle cc`, \
             `raddle c++`, `raddle rustc` or `cargo raddle`",
            analysis.sites.len()
        ),
        Err(error) => anyhow::anyhow!("{error}, and nothing of it can be traced"),
    }
}

fn is_alone(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CrewError::NoThreads(..)))
}

/// What limits all that follows.
fn say_limits(runs: &Runs, sites: &Sites, notes: &Notes) {
    if runs.runs.iter().any(|r| r.cut_short) {
        notes.say(
            "a trace was cut short, because the program died or there was no room: what it has is analysed",
        );
    }
    if !runs.runs.iter().any(Run::is_correct) {
        notes.say("no traced run ended well: there is nothing to work back from");
    } else if !runs.runs.iter().any(|r| sites.is_reached(&r.events)) {
        notes.say("the traced runs come by none of the reads that matter to an error site: try another input, or --max-distance");
    }
}

fn recipe(args: &Args, program: target::Program, runtime: Runtime) -> Recipe {
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
    }
}
