//! Which memory more than one thread touches, by granules of 8 bytes: two bytes for each ([`crate::layout::OWNERS`]), which no snapshot
//! puts back. So what one execution learns the next knows.
//!
//! **Most memory is one thread's own, and costs next to nothing.** The probes of a traced run ([`super::probes`]) are eight instructions
//! long where the granule is the running thread's: there is nothing to learn, nothing to record, and nothing to settle, since a write that
//! is pending is one to shared memory, which the thread does not change in between. A quarter of the program's memory is what they look
//! at; the detector's shadow, where this was kept at first, is twice as large as what it stands for, and to bring it into the
//! cache was two fifths of what a hash table paid.
//!
//! A block that is freed belongs to nobody again, or counts as shared and freed, so that no probe passes by it and use after free is
//! still seen.
//!
//! What a thread that has ended leaves to the one that joined it is not shared: no order of theirs can change what is read. The thread keeps
//! it in its name, since the next execution is likely to begin the same way.

use core::sync::atomic::{AtomicU16, Ordering::*};

use crate::explore;
use crate::layout::{WRITTEN, owner_of, written_of};
use crate::sys;

/// Values of a granule that are not a thread ([`own`]).
const NOBODY: u16 = 0;
const SHARED: u16 = !0;
/// Shared, and given back while it was learned: to be looked at.
const FREED: u16 = !0 - 1;
/// No granule has it.
const NOTHING: u16 = !0 - 2;

/// What the probes pass by: the running thread's own, and another value. Put back with the program's memory, and set by each execution.
pub(super) static ME: AtomicU16 = AtomicU16::new(NOBODY);
pub(super) static PASSED: AtomicU16 = AtomicU16::new(NOTHING);

const fn own(thread: usize) -> u16 {
    thread as u16 + 1
}

/// This thread runs.
#[inline]
pub fn turn(thread: usize) {
    ME.store(own(thread), Relaxed);
}

/// Whether accesses to shared memory are of no interest.
#[inline]
pub fn pass_by_shared(yes: bool) {
    PASSED.store(if yes { SHARED } else { NOTHING }, Relaxed);
}

#[inline(always)]
fn owner(address: usize) -> &'static AtomicU16 {
    // SAFETY: reserved and aligned.
    unsafe { &*owner_of(address).cast::<AtomicU16>() }
}

/// Is this the value of a granule that is known to be shared?
#[inline(always)]
pub fn is_of_shared(owner: u16) -> bool {
    owner >= FREED
}

/// As the probes ask.
#[inline(always)]
pub fn passes(address: usize) -> bool {
    let o = owner(address).load(Relaxed);
    o == ME.load(Relaxed) || o == PASSED.load(Relaxed)
}

/// What there is to know of a granule that the running thread touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granule {
    /// The thread's own, or left to it.
    Own,
    Shared,
    /// It is shared, which nobody knew.
    Discovered,
}

#[inline]
pub fn learn(address: usize) -> Granule {
    let at = owner(address);
    let me = ME.load(Relaxed);
    match at.load(Relaxed) {
        NOBODY => at.store(me, Relaxed),
        o if o == me => {}
        SHARED => return Granule::Shared,
        FREED => {
            at.store(SHARED, Relaxed);
            return Granule::Shared;
        }
        o if explore::threads::has_joined(explore::state().current, usize::from(o) - 1) => {}
        _ => {
            at.store(SHARED, Relaxed);
            return Granule::Discovered;
        }
    }
    Granule::Own
}

/// Is the granule known to be shared? Memory that is nobody's becomes the thread's own.
#[inline]
pub fn is_shared(address: usize) -> bool {
    let at = owner(address);
    match at.load(Relaxed) {
        NOBODY => at.store(ME.load(Relaxed), Relaxed),
        o => return is_of_shared(o),
    }
    false
}

/// A block is given back, which is as good as writing to it; what was the thread's own is nobody's from now on. Of a large
/// one the beginning tells enough of who shares it. `learns`: that is to be found out. How many granules it is new of.
pub fn give_back(from: usize, to: usize, learns: bool) -> u64 {
    const LARGEST: usize = 1 << 16;
    let mut discoveries = 0;
    for address in (from..to).step_by(8) {
        if learns && address - from < LARGEST && learn(address) == Granule::Discovered {
            discoveries += 1;
        }
        let at = owner(address);
        match at.load(Relaxed) {
            SHARED if learns => at.store(FREED, Relaxed),
            NOBODY | SHARED | FREED => {}
            _ => at.store(NOBODY, Relaxed),
        }
    }
    discoveries
}

/// Is this the first write to one of these bytes in this execution? Beside the bytes written the number of the execution is kept, so
/// nothing need be cleared but after [`AGES`] of them.
#[inline]
pub fn is_first(address: usize, size: usize, execution: u32) -> bool {
    let bytes = ((0xffu32 >> (8 - size.min(8))) << (address & 7)) as u8;
    // SAFETY: reserved and aligned.
    let at = unsafe { &*written_of(address).cast::<AtomicU16>() };
    let age = (execution % AGES + 1) as u8;
    let [last, written] = at.load(Relaxed).to_le_bytes();
    let before = if last == age { written } else { 0 };
    at.store(u16::from_le_bytes([age, before | bytes]), Relaxed);
    before & bytes != bytes
}

/// Executions that are told apart.
const AGES: u32 = 255;

/// An execution begins: nothing has been written to.
pub fn begin(execution: u32) {
    if execution.is_multiple_of(AGES) {
        sys::discard(WRITTEN.start, WRITTEN.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testing;

    #[test]
    fn no_thread_is_mistaken_for_what_is_none() {
        assert!(own(0) > NOBODY && own(raddle_explore::MAX_THREADS) < NOTHING);
    }

    #[test]
    fn the_first_write_of_an_execution_is_told_by_its_bytes() {
        testing::reserve_shadow();
        let at = 0x7a00_0001_0000;
        assert!(is_first(at, 4, 1) && !is_first(at, 4, 1) && !is_first(at + 2, 2, 1));
        assert!(is_first(at + 4, 1, 1), "other bytes of the granule");
        assert!(is_first(at + 4, 2, 1) && !is_first(at, 4, 1), "one of two is new");
        assert!(is_first(at, 8, 2), "another execution");
        assert!(!is_first(at, 8, 2 + AGES), "one as old as that");
        begin(AGES);
        assert!(is_first(at, 8, 2 + AGES));
    }

    #[test]
    fn a_block_that_is_given_back_is_nobodys_or_to_be_looked_at() {
        testing::reserve_shadow();
        let at = 0x7a00_0002_0000;
        turn(3);
        assert_eq!(learn(at), Granule::Own);
        owner(at + 8).store(SHARED, Relaxed);
        pass_by_shared(true);
        assert!(passes(at) && passes(at + 8) && !passes(at + 16));
        assert_eq!(give_back(at, at + 24, false), 0);
        assert!(!passes(at) && passes(at + 8) && is_shared(at + 8));
        assert_eq!(give_back(at, at + 24, true), 0);
        assert!(!passes(at + 8) && is_shared(at + 8), "freed, and still known to be shared");
        assert_eq!(learn(at + 8), Granule::Shared);
        assert!(passes(at + 8), "allocated again by another execution");
    }
}
