//! The last accesses of each object (3.4.2), in a table of fixed size.
//!
//! The paper keeps them in a global hash table. Here the table is four-way set-associative: an
//! object that finds its set full replaces the one that was accessed longest ago, whose accesses
//! are the least likely to be within the window.
//!
//! Nothing is locked. Threads that access one object at the same moment may tear a record or lose
//! one. The trap set then has a superfluous pair, or gets a pair one access later. Reports do not
//! depend on this: they come from traps.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::params::MAX_HISTORY;

const SETS: usize = 1 << 12;
const _: () = assert!(SETS * WAYS <= 1 << u16::BITS, "a pass has the number of a way in so many bits");
const WAYS: usize = 4;

/// An earlier access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PastAccess {
    pub time: u64,
    pub thread: u32,
    pub site: u32,
    pub write: bool,
    pub concurrent: bool,
    /// For `tsvd-hb` the thread's own time, for `tsvd` the result of [`crate::Host::mark`].
    pub mark: u64,
}

#[repr(C)]
struct Record {
    time: AtomicU64,
    /// `thread << 32 | (site + 1) << 2 | write << 1 | concurrent`; zero: none.
    what: AtomicU64,
    mark: AtomicU64,
}

#[repr(C, align(32))]
pub(crate) struct Way {
    /// Zero: free.
    pub object: AtomicU64,
    last: AtomicU64,
    next: AtomicU32,
    /// Passes with another version are void (see `passes`).
    pub version: AtomicU32,
    /// Not zero: the object has ended, and the next one at its address has no history.
    pub ended: AtomicU32,
    /// `thread + 1` of the thread that has passes of this version; [`SEVERAL`]; zero: no thread.
    holder: AtomicU32,
}

const SEVERAL: u32 = u32::MAX;

#[repr(C)]
pub(crate) struct Objects {
    pub ways: [Way; SETS * WAYS],
    /// The records of a way are together, so that a small history touches little memory.
    records: [Record; SETS * WAYS * MAX_HISTORY as usize],
}

impl Objects {
    /// Passes the last `kept` accesses of the object to `earlier`, and adds this one. If
    /// `keeps_write`, reads leave the last write there. Both must be the same in every call.
    /// Returns the number of the object's way.
    #[inline]
    pub(crate) fn access(
        &self,
        object: u64,
        this: PastAccess,
        (kept, keeps_write): (u32, bool),
        mut earlier: impl FnMut(&PastAccess),
    ) -> usize {
        let (number, fresh) = self.way(object);
        let records = &self.records[number * kept as usize..(number + 1) * kept as usize];
        let way = &self.ways[number];
        if fresh || way.ended.load(Relaxed) != 0 {
            records.iter().for_each(|record| record.what.store(0, Relaxed));
            way.next.store(0, Relaxed);
            way.ended.store(0, Relaxed);
            if fresh {
                way.object.store(object, Relaxed);
                way.void();
            }
        } else {
            records.iter().filter_map(Record::get).for_each(|access| earlier(&access));
        }
        let mut next = way.next.load(Relaxed);
        if keeps_write && !this.write && is_only_write(records, next as usize) {
            next = if next + 1 < kept { next + 1 } else { 0 };
        }
        way.next.store(if next + 1 < kept { next + 1 } else { 0 }, Relaxed);
        way.last.store(this.time, Relaxed);
        if let Some(record) = records.get(next as usize) {
            record.set(&this);
        }
        number
    }

    /// Records that the object is gone; the next one at its address is another. Passes stay: code
    /// that repeatedly makes objects at one address uses each in the same way.
    pub(crate) fn forget(&self, object: u64) {
        if let (way, false) = self.way(object) {
            self.ways[way].ended.store(1, Relaxed);
        }
    }

    /// The object's way, and whether it was newly assigned.
    #[inline]
    fn way(&self, object: u64) -> (usize, bool) {
        let set = (object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SETS.trailing_zeros())) as usize;
        let ways = &self.ways[set * WAYS..(set + 1) * WAYS];
        if let Some(way) = ways.iter().position(|way| way.object.load(Relaxed) == object) {
            return (set * WAYS + way, false);
        }
        let age = |way: &Way| {
            let free = way.object.load(Relaxed) == 0 || way.ended.load(Relaxed) != 0;
            if free { 0 } else { way.last.load(Relaxed).max(1) }
        };
        let oldest = (0..WAYS).min_by_key(|way| age(&ways[*way])).unwrap_or(0);
        (set * WAYS + oldest, true)
    }
}

/// Whether a record is of a write, and no other is.
#[inline]
fn is_only_write(records: &[Record], at: usize) -> bool {
    let is_write = |record: &Record| record.what.load(Relaxed) & 2 != 0;
    records.get(at).is_some_and(is_write) && records.iter().filter(|record| is_write(record)).count() == 1
}

impl Way {
    /// Makes all passes for the object void.
    fn void(&self) {
        self.holder.store(0, Relaxed);
        self.version.fetch_add(1, Relaxed);
    }

    /// Records that a thread without a pass arrives, so that holders of passes notice it. Returns
    /// whether there are any.
    #[inline]
    pub(crate) fn arrive(&self, thread: u32) -> bool {
        let holder = self.holder.load(Relaxed);
        let others = holder != 0 && holder != thread.wrapping_add(1);
        if others {
            self.void();
        }
        others
    }

    /// Records that a thread gets a pass.
    #[inline]
    pub(crate) fn hand_out(&self, thread: u32) {
        match self.holder.load(Relaxed) {
            holder if holder == thread.wrapping_add(1) || holder == SEVERAL => {}
            0 => self.holder.store(thread.wrapping_add(1), Relaxed),
            _ => self.holder.store(SEVERAL, Relaxed),
        }
    }
}

impl Record {
    #[inline]
    fn get(&self) -> Option<PastAccess> {
        let what = self.what.load(Relaxed);
        (what != 0).then(|| PastAccess {
            time: self.time.load(Relaxed),
            thread: (what >> 32) as u32,
            site: (what as u32 >> 2).wrapping_sub(1),
            write: what & 2 != 0,
            concurrent: what & 1 != 0,
            mark: self.mark.load(Relaxed),
        })
    }

    #[inline]
    fn set(&self, access: &PastAccess) {
        let flags = u64::from(access.write) << 1 | u64::from(access.concurrent);
        self.time.store(access.time, Relaxed);
        self.mark.store(access.mark, Relaxed);
        self.what.store(u64::from(access.thread) << 32 | u64::from(access.site + 1) << 2 | flags, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::zeroed_box;

    fn objects() -> Box<Objects> {
        // SAFETY: all of it is atomics, for which zero is a value.
        unsafe { zeroed_box() }
    }

    fn access(objects: &Objects, object: u64, site: u32, time: u64, kept: u32) -> Vec<u32> {
        let mut seen = Vec::new();
        let this = PastAccess { time, thread: 1, site, write: true, concurrent: true, mark: 9 };
        objects.access(object, this, (kept, false), |earlier| {
            assert!((earlier.thread, earlier.write, earlier.concurrent, earlier.mark) == (1, true, true, 9));
            seen.push(earlier.site);
        });
        seen.sort_unstable();
        seen
    }

    #[test]
    fn so_many_accesses_are_kept_and_no_more() {
        let objects = objects();
        assert_eq!(access(&objects, 8, 0, 1, 3), []);
        assert_eq!(access(&objects, 8, 1, 2, 3), [0]);
        assert_eq!(access(&objects, 8, 2, 3, 3), [0, 1]);
        assert_eq!(access(&objects, 8, 3, 4, 3), [0, 1, 2]);
        assert_eq!(access(&objects, 8, 4, 5, 3), [1, 2, 3]);
    }

    #[test]
    fn reads_leave_the_last_write() {
        let objects = objects();
        let access = |time: u64, write: bool, keeps_write: bool| {
            let (mut seen, this) =
                (Vec::new(), PastAccess { time, thread: 1, site: 0, write, concurrent: true, mark: 0 });
            objects.access(u64::from(keeps_write) + 8, this, (3, keeps_write), |earlier| {
                seen.push(earlier.time)
            });
            seen.sort_unstable();
            seen
        };
        for time in 1..=5 {
            access(time, time <= 2, true);
            access(time, time <= 2, false);
        }
        assert_eq!(access(6, false, true), [2, 4, 5], "the second write");
        assert_eq!(access(6, false, false), [3, 4, 5]);
        assert_eq!(access(7, true, true), [2, 5, 6]);
        access(8, false, true);
        access(9, false, true);
        assert_eq!(access(10, false, true), [7, 8, 9], "an older write goes");
    }

    #[test]
    fn objects_do_not_see_each_other() {
        let objects = objects();
        for object in 1..1000 {
            assert_eq!(access(&objects, object, object as u32, object, 5), []);
        }
        assert_eq!(access(&objects, 999, 0, 1000, 5), [999]);
    }

    #[test]
    fn an_object_that_is_gone_leaves_nothing_to_the_next_at_its_address() {
        let objects = objects();
        access(&objects, 8, 0, 1, 5);
        objects.forget(8);
        objects.forget(9);
        assert_eq!(access(&objects, 8, 1, 2, 5), []);
        assert_eq!(access(&objects, 8, 2, 3, 5), [1]);
    }

    #[test]
    fn a_full_set_loses_the_object_not_seen_for_longest() {
        let objects = objects();
        let set_of = |object: u64| objects.way(object).0 / WAYS;
        let same: Vec<u64> = (1..).filter(|object| set_of(*object) == 0).take(WAYS + 1).collect();
        for (time, object) in same.iter().enumerate() {
            access(&objects, *object, 5, 1 + time as u64, 5);
        }
        assert_eq!(access(&objects, same[0], 6, 10, 5), [], "the first was pushed out, by the last");
        assert_eq!(access(&objects, same[2], 6, 11, 5), [5]);
    }
}
