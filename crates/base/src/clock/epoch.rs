//! One thread's moment: `c@t`.

use core::fmt;

/// A thread, numbered from zero in the order of creation. Numbers are dense, because clocks use
/// them as indices.
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

/// The moment `count` of `thread`. It carries as much information as a whole clock wherever the
/// only question is "has this clock seen that thread's moment?" (FastTrack, 2009).
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
