//! Happens-before by vector clocks, for the policy `tsvd-hb` (3.5): forks, joins, and releases and
//! acquires of anything that synchronises. A thread's own count increases only at points, which are
//! few compared with synchronisation.
//!
//! One lock protects all of it. That is slow where many threads synchronise at once, and it is what
//! the paper measures: the price of analysing synchronisation.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use crate::Host;
use crate::clocks::{CLOCK_THREADS, ClockId, Clocks};
use crate::spin::Spin;

const OBJECTS: usize = 1 << 14;
const PROBES: usize = 16;

/// The clock last released to a synchronisation object.
#[repr(C)]
struct Released {
    /// Zero: free.
    object: u64,
    clock: ClockId,
}

#[repr(C)]
pub(crate) struct OrderState {
    threads: [ClockId; CLOCK_THREADS as usize],
    released: [Released; OBJECTS],
    clocks: Clocks,
}

#[repr(C)]
pub(crate) struct SyncOrder {
    lock: Spin,
    /// The number of changes that found no room.
    pub lost: AtomicU64,
    state: UnsafeCell<OrderState>,
}

// SAFETY: only `with` touches the state, under the lock.
unsafe impl Sync for SyncOrder {}

impl SyncOrder {
    pub(crate) fn with<T>(&self, host: &mut impl Host, act: impl FnOnce(&mut OrderState) -> T) -> T {
        let _held = self.lock.hold(host);
        // SAFETY: the lock is held.
        let state = unsafe { &mut *self.state.get() };
        let result = act(state);
        self.lost.store(state.clocks.lost, Relaxed);
        result
    }

    pub(crate) fn break_open(&self) {
        self.lock.break_open();
    }
}

impl OrderState {
    /// Advances the time of `thread` at a point. Returns the new time.
    pub(crate) fn tick(&mut self, thread: u32) -> u64 {
        let clock = self.threads[index(thread)];
        let count = self.clocks.get(clock, thread) + 1;
        self.threads[index(thread)] = self.clocks.set(clock, thread, count);
        count
    }

    /// Whether the other thread's point at `count` happens before the current point of `thread`.
    pub(crate) fn ordered(&self, other: u32, count: u64, thread: u32) -> bool {
        self.clocks.get(self.threads[index(thread)], other) >= count
    }

    pub(crate) fn fork(&mut self, parent: u32, child: u32) {
        self.learn(child, self.threads[index(parent)]);
    }

    pub(crate) fn join(&mut self, parent: u32, child: u32) {
        self.learn(parent, self.threads[index(child)]);
    }

    pub(crate) fn release(&mut self, thread: u32, object: u64) {
        let (slot, clock) = (self.slot(object), self.threads[index(thread)]);
        self.released[slot].clock = self.clocks.join(self.released[slot].clock, clock);
    }

    pub(crate) fn acquire(&mut self, thread: u32, object: u64) {
        let slot = self.slot(object);
        self.learn(thread, self.released[slot].clock);
    }

    fn learn(&mut self, thread: u32, clock: ClockId) {
        self.threads[index(thread)] = self.clocks.join(self.threads[index(thread)], clock);
    }

    /// The object's slot. If its neighbourhood is full, it takes the first slot there, and an edge
    /// is lost.
    fn slot(&mut self, object: u64) -> usize {
        let first = (object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        let mut probes = (first..first + PROBES).map(|i| i % OBJECTS);
        let found = probes.find(|i| [0, object].contains(&self.released[*i].object));
        let slot = found.unwrap_or(first % OBJECTS);
        if self.released[slot].object != object {
            self.clocks.release(self.released[slot].clock);
            self.released[slot] = Released { object, clock: ClockId::default() };
        }
        slot
    }
}

fn index(thread: u32) -> usize {
    (thread % CLOCK_THREADS) as usize
}
