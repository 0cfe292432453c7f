//! Segment sets (paper, 4.1): the accesses to one byte that may still race with an access to come.
//!
//! # Deviations from the paper
//! 1. A member is a segment *and* whether its access was atomic. Atomic accesses do not race with
//!    each other, so an atomic access cannot represent a plain one that preceded it: the plain one
//!    still races with atomic accesses of other threads. So a member is removed only by an access
//!    that *covers* it: the member precedes that access or is it, and the access conflicts with
//!    everything that the member conflicts with. For plain accesses this is exactly the paper's
//!    rule. With atomics, members may be ordered (a plain access and an atomic one after it), which
//!    the paper's definition of a segment set excludes.
//! 2. The paper bounds sets at four segments and does not say which one is evicted. Here it is the
//!    one that has been in the set for the longest time. The bound is per set and optional.
//!    Forgetting a segment can lose a race, but never invents one.

use crate::segment::Segment;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A segment with an access to the byte.
#[derive(Clone, Debug)]
pub struct SegmentAccess {
    pub segment: Arc<Segment>,
    pub atomic: bool,
}

impl SegmentAccess {
    /// Whether this member is redundant once `by` is known: every later access that conflicts with
    /// this one conflicts with `by`, and whatever is not ordered after this one is not ordered
    /// after `by`. The caller must ensure that `by` has the right kind: a write for a write.
    fn covered(&self, by: &Self) -> bool {
        self.segment.precedes_or_is(&by.segment) && (!by.atomic || self.atomic)
    }
}

/// SS_Wr or SS_Rd of one byte.
#[derive(Clone, Debug, Default)]
pub struct SegmentSet {
    /// In the order of insertion.
    members: Vec<SegmentAccess>,
}

impl SegmentSet {
    /// `{ s ∈ SS ∧ s ⋠ Seg }`.
    pub fn remove_covered(&mut self, by: &SegmentAccess) {
        self.members.retain(|member| !member.covered(by));
    }

    /// `SS ∪ { Seg }`, within the bound.
    pub fn insert(&mut self, member: SegmentAccess, bound: Option<NonZeroUsize>) {
        let same_segment = |other: &SegmentAccess| other.segment.serial == member.segment.serial;
        if self.members.iter().any(|other| same_segment(other) && (!other.atomic || member.atomic)) {
            return;
        }
        self.members.push(member);
        if bound.is_some_and(|bound| self.members.len() > bound.get()) {
            self.members.remove(0);
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, SegmentAccess> {
        self.members.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventSource;
    use crate::lockset::LockSet;
    use raddle_base::clock::{ThreadId, VectorClock};

    /// The segment number `serial` of a thread that has heard of nobody.
    fn member(serial: u64, thread: u32, atomic: bool) -> SegmentAccess {
        let mut clock = VectorClock::new();
        clock.tick(ThreadId(thread));
        let segment = Segment {
            serial,
            thread: ThreadId(thread),
            clock: Arc::new(clock),
            context: EventSource(serial),
            writer_locks: LockSet::default(),
            reader_locks: LockSet::default(),
        };
        SegmentAccess { segment: Arc::new(segment), atomic }
    }

    fn serials(set: &SegmentSet) -> Vec<u64> {
        set.iter().map(|member| member.segment.serial).collect()
    }

    fn set_of(members: &[&SegmentAccess]) -> SegmentSet {
        let mut set = SegmentSet::default();
        for member in members {
            set.insert((*member).clone(), None);
        }
        set
    }

    #[test]
    fn a_later_segment_of_the_thread_covers_an_earlier_one() {
        let (first, other, second) = (member(1, 0, false), member(2, 1, false), member(3, 0, false));
        let mut set = set_of(&[&first, &other]);
        set.remove_covered(&second);
        assert_eq!(serials(&set), [2]);
    }

    #[test]
    fn an_atomic_access_covers_only_atomic_ones() {
        let (plain, atomic) = (member(1, 0, false), member(2, 0, true));
        let mut set = set_of(&[&plain, &atomic]);
        set.remove_covered(&member(3, 0, true));
        assert_eq!(serials(&set), [1]);
        set.remove_covered(&member(4, 0, false));
        assert!(serials(&set).is_empty());
    }

    #[test]
    fn a_plain_access_stands_for_an_atomic_one_of_its_segment() {
        let plain = member(1, 0, false);
        let atomic = SegmentAccess { atomic: true, ..plain.clone() };
        assert_eq!(serials(&set_of(&[&plain, &atomic])).len(), 1);
        assert_eq!(serials(&set_of(&[&atomic, &plain])).len(), 2, "removal is not insertion's business");
    }

    #[test]
    fn the_longest_staying_member_makes_room() {
        let mut set = SegmentSet::default();
        for thread in 0..3 {
            set.insert(member(u64::from(thread), thread, false), NonZeroUsize::new(2));
        }
        assert_eq!(serials(&set), [1, 2]);
    }
}
