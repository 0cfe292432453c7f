//! Vector time as the interpreter needs it: the shared clock, with queries by epochs of 32 bits.
//!
//! An epoch packs a thread and its time, so that an entry of the access history stays at 16 bytes.
//! 256 threads and 16 million releases per thread are more than a run of bounded steps can make.

use raddle_base::clock::{ThreadId, VectorClock};

/// The maximum number of threads in one run.
pub const MOST_THREADS: usize = 250;

const TIME: u32 = 0x00FF_FFFF;

/// A thread (upper 8 bits) at a time (lower 24). 0 is "never": threads start at time 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackedEpoch(pub u32);

impl PackedEpoch {
    #[inline(always)]
    pub fn new(thread: usize, time: u32) -> Self {
        Self((thread as u32) << 24 | time & TIME)
    }
    #[inline(always)]
    pub fn thread(self) -> usize {
        (self.0 >> 24) as usize
    }
    #[inline(always)]
    pub fn time(self) -> u32 {
        self.0 & TIME
    }
    #[inline(always)]
    pub fn is_never(self) -> bool {
        self.0 == 0
    }
}

/// A vector clock that is queried by packed epochs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimulatedClock(VectorClock);

impl SimulatedClock {
    #[inline(always)]
    pub fn get(&self, thread: usize) -> u32 {
        self.0.get(ThreadId(thread as u32)) as u32
    }

    /// Whether the epoch happened before.
    #[inline(always)]
    pub fn covers(&self, e: PackedEpoch) -> bool {
        self.get(e.thread()) >= e.time()
    }

    pub fn join(&mut self, other: &Self) {
        self.0.join(&other.0);
    }

    /// Becomes a copy of another clock, keeping the allocation.
    pub fn assign(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }

    /// Advances the thread's time. Time stops at the end of an epoch's 24 bits, far beyond any
    /// budget.
    pub fn tick(&mut self, thread: usize) {
        if self.get(thread) < TIME {
            self.0.tick(ThreadId(thread as u32));
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_covers_both() {
        let (mut a, mut b) = (SimulatedClock::default(), SimulatedClock::default());
        a.tick(0);
        b.tick(2);
        b.tick(2);
        assert!(!a.covers(PackedEpoch::new(2, 2)));
        a.join(&b);
        assert!(
            a.covers(PackedEpoch::new(2, 2))
                && a.covers(PackedEpoch::new(0, 1))
                && !a.covers(PackedEpoch::new(2, 3))
        );
    }

    #[test]
    fn an_epoch_keeps_thread_and_time() {
        let e = PackedEpoch::new(249, 0x12_3456);
        assert_eq!((e.thread(), e.time()), (249, 0x12_3456));
        assert!(PackedEpoch::default().is_never());
    }
}
