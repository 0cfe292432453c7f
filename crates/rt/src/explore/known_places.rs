//! What is known of single places in the program: atomic operations that are no scheduling points,
//! or that take or give back a lock, and frees that are no scheduling points.
//!
//! *Quiet* is what Rust's std does for itself, where who is first makes no difference to the program (`raddle_binary::quiet`). It takes
//! effect with the step before. So does what the C library gives back of what it has allocated
//! itself.
//!
//! A lock of Rust's std is an atomic operation, inlined, and behind it a loop that looks at the
//! lock a hundred times before it sleeps (`raddle_binary::lock_sites`). Where the place is known,
//! the thread waits at its first operation until it will succeed, as for any other lock; so a lock
//! that is taken by another is one step, and who holds it is known.
//!
//! A thread that waits for another by one of them would wait for ever: after [`MOST`] in a row the
//! next is a step after all, and lets others go first.

use raddle_explore::OpKind;
use raddle_wire::explore::site;

use super::state;
use crate::detect::thread::current;
use crate::hub::{init, modules};

const CACHE: usize = 1 << 10;
/// More in a row than std ever has where nobody waits.
const MOST: u32 = 64;

/// What was looked up before: the address, and in its highest bits what is there. Zero is nothing.
pub struct Quiet {
    bias: usize,
    sites: (*const u64, usize),
    /// The C library's code.
    libc: [(usize, usize); 2],
    cache: [usize; CACHE],
}

/// What an operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AtomicKind {
    Ordinary,
    Quiet,
    /// Of a mutex: `Lock`, `TryLock`, `Unlock`.
    Mutex(OpKind),
}

/// In the cache, above an address.
const KINDS: [AtomicKind; 5] = [
    AtomicKind::Ordinary,
    AtomicKind::Quiet,
    AtomicKind::Mutex(OpKind::Lock),
    AtomicKind::Mutex(OpKind::Unlock),
    AtomicKind::Mutex(OpKind::TryLock),
];
const SHIFT: u32 = 60;
const ADDRESS: usize = (1 << SHIFT) - 1;

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

/// What the atomic operation that returns to `pc` is.
#[inline]
pub fn place(pc: usize) -> AtomicKind {
    let mut s = state();
    if s.quiet.sites.1 == 0 {
        return AtomicKind::Ordinary;
    }
    let place = s.quiet.known(pc);
    let t = s.current_thread_mut();
    t.quiet = if place == AtomicKind::Quiet { t.quiet + 1 } else { 0 };
    if t.quiet > MOST { AtomicKind::Ordinary } else { place }
}

/// Has the running thread made so many in a row that it may be waiting?
pub fn may_wait() -> bool {
    let mut s = state();
    let t = s.current_thread_mut();
    let waits = t.quiet > MOST;
    if waits {
        t.quiet = 0;
    }
    waits
}

/// Is the free that returns to `pc` quiet? Rust's own function gets there by another, whose caller
/// knows what the block is.
#[inline]
pub fn frees_quietly(pc: usize) -> bool {
    let mut s = state();
    if s.quiet.sites.1 == 0 {
        return false;
    }
    let t = current();
    // SAFETY: the shadow stack, of which the newest entry is taken, if there is one.
    let caller = unsafe { if t.sp > t.trace.stack { *t.sp.sub(1) } else { 0 } };
    s.quiet.known(pc) == AtomicKind::Quiet || s.quiet.known(caller) == AtomicKind::Quiet
}

/// Is this the C library's own code, or the loader's?
#[inline]
pub fn is_of_libc(pc: usize) -> bool {
    state().quiet.libc.iter().any(|(low, high)| (*low..*high).contains(&pc))
}

impl Quiet {
    #[inline]
    fn known(&mut self, pc: usize) -> AtomicKind {
        let known = self.cache[pc % CACHE];
        if known & ADDRESS == pc { KINDS[known >> SHIFT] } else { self.look_up(pc) }
    }

    #[cold]
    fn look_up(&mut self, pc: usize) -> AtomicKind {
        // SAFETY: the header's table.
        let sites = unsafe { core::slice::from_raw_parts(self.sites.0, self.sites.1) };
        let at = pc.wrapping_sub(self.bias) as u64;
        let kinds = [0, site::LOCK, site::UNLOCK, site::TRY_LOCK];
        let kind =
            kinds.iter().position(|kind| sites.binary_search(&(at | kind)).is_ok()).map_or(0, |i| i + 1);
        self.cache[pc % CACHE] = pc & ADDRESS | kind << SHIFT;
        KINDS[kind]
    }
}

/// Where the code of the C library and of the loader lies; nowhere, where it is part of the program.
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
