//! Where `raddle conseq`'s second tester delays a run: the file `delays` of the session's folder.
//!
//! The file has a [`DelaysHeader`], followed by the program counters of the other writes to the
//! same memory. The driver writes it before the program starts. The processes of the run share the
//! words that change.

use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddledl");

/// The name of the file in the session's folder.
pub const FILE: &str = "delays";

#[repr(C)]
pub struct DelaysHeader {
    pub magic: u64,
    pub version: u32,
    /// How long one delay may be, in milliseconds.
    pub limit: u32,
    /// The program counter of the read. 0: nothing is delayed.
    pub read: u64,
    /// The program counter of the write that must come right before the read. 0: there is none, and
    /// the read must come first.
    pub write: u64,
    /// 1: one thread performs both, so the write does not wait for the read.
    pub same_thread: u32,
    /// The number of program counters behind this header.
    pub others: u32,
    /// The number of readers that wait for the write.
    pub readers: AtomicU32,
    /// The thread that performs the write. 0: not yet.
    pub written: AtomicU32,
    /// The read has come after the write.
    pub happened: AtomicU32,
    /// The number of delays so far.
    pub delays: AtomicU32,
    /// 1: the write is the `free` of a block. It waits for a reader of the same block.
    pub frees: u32,
    pub reserved: u32,
    /// The address that the latest reader is about to read.
    pub wanted: AtomicU64,
    /// The freed block: its first byte and the byte behind its last.
    pub freed: [AtomicU64; 2],
    /// The call stacks of the read and of the write, innermost frame first.
    pub stacks: [[AtomicU64; FRAMES]; 2],
}

/// The number of frames of a stack.
pub const FRAMES: usize = 12;

const _: () = assert!(size_of::<DelaysHeader>() == 88 + 16 * FRAMES);

impl DelaysHeader {
    pub fn new(limit: u32, (read, write): (u64, u64), same_thread: bool, others: u32) -> DelaysHeader {
        DelaysHeader {
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
        size_of::<DelaysHeader>() + self.others as usize * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lies_behind_the_header() {
        let header = DelaysHeader::new(100, (1, 2), true, 3);
        assert_eq!((header.bytes(), header.same_thread), (size_of::<DelaysHeader>() + 24, 1));
    }
}
