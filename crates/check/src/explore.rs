//! Chooses which runs to make: entries, seeds, budgets, and when to stop.
//!
//! The paper repeats runs until a total of steps is used up, and repeats nothing if the first runs
//! start no thread. Raddle goes further. A run whose order of synchronisation was seen before
//! counts as stale. An entry leaves its budget to the next one after many stale runs in a row, or
//! after many runs that show nothing new. Consecutive seeds use different strategies, so schedules
//! that differ are preferred to repeats.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;

use crate::entries::{self, Entry, EntryKind, all_started, start_sites};
use crate::interp::{Bounds, Facts, Knowledge, Machine, RunEnd};
use crate::ir::Program;
use crate::route::{self, Route, Ways};

/// All bounds of an exploration.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub run: Bounds,
    /// The total number of steps of all runs.
    pub steps: u64,
    /// The maximum number of runs of one entry.
    pub runs: u32,
    /// An entry is done after this many runs in a row that only repeat known orders of
    /// synchronisation.
    pub stale: u32,
    /// An entry is also done after this many runs without a new finding and without a new side of a
    /// branch, whatever their orders.
    pub quiet: u32,
    pub seed: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { run: Bounds::default(), steps: 10_000_000, runs: 1000, stale: 60, quiet: 250, seed: 1 }
    }
}

impl Budget {
    /// The budget of an editor, which needs an answer while the user types.
    pub fn interactive() -> Self {
        let run = Bounds { steps: 200_000, ..Bounds::default() };
        Self { run, steps: 2_000_000, runs: 200, stale: 30, quiet: 80, ..Self::default() }
    }
}

/// After this many runs in a row that reach their bound and show nothing new, runs get shorter …
const ENDLESS: u32 = 3;
/// … down to this many steps.
const SHORTEST: u64 = 60_000;

/// A start further up gets this part of the steps of a start in the middle.
const FROM_ABOVE: u64 = 3;

/// The maximum number of runs of an entry that may start threads but has not done so yet.
const LONELY: u32 = 60;

/// The steps reserved for each start in the middle when there are hundreds of tests, and the
/// shortest run allowed then.
const FOR_MIDDLE: u64 = 30_000;
const SHORTEST_SHARE: u64 = 10_000;

/// What was done at one entry.
#[derive(Debug, Clone, Copy)]
pub struct Explored {
    pub entry: Entry,
    pub runs: u32,
    pub steps: u64,
    /// The largest number of threads in a run.
    pub threads: usize,
    /// The number of different orders of synchronisation.
    pub interleavings: usize,
    /// The bound that ended the exploration, or that ended each of its runs.
    pub cut_short: Option<Cut>,
}

/// What keeps an entry from being explored to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The step bound of one run, or of all.
    Steps,
    /// The memory or thread bound of one run.
    Room,
}

impl Cut {
    fn of(end: RunEnd) -> Option<Self> {
        match end {
            RunEnd::Steps => Some(Self::Steps),
            RunEnd::Memory => Some(Self::Room),
            RunEnd::Finished | RunEnd::Stuck | RunEnd::Crashed | RunEnd::Cancelled => None,
        }
    }
}

/// A linked program, and what is known about it before anything runs.
pub struct LinkedProgram {
    pub program: Program,
    pub entries: Vec<Entry>,
    pub facts: Facts,
    can_skip: Arc<[bool]>,
}

impl LinkedProgram {
    pub fn new(program: Program) -> Self {
        let sites: Arc<[u32]> = start_sites(&program).into();
        let facts = Facts::of(&program, sites);
        Self {
            entries: entries::entries(&program, &facts),
            can_skip: route::skippable(&program),
            facts,
            program,
        }
    }
}

/// The thread starts that were reached before the starts in the middle at one height above one
/// function.
#[derive(Default)]
struct Reached {
    about: Option<u32>,
    height: u32,
    started: FxHashSet<u32>,
}

/// Runs some of a program's entries within a budget.
pub fn explore(
    subject: &LinkedProgram,
    entries: &[Entry],
    budget: Budget,
    cancel: Option<&AtomicBool>,
) -> (Vec<Explored>, Knowledge) {
    let LinkedProgram { program, facts, can_skip, .. } = subject;
    let sites = &facts.sites;
    let mut machine = Machine::with_facts(program, facts.clone(), budget.run, cancel);
    let mut out = Vec::new();
    let mut left = budget.steps;
    let mut reached = Reached::default();
    let middle = entries.iter().filter(|e| e.kind == EntryKind::Middle && e.above == 0).count();
    let reserve = match program.classes.all.is_empty() {
        true => 0,
        false => (middle as u64 * FOR_MIDDLE).min(budget.steps / 4),
    };
    for (i, entry) in entries.iter().enumerate() {
        if left == 0 || cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            break;
        }
        // A start in the middle is unnecessary if a more certain entry has reached its thread
        // starts. Starts at the same height are equally certain: of two callers, one may hold a
        // lock and the other not. From above, an object may be unknown that the function itself
        // would be given, and then nothing is known about what the thread does with it.
        let is_next = reached.about != Some(entry.about) || entry.above == 0 && reached.height == 0;
        if entry.kind == EntryKind::Middle && is_next {
            let started = machine.knowledge.started.clone();
            reached = Reached { about: Some(entry.about), height: entry.above, started };
        }
        if entry.above != reached.height {
            reached.height = entry.above;
            reached.started.extend(&machine.knowledge.started_with_known);
        }
        let started = &reached.started;
        if entry.kind == EntryKind::Middle && all_started(program, entry.about, sites, started) {
            continue;
        }
        // The first entries are the most certain. They may use most of what the later ones would
        // get, but not all of it.
        let is_middle = entry.kind == EntryKind::Middle;
        let after = entries[i..].iter().filter(|e| e.above == 0).count().max(1);
        let reserve = if is_middle { 0 } else { reserve.min(left) };
        let share = match entry.kind {
            EntryKind::Main => (left - reserve) * 4 / 5,
            // The starts in the middle use their reserve.
            _ if reserve > 0 => (left - reserve) / (after - middle) as u64,
            // The start at the function itself may still be needed.
            _ if entry.above > 0 => left / after as u64 / FROM_ABOVE,
            _ => left / after as u64,
        };
        if share == 0 && !is_middle {
            continue;
        }
        let route = is_middle.then(|| {
            let open: Vec<u32> = sites.iter().copied().filter(|pc| !started.contains(pc)).collect();
            if entry.above > 0 {
                let ways = Ways::between_functions(entry.start.function, entry.about, &facts.callers);
                return Route::from_above(program, &ways, entry.about, &open, can_skip.clone());
            }
            let around = prepared_for(program, *entry);
            Route::new(program, entry.about, around, &open, can_skip.clone())
        });
        machine.take_route(route);
        let done = explore_entry(&mut machine, *entry, budget, share.max(1));
        left = left.saturating_sub(done.steps);
        out.push(done);
    }
    (out, std::mem::take(&mut machine.knowledge))
}

/// The function that a prepared entry calls, if the function with the thread starts is nested in
/// it.
fn prepared_for(program: &Program, entry: Entry) -> Option<u32> {
    let prepared = program.entry_points.iter().find(|e| e.function == entry.start.function)?;
    (prepared.about != entry.about).then_some(prepared.about)
}

fn explore_entry(machine: &mut Machine<'_>, entry: Entry, budget: Budget, share: u64) -> Explored {
    let mut done = Explored { entry, runs: 0, steps: 0, threads: 1, interleavings: 0, cut_short: None };
    // The bound that ended every run so far, if one did.
    let mut bound = None;
    let mut orders: FxHashSet<u64> = FxHashSet::default();
    let (mut stale, mut quiet, mut endless) = (0, 0, 0);
    // One run takes no more than the entry's share, so that later entries keep theirs.
    let mut steps = budget.run.steps.min(share.max(SHORTEST_SHARE));
    while done.runs < budget.runs && stale < budget.stale && quiet < budget.quiet {
        if done.steps >= share {
            done.cut_short = Some(Cut::Steps);
            break;
        }
        let before = (machine.knowledge.findings.len(), machine.knowledge.covered());
        machine.limit_steps(steps);
        let result = machine.run(entry.start, budget.seed.wrapping_add(u64::from(done.runs)));
        done.runs += 1;
        done.steps += result.steps.max(1);
        done.threads = done.threads.max(result.threads);
        if result.end == RunEnd::Cancelled {
            break;
        }
        bound = if done.runs == 1 { Cut::of(result.end) } else { bound.and(Cut::of(result.end)) };
        let new_order = orders.insert(result.fingerprint);
        let learned = before != (machine.knowledge.findings.len(), machine.knowledge.covered());
        stale = if new_order || learned { 0 } else { stale + 1 };
        // A program that never ends shows everything in its beginning: make the runs shorter, and
        // make more of them.
        endless = if result.end == RunEnd::Steps && !learned { endless + 1 } else { 0 };
        if endless == ENDLESS {
            endless = 0;
            steps = (steps / 2).max(SHORTEST.min(steps));
        }
        quiet = if learned { 0 } else { quiet + 1 };
        // Without threads there is nothing to interleave, unless an unknown value prevented a start
        // or a handler could have interrupted.
        let may_yet = entry.may_start && (result.approximate || result.interruptible) && done.runs < LONELY;
        if done.threads == 1 && !may_yet {
            break;
        }
    }
    done.interleavings = orders.len();
    done.cut_short = done.cut_short.or(bound);
    done
}
