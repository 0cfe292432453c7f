//! The config page: what the driver tells every process of a session.

use core::sync::atomic::AtomicU32;

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddlecf");

/// Mapped shared, read-only in the target.
#[repr(C)]
pub struct Config {
    pub magic: u64,
    pub version: u32,
    /// [`ConfigMode`] as a number.
    pub mode: u32,
    /// 0, 1 or 2: section 4.3 of the paper.
    pub history: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// The driver increments this when a process exceeds the memory limit. A runtime that sees a
    /// new value forgets its shadow state.
    pub flush_request: AtomicU32,
    pub reserved: [u32; 9],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum ConfigMode {
    /// Locks create happens-before edges (4.4.1).
    HappensBefore = 0,
    /// Locks form locksets (4.2).
    Hybrid = 1,
    /// Like hybrid, but a cache line counts only from the second thread on (4.4.2).
    Fast = 2,
    /// No detector: the runtime decides which thread runs, following the orders in the file
    /// [`crate::explore`].
    Explore = 3,
    /// No detector: the runtime redirects and delays calls of thread-unsafe functions
    /// ([`crate::tsvd`]).
    Tsvd = 4,
}

impl ConfigMode {
    pub fn from_number(n: u32) -> Option<ConfigMode> {
        [
            ConfigMode::HappensBefore,
            ConfigMode::Hybrid,
            ConfigMode::Fast,
            ConfigMode::Explore,
            ConfigMode::Tsvd,
        ]
        .into_iter()
        .find(|m| *m as u32 == n)
    }
}

pub mod flag {
    /// An 8-byte granule counts only from the second thread on (the initialization state of 4.4).
    pub const INIT_STATE: u32 = 1 << 0;
    /// Record lock-order edges.
    pub const LOCK_ORDER: u32 = 1 << 1;
    /// In hybrid mode, a mutex that belongs to a condition variable creates happens-before edges.
    pub const CONDVAR_MUTEXES_ORDER: u32 = 1 << 2;
    /// The driver answers on `ask`.
    pub const HAS_PLANS: u32 = 1 << 3;
    /// With [`super::ConfigMode::Explore`]: the runtime is active in uninstrumented programs too.
    pub const PLAIN: u32 = 1 << 4;
    /// With [`super::ConfigMode::Explore`]: a process logs the command that started it, and then
    /// runs as if raddle were absent.
    pub const COMMANDS: u32 = 1 << 5;
    /// With history 2: the runtime does not check accesses. It delays them as the file
    /// [`crate::delays`] says.
    pub const DELAYS: u32 = 1 << 6;
    /// With history 2: the runtime does not check accesses. It writes them to the file
    /// [`crate::trace`] while threads run freely.
    pub const TRACED: u32 = 1 << 7;
    /// The session has a copy of an uninstrumented program's code ([`crate::relocated`]).
    pub const RELOCATED: u32 = 1 << 8;
    /// The driver makes copies of shared libraries' code, for processes that are watched.
    pub const LIBRARIES: u32 = 1 << 9;
    /// Also for those of programs that have probes of their own.
    pub const ALL_LIBRARIES: u32 = 1 << 10;
}

impl Config {
    pub fn new(mode: ConfigMode, history: u32, flags: u32) -> Config {
        Config {
            magic: MAGIC,
            version: crate::VERSION,
            mode: mode as u32,
            history,
            flags,
            flush_request: AtomicU32::new(0),
            reserved: [0; 9],
        }
    }

    /// The page as bytes, for writing it to a file.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: Config is repr(C) with no padding (checked below), so all its bytes are
        // initialised.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), size_of::<Config>()) }
    }
}

const _: () = assert!(size_of::<Config>() == 64);
