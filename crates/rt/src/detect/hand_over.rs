//! Hybrid and fast mode: what a mutex that goes with a condition variable orders.
//!
//! In these modes a mutex orders nothing, and a signal orders its thread before the threads that it
//! wakes. A barrier, a latch or a queue made of a mutex and a condition variable then looks
//! unordered, wherever the condition held before anybody had to wait (6.4.1 of the paper), or where
//! several threads made it true and only the last one signalled. But code that waits for a condition
//! goes on because of what others did under the mutex, whether it had to sleep or not. So:
//!
//! 1. From the first wait with it on, a mutex remembers what those who let go of it had done.
//! 2. A wait that was woken has seen that.
//! 3. So has a thread that takes the mutex at a **waiting place**: one from which a thread has come to
//!    wait before. It would have waited had the condition not held.
//! 4. What such a thread reads under the mutex, of a variable that another wrote under it before the
//!    first wait, orders it behind that write.
//! 5. A thread that reads under the mutex what another wrote in the critical section in which it began to
//!    wait is such a thread too: the last to arrive at a barrier, by code that never waited.
//!
//! Threads that take the mutex elsewhere learn nothing from it, as before: two that put into a queue
//! are not ordered, nor is the one that signals behind the one that waits. This is where the mode
//! sees races that happens-before does not. The order of a waiter behind all who had the mutex can
//! be too much: it can hide a race between a waiter and a thread whose critical section had nothing
//! to do with the condition.
//!
//! A waiting place is where the lock was taken in the function that waits, found by where the stacks of
//! the two calls part: a mutex taken by a guard object is taken in the function that has the guard.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::clock::Clock;
use super::thread::Thread;
use super::{chain, depot, objects, settings, sync};
use crate::layout::{READ, SID_MAX, epoch, sid};

/// Added to the address of a mutex: the key of what those who let go of it had done.
const HANDED: usize = 1 << 55;

/// Some mutex goes with a condition variable.
static ANY: AtomicBool = AtomicBool::new(false);

/// Waiting places, by their addresses. A full table knows no more of them.
const PLACES: usize = 1 << 12;
static WAITING_PLACES: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];
const TRIES: usize = 16;

/// The mutex that the user of a sid has taken as one that waits; 0: none.
static WAITERS: [AtomicUsize; SID_MAX + 1] = [const { AtomicUsize::new(0) }; SID_MAX + 1];

/// The mutex with which the user of a sid last waited, and the epoch of the critical section.
static WAITED: [(AtomicUsize, AtomicU32); SID_MAX + 1] =
    [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; SID_MAX + 1];

/// Frames in which a guard object may take the mutex.
const INNERMOST: usize = 8;

fn slots(place: u64) -> impl Iterator<Item = &'static AtomicU64> {
    let first = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..TRIES).map(move |i| &WAITING_PLACES[(first as usize + i) % PLACES])
}

fn is_waiting_place(place: u64) -> bool {
    slots(place).map(|s| s.load(Relaxed)).take_while(|s| *s != 0).any(|s| s == place)
}

fn add_waiting_place(place: u64) {
    for slot in slots(place) {
        match slot.compare_exchange(0, place, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(known) if known == place => return,
            Err(_) => {}
        }
    }
}

/// Where the stack `taken` leaves the function that `waits` is called from.
fn place_of(taken: &[u64], waits: &[u64]) -> Option<u64> {
    let common = taken.iter().rev().zip(waits.iter().rev()).take_while(|(a, b)| a == b).count();
    taken.len().checked_sub(common + 1).map(|at| taken[at])
}

fn is_paired(mutex: usize) -> bool {
    ANY.load(Relaxed) && objects::with_existing(mutex | HANDED, |_| ()).is_some()
}

/// The thread, which holds `mutex`, is about to wait with it.
pub fn waits(t: &mut Thread, mutex: usize, pc: usize) {
    if !settings().hybrid || !t.known {
        return;
    }
    let _inside = t.enter();
    ANY.store(true, Relaxed);
    objects::with(mutex | HANDED, |_| ());
    let (with, in_epoch) = &WAITED[t.sid()];
    in_epoch.store(epoch(t.state), Relaxed);
    with.store(mutex, Relaxed);
    let taken = t.held.iter().find(|l| l.key == mutex).map_or(0, |l| l.stack);
    let waits = depot::current(t, pc);
    if let Some(place) = place_of(depot::frames(taken), depot::frames(waits)) {
        add_waiting_place(place);
    }
}

/// The wait is over and the mutex held again; `woken`, not timed out.
pub fn waited(t: &mut Thread, mutex: usize, woken: bool) {
    if settings().hybrid && woken && t.known {
        is_waiter(t, mutex);
    }
}

fn is_waiter(t: &mut Thread, mutex: usize) {
    if t.ignore_sync == 0 {
        sync::acquire_known(t, mutex | HANDED);
    }
    WAITERS[t.sid()].store(mutex, Relaxed);
}

/// The thread has taken `mutex`, at `stack`.
pub fn taken(t: &mut Thread, mutex: usize, stack: u32) {
    if is_paired(mutex) && depot::frames(stack).iter().take(INNERMOST).any(|f| is_waiting_place(*f)) {
        is_waiter(t, mutex);
    }
}

/// The thread has let go of `mutex`.
pub fn let_go(t: &mut Thread, mutex: usize) {
    if !is_paired(mutex) {
        return;
    }
    if t.sid() != 0 && WAITERS[t.sid()].load(Relaxed) == mutex {
        WAITERS[t.sid()].store(0, Relaxed);
    }
    if t.ignore_sync == 0 {
        sync::release_known(t, mutex | HANDED);
    }
}

/// The thread touches, under a lock that both hold, what the access in `slot` wrote.
#[cold]
pub fn sees(t: &mut Thread, slot: u32) {
    if slot & READ != 0 || !ANY.load(Relaxed) {
        return;
    }
    let (with, in_epoch) = &WAITED[sid(slot)];
    if in_epoch.load(Relaxed) == epoch(slot) && t.held.holds(with.load(Relaxed)) {
        return is_waiter(t, with.load(Relaxed));
    }
    let mutex = WAITERS[t.sid()].load(Relaxed);
    if mutex == 0 || !t.held.holds(mutex) {
        return;
    }
    t.catch_up();
    let mut written = Clock::ZERO;
    written.set(sid(slot), epoch(slot));
    chain::expand(&mut written, sid(slot));
    t.acquire(&written);
}

/// The memory of the mutex is about to become something else.
pub fn destroyed(mutex: usize) {
    if ANY.load(Relaxed) {
        objects::remove(mutex | HANDED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_place_is_in_the_function_that_waits() {
        // In C both calls are in it; a guard object of C++ takes the mutex two frames further in.
        assert_eq!(place_of(&[10, 7, 1], &[12, 7, 1]), Some(10));
        assert_eq!(place_of(&[90, 80, 10, 7, 1], &[95, 12, 7, 1]), Some(10));
        assert_eq!(place_of(&[7, 1], &[12, 7, 1]), None);
        assert_eq!(place_of(&[], &[12]), None);
        assert!(!is_waiting_place(4711));
        add_waiting_place(4711);
        add_waiting_place(4711);
        assert!(is_waiting_place(4711) && !is_waiting_place(4712));
    }
}
