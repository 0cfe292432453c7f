//! Misuse of locks and threads, as ThreadSanitizer reports it: a lock taken twice, let go of by a
//! thread that does not hold it, or destroyed while it is held; a thread that has ended and was
//! neither joined nor detached.
//!
//! And a lock that is used while another thread frees or destroys it, which is a race: to use a
//! lock reads its first byte, atomically, to make or destroy it writes it. A use counts before the
//! lock is taken and before it is let go of, so that the last user may destroy the lock; that of a
//! semaphore after the wait, so that whoever was woken may destroy that. In hybrid and fast mode
//! locks order nothing, and every object that is freed by the last who held its lock would be
//! reported: there it is left out. So are calls from code that is not instrumented: how it counts
//! the users of a lock is not seen.

use super::thread::{Current, Thread, cards};
use super::{atomics, depot, range, report, settings, sync};
use crate::hub::{log, modules};
use crate::interpose::exit_wait::ran_to_the_end;
use crate::{explore, trace};
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use raddle_wire::record::{Record, misuse};

pub fn is_watched(t: &Thread) -> bool {
    t.known && !trace::is_ordinary() && !explore::is_on()
}

/// The lock, semaphore, barrier or condition variable at `key` is used.
pub fn used(t: &mut Thread, key: usize, pc: usize) {
    if is_watched(t) && !settings().hybrid && modules::is_judged(pc) {
        let _inside = t.enter();
        atomics::touch::<false>(t, key, 1, pc);
    }
}

/// It is made, or about to be destroyed.
pub fn made_or_destroyed(mut t: Current, key: usize, pc: usize) {
    if is_watched(&t) && !settings().hybrid && modules::is_instrumented(pc) {
        let _inside = t.enter();
        range::access::<true>(t, key, 1, pc);
    }
}

/// Tells of the misuse `what` (of [`misuse`]) of the lock at `key`, which is a `kind` of
/// [`lock_kind`], once for each place. `held` is said to be by the thread itself where it is.
///
/// [`lock_kind`]: raddle_wire::record::lock_kind
#[cold]
#[inline(never)]
pub fn of_lock(t: &mut Thread, what: u64, key: usize, kind: u64, pc: usize) {
    if !is_watched(t) {
        return;
    }
    let _inside = t.enter();
    let lock = sync::number(key, kind) as u64;
    if !report::is_new(report::mix(&[0x6d69, what, pc as u64, lock])) {
        return;
    }
    let taken = t.held.iter().find(|l| l.key == key).map_or(0, |l| depot::logged(l.stack));
    let stack = depot::logged(depot::current(t, pc));
    log::write(&Record::Misuse { what, thread: t.id() as u64, lock, stack, taken });
}

/// The process ends: threads that have ended and that nobody has joined or detached. Those that
/// still run are not known to be forgotten.
pub fn leaked_threads() {
    for card in cards() {
        let leaks = card.registered.load(Relaxed)
            && card.ended.load(Acquire) == 1
            && !card.detached.load(Relaxed)
            && !card.joined.load(Relaxed)
            && !ran_to_the_end(card.id);
        if leaks && report::is_new(report::mix(&[0x6c65, card.created_at as u64])) {
            let stack = depot::logged(card.created_at);
            log::write(&Record::Misuse {
                what: misuse::THREAD_LEAK,
                thread: card.id as u64,
                lock: 0,
                stack,
                taken: 0,
            });
        }
    }
}
