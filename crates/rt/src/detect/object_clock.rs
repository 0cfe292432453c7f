//! Clocks kept with synchronisation objects.
//!
//! A program may have a lock or an atomic in each vertex of a graph. So a kept clock must be small,
//! and a release should not copy 254 lanes. A clock that knows few threads is kept as **pairs** of
//! sid and epoch in the object itself, without sids that others imply ([`chain`]). The thread has
//! these pairs at hand. With more threads, a release leaves a reference to a **snapshot** of its
//! thread's clock. The thread makes the snapshot once and hands it out until it learns something
//! new. Beside the snapshot is the one lane that moves: the thread's own sid and epoch.
//!
//! **The shortcut.** Whoever knows a sid's epoch has learned everything that its thread had
//! released by then. So a thread that already knows the stamp of a kept clock can skip the rest.
//! That fails if a thread has taken over the sid of one that it did not see end. From then on
//! ([`distrust_stamps`]) all lanes are compared, until a flush that begins later has forgotten all
//! kept clocks.
//!
//! **Generations.** A flush empties kept clocks before sids start over, and a release may come in
//! between. So a kept clock names the generation in which it was correct. What it knows of sids
//! that have started over since is dropped before use.

use core::sync::atomic::{AtomicU32, Ordering::*};

use super::clock::{SidClock, lanes};
use super::pairs::Pairs;
use super::{chain, sids};
use crate::layout::SID_MAX;
use crate::sys::{self, Shared, Spin};

const SIZES: [usize; 3] = [32, 128, SID_MAX + 2];

/// A clock that several objects share. It is immutable while there are two references.
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
/// How many sids have passed to a thread that had not seen their last user end, and for how many of
/// these no earlier stamp is left.
static PASSED_UNSEEN: AtomicU32 = AtomicU32::new(0);
static FORGOTTEN: AtomicU32 = AtomicU32::new(0);

/// A sid passed to a thread that had not seen its last user end.
pub fn distrust_stamps() {
    PASSED_UNSEEN.fetch_add(1, Relaxed);
}

/// How many sids have passed unseen, for [`trust_stamps`]. Must be read before all kept clocks are
/// forgotten: a sid that passes meanwhile may have left stamps in clocks that were forgotten
/// earlier.
pub fn passed_unseen() -> u32 {
    PASSED_UNSEEN.load(Acquire)
}

/// Called after all kept clocks were forgotten; `passed` sids had passed unseen before.
pub fn trust_stamps(passed: u32) {
    FORGOTTEN.store(passed, Release);
}

fn are_stamps_trusted() -> bool {
    PASSED_UNSEEN.load(Relaxed) == FORGOTTEN.load(Relaxed)
}

pub fn reset_lock() {
    LOCK.reset();
}

impl Snapshot {
    /// Has one reference. The caller must write the first `n` lanes.
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

    pub fn of(clock: &SidClock) -> *mut Snapshot {
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
        // SAFETY: as above; the caller holds the only reference.
        unsafe { core::slice::from_raw_parts_mut(self.clock.as_mut_ptr(), self.lanes as usize) }
    }

    /// SAFETY: `it` is null or a reference that is not used again.
    pub unsafe fn let_go(it: *mut Snapshot) {
        // SAFETY: by the caller's contract.
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
pub struct ReleaseStamp<'a> {
    pub clock: &'a SidClock,
    /// The clock as pairs, if it has few threads.
    pub pairs: &'a Pairs,
    /// The thread's own reference. Null while there are few threads.
    pub snapshot: *mut Snapshot,
    pub sid: u8,
    pub epoch: u16,
    pub generation: u32,
}

/// How much a clock has learned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taught {
    Nothing,
    /// A few lanes, each passed to the callback.
    Few,
    /// An unknown number of lanes.
    Many,
}

/// If there are too many pairs, the first words hold a reference to a snapshot, and the fifth holds
/// the stamp: whoever knows the stamp knows all of it. Sid 0: nobody.
#[repr(C)]
pub struct Kept(Pairs);

impl Kept {
    pub const EMPTY: Kept = Kept(Pairs::EMPTY);

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn snapshot(&self) -> Option<*mut Snapshot> {
        // SAFETY: the words are eight aligned bytes, and with too many pairs they hold a reference.
        self.0.are_too_many().then(|| unsafe { self.0.epochs.as_ptr().cast::<*mut Snapshot>().read() })
    }

    /// Takes over a reference.
    fn set_snapshot(&mut self, it: *mut Snapshot, stamp: (u8, u16), generation: u32) {
        self.let_go();
        self.0.give_up();
        // SAFETY: as for `snapshot`.
        unsafe { self.0.epochs.as_mut_ptr().cast::<*mut Snapshot>().write(it) };
        (self.0.sids[0], self.0.epochs[4]) = stamp;
        self.0.generation = generation;
    }

    fn stamp(&self) -> (usize, u16) {
        (self.0.sids[0] as usize, self.0.epochs[4])
    }

    /// True if `clock` surely knows all of this. False: the lanes must be compared.
    #[inline]
    fn is_known_to(&self, clock: &SidClock) -> bool {
        if !self.0.are_too_many() {
            return self.0.iter().all(|(sid, epoch)| clock.0[sid] >= epoch);
        }
        let (sid, epoch) = self.stamp();
        sid != 0 && clock.0[sid] >= epoch && are_stamps_trusted()
    }

    /// Adds this to `clock`, which is correct in `generation`. Calls `news` for single lanes.
    #[inline]
    pub fn teach(
        &mut self,
        clock: &mut SidClock,
        generation: u32,
        mut news: impl FnMut(usize, u16),
    ) -> Taught {
        self.correct(generation);
        if let Some(it) = self.snapshot() {
            return self.teach_many(clock, it);
        }
        let mut taught = Taught::Nothing;
        for (sid, epoch) in self.0.iter() {
            let known = clock.0[sid];
            if known < epoch {
                if known == 0 {
                    chain::expand(clock, sid);
                }
                clock.0[sid] = epoch;
                news(sid, epoch);
                taught = Taught::Few;
            }
        }
        taught
    }

    fn teach_many(&self, clock: &mut SidClock, it: *mut Snapshot) -> Taught {
        if self.is_known_to(clock) {
            return Taught::Nothing;
        }
        // SAFETY: a snapshot lives as long as there is a reference.
        clock.join(unsafe { (*it).as_slice() });
        let (own, epoch) = self.stamp();
        clock.0[own] = clock.0[own].max(epoch);
        Taught::Many
    }

    /// Replaces the clock by that of the stamp.
    #[inline]
    pub fn assign(&mut self, stamp: ReleaseStamp) {
        if stamp.snapshot.is_null() {
            self.let_go();
            self.0 = *stamp.pairs;
        } else {
            // SAFETY: the stamp's thread holds a reference while the stamp lives.
            unsafe { (*stamp.snapshot).references.fetch_add(1, Relaxed) };
            self.set_snapshot(stamp.snapshot, (stamp.sid, stamp.epoch), stamp.generation);
        }
    }

    #[inline]
    pub fn join(&mut self, stamp: ReleaseStamp) {
        self.correct(stamp.generation);
        if self.is_empty() || self.is_known_to(stamp.clock) {
            return self.assign(stamp);
        }
        self.join_pairs(stamp.pairs, stamp.clock, stamp.generation);
    }

    /// Joins a clock that nobody has stamped.
    pub fn join_clock(&mut self, clock: &SidClock, generation: u32) {
        self.correct(generation);
        self.join_pairs(&Pairs::of(clock, 0, generation), clock, generation);
    }

    fn join_pairs(&mut self, pairs: &Pairs, clock: &SidClock, generation: u32) {
        if !self.0.are_too_many() && !pairs.are_too_many() {
            let mut both = self.0;
            both.generation = generation;
            pairs.iter().for_each(|(sid, epoch)| both.note(sid, epoch));
            // Otherwise a sid that means something else now may imply one that it does not cover.
            if !both.are_too_many() && sids::is_current(generation) {
                self.0 = both;
                return;
            }
        }
        let mut all = self.to_clock();
        all.join(&clock.0);
        self.set_snapshot(Snapshot::of(&all), (0, 0), generation);
    }

    fn to_clock(&self) -> SidClock {
        let mut clock = SidClock::ZERO;
        match self.snapshot() {
            Some(it) => drop(self.teach_many(&mut clock, it)),
            None => self.0.iter().for_each(|(sid, epoch)| {
                chain::expand(&mut clock, sid);
                clock.0[sid] = epoch;
            }),
        }
        clock
    }

    /// Drops what is known of sids that have started over since.
    #[inline]
    fn correct(&mut self, generation: u32) {
        if self.0.generation < generation {
            self.correct_lanes(generation);
        }
    }

    #[cold]
    fn correct_lanes(&mut self, generation: u32) {
        let since = core::mem::replace(&mut self.0.generation, generation);
        if !self.0.are_too_many() {
            return self.0.retain(|sid| !sids::is_born_after(sid, since));
        }
        let (mut clock, (sid, epoch)) = (self.to_clock(), self.stamp());
        sids::correct(&mut clock, since);
        let stamp = if sids::is_born_after(sid, since) { (0, 0) } else { (sid as u8, epoch) };
        self.set_snapshot(Snapshot::of(&clock), stamp, generation);
    }

    pub fn clear(&mut self) {
        self.let_go();
        *self = Kept::EMPTY;
    }

    #[inline]
    fn let_go(&mut self) {
        if let Some(it) = self.snapshot() {
            // SAFETY: the caller replaces the reference.
            unsafe { Snapshot::let_go(it) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::HIGHEST;
    use super::*;
    use proptest::prelude::*;

    fn clock(of: &[(usize, u16)]) -> SidClock {
        let mut c = SidClock::ZERO;
        for (s, e) in of {
            c.0[*s] = *e;
        }
        c
    }

    fn known(k: &mut Kept) -> SidClock {
        let mut c = SidClock::ZERO;
        k.teach(&mut c, 0, |_, _| ());
        c
    }

    /// A release by the thread that has `sid`, as
    /// [`Thread::stamp`](crate::detect::thread::Thread::stamp) makes it.
    fn release(clock: &SidClock, sid: usize, by: impl FnOnce(ReleaseStamp)) {
        let pairs = Pairs::of(clock, sid, 0);
        let many = pairs.are_too_many();
        let snapshot = if many { Snapshot::of(clock) } else { core::ptr::null_mut() };
        by(ReleaseStamp {
            clock,
            pairs: &pairs,
            snapshot,
            sid: sid as u8,
            epoch: clock.0[sid],
            generation: 0,
        });
        // SAFETY: not used again.
        unsafe { Snapshot::let_go(snapshot) };
    }

    #[test]
    fn a_kept_clock_assigns_joins_and_forgets() {
        let _alone = chain::alone();
        HIGHEST.fetch_max(200, Relaxed);
        let mut k = Kept::EMPTY;
        k.join_clock(&clock(&[(3, 4)]), 0);
        k.join_clock(&clock(&[(3, 2), (150, 9)]), 0);
        assert_eq!((known(&mut k).get(3), known(&mut k).get(150)), (4, 9));
        release(&clock(&[(2, 1)]), 2, |s| k.assign(s));
        assert_eq!((known(&mut k).get(2), known(&mut k).get(3)), (1, 0));
        release(&clock(&[(2, 7)]), 2, |s| k.join(s));
        assert_eq!(known(&mut k).get(2), 7);
        k.clear();
        assert!(k.is_empty());
    }

    /// Snapshots are recycled when the last object drops them.
    #[test]
    fn a_snapshot_is_used_again() {
        let _alone = chain::alone();
        HIGHEST.fetch_max(200, Relaxed);
        let c = clock(&[(5, 5), (6, 1), (7, 1), (8, 1), (9, 1), (10, 1), (11, 1), (12, 1)]);
        let mut kept = [Kept::EMPTY, Kept::EMPTY];
        release(&c, 5, |s| kept.iter_mut().for_each(|k| k.assign(s)));
        let snapshot = kept[1].snapshot().unwrap();
        kept[0].clear();
        assert_eq!(known(&mut kept[1]).get(5), 5);
        kept[1].clear();
        // SAFETY: on the free list: memory of the runtime stays mapped.
        assert_eq!(unsafe { (*snapshot).references.load(Relaxed) }, 0);
    }

    /// One thread for each of `n` sids; whatever one does is released at once.
    fn hold_against_a_vector_of_maxima(n: usize, ops: Vec<(bool, usize, u16, usize)>) {
        let _alone = chain::alone();
        HIGHEST.fetch_max(200, Relaxed);
        let (mut k, mut plain) = (Kept::EMPTY, SidClock::ZERO);
        let mut threads: Vec<SidClock> = vec![SidClock::ZERO; n + 1];
        for (assign, sid, by, other) in ops {
            let (sid, other) = (sid % n + 1, other % n + 1);
            if assign {
                // It has acquired everything that the other has released so far, as any thread
                // does.
                let learned = threads[other];
                threads[sid].join(&learned.0);
            }
            let c = &mut threads[sid];
            c.0[sid] += by;
            if assign {
                release(c, sid, |s| k.assign(s));
                plain = *c;
            } else {
                release(c, sid, |s| k.join(s));
                plain.0.iter_mut().zip(&c.0).for_each(|(a, b)| *a = (*a).max(*b));
            }
            // A clock that knows nothing learns all; one that was taught is taught nothing new.
            let mut learned = known(&mut k);
            assert_eq!(learned.0, plain.0);
            let again = k.teach(&mut learned, 0, |_, _| ());
            assert!(again == Taught::Nothing || (again, k.stamp().0) == (Taught::Many, 0));
        }
    }

    proptest! {
        /// Whatever the mix of assignments and joins, an object knows what a plain vector of maxima
        /// knows.
        #[test]
        fn a_kept_clock_is_the_maximum_of_what_it_was_given(
            n in prop_oneof![Just(3usize), Just(6), Just(7), Just(9), Just(199)],
            ops in proptest::collection::vec((any::<bool>(), any::<usize>(), 1u16..100, any::<usize>()), 1..40)
        ) {
            hold_against_a_vector_of_maxima(n, ops);
        }
    }
}
