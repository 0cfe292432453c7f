//! Which memory more than one thread touches, by granules of 8 bytes: two bytes for each
//! ([`crate::layout::OWNERS`]), which no snapshot puts back. So what one execution learns the next
//! knows.
//!
//! **Most memory is one thread's own, and costs next to nothing.** The probes of a traced run
//! ([`super::probes`]) are eight instructions long where the granule is the running thread's: there
//! is nothing to learn, nothing to record, and nothing to settle, since a write that is pending is
//! one to shared memory, which the thread does not change in between. A quarter of the program's
//! memory is what they look at; the detector's shadow, where this was kept at first, is twice as
//! large as what it stands for, and to bring it into the cache was two fifths of what a hash table
//! paid.
//!
//! A block that is freed belongs to nobody again, or counts as shared and freed, so that no probe
//! passes by it and use after free is still seen.
//!
//! What a thread that has ended leaves to the one that joined it is not shared: no order of theirs
//! can change what is read. The thread keeps it in its name, since the next execution is likely to
//! begin the same way.

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

/// Whose turn it is. These are put back with the program's memory, and set by each execution.
static RUNNING: AtomicU16 = AtomicU16::new(NOBODY);
/// What the probes pass by: the running thread's own, and another value.
pub(super) static ME: AtomicU16 = AtomicU16::new(NOBODY);
pub(super) static PASSED: AtomicU16 = AtomicU16::new(NOTHING);

const fn own(thread: usize) -> u16 {
    thread as u16 + 1
}

/// This thread runs.
#[inline]
pub fn turn(thread: usize) {
    let me = own(thread);
    RUNNING.store(me, Relaxed);
    if ME.load(Relaxed) != NOTHING {
        ME.store(me, Relaxed);
    }
}

/// Whether accesses to a thread's own memory and to shared memory are of no interest.
pub fn pass_by(own: bool, shared: bool) {
    ME.store(if own { RUNNING.load(Relaxed) } else { NOTHING }, Relaxed);
    PASSED.store(if shared { SHARED } else { NOTHING }, Relaxed);
}

#[inline(always)]
fn owner(address: usize) -> &'static AtomicU16 {
    // SAFETY: reserved and aligned.
    unsafe { &*owner_of(address).cast::<AtomicU16>() }
}

/// Is this the value of a granule that is known to be shared?
#[inline(always)]
fn is_of_shared(owner: u16) -> bool {
    owner >= FREED
}

/// Is this the value of a granule of which there is nothing to learn from the running thread?
#[inline(always)]
pub fn is_known(owner: u16) -> bool {
    is_of_shared(owner) || owner == RUNNING.load(Relaxed)
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
    let me = RUNNING.load(Relaxed);
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
        NOBODY => at.store(RUNNING.load(Relaxed), Relaxed),
        o => return is_of_shared(o),
    }
    false
}

/// A block is given back, which is as good as writing to it; what was the thread's own is nobody's
/// from now on. Of a large one the beginning tells enough of who shares it. `learns`: that is to be
/// found out, and told of each granule that it is new of.
pub fn give_back(from: usize, to: usize, learns: bool, mut discovered: impl FnMut(usize)) {
    const LARGEST: usize = 1 << 16;
    for address in (from..to).step_by(8) {
        if learns && address - from < LARGEST && learn(address) == Granule::Discovered {
            discovered(address);
        }
        let at = owner(address);
        match at.load(Relaxed) {
            SHARED if learns => at.store(FREED, Relaxed),
            NOBODY | SHARED | FREED => {}
            _ => at.store(NOBODY, Relaxed),
        }
    }
}

/// Is this the first write to one of these bytes in this execution? Beside the bytes written the
/// number of the execution is kept, so nothing need be cleared but after [`AGES`] of them.
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
    use std::sync::{Mutex, PoisonError};

    /// Whose turn it is they cannot all say at once.
    static TURN: Mutex<()> = Mutex::new(());

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
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        testing::reserve_shadow();
        let at = 0x7a00_0002_0000;
        turn(3);
        assert_eq!(learn(at), Granule::Own);
        owner(at + 8).store(SHARED, Relaxed);
        pass_by(true, true);
        assert!(passes(at) && passes(at + 8) && !passes(at + 16));
        let mut news = Vec::new();
        give_back(at, at + 24, false, |granule| news.push(granule));
        assert!(!passes(at) && passes(at + 8) && is_shared(at + 8));
        give_back(at, at + 24, true, |granule| news.push(granule));
        assert_eq!(news, [0; 0]);
        assert!(!passes(at + 8) && is_shared(at + 8), "freed, and still known to be shared");
        assert_eq!(learn(at + 8), Granule::Shared);
        assert!(passes(at + 8), "allocated again by another execution");
    }

    #[test]
    fn where_all_is_recorded_nothing_passes_and_what_is_known_is_known() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        testing::reserve_shadow();
        let at = 0x7a00_0003_0000;
        turn(4);
        pass_by(false, false);
        assert_eq!(learn(at), Granule::Own);
        turn(5);
        assert_eq!(learn(at + 8), Granule::Own);
        owner(at + 16).store(SHARED, Relaxed);
        let known = |address| is_known(owner(address).load(Relaxed));
        assert!([at, at + 8, at + 16].iter().all(|a| !passes(*a)));
        assert_eq!([at, at + 8, at + 16, at + 24].map(known), [false, true, true, false]);
        pass_by(true, false);
        assert!(passes(at + 8) && !passes(at) && !passes(at + 16));
    }
}
