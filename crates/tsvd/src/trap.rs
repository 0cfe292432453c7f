//! The traps that are set (3.1): which threads are delayed, at which call, on which object.
//!
//! Traps are the only source of reports, so nothing here is approximate: a bucket is locked while a
//! trap is set, checked or removed, and a delayed thread cannot leave while its trap is being
//! reported.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::spin::Spin;
use crate::{ApiPoint, Host};

const BUCKETS: usize = 64;
/// The maximum number of threads delayed at once at calls on objects of one bucket. More are not
/// delayed.
const SLOTS: usize = 16;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Trap {
    pub point: ApiPoint,
    pub cookie: u64,
    hits: u32,
    set: bool,
}

#[repr(C, align(64))]
struct Bucket {
    lock: Spin,
    /// The number of traps set on objects of this bucket.
    set: AtomicU32,
    traps: UnsafeCell<[Trap; SLOTS]>,
}

// SAFETY: the slots are touched only while the lock is held.
unsafe impl Sync for Bucket {}

#[repr(C)]
pub(crate) struct Traps {
    /// The number of traps set. If it is zero, as at most points, no bucket is examined.
    set: AtomicU32,
    buckets: [Bucket; BUCKETS],
}

impl Traps {
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.set.load(Relaxed) != 0
    }

    /// Whether a trap may be set on this object, because there is one in its bucket.
    #[inline]
    pub(crate) fn may_be_on(&self, object: u64) -> bool {
        self.any() && self.bucket(object).set.load(Relaxed) != 0
    }

    /// Passes each trap that a call springs to `sprung`. Returns how many there were. `sprung` may
    /// say that a trap does not count.
    pub(crate) fn spring<H: Host>(
        &self,
        caller: &ApiPoint,
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

    /// Sets a trap, and springs those it conflicts with: two threads may find no trap and set
    /// theirs at the same moment. Both are then at their calls. False if there is no room.
    pub(crate) fn set<H: Host>(
        &self,
        point: &ApiPoint,
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

    /// Removes a trap. Returns how often it was sprung; none if there is no such trap.
    pub(crate) fn clear(&self, point: &ApiPoint, host: &mut impl Host) -> Option<u32> {
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

    /// Removes all traps of a thread that is gone.
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

    /// For the child of a fork. Only the forking thread exists there, and it is not delayed.
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
