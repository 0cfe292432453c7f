//! Misuse of locks and threads, as ThreadSanitizer reports it: a lock that is taken twice, released
//! by a thread that does not hold it, or destroyed while held; a thread that has ended without
//! being joined or detached.
//!
//! The module also finds a lock that is used while another thread frees or destroys it, which is a
//! race. Using a lock reads its first byte atomically; making or destroying it writes that byte. A
//! use counts before the lock is taken and before it is released, so that the last user may destroy
//! it. The use of a semaphore counts after the wait, so that the thread that was woken may destroy
//! it. This check is off in hybrid and fast mode: locks order nothing there, and every object that
//! the last holder of its lock frees would be reported. Calls from uninstrumented code are not
//! checked either, since raddle does not see how that code counts the users of a lock.

use super::thread::{Current, Thread, cards};
use super::{atomics, depot, range, report, settings, sync};
use crate::hub::{log, modules};
use crate::interpose::exit_wait::ran_to_the_end;
use crate::interpose::mutex;
use crate::{explore, trace};
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use raddle_wire::record::{LockKind, MisuseKind, Record};

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

/// A lock is made, or about to be destroyed.
pub fn made_or_destroyed(mut t: Current, key: usize, pc: usize) {
    if is_watched(&t) && !settings().hybrid && modules::is_instrumented(pc) {
        let _inside = t.enter();
        range::access::<true>(t, key, 1, pc);
    }
}

/// Reports the misuse of the lock at `key`, once for each site.
#[cold]
#[inline(never)]
pub fn of_lock(t: &mut Thread, what: MisuseKind, key: usize, kind: LockKind, pc: usize) {
    if !is_watched(t) {
        return;
    }
    let _inside = t.enter();
    let lock = sync::number(key, kind) as u64;
    if !report::is_new(report::mix(&[0x6d69, what.number(), pc as u64, lock])) {
        return;
    }
    let taken = t.held.iter().find(|l| l.key == key).map_or(0, |l| depot::logged(l.stack));
    let stack = depot::logged(depot::current(t, pc));
    log::write(&Record::Misuse { what, thread: t.id() as u64, lock, stack, taken });
}

/// The thread ends. Nobody can release the mutexes that it holds: whoever wants one waits for ever.
/// Robust mutexes have an owner that may die, and a mutex that processes share may belong to
/// another by now. A freed one is gone. Other locks do not say whose they are.
pub fn ends_holding(t: &mut Thread) {
    if !is_watched(t) || t.held.is_empty() {
        return;
    }
    let _inside = t.enter();
    for i in 0..t.held.iter().count() {
        let Some(lock) = t.held.iter().nth(i).copied() else { return };
        let is_left = lock.is_mutex && !range::is_marked_freed(lock.key) && mutex::is_left(lock.key);
        let id = [0x6568, u64::from(lock.stack), u64::from(lock.uid)];
        if is_left && report::is_new(report::mix(&id)) {
            let (thread, taken) = (t.id() as u64, depot::logged(lock.stack));
            let what = MisuseKind::EndedHolding;
            log::write(&Record::Misuse { what, thread, lock: u64::from(lock.uid), stack: taken, taken });
        }
    }
}

/// Reports, when the process ends, threads that have ended and that nobody joined or detached.
/// Threads that still run are not known to be leaked.
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
                what: MisuseKind::ThreadLeak,
                thread: card.id as u64,
                lock: 0,
                stack,
                taken: 0,
            });
        }
    }
}
