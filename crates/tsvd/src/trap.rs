//! The traps that are set (3.1): which threads are being held, at which call, on which object.
//!
//! This is the only source of reports, so here nothing is approximate: a bucket is locked while a
//! trap is set, looked at or taken away, and a thread that is held cannot leave while its trap is
//! being reported.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::spin::Spin;
use crate::{Host, Point};

const BUCKETS: usize = 64;
/// Threads that can be held at calls on objects of one bucket at once; more are not delayed.
const SLOTS: usize = 16;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Trap {
    pub point: Point,
    pub cookie: u64,
    hits: u32,
    set: bool,
}

#[repr(C, align(64))]
struct Bucket {
    lock: Spin,
    /// How many are set on objects of this bucket.
    set: AtomicU32,
    traps: UnsafeCell<[Trap; SLOTS]>,
}

// SAFETY: the slots are only touched while the lock is held.
unsafe impl Sync for Bucket {}

#[repr(C)]
pub(crate) struct Traps {
    /// How many are set: most points need not look further.
    set: AtomicU32,
    buckets: [Bucket; BUCKETS],
}

impl Traps {
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.set.load(Relaxed) != 0
    }

    /// Whether a trap may be set on this object: there is one in its bucket.
    #[inline]
    pub(crate) fn may_be_on(&self, object: u64) -> bool {
        self.any() && self.bucket(object).set.load(Relaxed) != 0
    }

    /// Shows each trap that a call springs, and says how many there were. `sprung` may say that it
    /// was none.
    pub(crate) fn spring<H: Host>(
        &self,
        caller: &Point,
        host: &mut H,
        mut sprung: impl FnMut(&Trap, &mut H) -> bool,
    ) -> u32 {
        let bucket = self.bucket(caller.object);
        let _held = bucket.lock.hold(host);
        // SAFETY: the lock is held.
        let traps = unsafe { &mut *bucket.traps.get() };
        let mut count = 0;
        for trap in traps.iter_mut().filter(|trap| trap.set && trap.point.conflicts_with(caller)) {
            if sprung(trap, host) {
                trap.hits += 1;
                count += 1;
            }
        }
        count
    }

    /// Sets a trap, and springs those it conflicts with: two threads may have found no trap, and
    /// set theirs, at the same moment. Both then are at their calls. False: there is no room.
    pub(crate) fn set<H: Host>(
        &self,
        point: &Point,
        cookie: u64,
        host: &mut H,
        mut sprung: impl FnMut(&Trap, &mut H) -> bool,
    ) -> bool {
        let bucket = self.bucket(point.object);
        let _held = bucket.lock.hold(host);
        // SAFETY: the lock is held.
        let traps = unsafe { &mut *bucket.traps.get() };
        let Some(free) = traps.iter().position(|trap| !trap.set) else { return false };
        let mut hits = 0;
        for trap in traps.iter_mut().filter(|trap| trap.set && trap.point.conflicts_with(point)) {
            if sprung(trap, host) {
                trap.hits += 1;
                hits += 1;
            }
        }
        traps[free] = Trap { point: *point, cookie, hits, set: true };
        self.count(bucket, true);
        true
    }

    /// Takes a trap away and says how often it was sprung; nothing if there is none.
    pub(crate) fn clear(&self, point: &Point, host: &mut impl Host) -> Option<u32> {
        let bucket = self.bucket(point.object);
        let _held = bucket.lock.hold(host);
        // SAFETY: the lock is held.
        let traps = unsafe { &mut *bucket.traps.get() };
        let trap = traps.iter_mut().find(|trap| trap.set && trap.point == *point)?;
        trap.set = false;
        self.count(bucket, false);
        Some(trap.hits)
    }

    fn count(&self, bucket: &Bucket, more: bool) {
        for set in [&bucket.set, &self.set] {
            set.fetch_add(if more { 1 } else { u32::MAX }, Relaxed);
        }
    }

    /// Takes away whatever this thread has set: it is gone.
    pub(crate) fn clear_thread(&self, thread: u32, host: &mut impl Host) {
        for bucket in self.buckets.iter().filter(|_| self.any()) {
            let _held = bucket.lock.hold(host);
            // SAFETY: the lock is held.
            let traps = unsafe { &mut *bucket.traps.get() };
            for trap in traps.iter_mut().filter(|trap| trap.set && trap.point.thread == thread) {
                trap.set = false;
                self.count(bucket, false);
            }
        }
    }

    /// For the child of a fork, where only the forking thread is left, and it is not held.
    pub(crate) fn forget(&self) {
        for bucket in &self.buckets {
            bucket.lock.break_open();
            bucket.set.store(0, Relaxed);
            // SAFETY: there is one thread.
            unsafe { &mut *bucket.traps.get() }.iter_mut().for_each(|trap| trap.set = false);
        }
        self.set.store(0, Relaxed);
    }

    #[inline]
    fn bucket(&self, object: u64) -> &Bucket {
        &self.buckets[(object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % BUCKETS]
    }
}
