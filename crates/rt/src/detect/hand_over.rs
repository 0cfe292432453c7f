//! Hybrid and fast mode: the order imposed by a mutex that is used with a condition variable.
//!
//! In these modes a mutex orders nothing, and a signal orders its thread before the threads that it
//! wakes. A barrier, a latch or a queue made of a mutex and a condition variable then looks
//! unordered if the condition held before anybody had to wait (6.4.1 of the paper), or if several
//! threads made it true and only the last one signalled. But code that waits for a condition goes
//! on because of what others did under the mutex, whether it had to sleep or not. So:
//!
//! 1. From the first wait with it on, a mutex remembers what the threads that released it had done.
//! 2. A wait that was woken has seen that.
//! 3. So has a thread that takes the mutex at a **waiting place**: one from which a thread has come
//!    to wait before. It would have waited had the condition not held.
//! 4. If such a thread reads, under the mutex, a variable that another wrote under it before the
//!    first wait, the read is ordered after that write.
//! 5. A thread is also such a thread if it reads, under the mutex, what another wrote in the
//!    critical section in which it began to wait. An example is the last thread to arrive at a
//!    barrier, in code that never waited.
//!
//! Threads that take the mutex elsewhere learn nothing from it, as before. Two threads that put
//! into a queue are not ordered, nor is the signaller ordered after the waiter. This is how the
//! mode sees races that happens-before misses. Ordering a waiter after all holders of the mutex can
//! be too much: it can hide a race between a waiter and a thread whose critical section had nothing
//! to do with the condition.
//!
//! A waiting place is where the waiting function took the lock. It is found by where the stacks of
//! the two calls diverge: if a guard object took the mutex, the place is in the function that has
//! the guard.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::clock::SidClock;
use super::thread::Thread;
use super::{chain, depot, objects, settings, sync};
use crate::layout::{READ, SID_MAX, epoch, sid};

/// Added to the address of a mutex: the key of what the threads that released it had done.
const HANDED: usize = 1 << 55;

/// True once some mutex is used with a condition variable.
static ANY: AtomicBool = AtomicBool::new(false);

/// Waiting places, by address. A full table ignores further ones.
const PLACES: usize = 1 << 12;
static WAITING_PLACES: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];
const TRIES: usize = 16;

/// The mutex that the user of a sid holds as a waiter; 0: none.
static WAITERS: [AtomicUsize; SID_MAX + 1] = [const { AtomicUsize::new(0) }; SID_MAX + 1];

/// The mutex with which the user of a sid last waited, and the epoch of the critical section.
static WAITED: [(AtomicUsize, AtomicU32); SID_MAX + 1] =
    [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; SID_MAX + 1];

/// The number of innermost frames in which a guard object may take the mutex.
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

/// The place where the stack `taken` leaves the function that `waits` is called from.
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

/// The wait is over and the mutex is held again. `woken`: it did not time out.
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

/// The thread has released `mutex`.
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

/// The thread touches what the access in `slot` wrote; both held a common lock.
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
    let mut written = SidClock::ZERO;
    written.set(sid(slot), epoch(slot));
    chain::expand(&mut written, sid(slot));
    t.acquire(&written);
}

/// The memory of the mutex is about to be used for something else.
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
        // In C both calls are in the same function; a guard object of C++ takes the mutex two
        // frames further in.
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
