//! The locks a thread holds, and, in hybrid mode, the epochs that stand for them.
//!
//! In hybrid mode locks create no happens-before edge. So between two releases of any other kind (a
//! **period**), all segments of a thread differ only in their locksets. Each pair of period and
//! lockset gets one epoch, which the thread uses again when it returns to the lockset. This way the
//! filter of the probes keeps hitting, and locking uses up no epochs. [`common`] finds the lockset
//! of a slot by its sid and epoch.
//!
//! Deviation from 4.2: a set of more than [`WIDEST`] locks, or a set that does not fit into the
//! table, becomes [`ANY`], which shares a lock with every other. That can hide a race, never invent
//! one.

use core::sync::atomic::{AtomicU16, Ordering::*};

use super::thread::Thread;
use crate::layout::*;
use crate::sys::{self, Shared, Spin};

pub const DEEPEST: usize = 64;
const WIDEST: usize = 8;
/// A table with striped locks has as many sets as stripes. With more sets than this, locking uses
/// up epochs.
const REMEMBERED: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum HoldMode {
    Write = 0,
    Read = 1,
}

/// One lock held.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HeldEntry {
    pub key: usize,
    /// The lock's own number, since addresses are reused.
    pub uid: u32,
    /// Where it was taken.
    pub stack: u32,
    pub mode: HoldMode,
    pub is_mutex: bool,
    /// How often it is held, for recursive locks.
    pub times: u32,
}

#[repr(C)]
pub struct ThreadLocks {
    locks: [HeldEntry; DEEPEST],
    n: u32,
    /// Locks beyond DEEPEST.
    unseen: u32,
    /// Hybrid: the highest epoch of the period.
    pub max_epoch: u32,
    set: u16,
    /// The first epoch of the period.
    period: u16,
    /// Locksets with their epochs. An entry is valid if its epoch is in this period: epochs grow
    /// from one period to the next.
    remembered: [(u16, u16); REMEMBERED],
}

const NO_LOCK: HeldEntry =
    HeldEntry { key: 0, uid: 0, stack: 0, mode: HoldMode::Write, is_mutex: false, times: 0 };

impl ThreadLocks {
    pub const EMPTY: ThreadLocks = ThreadLocks {
        locks: [NO_LOCK; DEEPEST],
        n: 0,
        unseen: 0,
        max_epoch: 0,
        set: 0,
        period: 0,
        remembered: [(u16::MAX, 0); REMEMBERED],
    };

    pub fn iter(&self) -> impl Iterator<Item = &HeldEntry> {
        self.locks[..self.n as usize].iter()
    }

    pub fn first(&self) -> Option<usize> {
        (self.n > 0).then(|| self.locks[0].key)
    }

    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Counts one more acquisition if the lock is already held. False if it is not.
    pub fn again(&mut self, key: usize) -> bool {
        let held = self.locks[..self.n as usize].iter_mut().find(|l| l.key == key);
        held.map(|l| l.times += 1).is_some()
    }

    pub fn holds(&self, key: usize) -> bool {
        self.iter().any(|l| l.key == key)
    }

    /// False if the thread holds more locks than can be remembered.
    pub fn knows_all(&self) -> bool {
        self.unseen == 0
    }

    pub fn push(&mut self, lock: HeldEntry) {
        if (self.n as usize) < DEEPEST {
            self.locks[self.n as usize] = lock;
            self.n += 1;
        } else {
            self.unseen += 1;
        }
    }

    /// Releases the lock once. Some if it is no longer held.
    pub fn pop(&mut self, key: usize) -> Option<HeldEntry> {
        let n = self.n as usize;
        let Some(at) = self.locks[..n].iter().rposition(|l| l.key == key) else {
            self.unseen = self.unseen.saturating_sub(1);
            return None;
        };
        self.locks[at].times -= 1;
        if self.locks[at].times > 0 {
            return None;
        }
        let lock = self.locks[at];
        self.locks.copy_within(at + 1..n, at);
        self.n -= 1;
        Some(lock)
    }

    /// How often the lock is held. A condition variable's wait releases all of them.
    pub fn times(&self, key: usize) -> u32 {
        self.iter().find(|l| l.key == key).map_or(0, |l| l.times)
    }

    /// Forgets the epochs of locksets, since epochs start over.
    pub fn new_sid(&mut self) {
        self.remembered = [(u16::MAX, 0); REMEMBERED];
    }

    /// Something other than a lock was released, or the sid changed.
    pub fn new_period(&mut self, sid: usize, epoch: u32) {
        self.max_epoch = epoch;
        if super::settings().hybrid {
            self.period = epoch as u16;
            self.remembered[self.set as usize % REMEMBERED] = (self.set, epoch as u16);
            set_of_epoch(sid, epoch, self.set);
        }
    }
}

/// Hybrid mode: switches to the segment that stands for the locks held, after they changed.
pub fn changed(t: &mut Thread) {
    let set = intern(&t.held);
    if set == t.held.set {
        return;
    }
    t.held.set = set;
    let (known, epoch) = t.held.remembered[set as usize % REMEMBERED];
    let sid = t.sid();
    if sid == 0 {
        return;
    }
    if known == set && epoch >= t.held.period {
        return t.set_state(state(sid, epoch as u32));
    }
    let next = t.held.max_epoch + 1;
    if next > EPOCH_MAX {
        t.publish();
        return t.advance();
    }
    t.held.max_epoch = next;
    t.held.remembered[set as usize % REMEMBERED] = (set, next as u16);
    set_of_epoch(sid, next, set);
    t.set_state(state(sid, next));
}

/// True if the current access of `t` and the access in `slot` share a lock, each held in a mode
/// that protects it.
pub fn common(t: &Thread, current: u32, slot: u32) -> bool {
    let (a, b) = (t.held.set, of_epoch(sid(slot), epoch(slot)));
    if a == 0 || b == 0 {
        return false;
    }
    if a == ANY || b == ANY {
        return true;
    }
    let (a, b) = (locks_of(a), locks_of(b));
    // A write is protected only by locks held for writing, a read by any (4.1).
    let counts = |lock: usize, access: u32| access & READ != 0 || lock & 1 == 0;
    a.iter()
        .filter(|l| **l != 0 && counts(**l, current))
        .any(|l| b.iter().any(|m| *m != 0 && *m & !1 == *l & !1 && counts(*m, slot)))
}

/// A set: lock numbers doubled, plus 1 for those held for reading; sorted, zeroes last.
type Set = [usize; WIDEST];

const SETS: usize = 1 << 15;
const ANY: u16 = SETS as u16;
const INDEX: usize = 1 << 16;

struct Tables {
    sets: *mut Set,
    of_epoch: *mut u16,
}

static LOCK: Spin = Spin::new();
static TABLES: Shared<Tables> =
    Shared::new(Tables { sets: core::ptr::null_mut(), of_epoch: core::ptr::null_mut() });
/// Open addressing. Entries are only ever added, so lookups take no lock. 0 is the empty set.
static FIND: [AtomicU16; INDEX] = [const { AtomicU16::new(0) }; INDEX];
static COUNT: AtomicU16 = AtomicU16::new(1);

/// Must be called before any thread starts.
pub fn prepare_tables() {
    // SAFETY: the process has one thread yet.
    unsafe {
        *TABLES.get() = Tables {
            sets: sys::pages(SETS * size_of::<Set>()).cast(),
            of_epoch: sys::pages((SID_MAX + 1) << 14 << 1).cast(),
        }
    }
}

fn tables() -> &'static Tables {
    // SAFETY: written once, before there are other threads.
    unsafe { &*TABLES.get() }
}

fn locks_of(set: u16) -> &'static Set {
    // SAFETY: set numbers are below COUNT.
    unsafe { &*tables().sets.add(set as usize) }
}

fn of_epoch(sid: usize, epoch: u32) -> u16 {
    // SAFETY: the table has 2^14 entries for each sid.
    unsafe { *tables().of_epoch.add(sid << 14 | epoch as usize) }
}

/// Compares before it writes. A program that releases often and holds no lock would otherwise touch
/// the whole table to write zeros.
fn set_of_epoch(sid: usize, epoch: u32, set: u16) {
    // SAFETY: as above; only the sid's user writes its entries.
    unsafe {
        let entry = tables().of_epoch.add(sid << 14 | epoch as usize);
        if *entry != set {
            *entry = set;
        }
    }
}

fn intern(held: &ThreadLocks) -> u16 {
    if held.n == 0 {
        return 0;
    }
    if held.n as usize > WIDEST || held.unseen > 0 {
        return ANY;
    }
    let mut set: Set = [0; WIDEST];
    for (to, lock) in set.iter_mut().zip(held.iter()) {
        *to = (lock.uid as usize) << 1 | lock.mode as usize;
    }
    if held.n > 1 {
        set.sort_unstable_by(|a, b| b.cmp(a));
    }
    // The hash does not depend on the order.
    let hash = set.iter().fold(0usize, |h, l| h.wrapping_add(l.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut at = hash >> 48;
    loop {
        let found = FIND[at].load(Acquire);
        if found == 0 {
            return add(at, &set);
        }
        if is_same(locks_of(found), &set) {
            return found;
        }
        at = (at + 1) % INDEX;
    }
}

/// Compares word by word: `==` would call the runtime's own `memcmp`, which goes byte by byte.
#[inline]
fn is_same(a: &Set, b: &Set) -> bool {
    a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cold]
fn add(mut at: usize, set: &Set) -> u16 {
    let _guard = LOCK.lock();
    while FIND[at].load(Acquire) != 0 {
        if is_same(locks_of(FIND[at].load(Acquire)), set) {
            return FIND[at].load(Acquire);
        }
        at = (at + 1) % INDEX;
    }
    let new = COUNT.load(Relaxed);
    if new == ANY {
        return ANY;
    }
    // SAFETY: under LOCK, below SETS; readers see the entry only after the store to FIND.
    unsafe { *tables().sets.add(new as usize) = *set };
    COUNT.store(new + 1, Relaxed);
    FIND[at].store(new, Release);
    new
}

pub fn reset_lock() {
    LOCK.reset();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(key: usize) -> HeldEntry {
        HeldEntry { key, uid: key as u32, stack: 0, mode: HoldMode::Write, is_mutex: false, times: 1 }
    }

    #[test]
    fn locks_may_be_released_in_any_order_and_taken_again() {
        let mut h = ThreadLocks::EMPTY;
        h.push(lock(1));
        h.push(lock(2));
        assert!(h.again(1) && !h.again(3));
        assert!(h.pop(1).is_none(), "still held once");
        assert_eq!(h.pop(1).map(|l| l.key), Some(1));
        assert!(h.holds(2) && !h.holds(1));
        assert!(h.pop(9).is_none());
        assert_eq!(h.pop(2).map(|l| l.key), Some(2));
        assert!(h.is_empty());
    }

    #[test]
    fn more_locks_than_are_kept_do_no_harm() {
        let mut h = ThreadLocks::EMPTY;
        (1..=DEEPEST + 3).for_each(|k| h.push(lock(k)));
        assert_eq!(h.iter().count(), DEEPEST);
        (1..=DEEPEST + 3).rev().for_each(|k| assert!(h.pop(k).is_none_or(|l| l.key == k)));
        assert!(h.is_empty());
    }
}
