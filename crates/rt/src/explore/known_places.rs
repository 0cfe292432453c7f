//! Known sites in the program: atomic operations that are no scheduling points, or that take or
//! release a lock, and frees that are no scheduling points.
//!
//! *Quiet* operations are those of Rust's std whose order makes no difference to the program
//! (`raddle_binary::quiet`). They take effect with the step before. So do the C library's frees of
//! memory that it has allocated itself.
//!
//! A lock of Rust's std is an inlined atomic operation, followed by a loop that looks at the lock a
//! hundred times before it sleeps (`raddle_binary::lock_sites`). At a known site, the thread waits
//! at its first operation until it will succeed, as for any other lock. So waiting for a lock that
//! another thread holds is one step, and its holder is known.
//!
//! Unoptimised Rust makes its atomic operations in functions that all of them share. There the site
//! is the call of that function, whose return address is the newest entry of the shadow stack.
//!
//! A thread that waits for another with quiet operations would wait for ever: after [`MOST`] in a
//! row the next one is a step after all, and lets others go first.

use raddle_explore::OpKind;
use raddle_wire::explore::site;

use super::state;
use crate::detect::thread::current;
use crate::detect::trace::ENTERED;
use crate::hub::{init, modules};

const CACHE: usize = 1 << 10;
/// More in a row than std ever makes if nobody waits.
const MOST: u32 = 64;

/// A cache of lookups: the address, with the kind of site in its highest bits. Zero is empty.
pub struct Quiet {
    bias: usize,
    sites: (*const u64, usize),
    /// The code of the C library.
    libc: [(usize, usize); 2],
    cache: [usize; CACHE],
}

/// The kind of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AtomicKind {
    Ordinary,
    Quiet,
    /// An operation on a mutex: `Lock`, `TryLock`, `Unlock`.
    Mutex(OpKind),
}

/// The kinds in the cache, by the bits above an address.
const KINDS: [AtomicKind; 5] = [
    AtomicKind::Ordinary,
    AtomicKind::Quiet,
    AtomicKind::Mutex(OpKind::Lock),
    AtomicKind::Mutex(OpKind::Unlock),
    AtomicKind::Mutex(OpKind::TryLock),
];
const SHIFT: u32 = 60;
const ADDRESS: usize = (1 << SHIFT) - 1;
/// Part of a key: the site is the call of a function around the operation.
const WRAPPED: usize = 1 << 59;

/// At the start of the process.
pub fn prepare() {
    let mut s = state();
    // SAFETY: the mapped header, and the table behind it.
    unsafe {
        let header = &*s.header;
        s.quiet.sites = (s.header.byte_add(header.quiet_at()).cast(), header.quiet as usize);
    }
    s.quiet.bias = init::bias();
    s.quiet.libc = c_library();
}

/// The kind of the atomic operation that returns to `pc`, and the site: `pc`, or the call of the
/// function that consists of the operation.
#[inline]
pub fn place(pc: usize) -> (AtomicKind, usize) {
    let mut s = state();
    if s.quiet.sites.1 == 0 {
        return (AtomicKind::Ordinary, pc);
    }
    let (place, at) = s.quiet.known_or_wrapped(pc);
    let t = s.current_thread_mut();
    t.quiet = if place == AtomicKind::Quiet { t.quiet + 1 } else { 0 };
    if t.quiet > MOST { (AtomicKind::Ordinary, pc) } else { (place, at) }
}

/// True if the running thread has made so many in a row that it may be waiting.
pub fn may_wait() -> bool {
    let mut s = state();
    let t = s.current_thread_mut();
    let waits = t.quiet > MOST;
    if waits {
        t.quiet = 0;
    }
    waits
}

/// True if the free that returns to `pc` is quiet. Rust's own function is called by another one,
/// whose caller knows what the block is.
#[inline]
pub fn frees_quietly(pc: usize) -> bool {
    let mut s = state();
    if s.quiet.sites.1 == 0 {
        return false;
    }
    s.quiet.known(pc) == AtomicKind::Quiet || s.quiet.known(newest_caller()) == AtomicKind::Quiet
}

/// The newest entry of the shadow stack: what the running function returns to. 0 if there is none.
fn newest_caller() -> usize {
    let t = current();
    // SAFETY: between the bottom of the shadow stack and its top.
    unsafe { if t.sp > t.trace.stack { *t.sp.sub(1) & !ENTERED } else { 0 } }
}

/// True if this is code of the C library or the loader.
#[inline]
pub fn is_of_libc(pc: usize) -> bool {
    state().quiet.libc.iter().any(|(low, high)| (*low..*high).contains(&pc))
}

impl Quiet {
    /// The kind of the operation that returns to `pc`, and its site.
    #[inline]
    fn known_or_wrapped(&mut self, pc: usize) -> (AtomicKind, usize) {
        match self.known(pc) {
            AtomicKind::Ordinary => {}
            kind => return (kind, pc),
        }
        let caller = newest_caller();
        match self.known(caller | WRAPPED) {
            AtomicKind::Ordinary => (AtomicKind::Ordinary, pc),
            kind => (kind, caller),
        }
    }

    /// `pc` may have [`WRAPPED`] set.
    #[inline]
    fn known(&mut self, pc: usize) -> AtomicKind {
        let known = self.cache[pc % CACHE];
        if known & ADDRESS == pc { KINDS[known >> SHIFT] } else { self.look_up(pc) }
    }

    #[cold]
    fn look_up(&mut self, pc: usize) -> AtomicKind {
        // SAFETY: the header's table.
        let sites = unsafe { core::slice::from_raw_parts(self.sites.0, self.sites.1) };
        let wrapped = if pc & WRAPPED == 0 { 0 } else { site::WRAPPED };
        let at = (pc & !WRAPPED).wrapping_sub(self.bias) as u64 | wrapped;
        let kinds = [0, site::LOCK, site::UNLOCK, site::TRY_LOCK];
        let kind =
            kinds.iter().position(|kind| sites.binary_search(&(at | kind)).is_ok()).map_or(0, |i| i + 1);
        self.cache[pc % CACHE] = pc & ADDRESS | kind << SHIFT;
        KINDS[kind]
    }
}

/// The code ranges of the C library and of the loader; empty if they are part of the program.
fn c_library() -> [(usize, usize); 2] {
    const NAMES: [&[u8]; 2] = [b"/libc.so.6", b"/ld-linux-x86-64.so.2"];
    let mut found = [(0, 0); 2];
    modules::each_line(|line| {
        let mut fields = line.split(|b| *b == b' ');
        let (Some(range), Some(permissions)) = (fields.next(), fields.next()) else { return };
        let mut range = range.split(|b| *b == b'-');
        if permissions.starts_with(b"r-x")
            && let Some(i) = NAMES.iter().position(|name| line.ends_with(name))
            && let (Some(low), Some(high)) = (range.next(), range.next())
        {
            found[i] = (modules::hex(low), modules::hex(high));
        }
    });
    found
}
