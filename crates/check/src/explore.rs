//! Which runs to make: entries, seeds, budgets, and when enough is enough.
//!
//! The paper repeats runs until a total of steps is used up, and runs nothing twice if the first
//! runs start no thread. Beyond it: a run whose order of synchronisation was seen before counts as
//! stale, and an entry whose runs have long been stale, or have long shown nothing new, leaves its
//! budget to the next. Consecutive seeds use different strategies, so schedules that differ are
//! preferred to repeats.

use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;

use crate::entries::{Entry, EntryKind, all_started, start_sites};
use crate::interp::{Bounds, End, Knowledge, Machine};
use crate::ir::Program;
use crate::route::{self, Route};

/// Bounds in all.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub run: Bounds,
    /// Steps of all runs.
    pub steps: u64,
    /// Runs of one entry.
    pub runs: u32,
    /// An entry is done after this many runs in a row that only repeated known orders of
    /// synchronisation.
    pub stale: u32,
    /// Or after this many without a new finding and without a new side of a branch, whatever their
    /// orders.
    pub quiet: u32,
    pub seed: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { run: Bounds::default(), steps: 10_000_000, runs: 1000, stale: 60, quiet: 250, seed: 1 }
    }
}

impl Budget {
    /// For an editor: an answer while the hand is still on the keyboard.
    pub fn interactive() -> Self {
        let run = Bounds { steps: 200_000, ..Bounds::default() };
        Self { run, steps: 2_000_000, runs: 200, stale: 30, quiet: 80, ..Self::default() }
    }
}

/// After this many runs in a row that reach their bound and show nothing new, runs get shorter …
const ENDLESS: u32 = 3;
/// … down to this many steps.
const SHORTEST: u64 = 60_000;

/// Runs of an entry that may start threads but has not done so yet.
const LONELY: u32 = 60;

/// What was done at one entry.
#[derive(Debug, Clone, Copy)]
pub struct Explored {
    pub entry: Entry,
    pub runs: u32,
    pub steps: u64,
    /// The most threads of a run.
    pub threads: usize,
    /// Different orders of synchronisation.
    pub interleavings: usize,
    /// The step budget ended it.
    pub cut_short: bool,
}

/// Runs a program's entries within a budget.
pub fn explore(
    program: &Program,
    entries: &[Entry],
    budget: Budget,
    cancel: Option<&AtomicBool>,
) -> (Vec<Explored>, Knowledge) {
    let mut machine = Machine::new(program, budget.run, cancel);
    let mut out = Vec::new();
    let mut left = budget.steps;
    let sites = start_sites(program);
    let can_skip = route::skippable(program);
    for (i, entry) in entries.iter().enumerate() {
        if left == 0 || cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            break;
        }
        // What a surer entry has run needs no start in the middle.
        if entry.kind == EntryKind::Middle
            && all_started(program, entry.about, &sites, &machine.knowledge.started)
        {
            continue;
        }
        // The first entries are the surest and may use what the later ones would have got, but not
        // all of it.
        let share = match entry.kind {
            EntryKind::Main => left * 4 / 5,
            _ => left / (entries.len() - i) as u64,
        };
        let route = (entry.kind == EntryKind::Middle).then(|| {
            let open: Vec<u32> =
                sites.iter().copied().filter(|pc| !machine.knowledge.started.contains(pc)).collect();
            Route::new(program, entry.start.function, &open, can_skip.clone())
        });
        machine.take_route(route);
        let done = explore_entry(&mut machine, *entry, budget, share.max(1));
        left = left.saturating_sub(done.steps);
        out.push(done);
    }
    (out, std::mem::take(&mut machine.knowledge))
}

fn explore_entry(machine: &mut Machine<'_>, entry: Entry, budget: Budget, share: u64) -> Explored {
    let mut done = Explored { entry, runs: 0, steps: 0, threads: 1, interleavings: 0, cut_short: false };
    let mut orders: FxHashSet<u64> = FxHashSet::default();
    let (mut stale, mut quiet, mut endless) = (0, 0, 0);
    let mut steps = budget.run.steps;
    while done.runs < budget.runs && stale < budget.stale && quiet < budget.quiet {
        if done.steps >= share {
            done.cut_short = true;
            break;
        }
        let before = (machine.knowledge.findings.len(), machine.knowledge.covered());
        machine.limit_steps(steps);
        let result = machine.run(entry.start, budget.seed.wrapping_add(u64::from(done.runs)));
        done.runs += 1;
        done.steps += result.steps.max(1);
        done.threads = done.threads.max(result.threads);
        if result.end == End::Cancelled {
            break;
        }
        let new_order = orders.insert(result.fingerprint);
        let learned = before != (machine.knowledge.findings.len(), machine.knowledge.covered());
        stale = if new_order || learned { 0 } else { stale + 1 };
        // A program without end shows in its beginning what it shows at all: shorter runs, but more
        // of them.
        endless = if result.end == End::Steps && !learned { endless + 1 } else { 0 };
        if endless == ENDLESS {
            endless = 0;
            steps = (steps / 2).max(SHORTEST).min(budget.run.steps);
        }
        quiet = if learned { 0 } else { quiet + 1 };
        // Without threads there is nothing to interleave, unless an unknown kept one from being
        // started or a handler could have interrupted.
        let may_yet = entry.may_start && (result.approximate || result.interruptible) && done.runs < LONELY;
        if done.threads == 1 && !may_yet {
            break;
        }
    }
    done.interleavings = orders.len();
    done
}
