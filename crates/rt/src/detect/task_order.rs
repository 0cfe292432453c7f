//! What OpenMP itself orders, for the order of locks.
//!
//! A lock-order edge is a prediction, so an unlock orders nothing: another run may have it at another
//! time. Clocks therefore cannot say which edges of tasks and sections may be under way at once: in
//! `hb` mode, the locks of the first edge order it before the second. What does order tasks in every
//! run is what the program asked for: their creation, `taskwait`, groups, dependences, barriers, the
//! beginning and the end of a region. Here the **edges** get numbers, each context
//! ([`contexts`](super::contexts)) carries the set of edges that come before it, and the operations
//! of `interpose::openmp` hand these sets on by the keys by which they hand on clocks. Two edges may
//! be under way at once if the later one does not come after the earlier one.
//!
//! Bounds: edges of tasks beyond [`MOST`] have no number, and count as ordered. Keys share
//! [`SLOTS`] places, and a place keeps what it was told. Both can only add order, which hides a
//! cycle and invents none.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use raddle_wire::record::{EDGE_SETS, Moment};

use super::sync;
use super::thread::{Current, Thread};
use crate::sys::{Shared, Spin};

/// The most edges with numbers.
const MOST: u32 = 64 * EDGE_SETS as u32;
const SLOTS: usize = 4096;

/// A set of edges.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct EdgeSet([u64; EDGE_SETS]);

impl EdgeSet {
    pub const EMPTY: EdgeSet = EdgeSet([0; EDGE_SETS]);

    fn is_empty(&self) -> bool {
        *self == EdgeSet::EMPTY
    }

    pub fn join(&mut self, other: &EdgeSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }
}

/// Where a context is in this order. Zero is the beginning.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Position {
    /// The edges that come before.
    before: EdgeSet,
    /// The same without those of the context itself.
    learned: EdgeSet,
    /// The number of the context; 0: the thread itself.
    context: u32,
}

impl Position {
    pub const BEGINNING: Position = Position { before: EdgeSet::EMPTY, learned: EdgeSet::EMPTY, context: 0 };

    /// That of a new context, which comes after nothing yet.
    pub fn of_new_context() -> Position {
        static CONTEXTS: AtomicU32 = AtomicU32::new(0);
        Position { context: 1 + CONTEXTS.fetch_add(1, Relaxed), ..Position::BEGINNING }
    }

    /// Comes after these edges from now on.
    pub fn learn(&mut self, edges: &EdgeSet) {
        self.before.join(edges);
        self.learned.join(edges);
    }

    pub fn before(&self) -> &EdgeSet {
        &self.before
    }

    /// Differs between edges of tasks that are not at the same place in this order. One of a thread
    /// is like all of that thread.
    pub fn fingerprint(&self) -> u64 {
        let mix = |h: u64, word: &u64| (h ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        if self.context == 0 { 0 } else { self.learned.0.iter().fold(1, mix) }
    }
}

/// The program has begun a region or a task.
static USED: AtomicBool = AtomicBool::new(false);
static NUMBERED: AtomicU32 = AtomicU32::new(0);
static LOCK: Spin = Spin::new();
static HANDED: Shared<[EdgeSet; SLOTS]> = Shared::new([EdgeSet::EMPTY; SLOTS]);

/// In the child of a fork.
pub fn reset_lock() {
    LOCK.reset();
}

/// The running thread is about to make an edge.
pub fn moment(t: &mut Thread) -> Moment {
    let context = u64::from(t.position.context);
    let knows = t.position.before.0;
    if !USED.load(Relaxed) {
        return Moment::default();
    }
    let number = NUMBERED.fetch_add(1, Relaxed);
    if number >= MOST {
        NUMBERED.store(MOST, Relaxed);
        return Moment { context, ..Moment::default() };
    }
    t.position.before.insert(number);
    Moment { number: u64::from(number) + 1, context, knows }
}

fn with_slot(key: usize, f: impl FnOnce(&mut EdgeSet)) {
    let at = (key >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.ilog2());
    let _guard = LOCK.lock();
    // SAFETY: the table is used under its lock.
    f(unsafe { &mut (*HANDED.get())[at] });
}

/// Hands the edges to whoever comes after `key`.
pub fn hand(edges: &EdgeSet, key: usize) {
    USED.store(true, Relaxed);
    if !edges.is_empty() {
        with_slot(key, |slot| slot.join(edges));
    }
}

/// The running thread comes after what was handed to `key`.
pub fn take(t: &mut Thread, key: usize) {
    if NUMBERED.load(Relaxed) > 0 {
        with_slot(key, |slot| t.position.learn(slot));
    }
}

/// [`sync::release`] by OpenMP.
pub fn release(t: Current, key: usize) {
    hand(&t.position.before, key);
    sync::release(t, key);
}

/// [`sync::acquire`] by OpenMP.
pub fn acquire(mut t: Current, key: usize) {
    take(&mut t, key);
    sync::acquire(t, key);
}

/// [`sync::release_into`] by OpenMP.
pub fn release_into(t: Current, keys: &[usize]) {
    keys.iter().for_each(|key| hand(&t.position.before, *key));
    sync::release_into(t, keys);
}

/// [`sync::release_at_end`] by OpenMP.
pub fn release_at_end(t: Current, keys: &[usize]) {
    keys.iter().for_each(|key| hand(&t.position.before, *key));
    sync::release_at_end(t, keys);
}
