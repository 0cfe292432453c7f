//! The interpreter: one run of a program under one schedule, which checks for races and deadlocks.
//!
//! This is section 3 of Bläser, "Practical Detection of Concurrency Issues at Coding Time" (ISSTA
//! 2018): concrete interpretation on a simulated heap, random scheduling from a seed, vector
//! clocks, a wait-for graph, uninterpreted values. Guaranteed: the same program, entry, seed and
//! [`Knowledge`] give the same run, and a run ends within its bounds. Knowledge comes from earlier
//! runs, so the first seed repeats an exploration as a whole.
//!
//! Deviations from the paper:
//!
//! 1. The scheduler picks a thread for a random number of steps, not for one, and prefers to switch
//!    at synchronisation. Happens-before finds a race whatever lies between the two accesses, so
//!    only the order of synchronisation matters, and a switch at every step would cost half the
//!    speed. Section 3.1's sequential consistency is kept. See [`sched`].
//! 2. Unknown values have identity ([`value`]). A branch on one takes a side only if some inputs
//!    take it ([`witness`]), given all earlier branches.
//! 3. The access history is FastTrack's, not a list of all accesses ([`history`]).
//! 4. A lock at an unknown address is not ignored: it is the lock of that unknown. It orders
//!    accesses and counts as held. No deadlock is reported on it.
//! 5. A signal handler is a thread that runs on another's stack. The interrupted thread waits for
//!    it, which makes its deadlocks ordinary cycles.
//! 6. An access through a null pointer ends the run, because what follows could not happen.
//! 7. Atomic operations have memory orders. Fences and release sequences order what C11 says they
//!    order.

mod atomic;
mod call;
mod callers_locks;
pub mod clock;
mod collector;
pub mod context;
mod deadlock;
mod decide;
mod empty_locks;
mod exceptions;
mod explain;
mod former_values;
mod handle_room;
pub mod history;
mod intrinsic;
mod jump;
mod lifecycle;
mod locks;
mod member_argument;
pub mod memory;
pub mod named;
mod objects;
mod own_thread;
pub mod raw;
mod rng;
pub mod sched;
mod start_result;
mod step;
mod sync;
mod tasks;
mod thread;
pub mod value;
mod waits;
mod witness;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::entry_locks::{AtEntry, EntryLocks};
use crate::ir::doom::Doom;
use crate::ir::{Function, Instr, Program};
use crate::locking::Locking;
use crate::route::Route;
use clock::SimulatedClock;
use context::Contexts;
use former_values::FormerValues;
use memory::{Base, Memory};
use raddle_finding::Kind;
use raw::RawFinding;
pub use rng::XorShift;
use sched::SwitchStrategy;
use sync::SyncObject;
use thread::SimulatedThread;
use witness::Witness;

/// Bounds of one run.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub steps: u64,
    pub heap: usize,
    /// Threads besides the first; starting more ends the run.
    pub threads: usize,
    pub call_depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { steps: 1_000_000, heap: 8 << 20, threads: 64, call_depth: 400 }
    }
}

/// How an entry is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryStart {
    pub function: u32,
    /// Globals hold unknown values, which earlier code may have left in them.
    pub in_the_middle: bool,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// The first thread returned, or the program exited.
    Finished,
    /// No thread can go on.
    Stuck,
    Steps,
    Memory,
    /// Something happened that ends a real program, or after which nothing is certain.
    Crashed,
    Cancelled,
}

#[derive(Debug, Clone, Copy)]
pub struct RunResult {
    pub end: RunEnd,
    pub steps: u64,
    /// Threads started, including handlers and ticks.
    pub threads: usize,
    /// Equal for runs that synchronised in the same order.
    pub fingerprint: u64,
    /// An unknown decided something, so another run may take another path.
    pub approximate: bool,
    /// The result of the entry, if it returned.
    pub result: u64,
    /// A handler was set up, so another run may be interrupted where this one was not.
    pub interruptible: bool,
}

/// What is known about a program before it runs, shared by all machines that run it.
#[derive(Debug, Clone)]
pub struct Facts {
    pub doom: Arc<Doom>,
    pub locking: Arc<Locking>,
    /// The instructions of its own functions that start a thread.
    pub sites: Arc<[u32]>,
    /// For each function, who calls it.
    pub callers: Arc<[Vec<u32>]>,
}

impl Facts {
    pub fn of(program: &Program, sites: Arc<[u32]>) -> Self {
        Self {
            doom: Arc::new(Doom::of(program)),
            locking: Arc::new(Locking::of(program)),
            sites,
            callers: crate::entry_locks::callers(program),
        }
    }
}

/// What carries over from run to run.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// How often each side of each unknown branch was taken.
    pub sides: FxHashMap<u32, [u32; 2]>,
    /// The findings so far, by kind and instructions, so that each is explained once.
    pub seen: FxHashSet<(Kind, u32, u32)>,
    pub findings: Vec<RawFinding>,
    /// Those that rest on a guess about code that was not run, and that no run has shown without
    /// it.
    pub guesses: Vec<RawFinding>,
    /// The keys of all guesses so far.
    guessed: FxHashSet<(Kind, u32, u32)>,
    /// Instructions that were an end of a race, which are good places to switch threads.
    pub hot: Vec<bool>,
    /// Functions that some run has entered.
    pub entered: Vec<bool>,
    /// Instructions of the program's own code at which some run has started a thread or a timer.
    pub started: FxHashSet<u32>,
    /// The same, if the thread was given an object that the run knows, or nothing.
    pub started_with_known: FxHashSet<u32>,
    /// How often each finding occurred again.
    pub met: FxHashMap<(Kind, u32, u32), u64>,
}

impl Knowledge {
    /// Forgets guesses that turned out to be findings.
    pub fn drop_settled_guesses(&mut self) {
        let seen = &self.seen;
        self.guesses.retain(|g| !seen.contains(&g.key));
    }

    /// The number of sides of unknown branches that were taken at least once.
    pub fn covered(&self) -> usize {
        self.sides.values().map(|s| usize::from(s[0] > 0) + usize::from(s[1] > 0)).sum()
    }
}

/// The state of a run. Reused between runs for its allocations.
pub struct Machine<'p> {
    program: &'p Program,
    bounds: Bounds,
    memory: Memory,
    /// One for starts at the beginning, one for starts in the middle.
    bases: [Option<Arc<Base>>; 2],
    threads: Vec<SimulatedThread>,
    objects: FxHashMap<u64, SyncObject>,
    /// The clock released to each atomic object.
    atomics: FxHashMap<u64, SimulatedClock>,
    contexts: Contexts,
    pub knowledge: Knowledge,
    /// What branches have assumed about unknowns.
    witness: Witness,
    /// What unknown functions may have changed.
    former_values: FormerValues,
    rng: XorShift,
    seed: u64,
    start: EntryStart,
    /// The locks that callers hold.
    entry_locks: EntryLocks<'p>,
    /// Those that the callers of this run's entry may hold and that the run does not.
    callers_locks: Arc<AtEntry>,
    /// The arguments of the entry.
    entry_arguments: Vec<u64>,
    /// For such a function and a lock, whether a caller may hold it.
    callers_may_hold: FxHashMap<(u32, u64), bool>,
    /// The first thread has released a lock that it never took, so a caller holds it no longer.
    released_callers: bool,
    strategy: SwitchStrategy,
    /// Runnable threads, kept for its allocation.
    ready: Vec<usize>,
    steps: u64,
    step_limit: u64,
    fingerprint: u64,
    /// Numbers fresh unknowns.
    fresh: u32,
    /// More than one thread has existed, so accesses are recorded.
    watching: bool,
    end: Option<RunEnd>,
    /// Set by an access after which another thread should run.
    turn_over: bool,
    /// In a start in the middle, the path to the first start of a thread.
    route: Option<Route>,
    /// A delegate of the function that the route leads to, until something calls it.
    uncalled: Option<u64>,
    /// A delayed thread, and the step until which it is delayed.
    delayed: (usize, u64),
    destructors: Vec<u64>,
    /// Objects whose class has a finalizer that has not run yet.
    finalizable: Vec<u64>,
    /// Ranges on which the program declares races benign.
    benign: Vec<(u64, u64)>,
    /// The start and end of each object that the entry was given.
    arguments: Vec<(u64, u64)>,
    /// How often a thread has read a volatile part of these objects, by thread and instruction.
    polls: FxHashMap<(usize, u32), u32>,
    /// Values recently stored through unknown pointers, by address.
    stored_elsewhere: FxHashMap<u64, step::StoredElsewhere>,
    /// The object that contained the last element; see [`step`].
    last_object: (u64, u64),
    interrupts: Vec<lifecycle::InterruptSource>,
    interrupts_left: u32,
    /// A handler was set up, even if only for a while.
    interruptible: bool,
    /// The number of consecutive wakes of sleeping threads with nothing else done.
    idle_wakes: u32,
    /// An unknown decided something, so a stuck run proves less.
    approximate: bool,
    cancel: Option<&'p AtomicBool>,
    /// Code that leads to the program's end; see [`crate::ir::doom`].
    doom: Arc<Doom>,
    /// Conditions that decide whether a lock is taken.
    locking: Arc<Locking>,
    /// The instructions of the program's own code that start a thread through the library.
    sites: Arc<[u32]>,
    /// For each undefined function, what its name says.
    named: Vec<Option<named::Named>>,
    /// See [`own_thread`].
    joins_of_others: FxHashMap<u32, bool>,
    /// The model's flag that a timer is set, and whether it is from the start on, because the
    /// program sets none.
    timer_flag: Option<(u64, bool)>,
    /// For each undefined function, whether it is known never to return null.
    never_null: Vec<bool>,
    /// For each call of an unknown function, how much of each argument it may change.
    argument_sizes: FxHashMap<u32, Arc<[u64]>>,
    /// The joined clocks of all handlers: they run one after the other.
    handlers: SimulatedClock,
    interrupt_chance: u64,
    /// A place was come to that another run showed to be worth an interrupt.
    interrupt_soon: bool,
    /// No interrupt before this step: half of all handlers end the program, and it should have got
    /// somewhere.
    interrupt_from: u64,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, bounds: Bounds, cancel: Option<&'p AtomicBool>) -> Self {
        Self::with_facts(program, Facts::of(program, Arc::default()), bounds, cancel)
    }

    pub fn with_facts(
        program: &'p Program,
        Facts { doom, locking, sites, callers }: Facts,
        bounds: Bounds,
        cancel: Option<&'p AtomicBool>,
    ) -> Self {
        let by_name = |(f, is_empty_lock): (&Function, bool)| {
            (!f.defined || is_empty_lock).then(|| named::named(&f.name)).flatten()
        };
        let named =
            program.functions.iter().zip(empty_locks::empty_locks(program, &sites)).map(by_name).collect();
        Self {
            program,
            bounds,
            memory: Memory::default(),
            bases: [None, None],
            threads: Vec::new(),
            objects: FxHashMap::default(),
            atomics: FxHashMap::default(),
            contexts: Contexts::default(),
            knowledge: Knowledge {
                entered: vec![false; program.functions.len()],
                hot: vec![false; program.code.len()],
                ..Knowledge::default()
            },
            turn_over: false,
            delayed: (0, 0),
            witness: Witness::default(),
            former_values: FormerValues::default(),
            rng: XorShift::new(0),
            seed: 0,
            start: EntryStart { function: 0, in_the_middle: false },
            entry_locks: EntryLocks::new(program, locking.clone(), callers),
            callers_locks: Arc::default(),
            entry_arguments: Vec::new(),
            callers_may_hold: FxHashMap::default(),
            released_callers: false,
            strategy: SwitchStrategy::default(),
            ready: Vec::new(),
            steps: 0,
            step_limit: 0,
            fingerprint: 0,
            fresh: 0,
            watching: false,
            end: None,
            destructors: Vec::new(),
            finalizable: Vec::new(),
            argument_sizes: FxHashMap::default(),
            route: None,
            uncalled: None,
            benign: Vec::new(),
            arguments: Vec::new(),
            polls: FxHashMap::default(),
            stored_elsewhere: FxHashMap::default(),
            last_object: (0, 0),
            interrupts: Vec::new(),
            interrupts_left: 0,
            interruptible: false,
            idle_wakes: 0,
            approximate: false,
            cancel,
            doom,
            locking,
            sites,
            named,
            joins_of_others: own_thread::joins_of_others(program),
            timer_flag: timer_flag(program),
            never_null: program
                .functions
                .iter()
                .map(|f| !f.defined && named::never_returns_null(&f.name))
                .collect(),
            handlers: SimulatedClock::default(),
            interrupt_chance: 12,
            interrupt_from: 0,
            interrupt_soon: false,
        }
    }

    /// Sets the route of later runs, if there is one.
    pub fn take_route(&mut self, route: Option<Route>) {
        self.route = route;
    }

    /// Bounds the steps of later runs.
    pub fn limit_steps(&mut self, steps: u64) {
        self.bounds.steps = steps;
    }

    /// Runs an entry to its end. The seed decides everything that is open.
    pub fn run(&mut self, start: EntryStart, seed: u64) -> RunResult {
        self.prepare(start, seed);
        while self.end.is_none() {
            match self.pick() {
                Some((thread, fuel)) => self.run_thread(thread, fuel),
                None => self.nothing_runs(),
            }
            if self.steps >= self.step_limit {
                self.end.get_or_insert(RunEnd::Steps);
            }
            if self.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                self.end = Some(RunEnd::Cancelled);
            }
        }
        RunResult {
            end: self.end.unwrap_or(RunEnd::Finished),
            steps: self.steps,
            threads: self.threads.len(),
            fingerprint: self.fingerprint,
            approximate: self.approximate,
            result: self.threads[0].result,
            interruptible: self.interruptible,
        }
    }

    fn prepare(&mut self, start: EntryStart, seed: u64) {
        let base = self.base(start.in_the_middle);
        self.memory.reset(&base, self.bounds.heap);
        self.threads.clear();
        self.objects.clear();
        self.atomics.clear();
        self.contexts.clear();
        self.witness.clear();
        self.former_values.clear(seed);
        if start.in_the_middle {
            self.settle_pointers();
        }
        self.rng = XorShift::new(seed);
        self.seed = seed;
        self.start = start;
        self.released_callers = false;
        self.strategy = SwitchStrategy::choose(seed, &mut self.rng);
        self.steps = 0;
        self.step_limit = self.bounds.steps;
        self.fingerprint = 0;
        self.fresh = 0;
        self.watching = false;
        self.end = None;
        self.delayed = (0, 0);
        self.destructors.clear();
        self.finalizable.clear();
        self.uncalled = None;
        self.benign.clear();
        self.arguments.clear();
        self.polls.clear();
        self.stored_elsewhere.clear();
        self.last_object = (0, 0);
        self.interrupts.clear();
        self.interrupts_left = 4;
        self.interruptible = false;
        self.interrupt_soon = false;
        self.interrupt_chance = [4, 12, 40, 150][self.rng.below(4) as usize];
        self.interrupt_from = [0, 200, 3_000, 40_000][self.rng.below(4) as usize];
        self.handlers.clear();
        self.idle_wakes = 0;
        self.approximate = false;
        if let Some((address, is_set)) = self.timer_flag
            && let Ok(at) = self.memory.index(address, 4)
        {
            self.memory.store(at, crate::ir::Scalar::I32, u64::from(is_set));
        }
        self.start_main(start.function);
        self.hold_callers_locks();
    }

    /// In the middle of a program its pointers are already set. Null would make several threads
    /// repeat the first steps of the program at once.
    fn settle_pointers(&mut self) {
        for (address, _) in self.program.image_mutable.iter().filter(|r| r.1 == 8) {
            self.witness.settle(memory::unknown_at_start(*address));
        }
    }

    /// The content of globals at the start of a run. Made once for each kind of start.
    fn base(&mut self, in_the_middle: bool) -> Arc<Base> {
        let program = self.program;
        let mutable = if in_the_middle { &program.image_mutable[..] } else { &[] };
        let unknown = program.image_unknown.iter().chain(mutable).copied();
        let base = &mut self.bases[usize::from(in_the_middle)];
        base.get_or_insert_with(|| Arc::new(Base::new(&program.image, unknown))).clone()
    }

    /// An unknown that was never seen before in this run.
    fn fresh_unknown(&mut self) -> u64 {
        self.fresh = self.fresh.wrapping_add(1);
        value::unknown(value::mix(400, u64::from(self.fresh), 0))
    }

    /// Adds an event to the run's fingerprint.
    fn note(&mut self, thread: usize, what: u64) {
        let h = self.fingerprint ^ what.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (thread as u64) << 56;
        self.fingerprint = h.rotate_left(17).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
}

/// See [`Machine::timer_flag`].
fn timer_flag(program: &Program) -> Option<(u64, bool)> {
    const SETTERS: &[&str] = &["alarm", "ualarm", "setitimer", "timer_settime"];
    let flag = program.globals.iter().find(|g| &*g.name == "__model_timer_set")?;
    let sets = |instr: &Instr| match instr {
        Instr::Call(f, _) => SETTERS.contains(&&*program.functions[*f as usize].name),
        _ => false,
    };
    let mut own = program.functions.iter().filter(|f| f.defined && !f.builtin);
    let is_set = !own.any(|f| program.code[f.entry as usize..f.end as usize].iter().any(sets));
    Some((u64::from(flag.address), is_set))
}

#[cfg(test)]
mod tests;
