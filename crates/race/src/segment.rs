//! Segments (paper, 4.1 and 4.3): runs of memory accesses of one thread without a synchronisation
//! event.
//!
//! All accesses of a segment have the same lock sets and the same happens-before relation to all
//! other events, so a segment represents them all. Vector clocks decide happens-before between
//! segments. A thread increments its own count after each event that others can learn of (a SIGNAL,
//! or an unlock where unlocks make arcs). So the thread's own count in a segment's clock numbers
//! the period between two such events, and for different threads `S ≺ S'` exactly when the clock of
//! `S'` covers that count of `S`'s thread.

use crate::event::EventSource;
use crate::lockset::LockSet;
use raddle_base::clock::{Epoch, ThreadId, VectorClock};
use std::sync::Arc;

/// One segment. It lives as long as some segment set, or its thread, refers to it.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Segments are numbered in the order in which they begin, over all threads.
    pub serial: u64,
    pub thread: ThreadId,
    /// The thread's clock when the segment began.
    pub clock: Arc<VectorClock>,
    /// The context of the segment's first access.
    pub context: EventSource,
    pub writer_locks: LockSet,
    pub reader_locks: LockSet,
}

impl Segment {
    /// `self ≺ other`.
    pub fn precedes(&self, other: &Self) -> bool {
        if self.thread == other.thread {
            self.serial < other.serial
        } else {
            other.clock.covers(self.epoch())
        }
    }

    /// `self ⪯ other`.
    pub fn precedes_or_is(&self, other: &Self) -> bool {
        self.serial == other.serial || self.precedes(other)
    }

    /// Neither precedes the other, and they are not the same.
    pub fn unrelated(&self, other: &Self) -> bool {
        !self.precedes_or_is(other) && !other.precedes(self)
    }

    /// The lock set by which an access in this segment is judged.
    pub fn locks(&self, is_write: bool) -> &LockSet {
        if is_write { &self.writer_locks } else { &self.reader_locks }
    }

    fn epoch(&self) -> Epoch {
        self.clock.epoch(self.thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(serial: u64, thread: u32, counts: [u64; 2]) -> Segment {
        let epochs = (0..).zip(counts).map(|(thread, count)| Epoch { thread: ThreadId(thread), count });
        Segment {
            serial,
            thread: ThreadId(thread),
            clock: Arc::new(epochs.collect()),
            context: EventSource(0),
            writer_locks: LockSet::default(),
            reader_locks: LockSet::default(),
        }
    }

    #[test]
    fn segments_of_one_stretch_are_ordered_as_they_began() {
        let (first, second) = (segment(0, 0, [1, 0]), segment(1, 0, [1, 0]));
        assert!(first.precedes(&second) && !second.precedes(&first) && !first.precedes(&first));
        assert!(first.precedes_or_is(&first) && !first.unrelated(&first));
    }

    #[test]
    fn segments_of_two_threads_are_ordered_by_what_was_heard() {
        let sender = segment(0, 0, [1, 0]);
        let (deaf, receiver) = (segment(1, 1, [0, 1]), segment(2, 1, [1, 1]));
        assert!(sender.unrelated(&deaf) && deaf.unrelated(&sender));
        assert!(sender.precedes(&receiver) && !receiver.precedes(&sender));
        assert!(segment(3, 0, [2, 0]).unrelated(&receiver), "the sender's next stretch was not heard of");
    }
}
