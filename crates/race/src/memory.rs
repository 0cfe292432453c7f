//! The per-ID state (paper, 4.2): two segment sets a byte, and IS-RACE over them.

use crate::event::ByteRange;
use crate::segment_set::{SegmentAccess, SegmentSet};
use raddle_base::clock::VectorClock;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// What is known of one byte.
#[derive(Default)]
pub struct ByteState {
    /// SS_Wr.
    pub writers: SegmentSet,
    /// SS_Rd.
    pub readers: SegmentSet,
    /// A race was reported here.
    pub raced: bool,
    /// What `PUBLISH_MEMORY_RANGE` said its accessors may rely on.
    pub published: VectorClock,
}

impl ByteState {
    /// HANDLE-READ-OR-WRITE-EVENT, lines 4 to 10.
    pub fn update(&mut self, current: &SegmentAccess, is_write: bool, bound: Option<NonZeroUsize>) {
        self.readers.remove_covered(current);
        if is_write {
            self.writers.remove_covered(current);
            self.writers.insert(current.clone(), bound);
        } else {
            self.readers.insert(current.clone(), bound);
        }
    }

    /// IS-RACE: whether any two members race.
    pub fn is_race(&self) -> bool {
        self.writers.iter().enumerate().any(|(i, w1)| {
            let writes = self.writers.iter().skip(i + 1).any(|w2| races(w1, true, w2, true));
            writes || self.readers.iter().any(|r| races(w1, true, r, false))
        })
    }

    /// The members that race with the current access, each with whether it is a write.
    pub fn racing_with<'a>(
        &'a self,
        current: &'a SegmentAccess,
        is_write: bool,
    ) -> impl Iterator<Item = (&'a SegmentAccess, bool)> {
        let writers = self.writers.iter().map(|w| (w, true));
        let readers = self.readers.iter().filter(move |_| is_write).map(|r| (r, false));
        writers.chain(readers).filter(move |(other, write)| races(other, *write, current, is_write))
    }
}

/// "Concurrent" of 4.1, and not both atomic.
fn races(a: &SegmentAccess, a_writes: bool, b: &SegmentAccess, b_writes: bool) -> bool {
    let unrelated = a.segment.unrelated(&b.segment);
    let unprotected = a.segment.locks(a_writes).is_disjoint(b.segment.locks(b_writes));
    unrelated && unprotected && !(a.atomic && b.atomic)
}

/// The bytes of the program that have a state.
#[derive(Default)]
pub struct ByteStates {
    bytes: BTreeMap<u64, ByteState>,
}

impl ByteStates {
    pub fn byte(&mut self, byte: u64) -> &mut ByteState {
        self.bytes.entry(byte).or_default()
    }

    /// The states that exist within the range.
    pub fn known(&self, range: ByteRange) -> impl Iterator<Item = &ByteState> {
        self.bytes.range(range.bytes()).map(|(_, state)| state)
    }

    /// Cancels the publication of these bytes: later accesses learn nothing from it.
    pub fn unpublish(&mut self, range: ByteRange) {
        for (_, state) in self.bytes.range_mut(range.bytes()) {
            state.published.clear();
        }
    }

    pub fn reset(&mut self, range: ByteRange) {
        let known: Vec<u64> = self.bytes.range(range.bytes()).map(|(byte, _)| *byte).collect();
        for byte in known {
            self.bytes.remove(&byte);
        }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}
