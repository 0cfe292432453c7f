//! Section 4.1 by the letter, by brute force: happens-before as the closure of a graph of events,
//! lock sets by counting, races by looking at every pair. Shares nothing with the machines but the
//! events.

use raddle_race::*;
use std::collections::BTreeSet;

#[derive(Clone, Copy)]
struct Touch {
    bytes: ByteRange,
    is_write: bool,
    atomic: bool,
}

/// A read or a modification of an atomic object, for the rules of C++11.
#[derive(Clone, Copy)]
struct Atomic {
    object: u64,
    reads: Option<MemoryOrder>,
    writes: Option<MemoryOrder>,
}

pub struct Definition<'a> {
    events: &'a [Event],
    /// `before[y]` has bit `x` if x ≺ y.
    before: Vec<u128>,
}

impl<'a> Definition<'a> {
    /// `extended`: with the arcs of 4.4.1.
    pub fn new(events: &'a [Event], extended: bool) -> Self {
        assert!(events.len() <= 128);
        let mut this = Self { events, before: vec![0; events.len()] };
        for y in 0..events.len() {
            for x in 0..y {
                if this.arc(x, y, extended) {
                    // Predecessors of x are complete: x was observed earlier.
                    this.before[y] |= this.before[x] | 1 << x;
                }
            }
        }
        this
    }

    pub fn precedes(&self, x: usize, y: usize) -> bool {
        self.before[y] >> x & 1 == 1
    }

    /// The bytes that the event accesses.
    pub fn bytes(&self, event: usize) -> impl Iterator<Item = u64> {
        self.touch(event).into_iter().flat_map(|touch| touch.bytes.bytes())
    }

    /// Whether x and y, accesses to the byte, are a data race.
    pub fn races(&self, x: usize, y: usize, byte: u64) -> bool {
        let (Some(a), Some(b)) = (self.touch(x), self.touch(y)) else { return false };
        let shared = a.bytes.contains(byte) && b.bytes.contains(byte);
        let conflict = (a.is_write || b.is_write) && !(a.atomic && b.atomic);
        let ordered = x == y || self.precedes(x, y) || self.precedes(y, x);
        shared && conflict && !ordered && self.locks(x).is_disjoint(&self.locks(y))
    }

    /// Whether, to the machine, z makes it unnecessary to remember x.
    pub fn supersedes(&self, z: usize, x: usize, byte: u64) -> bool {
        let (Some(a), Some(b)) = (self.touch(x), self.touch(z)) else { return false };
        let shared = a.bytes.contains(byte) && b.bytes.contains(byte);
        shared && self.precedes(x, z) && (b.is_write || !a.is_write) && (!b.atomic || a.atomic)
    }

    /// The event lock set: LS_Wr of a write and LS_Rd of a read.
    pub fn locks(&self, event: usize) -> BTreeSet<LockId> {
        let is_write = self.touch(event).is_some_and(|touch| touch.is_write);
        let thread = self.events[event].thread;
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for earlier in self.events[..event].iter().filter(|earlier| earlier.thread == thread) {
            match earlier.kind {
                EventKind::WrLock(lock) => writes.push(lock),
                EventKind::RdLock(lock) => reads.push(lock),
                EventKind::WrUnlock(lock) => remove_one(&mut writes, lock),
                EventKind::RdUnlock(lock) => remove_one(&mut reads, lock),
                _ => {}
            }
        }
        writes.into_iter().chain(reads.into_iter().filter(|_| !is_write)).collect()
    }

    /// Whether (x, y), x observed first, is an arc.
    fn arc(&self, x: usize, y: usize, extended: bool) -> bool {
        use EventKind::*;
        let (a, b) = (&self.events[x], &self.events[y]);
        if a.thread == b.thread {
            return true;
        }
        match (&a.kind, &b.kind) {
            (Signal(a), Wait(b)) => a == b,
            (WrUnlock(a), WrLock(b) | RdLock(b)) | (RdUnlock(a), WrLock(b)) => {
                a == b && (extended || self.pure_since(*a, x))
            }
            (Annotate(Annotation::PublishMemoryRange(range)), _) => {
                self.touch(y).is_some_and(|touch| touch.bytes.overlaps(*range))
            }
            _ => self.synchronises(x, y),
        }
    }

    fn pure_since(&self, lock: LockId, before: usize) -> bool {
        let annotation = EventKind::Annotate(Annotation::PureHappensBeforeMutex(lock));
        self.events[..before].iter().any(|event| event.kind == annotation)
    }

    /// Synchronises-with of C++11: x is a release operation or a release fence, y an acquire
    /// operation or an acquire fence.
    fn synchronises(&self, x: usize, y: usize) -> bool {
        let heads = self.modifications_of_release(x);
        let reads = self.reads_of_acquire(y);
        heads.iter().any(|&head| reads.iter().any(|&read| self.reads_from_sequence(head, read)))
    }

    /// The modifications that head a release sequence for x: itself, or what follows the fence.
    fn modifications_of_release(&self, x: usize) -> Vec<usize> {
        match self.events[x].kind {
            EventKind::Fence(order) if order.releases() => (x..self.events.len())
                .filter(|&later| self.events[later].thread == self.events[x].thread)
                .filter(|&later| self.atomic(later).is_some_and(|op| op.writes.is_some()))
                .collect(),
            _ => match self.atomic(x) {
                Some(Atomic { writes: Some(order), .. }) if order.releases() => vec![x],
                _ => Vec::new(),
            },
        }
    }

    /// The reads through which y acquires: itself, or what preceded the fence.
    fn reads_of_acquire(&self, y: usize) -> Vec<usize> {
        match self.events[y].kind {
            EventKind::Fence(order) if order.acquires() => (0..y)
                .filter(|&earlier| self.events[earlier].thread == self.events[y].thread)
                .filter(|&earlier| self.atomic(earlier).is_some_and(|op| op.reads.is_some()))
                .collect(),
            _ => match self.atomic(y) {
                Some(Atomic { reads: Some(order), .. }) if order.acquires() => vec![y],
                _ => Vec::new(),
            },
        }
    }

    /// Whether the value that `read` sees was written by the release sequence that `head` heads:
    /// everything from the head to the latest modification before the read is a read-modify-write
    /// or by the head's thread.
    fn reads_from_sequence(&self, head: usize, read: usize) -> bool {
        let object = self.atomic(head).map(|op| op.object);
        let continues = |event: usize| match self.atomic(event) {
            Some(op) if Some(op.object) == object && op.writes.is_some() => {
                op.reads.is_some() || self.events[event].thread == self.events[head].thread
            }
            _ => true,
        };
        head < read && self.atomic(read).map(|op| op.object) == object && (head + 1..read).all(continues)
    }

    fn atomic(&self, event: usize) -> Option<Atomic> {
        let EventKind::Atomic { bytes, op } = self.events[event].kind else { return None };
        let (reads, writes) = match op {
            AtomicOp::Load(order) => (Some(order), None),
            AtomicOp::Store(order) => (None, Some(order)),
            AtomicOp::Rmw(order) => (Some(order), Some(order)),
            AtomicOp::CompareExchange { success, failure, succeeded } => {
                if succeeded {
                    (Some(success), Some(success))
                } else {
                    (Some(failure), None)
                }
            }
        };
        Some(Atomic { object: bytes.start, reads, writes })
    }

    fn touch(&self, event: usize) -> Option<Touch> {
        match self.events[event].kind {
            EventKind::Read { bytes, atomic } => Some(Touch { bytes, is_write: false, atomic }),
            EventKind::Write { bytes, atomic } => Some(Touch { bytes, is_write: true, atomic }),
            EventKind::Atomic { bytes, .. } => {
                let is_write = self.atomic(event).is_some_and(|op| op.writes.is_some());
                Some(Touch { bytes, is_write, atomic: true })
            }
            _ => None,
        }
    }
}

fn remove_one(locks: &mut Vec<LockId>, lock: LockId) {
    if let Some(at) = locks.iter().position(|held| *held == lock) {
        locks.remove(at);
    }
}
