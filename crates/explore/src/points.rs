//! Which accesses need no scheduling point (section 4.4.1).
//!
//! If other synchronisation always orders the accesses to a variable, it makes no difference where
//! among them a thread is preempted, and interleaving there is a waste (Bruening, Chapin, 2000). So
//! the traces of the first executions, made with a point at every access, are searched for pairs of
//! conflicting accesses that locks, condition variables, thread creation and the like leave
//! unordered. The sites of such accesses need a point.
//!
//! Deviation: atomic accesses order nothing here, not even accesses to other variables, so that one
//! clock per thread is enough for all variables. Fewer orders are known, and more points are kept.
//!
//! "Always" means in the traces seen. A site that no trace shows as unordered may be so in one that
//! was not made: [`crate::hidden`] sees it there.

use raddle_base::clock::{Epoch, ThreadId, VectorClock};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::op::{Class, Op, OpKind};
use crate::thread::LogicalThread;
use crate::trace::TraceView;

/// Sites of accesses, classified by the traces so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Points {
    seen: FxHashSet<u32>,
    unordered: FxHashSet<u32>,
}

impl Points {
    /// No trace has been seen: no site is known.
    pub fn new() -> Points {
        Points::default()
    }

    /// Evaluates a trace that was made with a point at every access.
    pub fn observe(&mut self, trace: TraceView<'_>) {
        let mut clocks = Clocks::default();
        let mut variables: FxHashMap<u64, Variable> = FxHashMap::default();
        for step in trace.steps.iter().filter(|s| !s.is_value()) {
            let epoch = clocks.step(step.thread, &step.op);
            if !(step.op.is_memory_read() || step.op.is_memory_write()) {
                continue;
            }
            self.seen.insert(step.op.site);
            let variable = variables.entry(step.op.object).or_default();
            let now = clocks.of(step.thread);
            for site in variable.unordered_with(now, step.op.is_memory_write()) {
                self.unordered.extend([site, step.op.site]);
            }
            variable.access(epoch, &step.op);
        }
    }

    /// Sites that need a point, sorted.
    pub fn needed(&self) -> Vec<u32> {
        sorted(self.unordered.iter().copied())
    }

    /// Sites that need none, as far as is known, sorted.
    pub fn not_needed(&self) -> Vec<u32> {
        sorted(self.seen.difference(&self.unordered).copied())
    }
}

/// How a granule is accessed: the thread, whether plainly, whether to write, and which bytes.
type Manner = (LogicalThread, bool, bool, u8);

/// The granules on which an execution has a data race: two conflicting accesses, not both atomic,
/// that nothing orders. Here atomic operations order too, whatever their memory order is: that
/// hides races, and never invents one.
pub fn racy(trace: TraceView<'_>) -> FxHashSet<u64> {
    let mut clocks = Clocks { atomics_order: true, ..Clocks::default() };
    let mut accesses: FxHashMap<u64, FxHashMap<Manner, (Epoch, Op)>> = FxHashMap::default();
    let mut racy = FxHashSet::default();
    for step in trace.steps.iter().filter(|s| !s.is_value()) {
        let (t, op) = (step.thread, &step.op);
        let epoch = clocks.step(t, op);
        if !(op.is_memory_read() || op.is_memory_write()) {
            continue;
        }
        let is_plain = |op: &Op| matches!(op.kind(), OpKind::DataRead | OpKind::DataWrite);
        let known = accesses.entry(op.object).or_default();
        let conflicts = |other: &Op| {
            (op.is_memory_write() || other.is_memory_write())
                && (is_plain(op) || is_plain(other))
                && (op.first_byte().is_none() || other.covers(op.object, op.bytes()))
        };
        let now = clocks.of(t);
        if known.values().any(|(epoch, other)| conflicts(other) && !now.covers(*epoch)) {
            racy.insert(op.object);
        }
        known.insert((t, is_plain(op), op.is_memory_write(), op.bytes()), (epoch, *op));
    }
    racy
}

fn sorted(sites: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sites: Vec<u32> = sites.collect();
    sites.sort_unstable();
    sites
}

/// The last accesses of each thread, with their sites.
#[derive(Default)]
struct Variable {
    reads: FxHashMap<ThreadId, (Epoch, u32)>,
    writes: FxHashMap<ThreadId, (Epoch, u32)>,
}

impl Variable {
    fn unordered_with(&self, now: &VectorClock, is_write: bool) -> Vec<u32> {
        let reads = self.reads.values().filter(|_| is_write);
        let conflicting = self.writes.values().chain(reads);
        conflicting.filter(|(epoch, _)| !now.covers(*epoch)).map(|(_, site)| *site).collect()
    }

    fn access(&mut self, epoch: Epoch, op: &Op) {
        if op.is_memory_read() {
            self.reads.insert(epoch.thread, (epoch, op.site));
        }
        if op.is_memory_write() {
            self.writes.insert(epoch.thread, (epoch, op.site));
        }
    }
}

/// Happens-before by everything but plain memory accesses.
#[derive(Default)]
struct Clocks {
    threads: FxHashMap<LogicalThread, VectorClock>,
    objects: FxHashMap<u64, VectorClock>,
    /// Atomic operations on one object order what their threads do.
    atomics_order: bool,
}

impl Clocks {
    fn of(&self, t: LogicalThread) -> &VectorClock {
        &self.threads[&t]
    }

    fn step(&mut self, t: LogicalThread, op: &Op) -> Epoch {
        let clock = self.threads.entry(t).or_default();
        let epoch = clock.tick(clock_thread(t));
        let atomic = matches!(op.kind(), OpKind::AtomicLoad | OpKind::AtomicStore | OpKind::AtomicRmw);
        let orders = !op.is_memory() || self.atomics_order && atomic;
        let orders = orders && matches!(op.class(), Class::Reads | Class::Writes);
        for key in op.keys().into_iter().filter(|k| orders && *k != 0) {
            let object = self.objects.entry(key).or_default();
            clock.join(object);
            object.join(clock);
        }
        epoch
    }
}

fn clock_thread(t: LogicalThread) -> ThreadId {
    ThreadId(u32::from(t.0))
}
