//! The plain vector clock: one count for each thread, in a vector that grows as threads appear.

use super::{Epoch, ThreadId, lattice_order};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A vector clock. A thread that the clock has never seen has the count zero.
///
/// The vector never ends in a zero. So equal clocks are equal vectors, whatever operations led to
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VectorClock {
    counts: Vec<u64>,
}

impl VectorClock {
    /// The least clock: every count is zero.
    pub const fn new() -> Self {
        Self { counts: Vec::new() }
    }

    pub fn get(&self, thread: ThreadId) -> u64 {
        self.counts.get(thread.index()).copied().unwrap_or(0)
    }

    pub fn set(&mut self, thread: ThreadId, count: u64) {
        let index = thread.index();
        if index >= self.counts.len() {
            if count == 0 {
                return;
            }
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] = count;
        while self.counts.last() == Some(&0) {
            self.counts.pop();
        }
    }

    /// Advances `thread` by one and returns its new moment.
    pub fn tick(&mut self, thread: ThreadId) -> Epoch {
        let count = self.get(thread) + 1;
        self.set(thread, count);
        Epoch { thread, count }
    }

    /// The moment of `thread` as this clock knows it.
    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, count: self.get(thread) }
    }

    /// Whether this clock has seen the moment.
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.count <= self.get(epoch.thread)
    }

    /// Sets this clock to the join of both. Returns whether any count changed.
    pub fn join(&mut self, other: &Self) -> bool {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        let mut learned = false;
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            if *theirs > *mine {
                *mine = *theirs;
                learned = true;
            }
        }
        learned
    }

    /// Whether no count here exceeds the other's.
    pub fn leq(&self, other: &Self) -> bool {
        self.counts.len() <= other.counts.len() && self.counts.iter().zip(&other.counts).all(|(a, b)| a <= b)
    }

    /// Whether neither clock is below the other.
    pub fn concurrent_with(&self, other: &Self) -> bool {
        !self.leq(other) && !other.leq(self)
    }

    /// Whether this is the least clock.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// The threads with a count above zero, in order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = Epoch> + '_ {
        let known = self.counts.iter().enumerate().filter(|(_, count)| **count != 0);
        known.map(|(index, count)| Epoch { thread: ThreadId(index as u32), count: *count })
    }
}

impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        lattice_order(self.leq(other), other.leq(self))
    }
}

impl FromIterator<Epoch> for VectorClock {
    fn from_iter<I: IntoIterator<Item = Epoch>>(epochs: I) -> Self {
        let mut clock = Self::new();
        for Epoch { thread, count } in epochs {
            clock.set(thread, count);
        }
        clock
    }
}
