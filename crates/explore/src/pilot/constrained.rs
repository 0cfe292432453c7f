//! A scheduler after that of RFF: *Greybox fuzzing for concurrency testing* (Wolff, Shi, Duck,
//! Mathur, Roychoudhury, ASPLOS 2024).
//!
//! A constraint says that a read at one site should get, or should not get, its value from a write
//! at another. The scheduler holds threads back to bring that about:
//!
//! - wanted: the read waits until the write is the last one to its object; then other writes to
//!   that object wait until the read has happened;
//! - wanted from the initial value: writes to the object wait until the read has happened;
//! - not wanted: the read waits while the write is the last one to its object.
//!
//! If all threads are held back, none is: a constraint may be impossible, and the run must come to
//! its end. Partial-order sampling decides among the threads that are not held back.

use super::View;
use crate::choice::{Constraint, MAX_CONSTRAINTS};
use crate::op::{Op, OpKind};
use crate::thread::ThreadSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The write has not happened, or has been overwritten.
    Waiting,
    /// It is the last write to this object.
    Current(u64),
    /// The read has happened as wanted.
    Done,
}

#[derive(Debug)]
pub(super) struct Constrained {
    constraints: [(Constraint, State); MAX_CONSTRAINTS],
    n: usize,
}

impl Constrained {
    pub(super) const fn new() -> Constrained {
        let none = Constraint { object: 0, write: 0, read: 0, wanted: 0, bytes: 0 };
        Constrained { constraints: [(none, State::Waiting); MAX_CONSTRAINTS], n: 0 }
    }

    pub(super) fn begin(&mut self, constraints: &[Constraint]) {
        self.n = constraints.len().min(MAX_CONSTRAINTS);
        for (slot, c) in self.constraints.iter_mut().zip(constraints) {
            // The initial value is current from the start.
            *slot = (*c, if c.write == 0 { State::Current(c.object) } else { State::Waiting });
        }
    }

    /// `op` is about to be executed.
    pub(super) fn stepped(&mut self, op: &Op) {
        for (c, state) in &mut self.constraints[..self.n] {
            if *state == State::Done {
                continue;
            }
            let reads = reads(op) && op.site == c.read;
            if reads && c.wanted != 0 && touches(op, c, *state) {
                *state = State::Done;
            } else if writes(op) {
                let ours = c.write != 0 && op.site == c.write && is_about(op, c);
                if ours {
                    *state = State::Current(if c.object == 0 { op.object } else { c.object });
                } else if touches(op, c, *state) {
                    *state = State::Waiting;
                }
            }
        }
    }

    pub(super) fn filter(&self, candidates: &mut ThreadSet, view: &View<'_>) {
        let mut left = *candidates;
        for t in candidates.iter() {
            let op = view.pending(t);
            if self.constraints[..self.n].iter().any(|(c, state)| held_back(&op, c, *state)) {
                left.remove(t);
            }
        }
        if !left.is_empty() {
            *candidates = left;
        }
    }
}

/// Freeing a block counts as a write to it: whoever reads afterwards reads freed memory. The
/// accesses that a constraint names as reads count as reads, although before a free they may be
/// writes, or operations on a lock.
fn writes(op: &Op) -> bool {
    op.is_memory_write() || op.kind() == OpKind::Free
}

fn reads(op: &Op) -> bool {
    !matches!(op.kind(), OpKind::Free)
}

fn is_about(op: &Op, c: &Constraint) -> bool {
    if c.object == 0 { op.touches(c.bytes as u8) } else { op.covers(c.object, c.bytes as u8) }
}

fn touches(op: &Op, c: &Constraint, state: State) -> bool {
    matches!(state, State::Current(object) if op.covers(object, c.bytes as u8))
}

fn held_back(op: &Op, c: &Constraint, state: State) -> bool {
    let reads = reads(op) && op.site == c.read && is_about(op, c);
    if c.wanted == 0 {
        return reads && touches(op, c, state);
    }
    match state {
        State::Done => false,
        // The initial value is gone for good: there is nothing to wait for.
        State::Waiting => reads && c.write != 0,
        State::Current(_) => writes(op) && !reads && op.site != c.write && touches(op, c, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x1000;

    fn access(kind: OpKind, site: u32, address: u64) -> Op {
        Op::new(kind, WORD, site).with_bytes(address, 4)
    }

    #[test]
    fn a_neighbour_in_the_same_word_is_of_no_concern() {
        let constraint = Constraint { object: WORD, write: 1, read: 2, wanted: 1, bytes: 0x0f };
        let mut constrained = Constrained::new();
        constrained.begin(&[constraint]);
        constrained.stepped(&access(OpKind::DataWrite, 1, WORD));
        constrained.stepped(&access(OpKind::DataWrite, 3, WORD + 4));
        let state = constrained.constraints[0].1;
        assert_eq!(state, State::Current(WORD), "the neighbour has not overwritten it");
        assert!(!held_back(&access(OpKind::DataWrite, 3, WORD + 4), &constraint, state));
        assert!(held_back(&access(OpKind::DataWrite, 4, WORD), &constraint, state));
        let whole = Constraint { bytes: 0, ..constraint };
        assert!(
            held_back(&access(OpKind::DataWrite, 3, WORD + 4), &whole, state),
            "all of the word is meant"
        );
    }

    #[test]
    fn a_block_that_is_filled_and_one_that_is_freed_are_writes_to_all_of_it() {
        let constraint = Constraint { object: WORD + 16, write: 1, read: 2, wanted: 1, bytes: 0x0f };
        let fill = Op::new(OpKind::DataWrite, WORD, 1).with_bytes(WORD, 32).with_other(WORD + 24);
        let free = Op::new(OpKind::Free, WORD, 1).with_other(WORD + 32);
        let read = Op::new(OpKind::DataRead, WORD + 16, 2).with_bytes(WORD + 16, 4);
        for write in [fill, free] {
            let mut constrained = Constrained::new();
            constrained.begin(&[constraint]);
            assert!(held_back(&read, &constraint, constrained.constraints[0].1), "{write:?}");
            constrained.stepped(&write);
            assert_eq!(constrained.constraints[0].1, State::Current(WORD + 16), "{write:?}");
            constrained.stepped(&read);
            assert_eq!(constrained.constraints[0].1, State::Done, "{write:?}");
        }
    }
}
