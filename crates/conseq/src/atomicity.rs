//! Atomicity violations: two accesses of one thread to a variable that another thread's access
//! could come between, with a result that no serial order of the two threads has.
//!
//! After AVIO (Lu, Tucek, Qin, Zhou, *AVIO: detecting atomicity violations via access interleaving
//! invariants*, ASPLOS 2006) and CTrigger (Park, Lu, Zhou, ASPLOS 2009), which the ConSeq paper
//! compares itself with as *Atom*. Of the eight ways in which an access can come between two, four
//! have no serial equivalent ([`Pattern`]).
//!
//! The input is the trace of a correct run, as in section 7. The access in between must not be
//! ordered before the first or after the second of the two, and the thread must not hold a lock
//! from the first to the second that the access in between needs as well. The trace cannot tell
//! which of these are bugs; for that, `conseq` starts from the failures.

use crate::history::{History, Point};

/// Two accesses and one in between: `R` reads, `W` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Two reads that should see the same value.
    ReadWriteRead,
    /// A write after which its own thread reads another value.
    WriteWriteRead,
    /// The read on which a write is based is out of date.
    ReadWriteWrite,
    /// An intermediate value becomes visible.
    WriteReadWrite,
}

impl Pattern {
    /// The pattern by which accesses write: the first, the one in between and the second. `None`: a
    /// serial order exists.
    fn of(first: bool, between: bool, second: bool) -> Option<Pattern> {
        match (first, between, second) {
            (false, true, false) => Some(Pattern::ReadWriteRead),
            (true, true, false) => Some(Pattern::WriteWriteRead),
            (false, true, true) => Some(Pattern::ReadWriteWrite),
            (true, false, true) => Some(Pattern::WriteReadWrite),
            _ => None,
        }
    }

    /// Which accesses write: the first, the one in between and the second.
    pub fn ops(self) -> (bool, bool, bool) {
        match self {
            Pattern::ReadWriteRead => (false, true, false),
            Pattern::WriteWriteRead => (true, true, false),
            Pattern::ReadWriteWrite => (false, true, true),
            Pattern::WriteReadWrite => (true, false, true),
        }
    }

    /// For a report: the three accesses as a noun phrase.
    pub fn describe(self) -> &'static str {
        match self {
            Pattern::ReadWriteRead => "two reads with a write of another thread between them",
            Pattern::WriteWriteRead => "a write, a write of another thread, and a read back",
            Pattern::ReadWriteWrite => "a read, a write of another thread, and a write that goes by the read",
            Pattern::WriteReadWrite => "two writes with a read of another thread between them",
        }
    }
}

/// Three accesses to the same memory that could happen in an order which no serial run has. The
/// trace did not show that order.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomicityViolation {
    /// The earlier of the two accesses that belong together.
    pub first: Point,
    /// The later one, by the same thread.
    pub second: Point,
    /// The access of another thread that could come between them.
    pub between: Point,
    /// Which of the three accesses write.
    pub pattern: Pattern,
}

/// All violations that the trace shows, each triple of places once.
pub fn find(history: &History) -> Vec<AtomicityViolation> {
    let mut met = rustc_hash::FxHashSet::default();
    let mut found = Vec::new();
    for granule in history.granules.iter().filter(|g| g.is_shared()) {
        for pair in &granule.pairs {
            let reads = granule.reads.iter().map(|r| (r.point, false));
            let writes = granule.writes.iter().map(|w| (w.point, true));
            for (between, writes) in reads.chain(writes) {
                let Some(pattern) = Pattern::of(pair.first_writes, writes, pair.second_writes) else {
                    continue;
                };
                let key = (pair.first.site, between.site, pair.second.site);
                if can_come_between(history, &pair.first, &between, &pair.second) && met.insert(key) {
                    found.push(AtomicityViolation {
                        first: pair.first,
                        second: pair.second,
                        between,
                        pattern,
                    });
                }
            }
        }
    }
    found
}

fn can_come_between(history: &History, first: &Point, between: &Point, second: &Point) -> bool {
    let (order, held) = (&history.order, &history.held);
    let other = between.thread() != first.thread() && between.overlaps(first) && between.overlaps(second);
    let ordered = order.before(between.stamp, first.stamp) || order.before(second.stamp, between.stamp);
    let needs = held.sections(between.sections);
    let kept_out = held.common(first.sections, second.sections).any(|s| needs.iter().any(|n| n.excludes(&s)));
    other && !ordered && !kept_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Cell, TraceEvent, What};

    fn cell(value: u64) -> Cell {
        Cell { address: 64, size: 4, value, atomic: false }
    }

    fn read(thread: u16, site: u32) -> TraceEvent {
        TraceEvent { thread, site, what: What::Read(cell(0)) }
    }

    fn write(thread: u16, site: u32) -> TraceEvent {
        TraceEvent { thread, site, what: What::Write { cell: cell(1), before: Some(0), reads: false } }
    }

    fn lock(thread: u16) -> TraceEvent {
        TraceEvent { thread, site: 0, what: What::Acquire { lock: 8, shared: false } }
    }

    fn unlock(thread: u16) -> TraceEvent {
        TraceEvent { thread, site: 0, what: What::Release { lock: 8 } }
    }

    fn patterns(events: &[TraceEvent]) -> Vec<Pattern> {
        find(&History::of(events, &|_| false)).into_iter().map(|v| v.pattern).collect()
    }

    #[test]
    fn four_of_eight_have_no_serial_order() {
        let is = |i: u8, bit: u8| i & bit != 0;
        let three = |i: u8| (is(i, 1), is(i, 2), is(i, 4));
        let bad: Vec<u8> =
            (0..8).filter(|i| Pattern::of(is(*i, 1), is(*i, 2), is(*i, 4)).is_some()).collect();
        assert_eq!(bad.len(), 4);
        for i in bad {
            let (a, b, c) = three(i);
            assert_eq!(Pattern::of(a, b, c).unwrap().ops(), three(i));
        }
    }

    #[test]
    fn each_pattern_is_found() {
        assert_eq!(patterns(&[read(1, 1), read(1, 2), write(2, 3)]), [Pattern::ReadWriteRead]);
        assert_eq!(patterns(&[write(1, 1), read(1, 2), write(2, 3)]), [Pattern::WriteWriteRead]);
        assert_eq!(patterns(&[read(1, 1), write(1, 2), write(2, 3)]), [Pattern::ReadWriteWrite]);
        assert_eq!(patterns(&[write(1, 1), write(1, 2), read(2, 3)]), [Pattern::WriteReadWrite]);
        assert!(patterns(&[read(1, 1), read(1, 2), read(2, 3)]).is_empty());
    }

    #[test]
    fn a_lock_held_throughout_keeps_others_out() {
        let locked = [lock(1), read(1, 1), write(1, 2), unlock(1), lock(2), write(2, 3), unlock(2)];
        assert!(patterns(&locked).is_empty());
        let apart = [
            lock(1),
            read(1, 1),
            unlock(1),
            lock(1),
            write(1, 2),
            unlock(1),
            lock(2),
            write(2, 3),
            unlock(2),
        ];
        assert_eq!(patterns(&apart), [Pattern::ReadWriteWrite]);
        let bare = [lock(1), read(1, 1), write(1, 2), unlock(1), write(2, 3)];
        assert_eq!(patterns(&bare), [Pattern::ReadWriteWrite]);
    }

    #[test]
    fn what_is_ordered_comes_never_between() {
        let fork = TraceEvent { thread: 1, site: 0, what: What::Fork { child: 2 } };
        assert!(patterns(&[read(1, 1), write(1, 2), fork, write(2, 3)]).is_empty());
        assert_eq!(patterns(&[read(1, 1), fork, write(1, 2), write(2, 3)]), [Pattern::ReadWriteWrite]);
    }
}
