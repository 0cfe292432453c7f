//! Clocks kept with synchronisation objects.
//!
//! A program may have a lock or an atomic in each vertex of a graph, so a kept clock must be small, and a release should
//! not copy 254 lanes. While few sids are in use the lanes are in the object itself. Beyond that a release leaves a
//! reference to a **snapshot** of its thread's clock, which the thread makes once and hands out until it learns something
//! new, and beside it the one lane that moves: the thread's own sid and epoch.
//!
//! **The shortcut.** Whoever knows a sid's epoch has learned all that its thread had released by then. So a thread that
//! already knows the stamp of a kept clock need not look at the rest. That fails where a thread has taken over the sid of
//! one that it did not see end: from then on ([`distrust_stamps`]), until a flush, all lanes are compared.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};

use super::clock::{Clock, join, lanes};
use crate::layout::SID_MAX;
use crate::sys::{self, Shared, Spin};

/// Lanes that fit into the object.
const FEW: usize = 8;
const SIZES: [usize; 3] = [32, 128, SID_MAX + 2];

/// A clock that several objects share. Nobody changes it while there are two references.
#[repr(C, align(16))]
pub struct Snapshot {
    references: AtomicU32,
    lanes: u32,
    size: u32,
    next: *mut Snapshot,
    clock: [u16; 0],
}

static LOCK: Spin = Spin::new();
static FREE: Shared<[*mut Snapshot; 3]> = Shared::new([core::ptr::null_mut(); 3]);
static DISTRUSTED: AtomicBool = AtomicBool::new(false);

/// A sid passed to a thread that had not seen its last user end.
pub fn distrust_stamps() {
    DISTRUSTED.store(true, Relaxed);
}

/// All kept clocks were just forgotten.
pub fn trust_stamps() {
    DISTRUSTED.store(false, Relaxed);
}

pub fn reset_lock() {
    LOCK.reset();
}

impl Snapshot {
    /// With one reference. The first `n` lanes are to be written.
    fn new(n: usize) -> *mut Snapshot {
        let size = SIZES.iter().position(|s| *s >= n).unwrap_or(SIZES.len() - 1);
        let guard = LOCK.lock();
        // SAFETY: the lists are used under their lock; a snapshot on a list has no reference.
        unsafe {
            let mut it = (*FREE.get())[size];
            if it.is_null() {
                drop(guard);
                it = sys::ARENA.take(size_of::<Snapshot>() + SIZES[size] * 2).cast();
            } else {
                (*FREE.get())[size] = (*it).next;
            }
            (*it).references.store(1, Relaxed);
            (*it).lanes = n as u32;
            (*it).size = size as u32;
            it
        }
    }

    pub fn of(clock: &Clock) -> *mut Snapshot {
        let n = lanes();
        let it = Snapshot::new(n);
        // SAFETY: fresh, with room for n lanes.
        unsafe { (*it).lanes_mut().copy_from_slice(&clock.0[..n]) };
        it
    }

    fn as_slice(&self) -> &[u16] {
        // SAFETY: `lanes` entries follow, all written.
        unsafe { core::slice::from_raw_parts(self.clock.as_ptr(), self.lanes as usize) }
    }

    fn lanes_mut(&mut self) -> &mut [u16] {
        // SAFETY: as above; the caller has the only reference.
        unsafe { core::slice::from_raw_parts_mut(self.clock.as_mut_ptr(), self.lanes as usize) }
    }

    /// SAFETY: `it` is null or a reference that is not used again.
    pub unsafe fn let_go(it: *mut Snapshot) {
        // SAFETY: the caller's.
        unsafe {
            if it.is_null() || (*it).references.fetch_sub(1, AcqRel) != 1 {
                return;
            }
            let _guard = LOCK.lock();
            let list = &mut (*FREE.get())[(*it).size as usize];
            (*it).next = *list;
            *list = it;
        }
    }
}

/// What a release hands over: the clock of its thread, whose sid is at `epoch`.
#[derive(Clone, Copy)]
pub struct Stamp<'a> {
    pub clock: &'a Clock,
    /// The thread's own reference. Null while the lanes are few.
    pub snapshot: *mut Snapshot,
    pub sid: u16,
    pub epoch: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Room {
    few: [u16; FEW],
    many: *mut Snapshot,
}

#[repr(C)]
pub struct Kept {
    room: Room,
    /// 0: empty; FEW: in the object; more: a snapshot.
    lanes: u16,
    /// Who knows this knows all of it. sid 0: nobody.
    sid: u16,
    epoch: u16,
}

impl Kept {
    pub const EMPTY: Kept = Kept { room: Room { few: [0; FEW] }, lanes: 0, sid: 0, epoch: 0 };

    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    fn as_slice(&self) -> &[u16] {
        // SAFETY: `lanes` tells which it is; a snapshot lives as long as there is a reference.
        unsafe {
            match self.lanes as usize {
                0 => &[],
                FEW => &self.room.few,
                _ => (*self.room.many).as_slice(),
            }
        }
    }

    /// Is all of this in `clock`, as its stamp tells? False: it has to be looked at.
    #[inline]
    fn is_known_to(&self, clock: &Clock) -> bool {
        self.sid != 0 && clock.get(self.sid as usize) >= self.epoch as u32 && !DISTRUSTED.load(Relaxed)
    }

    /// Adds this to what `clock` knows. False: it knew.
    #[inline]
    pub fn teach(&self, clock: &mut Clock) -> bool {
        if self.lanes == 0 || self.is_known_to(clock) {
            return false;
        }
        clock.join(self.as_slice());
        let own = self.sid as usize;
        clock.set(own, clock.get(own).max(self.epoch as u32));
        true
    }

    /// Becomes the clock of the stamp.
    #[inline]
    pub fn assign(&mut self, stamp: Stamp) {
        if stamp.snapshot.is_null() {
            self.let_go();
            self.lanes = FEW as u16;
            // SAFETY: a clock has more lanes than that.
            self.room.few = unsafe { *stamp.clock.0.as_ptr().cast() };
        } else {
            // SAFETY: the stamp's thread holds a reference while the stamp lives.
            unsafe {
                (*stamp.snapshot).references.fetch_add(1, Relaxed);
                self.let_go();
                self.room.many = stamp.snapshot;
                self.lanes = (*stamp.snapshot).lanes as u16;
            }
        }
        (self.sid, self.epoch) = (stamp.sid, stamp.epoch);
    }

    #[inline]
    pub fn join(&mut self, stamp: Stamp) {
        if self.lanes == 0 || self.is_known_to(stamp.clock) {
            return self.assign(stamp);
        }
        self.join_clock(stamp.clock);
    }

    /// Joins a clock that nobody has stamped.
    pub fn join_clock(&mut self, clock: &Clock) {
        let n = lanes();
        let (sid, epoch) = (self.sid as usize, self.epoch);
        if n == FEW && self.lanes as usize <= FEW {
            // SAFETY: few lanes are in the object; an empty object's are as it was left.
            let few = unsafe { &mut self.room.few };
            if self.lanes == 0 {
                *few = [0; FEW];
            }
            join(few, &clock.0[..FEW]);
            few[sid] = few[sid].max(epoch);
            self.lanes = FEW as u16;
        } else {
            self.join_many(clock, n);
        }
        (self.sid, self.epoch) = (0, 0);
    }

    fn join_many(&mut self, clock: &Clock, n: usize) {
        let it = Snapshot::new(n);
        // SAFETY: fresh, with room for n lanes, and not shared yet.
        let to = unsafe { (*it).lanes_mut() };
        to.copy_from_slice(&clock.0[..n]);
        let had = self.as_slice();
        let both = had.len().min(n);
        join(&mut to[..both], &had[..both]);
        let own = self.sid as usize;
        if own < n {
            to[own] = to[own].max(self.epoch);
        }
        self.let_go();
        self.room.many = it;
        self.lanes = n as u16;
    }

    pub fn clear(&mut self) {
        self.let_go();
        *self = Kept::EMPTY;
    }

    #[inline]
    fn let_go(&mut self) {
        if self.lanes as usize > FEW {
            // SAFETY: a snapshot, by its lanes; the caller puts something else in its place.
            unsafe { Snapshot::let_go(self.room.many) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::HIGHEST;
    use super::*;
    use proptest::prelude::*;

    fn clock(of: &[(usize, u16)]) -> Clock {
        let mut c = Clock::ZERO;
        for (s, e) in of {
            c.0[*s] = *e;
        }
        c
    }

    fn known(k: &Kept) -> Clock {
        let mut c = Clock::ZERO;
        k.teach(&mut c);
        c
    }

    fn stamp(clock: &Clock, snapshot: *mut Snapshot, sid: u16) -> Stamp<'_> {
        Stamp { clock, snapshot, sid, epoch: clock.0[sid as usize] }
    }

    #[test]
    fn a_kept_clock_assigns_joins_and_forgets() {
        HIGHEST.fetch_max(200, Relaxed);
        let mut k = Kept::EMPTY;
        k.join_clock(&clock(&[(3, 4)]));
        k.join_clock(&clock(&[(3, 2), (150, 9)]));
        assert_eq!((known(&k).get(3), known(&k).get(150)), (4, 9));
        let new = clock(&[(2, 1)]);
        let snapshot = Snapshot::of(&new);
        k.assign(stamp(&new, snapshot, 2));
        assert_eq!((known(&k).get(2), known(&k).get(3)), (1, 0));
        // The thread goes on: its own lane moves, the snapshot stays.
        let later = clock(&[(2, 7)]);
        k.join(stamp(&later, snapshot, 2));
        assert_eq!(known(&k).get(2), 7);
        k.clear();
        assert!(k.is_empty());
        // SAFETY: not used again.
        unsafe { Snapshot::let_go(snapshot) };
    }

    /// Snapshots come back when the last object lets go.
    #[test]
    fn a_snapshot_is_used_again() {
        HIGHEST.fetch_max(200, Relaxed);
        let c = clock(&[(5, 5)]);
        let snapshot = Snapshot::of(&c);
        let mut kept = [Kept::EMPTY, Kept::EMPTY];
        kept.iter_mut().for_each(|k| k.assign(stamp(&c, snapshot, 5)));
        // SAFETY: the objects have references of their own.
        unsafe { Snapshot::let_go(snapshot) };
        kept[0].clear();
        assert_eq!(known(&kept[1]).get(5), 5);
        kept[1].clear();
        // SAFETY: on the free list: memory of the runtime stays mapped.
        assert_eq!(unsafe { (*snapshot).references.load(Relaxed) }, 0);
    }

    proptest! {
        /// Whatever the mix of assignments and joins, an object knows what a plain vector of maxima knows.
        #[test]
        fn a_kept_clock_is_the_maximum_of_what_it_was_given(
            ops in proptest::collection::vec((any::<bool>(), 1usize..200, 1u16..100, 1usize..200), 1..40)
        ) {
            HIGHEST.fetch_max(200, Relaxed);
            let (mut k, mut plain) = (Kept::EMPTY, Clock::ZERO);
            // One thread for each sid; whatever one does is released at once.
            let mut threads: Vec<Clock> = vec![Clock::ZERO; 200];
            for (assign, sid, by, other) in ops {
                if assign {
                    // It has acquired what the other has released so far: all of it, as any thread does.
                    let learned = threads[other];
                    threads[sid].join(&learned.0);
                }
                let c = &mut threads[sid];
                c.0[sid] += by;
                let snapshot = Snapshot::of(c);
                if assign {
                    k.assign(stamp(c, snapshot, sid as u16));
                    plain = *c;
                } else {
                    k.join(stamp(c, snapshot, sid as u16));
                    plain.0.iter_mut().zip(&c.0).for_each(|(a, b)| *a = (*a).max(*b));
                }
                // SAFETY: not used again.
                unsafe { Snapshot::let_go(snapshot) };
                // A clock that knows nothing learns all; one that was taught is taught nothing new.
                let mut learned = known(&k);
                prop_assert_eq!(&learned.0[..], &plain.0[..]);
                prop_assert!(k.sid == 0 || !k.teach(&mut learned));
            }
        }
    }
}
