//! Locks held, and lock sets (paper, 4.1).
//!
//! A lock is *write-held* by a thread that has seen more WRLOCKs than WRUNLOCKs of it, and
//! *read-held* if it is write-held or more RDLOCKs than RDUNLOCKs were seen. The writer lock set of
//! a thread is its write-held locks, the reader lock set its read-held ones; the former protects a
//! WRITE and the latter a READ. So a lock held only for reading does not protect a write (6.3.6).
//!
//! # Deviations from the paper
//! 1. An unlock of a lock that is not held is ignored. In the paper it would cancel the next lock,
//!    and a mutex that another thread unlocks once would never again be seen as held.

use crate::event::{LockId, LockMode};
use std::collections::{BTreeMap, BTreeSet};

/// A set of locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockSet {
    locks: BTreeSet<LockId>,
}

impl LockSet {
    /// Whether no lock is in both. An empty set is disjoint from every set.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.locks.is_disjoint(&other.locks)
    }

    /// Whether each lock of this set is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.locks.is_subset(&other.locks)
    }

    /// Whether the access was made under no lock.
    pub fn is_empty(&self) -> bool {
        self.locks.is_empty()
    }

    /// Whether `lock` is in the set.
    pub fn contains(&self, lock: LockId) -> bool {
        self.locks.contains(&lock)
    }

    /// The locks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = LockId> + '_ {
        self.locks.iter().copied()
    }
}

impl FromIterator<LockId> for LockSet {
    fn from_iter<I: IntoIterator<Item = LockId>>(locks: I) -> Self {
        Self { locks: locks.into_iter().collect() }
    }
}

/// How often one thread holds each lock, in each mode.
#[derive(Clone, Debug, Default)]
pub struct HeldLocks {
    writes: BTreeMap<LockId, u32>,
    reads: BTreeMap<LockId, u32>,
}

impl HeldLocks {
    pub fn acquire(&mut self, lock: LockId, mode: LockMode) {
        *self.counts(mode).entry(lock).or_default() += 1;
    }

    pub fn release(&mut self, lock: LockId, mode: LockMode) {
        let counts = self.counts(mode);
        if let Some(count) = counts.get_mut(&lock) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&lock);
            }
        }
    }

    /// Removes the lock from both sets: it no longer exists.
    pub fn forget(&mut self, lock: LockId) {
        self.writes.remove(&lock);
        self.reads.remove(&lock);
    }

    /// LS_Wr.
    pub fn writer_set(&self) -> LockSet {
        self.writes.keys().copied().collect()
    }

    /// LS_Rd.
    pub fn reader_set(&self) -> LockSet {
        self.writes.keys().chain(self.reads.keys()).copied().collect()
    }

    fn counts(&mut self, mode: LockMode) -> &mut BTreeMap<LockId, u32> {
        match mode {
            LockMode::Write => &mut self.writes,
            LockMode::Read => &mut self.reads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: LockId = LockId(1);
    const B: LockId = LockId(2);

    fn set(locks: &[LockId]) -> LockSet {
        locks.iter().copied().collect()
    }

    #[test]
    fn a_write_held_lock_is_read_held_and_not_the_other_way_round() {
        let mut held = HeldLocks::default();
        held.acquire(A, LockMode::Write);
        held.acquire(B, LockMode::Read);
        assert_eq!(held.writer_set(), set(&[A]));
        assert_eq!(held.reader_set(), set(&[A, B]));
        assert!(held.writer_set().is_subset(&held.reader_set()));
    }

    #[test]
    fn a_lock_taken_twice_is_held_until_released_twice() {
        let mut held = HeldLocks::default();
        held.acquire(A, LockMode::Write);
        held.acquire(A, LockMode::Write);
        held.release(A, LockMode::Write);
        assert!(held.writer_set().contains(A));
        held.release(A, LockMode::Write);
        assert!(held.writer_set().is_empty());
    }

    #[test]
    fn an_unlock_of_a_lock_not_held_counts_for_nothing() {
        let mut held = HeldLocks::default();
        held.release(A, LockMode::Write);
        held.acquire(A, LockMode::Write);
        assert!(held.writer_set().contains(A));
    }

    #[test]
    fn a_lock_that_is_gone_is_not_held() {
        let mut held = HeldLocks::default();
        held.acquire(A, LockMode::Write);
        held.acquire(A, LockMode::Read);
        held.forget(A);
        assert!(held.reader_set().is_empty());
    }

    #[test]
    fn sets_without_a_common_lock_are_disjoint() {
        assert!(set(&[A]).is_disjoint(&set(&[B])));
        assert!(!set(&[A, B]).is_disjoint(&set(&[B])));
        assert_eq!(set(&[B, A]).iter().collect::<Vec<_>>(), [A, B]);
    }
}
