//! Atomic operations that are no scheduling points: Rust's std uses them for itself, and who is first makes no difference to the
//! program (`raddle_binary::quiet`). They take effect with the step before them.
//!
//! A thread that waits for another by one of them would wait for ever: after [`MOST`] in a row the next is a step after all, and
//! lets others go first.

use super::state;
use crate::hub::init;

const CACHE: usize = 1 << 10;
/// More in a row than std ever has where nobody waits.
const MOST: u32 = 64;

/// What was looked up before: the address, and in its highest bit the answer. Zero is nothing.
pub struct Quiet {
    bias: usize,
    sites: (*const u64, usize),
    cache: [usize; CACHE],
}

const YES: usize = 1 << 63;

/// At the start of the process.
pub fn prepare() {
    let s = state();
    // SAFETY: the mapped header, and the table behind it.
    unsafe {
        let header = &*s.header;
        s.quiet.sites = (s.header.byte_add(header.quiet_at()).cast(), header.quiet as usize);
    }
    s.quiet.bias = init::bias();
}

/// Is the atomic operation that returns to `pc` quiet, and may it be?
#[inline]
pub fn is_quiet(pc: usize) -> bool {
    let s = state();
    if s.quiet.sites.1 == 0 {
        return false;
    }
    let known = s.quiet.cache[pc % CACHE];
    let quiet = if known & !YES == pc { known & YES != 0 } else { s.quiet.look_up(pc) };
    let t = &mut s.threads[s.current];
    t.quiet = if quiet { t.quiet + 1 } else { 0 };
    quiet && t.quiet <= MOST
}

/// Has the running thread made so many in a row that it may be waiting?
pub fn may_wait() -> bool {
    let s = state();
    let t = &mut s.threads[s.current];
    let waits = t.quiet > MOST;
    if waits {
        t.quiet = 0;
    }
    waits
}

impl Quiet {
    #[cold]
    fn look_up(&mut self, pc: usize) -> bool {
        // SAFETY: the header's table.
        let sites = unsafe { core::slice::from_raw_parts(self.sites.0, self.sites.1) };
        let quiet = sites.binary_search(&(pc.wrapping_sub(self.bias) as u64)).is_ok();
        self.cache[pc % CACHE] = if quiet { pc | YES } else { pc };
        quiet
    }
}
