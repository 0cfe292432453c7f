//! Which memory more than one thread touches, by granules of 8 bytes. Each has two bytes
//! ([`crate::layout::OWNERS`]), which no snapshot restores. So what one execution learns, the next
//! knows.
//!
//! **Most memory belongs to one thread, and costs next to nothing.** The probes of a traced run
//! ([`super::probes`]) take eight instructions if the granule belongs to the running thread. There
//! is nothing to learn, nothing to record, and nothing to settle, since a pending write is one to
//! shared memory, which the thread does not change in between. What the probes look at is a quarter
//! of the size of the program's memory. The detector's shadow, where this was kept at first, is
//! twice as large as the memory it stands for, and bringing it into the cache was two fifths of
//! what a hash table paid.
//!
//! A freed block belongs to nobody again, or counts as shared and freed, so that no probe skips it
//! and use after free is still detected.
//!
//! What an ended thread leaves to the one that joined it is not shared: no schedule can change what
//! is read. The memory still counts as the ended thread's, since the next execution is likely to
//! begin the same way.

use core::sync::atomic::{AtomicU16, Ordering::*};

use crate::explore;
use crate::layout::{WRITTEN, owner_of, written_of};
use crate::sys;

/// Values of a granule that are not a thread ([`own`]).
const NOBODY: u16 = 0;
const SHARED: u16 = !0;
/// Shared, and freed while the trace was learning: accesses must be checked.
const FREED: u16 = !0 - 1;
/// A value that no granule has.
const NOTHING: u16 = !0 - 2;

/// The running thread. These are restored with the program's memory, and set by each execution.
static RUNNING: AtomicU16 = AtomicU16::new(NOBODY);
/// What the probes skip: the running thread's own memory, and another value.
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

/// Sets whether accesses to a thread's own memory and to shared memory are skipped.
pub fn pass_by(own: bool, shared: bool) {
    ME.store(if own { RUNNING.load(Relaxed) } else { NOTHING }, Relaxed);
    PASSED.store(if shared { SHARED } else { NOTHING }, Relaxed);
}

#[inline(always)]
fn owner(address: usize) -> &'static AtomicU16 {
    // SAFETY: reserved and aligned.
    unsafe { &*owner_of(address).cast::<AtomicU16>() }
}

/// True if this is the value of a granule known to be shared.
#[inline(always)]
fn is_of_shared(owner: u16) -> bool {
    owner >= FREED
}

/// True if this is the value of a granule about which the running thread teaches nothing new.
#[inline(always)]
pub fn is_known(owner: u16) -> bool {
    is_of_shared(owner) || owner == RUNNING.load(Relaxed)
}

/// The probes' test.
#[inline(always)]
pub fn passes(address: usize) -> bool {
    let o = owner(address).load(Relaxed);
    o == ME.load(Relaxed) || o == PASSED.load(Relaxed)
}

/// What is known about a granule that the running thread touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GranuleState {
    /// The thread's own, or left to it by one it has joined.
    Own,
    Shared,
    /// It turns out to be shared.
    Discovered,
}

#[inline]
pub fn learn(address: usize) -> GranuleState {
    let at = owner(address);
    let me = RUNNING.load(Relaxed);
    match at.load(Relaxed) {
        NOBODY => at.store(me, Relaxed),
        o if o == me => {}
        SHARED => return GranuleState::Shared,
        FREED => {
            at.store(SHARED, Relaxed);
            return GranuleState::Shared;
        }
        o if explore::threads::has_joined(explore::state().current, usize::from(o) - 1) => {}
        _ => {
            at.store(SHARED, Relaxed);
            return GranuleState::Discovered;
        }
    }
    GranuleState::Own
}

/// True if the granule is known to be shared. Memory that belongs to nobody becomes the thread's
/// own.
#[inline]
pub fn is_shared(address: usize) -> bool {
    let at = owner(address);
    match at.load(Relaxed) {
        NOBODY => at.store(RUNNING.load(Relaxed), Relaxed),
        o => return is_of_shared(o),
    }
    false
}

/// A block is freed, which counts as a write to it; the thread's own memory in it now belongs to
/// nobody. For a large block, the beginning suffices to see who shares it. `learns`: find out what
/// is shared, and call `discovered` for each new granule.
pub fn give_back(from: usize, to: usize, learns: bool, mut discovered: impl FnMut(usize)) {
    const LARGEST: usize = 1 << 16;
    for address in (from..to).step_by(8) {
        if learns && address - from < LARGEST && learn(address) == GranuleState::Discovered {
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

/// True if this is the first write to one of these bytes in this execution. The number of the
/// execution is stored beside the written bytes, so this must be cleared only after [`AGES`]
/// executions.
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

/// The number of executions that are distinguished.
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

    /// The tests take turns, since the running thread is global.
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
        assert_eq!(learn(at), GranuleState::Own);
        owner(at + 8).store(SHARED, Relaxed);
        pass_by(true, true);
        assert!(passes(at) && passes(at + 8) && !passes(at + 16));
        let mut news = Vec::new();
        give_back(at, at + 24, false, |granule| news.push(granule));
        assert!(!passes(at) && passes(at + 8) && is_shared(at + 8));
        give_back(at, at + 24, true, |granule| news.push(granule));
        assert_eq!(news, [0; 0]);
        assert!(!passes(at + 8) && is_shared(at + 8), "freed, and still known to be shared");
        assert_eq!(learn(at + 8), GranuleState::Shared);
        assert!(passes(at + 8), "allocated again by another execution");
    }

    #[test]
    fn where_all_is_recorded_nothing_passes_and_what_is_known_is_known() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        testing::reserve_shadow();
        let at = 0x7a00_0003_0000;
        turn(4);
        pass_by(false, false);
        assert_eq!(learn(at), GranuleState::Own);
        turn(5);
        assert_eq!(learn(at + 8), GranuleState::Own);
        owner(at + 16).store(SHARED, Relaxed);
        let known = |address| is_known(owner(address).load(Relaxed));
        assert!([at, at + 8, at + 16].iter().all(|a| !passes(*a)));
        assert_eq!([at, at + 8, at + 16, at + 24].map(known), [false, true, true, false]);
        pass_by(true, false);
        assert!(passes(at + 8) && !passes(at) && !passes(at + 16));
    }
}
