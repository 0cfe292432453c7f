//! Memory that only one thread has touched yet (paper, 4.4 and 4.4.2).
//!
//! Fast mode ignores accesses to a cache line of 64 bytes until a second thread touches it; the
//! access of the second thread is the first that counts. The initialization state, after Eraser,
//! does the same for lines of one byte or eight. Both avoid false reports at the price of missed
//! races: the accesses of the first thread are forgotten, so passing a freshly initialised object
//! to another thread is never reported, and neither is a real race with that initialisation.

use crate::event::ByteRange;
use raddle_base::clock::ThreadId;
use std::collections::BTreeMap;

enum Owner {
    Only(ThreadId),
    Shared,
}

pub struct Ownership {
    /// Bytes in a line.
    line: u64,
    owners: BTreeMap<u64, Owner>,
}

impl Ownership {
    pub fn new(line: u64) -> Self {
        Self { line, owners: BTreeMap::new() }
    }

    /// Notes the access, and says whether the line has now been touched by more than one thread.
    pub fn touch(&mut self, byte: u64, thread: ThreadId) -> bool {
        let owner = self.owners.entry(byte / self.line).or_insert(Owner::Only(thread));
        if matches!(owner, Owner::Only(first) if *first != thread) {
            *owner = Owner::Shared;
        }
        matches!(owner, Owner::Shared)
    }

    /// The bytes are fresh: lines that lie entirely inside have no owner again. A line that also
    /// has other objects keeps its owner, because accesses to them were judged by it.
    pub fn reset(&mut self, bytes: ByteRange) {
        let (first, end) = (bytes.start.div_ceil(self.line), bytes.end() / self.line);
        if first < end {
            let inside: Vec<u64> = self.owners.range(first..end).map(|(line, _)| *line).collect();
            for line in inside {
                self.owners.remove(&line);
            }
        }
    }

    pub fn clear(&mut self) {
        self.owners.clear();
    }
}
