//! One thread's moment: `c@t`.

use core::fmt;

/// A thread, numbered from zero in the order of creation. Numbers are dense: clocks are indexed by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The position of this thread in a dense table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "T{}", self.0)
    }
}

/// The moment `count` of `thread`. It carries as much as a whole clock does wherever the question is only
/// "had that thread's moment been heard of here?" (FastTrack, 2009).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch {
    pub thread: ThreadId,
    pub count: u64,
}

impl fmt::Display for Epoch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.count, self.thread)
    }
}
