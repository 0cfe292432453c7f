//! The log: a header, then records, in a file that the runtime maps shared.

use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddlelg");

/// The file has this length and is sparse. [`LogHeader::lost`] counts the records that do not fit.
pub const FILE_SIZE: usize = 64 << 20;

/// The first bytes of the file. Counters are updated in place while the target runs.
#[repr(C)]
pub struct LogHeader {
    pub magic: u64,
    pub version: u32,
    pub pid: u32,
    /// Bytes in use after the header, reserved by fetch_add.
    pub used: AtomicU64,
    pub lost: AtomicU64,
    pub flushes: AtomicU64,
    /// The number of racing pairs of accesses, before pairs are merged into known ones.
    pub races_seen: AtomicU64,
    /// Threads that got no slot because more than 250 ran at once.
    pub threads_untracked: AtomicU64,
    pub threads: AtomicU64,
    /// 1 once an instrumented module has called in.
    pub instrumented: AtomicU32,
    /// 1 in a process that executes a copy of its code ([`crate::relocated`]).
    pub relocated: AtomicU32,
    /// Children that this process has started to create and that have no log yet.
    pub children_awaited: AtomicU64,
    /// 1 in a process that asked for a plan and got none.
    pub without_plan: AtomicU64,
    pub reserved: [u64; 5],
}

const _: () = assert!(size_of::<LogHeader>() == 128);

/// Why the runtime gave up before the program started.
pub mod fatal {
    pub const SHADOW: u64 = 1;
    pub const LAYOUT: u64 = 2;
    /// The session's folder has no room for what the process must write there.
    pub const NO_ROOM: u64 = 4;
    /// The copy of the program's code cannot be where it must be.
    pub const NO_PLACE: u64 = 5;
    /// The processor checks return addresses and jumps (CET), which copied code does not survive.
    pub const CONTROL_FLOW: u64 = 6;
}
