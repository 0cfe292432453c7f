//! Could this execution have behaved in a way that is not sequentially consistent? (Section 4.5.)
//!
//! *Effective program verification for relaxed memory models* (Burckhardt, Musuvathi, CAV 2008): a
//! sequentially consistent execution shows whether store buffers could have made a difference. Take
//! a load that comes after a store of its own thread to another address, with no fence in between.
//! Its processor may execute the load while the store is still in the buffer. Suppose some write
//! `w` to the load's address comes before the load only because of that program order. Then the
//! load could have missed `w`, and no interleaving explains what it then reads: `w` comes before
//! the store, the store before the load, the load before `w`.
//!
//! So two orders are kept as clocks: happens-before (program order, and conflicting accesses in the
//! order they came), and *relaxed* happens-before, which leaves out program order from a store to a
//! later load. A write that the first puts before a load and the second does not is a finding.
//! Read-modify-writes, seq_cst stores, fences and every synchronisation operation empty the buffer.
//! A load that finds its own thread's last store in the buffer reads it there: that says nothing
//! about when the store reaches memory, and orders nothing.
//!
//! The paper's theorem is that a program behaves under TSO as under sequential consistency if none
//! of its sequentially consistent executions has a finding. The criterion is stated here in our own
//! words; `tests/relaxed.rs` compares it on random small programs with brute force with store
//! buffers, in both directions. Weaker models (`--memory c11`) allow more than this monitor looks
//! for. Memory is identified by the first byte of an access; one variable that is accessed in
//! several sizes may escape.

use raddle_base::clock::{Epoch, ThreadId, VectorClock};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::step::Step;
use crate::thread::LogicalThread;
use crate::trace::TraceView;

/// A load that could have missed a write, had a store buffer let a load pass a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Overtaking {
    /// The step of the store, by the load's own thread, that the load may overtake. None if the
    /// load that overtakes a store is in another thread, and this is where the effect would be
    /// seen.
    pub store: Option<usize>,
    /// The step of the load.
    pub load: usize,
    /// The step of the write that the load would then miss.
    pub missed: usize,
}

/// All loads of the execution that could have overtaken a store with a visible effect.
pub fn overtakings(trace: TraceView<'_>) -> Vec<Overtaking> {
    let mut monitor = Monitor::default();
    let steps = trace.steps.iter().enumerate().filter(|(_, s)| !s.is_value());
    steps.filter_map(|(i, step)| monitor.step(i, step)).collect()
}

#[derive(Default)]
struct Thread {
    /// Happens-before.
    full: VectorClock,
    /// Relaxed, up to the last step: what a store comes after.
    issued: VectorClock,
    /// Relaxed, without stores that may be in the buffer: what a load comes after.
    visible: VectorClock,
    buffer: Vec<Buffered>,
}

/// A store that may be in the buffer.
struct Buffered {
    step: usize,
    full: VectorClock,
}

/// Both orders at one moment of an object's history.
#[derive(Clone, Default)]
struct Moment {
    full: VectorClock,
    relaxed: VectorClock,
}

#[derive(Default)]
struct Object {
    last_write: Option<(usize, Epoch)>,
    writes: Moment,
    reads: Moment,
}

#[derive(Default)]
struct Monitor {
    threads: FxHashMap<LogicalThread, Thread>,
    objects: FxHashMap<u64, Object>,
}

/// Loads and the rest of a thread are counted separately: a load does not come after the stores
/// before it, so one count would say too much.
fn component(t: LogicalThread, load: bool) -> ThreadId {
    ThreadId(2 * u32::from(t.0) + u32::from(!load))
}

impl Moment {
    fn join(&mut self, full: &VectorClock, relaxed: &VectorClock) {
        self.full.join(full);
        self.relaxed.join(relaxed);
    }
}

impl Monitor {
    fn step(&mut self, i: usize, step: &Step) -> Option<Overtaking> {
        let thread = self.threads.entry(step.thread).or_default();
        let op = &step.op;
        let load = op.is_memory_read() && !op.is_memory_write();
        let store = op.is_memory_write() && !op.is_memory_read() && !op.drains();
        if (!load && !store) || op.is_fenced() {
            thread.empty_buffer();
        }
        let mut found = None;
        if load {
            found = self.objects.get(&op.address()).and_then(|object| thread.check(i, object));
        }
        let epoch = thread.full.tick(component(step.thread, load));
        thread.issued.set(epoch.thread, epoch.count);
        let [first, second] = op.keys();
        let first = if load || op.is_memory_write() { op.address() } else { first };
        for key in [first, second].into_iter().filter(|k| *k != 0) {
            let object = self.objects.entry(key).or_default();
            if load {
                thread.load(epoch, object);
            } else {
                thread.store(i, epoch, object);
            }
        }
        if store {
            thread.buffer.push(Buffered { step: i, full: thread.full.clone() });
        } else if !load {
            thread.empty_buffer();
        }
        found
    }
}

impl Thread {
    fn empty_buffer(&mut self) {
        self.buffer.clear();
        self.visible.join(&self.issued);
    }

    /// Whether the store of this step belongs to this thread and may be in the buffer.
    fn is_buffered(&self, step: usize) -> bool {
        self.buffer.iter().any(|s| s.step == step)
    }

    fn check(&self, load: usize, object: &Object) -> Option<Overtaking> {
        let (missed, write) = object.last_write?;
        if self.is_buffered(missed) || !self.full.covers(write) || self.visible.covers(write) {
            return None;
        }
        let store = self.buffer.iter().find(|s| s.full.covers(write)).map(|s| s.step);
        Some(Overtaking { store, load, missed })
    }

    fn load(&mut self, epoch: Epoch, object: &mut Object) {
        self.full.join(&object.writes.full);
        self.visible.set(epoch.thread, epoch.count);
        if !object.last_write.is_some_and(|(step, _)| self.is_buffered(step)) {
            self.visible.join(&object.writes.relaxed);
        }
        self.issued.join(&self.visible);
        object.reads.join(&self.full, &self.visible);
    }

    /// A store, or anything else that changes its object.
    fn store(&mut self, i: usize, epoch: Epoch, object: &mut Object) {
        for before in [&object.writes, &object.reads] {
            self.full.join(&before.full);
            self.issued.join(&before.relaxed);
        }
        object.writes.join(&self.full, &self.issued);
        object.last_write = Some((i, epoch));
    }
}
