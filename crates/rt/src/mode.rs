//! What the runtime does in this process: one [`Mode`], decided when the process starts.
//!
//! Each function in [`crate::interpose`] must say what it does in every mode. So a new mode is a
//! new variant here, and the compiler names each function that does not handle it yet.

use core::sync::atomic::{AtomicU8, Ordering::*};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// No driver watches, or it watches another process: every function is the real one.
    Off,
    /// `raddle run`: the race detector.
    Detect,
    /// An ordinary run of `raddle conseq`: accesses are recorded or delayed, and races are not
    /// detected.
    Record,
    /// `raddle explore`, and the scheduled runs of `conseq`: one thread runs at a time.
    Explore,
    /// `raddle tsvd`: watches calls of thread-unsafe functions.
    Tsvd,
}

/// The modes, under the names that [`crate::interpose`] uses.
pub mod word {
    pub use super::Mode::{Detect as detect, Explore as explore, Record as record, Tsvd as tsvd};
}

/// A bit for each mode that a function must name in addition to `detect`.
pub const BESIDE_DETECT: u32 = 1 << Mode::Record as u32 | 1 << Mode::Explore as u32 | 1 << Mode::Tsvd as u32;

/// Read by [`crate::entry`] too.
pub static MODE: AtomicU8 = AtomicU8::new(Mode::Off as u8);

#[inline(always)]
pub fn mode() -> Mode {
    // SAFETY: only `set` stores here, and it stores modes.
    unsafe { core::mem::transmute::<u8, Mode>(MODE.load(Relaxed)) }
}

/// Sets the mode when the process starts, and back to `Off` if it turns out that another process is
/// meant.
pub fn set(mode: Mode) {
    MODE.store(mode as u8, Release);
}
