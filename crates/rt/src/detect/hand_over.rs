//! Hybrid and fast mode: the order imposed by a mutex that is used with a condition variable, and by
//! an address that one thread leaves for another under a lock.
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
//! A queue under a lock hands over what its entries point to, without any wait. The thread that takes
//! an entry can reach the object only by the address that it reads there. So:
//!
//! 6. If a thread reads, under a lock, an address that another stored under that lock, then what the
//!    other did to the object at this address before it released the lock is ordered before what the
//!    reader does to it. The object is the heap block that the address lies in, or the next
//!    [`NEAR`] bytes. Only the last [`ADDRESSES`] addresses that a thread has read count.
//!
//! Rule 6 orders nothing but the object, until it is touched; then the reader has seen all that the
//! other had done. What the other does to the object after it has released the lock still races: in
//! these modes every release of a lock begins a new period of epochs. The rule hides a race if the
//! reader knew the address from elsewhere and used it without need of the lock.
//!
//! A waiting place is where the waiting function took the lock. It is found by where the stacks of
//! the two calls diverge: if a guard object took the mutex, the place is in the function that has
//! the guard.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::clock::Clock;
use super::thread::Thread;
use super::{chain, depot, heap, objects, settings, sids, sync};
use crate::hub;
use crate::layout::{ATOMIC, READ, SID_MAX, epoch, is_watchable, sid};

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

/// How many addresses a thread remembers that others left for it.
pub const ADDRESSES: usize = 16;
/// How far an object reaches that is in no known block.
const NEAR: usize = 256;

/// The addresses that a thread has read where others stored them, each with the slot of the store.
/// Zero is valid, and has none.
pub struct Handed {
    addresses: [usize; ADDRESSES],
    slots: [u32; ADDRESSES],
    /// The generation of sids that the slots are of.
    generation: u32,
    next: u32,
}

impl Handed {
    fn add(&mut self, address: usize, slot: u32, generation: u32) {
        if self.generation != generation {
            (self.addresses, self.generation) = ([0; ADDRESSES], generation);
        }
        let known = |(a, s): (&usize, &u32)| *a == address && (*s ^ slot) & !0xff == 0;
        if !self.addresses.iter().zip(&self.slots).any(known) {
            let at = self.next as usize % ADDRESSES;
            (self.addresses[at], self.slots[at]) = (address, slot);
            self.next = self.next.wrapping_add(1);
        }
    }

    /// The slot of the store by which the object at `address` was handed over after the access in
    /// `slot`.
    fn find(&self, address: usize, slot: u32, generation: u32) -> Option<u32> {
        let covers = |(at, store): &(&usize, &u32)| {
            let (by, of) = (sid(**store), sid(slot));
            let later = by == of && epoch(**store) >= epoch(slot) || chain::covers(by, of);
            later && is_in_object(**at, address)
        };
        let mut all = self.addresses.iter().zip(&self.slots).filter(|_| self.generation == generation);
        all.find(covers).map(|(_, store)| *store)
    }
}

/// True if `address` belongs to the object that `at` points to.
fn is_in_object(at: usize, address: usize) -> bool {
    if at == 0 {
        return false;
    }
    if (at..at + NEAR).contains(&address) {
        return true;
    }
    // Both are in one block if no other block begins in between.
    let block = |a: usize| heap::find(a).map(|block| block.start);
    address.abs_diff(at) < FARTHEST && block(at).is_some_and(|start| block(address) == Some(start))
}

/// An object is no larger than this.
const FARTHEST: usize = 1 << 20;

/// True if the object of the access in `slot` was handed to the thread after that access: it is
/// ordered from now on.
#[cold]
pub fn was_handed(t: &mut Thread, address: usize, slot: u32) -> bool {
    match t.handed.find(address, slot, sids::GENERATION.load(Relaxed)) {
        Some(store) => {
            learn(t, store);
            true
        }
        None => false,
    }
}

/// The thread has seen what the thread of `slot` had done by then.
fn learn(t: &mut Thread, slot: u32) {
    t.catch_up();
    let mut written = Clock::ZERO;
    written.set(sid(slot), epoch(slot));
    chain::expand(&mut written, sid(slot));
    t.acquire(&written);
}

/// The thread reads all of the granule at `address`, which another has written under a common lock.
fn reads_word(t: &mut Thread, address: usize, slot: u32) {
    if !hub::is_active() || t.ignore_sync != 0 {
        return;
    }
    // SAFETY: the program is about to read these bytes, whose writer holds no lock any more.
    let value = unsafe { (address as *const usize).read_volatile() };
    if value > NEAR && is_watchable(value) {
        t.handed.add(value, slot, sids::GENERATION.load(Relaxed));
    }
}

/// The thread touches what the access in `slot` wrote; both held a common lock.
#[cold]
pub fn sees(t: &mut Thread, address: usize, current: u32, slot: u32) {
    if slot & READ != 0 {
        return;
    }
    if current & READ != 0 && (current | slot) & ATOMIC == 0 && current & slot & 0xff == 0xff {
        reads_word(t, address, slot);
    }
    if !ANY.load(Relaxed) {
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
    learn(t, slot);
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
