//! `raddle conseq`: start from what could go wrong, and work back to the interleaving.
//!
//! After ConSeq (Zhang et al., ASPLOS 2011). The analyses are the crate `raddle-conseq`, the tracing the runtime's, the scheduling that of
//! `explore`; this is what brings them together.
//!
//! ```text
//! traced    a few correct executions, with values
//! events    their streams as the analyses want them
//! listing   sites and reads of a file, without a run
//! printed   what they print, and what would be unusual
//! sites     what the code says: which values at which reads lead to what
//! tester    each suspect forced
//! told      the report
//! ```

pub mod args;
mod events;
mod listing;
pub mod printed;
mod sites;
mod tester;
mod told;
mod traced;

pub use args::Args;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_conseq::Options;
use raddle_conseq::history::History;
use raddle_conseq::suspects::{self, Everything, Judge, Suspect};
use raddle_wire::explore::flag;

use crate::explore::crew::Notes;
use crate::explore::is_rust;
use crate::explore::watch::Watch;
use crate::explore::words::pc_of;
use crate::explore::worker::Recipe;
use crate::install::Runtime;
use crate::places::{Mapped, Places};
use crate::report::{Settler, TextTo};
use crate::run::target;
use sites::Sites;
use tester::Tester;
use traced::Runs;

/// Threads for which there is room at first.
const DONORS: u32 = 8;

pub fn run(args: Args) -> Result<ExitCode> {
    // Everything that can be wrong with the request is found out before the target runs.
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    let program = target::find(&args.command)?;
    if args.sites_only {
        return list(&program.path, &options(&args));
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
    let runs = traced::make(&recipe, args.runs, rust, &[], &notes)?;
    clock.traced = clock.lap();
    let mut places = Places::new();
    let sites = Sites::of(&runs.modules, &options(&args));
    clock.static_half = clock.lap();
    let analysed = analyse(&runs, sites, args.all_reads, &mut places);
    clock.analysed = clock.lap();
    let mut printed = printed::Usual::default();
    runs.runs.iter().filter(|r| r.is_correct()).for_each(|r| printed.learn(&r.printed));
    let recipe = Recipe { points: analysed.points.clone(), ..runs.recipe.clone() };
    let suspects = if args.no_test { &[][..] } else { &analysed.suspects };
    let tested = Tester::new(&recipe, suspects, runs.usual, &printed, &notes, deadline).run()?;
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

fn options(args: &Args) -> Options {
    Options { kinds: args.sites.clone(), max_distance: args.max_distance, ..Options::default() }
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
        watch: Watch::default(),
    }
}

/// What the traces have shown.
pub struct Analysed {
    pub sites: Sites,
    pub suspects: Vec<Suspect>,
    /// The program counters of all accesses to the memory that the suspects are about, sorted.
    pub points: Vec<u64>,
    pub events: u64,
}

fn analyse(runs: &Runs, sites: Sites, all_reads: bool, places: &mut Places) -> Analysed {
    let judge: &dyn Judge = if all_reads { &Everything } else { &sites };
    let mut all: Vec<Suspect> = Vec::new();
    let mut points = Vec::new();
    let mut events = 0;
    for run in runs.runs.iter().filter(|r| r.is_correct()) {
        let history = History::of(&run.events, &|site| sites.waits(site));
        events += history.events as u64;
        for suspect in suspects::find(&history, judge).suspects {
            let known = all.iter().any(|s| s.key() == suspect.key());
            if !known && is_told(&suspect, &sites, &runs.modules, places) {
                points.extend(accesses_to(&history, suspect.read.cell.address, &runs.modules));
                all.push(suspect);
            }
        }
    }
    points.sort_unstable();
    points.dedup();
    Analysed { sites, suspects: all, points, events }
}

/// Not what goes wrong inside Rust's own library, which is instrumented with the program: if it matters it shows where that was
/// called.
fn is_told(suspect: &Suspect, sites: &Sites, modules: &[Mapped], places: &mut Places) -> bool {
    let Some(pc) = suspect.site.and_then(|site| sites.pc(site)) else { return true };
    let frames = places.frames(modules, pc + 1);
    let own = |f: &raddle_finding::Frame| f.file.as_deref().is_none_or(|file| !file.starts_with("/rustc/"));
    frames.iter().any(own)
}

/// Where the memory at `address` is accessed.
fn accesses_to(history: &History, address: u64, modules: &[Mapped]) -> Vec<u64> {
    let granules = history.granules.iter().filter(|g| g.address == address & !7);
    let sites = granules.flat_map(|g| {
        let reads = g.reads.iter().map(|r| r.point.site);
        reads.chain(g.writes.iter().map(|w| w.point.site))
    });
    sites.filter_map(|site| pc_of(modules, site)).collect()
}
