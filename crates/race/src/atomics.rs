//! Which atomic operations synchronise: the rules of C++11, as a pure model.
//!
//! The model (ISO C++11, 1.10 and 29.8) in the words used here. Every atomic object has a
//! *modification order*; here it is the order of observation. A release store or read-modify-write
//! *heads* a release sequence. The sequence continues with each following modification of the
//! object that is a read-modify-write by any thread, of any memory order, or a store by the head's
//! own thread; any other store ends it. An acquire read synchronises with the head of every
//! sequence to which the value read belongs: what the head's thread did up to the head happens
//! before what the reader does after the read.
//! - A release fence makes every later store of its thread act as a release made at the fence.
//! - An acquire fence makes the earlier reads of its thread act as acquires, from the fence on.
//! - Sequentially consistent operations and fences acquire and release. Their single total order
//!   adds no happens-before.
//! - A compare-exchange that fails is a load with the order given for failure.
//! - Consume is acquire, as in every compiler.
//!
//! For each object it is enough to keep, for each thread that heads a sequence still in progress,
//! the clock of its latest head: an earlier head of the same thread is below it.
//!
//! # Limits
//! 1. A read sees the latest modification. Stale values, which weak memory allows, are not
//!    explored: the observed run is the run that is judged.
//! 2. An object is the address where an access starts. Accesses of different sizes at one address
//!    are the same object; overlapping accesses at different addresses are not.
//! 3. C++20 removed the stores of the head's own thread from the release sequence (P0982). The
//!    model is C++11's, so a program that relies on them is not reported.

use crate::event::{ByteRange, MemoryOrder};
use raddle_base::clock::{ThreadId, VectorClock};
use std::collections::BTreeMap;

/// A modification is a plain store or part of a read-modify-write: only the former ends the
/// sequences of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modification {
    Store,
    ReadModifyWrite,
}

#[derive(Default)]
struct Object {
    /// The release sequences that the present value belongs to: the head's thread, and what to
    /// learn from it.
    heads: BTreeMap<ThreadId, VectorClock>,
}

#[derive(Default)]
struct Fences {
    /// The moment of the thread's latest release fence.
    released: VectorClock,
    /// What the thread's reads saw without acquiring it, for an acquire fence to come.
    seen: VectorClock,
}

/// The state of all atomic objects and of the fences of all threads.
#[derive(Default)]
pub struct Atomics {
    objects: BTreeMap<u64, Object>,
    fences: BTreeMap<ThreadId, Fences>,
}

impl Atomics {
    /// `thread` reads the object. Returns the clock to join, which is empty unless the read
    /// acquires.
    pub fn read(&mut self, thread: ThreadId, object: u64, order: MemoryOrder) -> VectorClock {
        let mut heads = VectorClock::new();
        for clock in self.objects.entry(object).or_default().heads.values() {
            heads.join(clock);
        }
        if order.acquires() {
            return heads;
        }
        self.fences.entry(thread).or_default().seen.join(&heads);
        VectorClock::new()
    }

    /// `thread`, whose clock is `now`, modifies the object. Returns whether `now` was released; if
    /// so, the caller must advance the thread's clock.
    pub fn modify(
        &mut self,
        thread: ThreadId,
        object: u64,
        order: MemoryOrder,
        kind: Modification,
        now: &VectorClock,
    ) -> bool {
        let heads = &mut self.objects.entry(object).or_default().heads;
        if kind == Modification::Store {
            heads.retain(|head, _| *head == thread);
        }
        let released = if order.releases() { now } else { &self.fences.entry(thread).or_default().released };
        if !released.is_empty() {
            heads.entry(thread).or_default().join(released);
        }
        order.releases()
    }

    /// The acquire half of a fence. Returns the clock to join.
    pub fn acquire_fence(&mut self, thread: ThreadId) -> VectorClock {
        std::mem::take(&mut self.fences.entry(thread).or_default().seen)
    }

    /// The release half of a fence, by a thread whose clock is `now`.
    pub fn release_fence(&mut self, thread: ThreadId, now: &VectorClock) {
        self.fences.entry(thread).or_default().released = now.clone();
    }

    /// The bytes are fresh: objects that lay there are gone.
    pub fn reset(&mut self, bytes: ByteRange) {
        let gone: Vec<u64> = self.objects.range(bytes.bytes()).map(|(object, _)| *object).collect();
        for object in gone {
            self.objects.remove(&object);
        }
    }

    pub fn clear(&mut self) {
        self.objects.clear();
        self.fences.clear();
    }
}
