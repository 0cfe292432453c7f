//! Where a run of the second tester of `raddle conseq` is delayed: the file `delays` of the session's folder.
//!
//! A [`Header`], and behind it the program counters of the other writes to the same memory. The driver writes it before the
//! program starts; the processes of the run share the words that change.

use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddledl");

/// The name of the file in the session's folder.
pub const FILE: &str = "delays";

#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// How long one delay may be, in milliseconds.
    pub limit: u32,
    /// The program counter of the read; 0: nothing is delayed.
    pub read: u64,
    /// That of the write which is to come right before it; 0: none, the read is to come first.
    pub write: u64,
    /// 1: one thread makes both, so that the write does not wait for the read.
    pub same_thread: u32,
    /// Program counters behind this header.
    pub others: u32,
    /// Readers that wait for the write.
    pub readers: AtomicU32,
    /// The thread that makes the write; 0: not yet.
    pub written: AtomicU32,
    /// The read has come after it.
    pub happened: AtomicU32,
    /// Delays so far.
    pub delays: AtomicU32,
    /// 1: the write is the release of a block, which waits for a reader of that very block.
    pub frees: u32,
    pub reserved: u32,
    /// What the last reader that came is about to read.
    pub wanted: AtomicU64,
    /// The block that was released, its first byte and the one behind it.
    pub freed: [AtomicU64; 2],
    /// Where the read was called from, innermost first, and where the write was.
    pub stacks: [[AtomicU64; FRAMES]; 2],
}

/// Frames of a stack.
pub const FRAMES: usize = 12;

const _: () = assert!(size_of::<Header>() == 88 + 16 * FRAMES);

impl Header {
    pub fn new(limit: u32, (read, write): (u64, u64), same_thread: bool, others: u32) -> Header {
        Header {
            magic: MAGIC,
            version: crate::VERSION,
            limit,
            read,
            write,
            same_thread: same_thread.into(),
            others,
            readers: 0.into(),
            written: 0.into(),
            happened: 0.into(),
            delays: 0.into(),
            frees: 0,
            reserved: 0,
            wanted: 0.into(),
            freed: [const { AtomicU64::new(0) }; 2],
            stacks: [const { [const { AtomicU64::new(0) }; FRAMES] }; 2],
        }
    }

    pub const fn bytes(&self) -> usize {
        size_of::<Header>() + self.others as usize * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lies_behind_the_header() {
        let header = Header::new(100, (1, 2), true, 3);
        assert_eq!((header.bytes(), header.same_thread), (size_of::<Header>() + 24, 1));
    }
}
