//! A scheduler after that of RFF: *Greybox fuzzing for concurrency testing* (Wolff, Shi, Duck, Mathur, Roychoudhury,
//! ASPLOS 2024).
//!
//! A constraint says that a read at one place is to get, or not to get, its value from a write at another. The
//! scheduler holds threads back so that it comes about:
//!
//! - wanted: the read waits until the write is the last one to its object; then other writes to that object wait
//!   until the read has been done;
//! - wanted from the initial value: writes to the object wait until the read has been done;
//! - not wanted: the read waits while the write is the last one to its object.
//!
//! When everybody is held back, nobody is: a constraint may be impossible, and the run must come to its end. Among
//! those not held back, partial-order sampling decides.

use super::View;
use crate::choice::{Constraint, MAX_CONSTRAINTS};
use crate::op::Op;
use crate::thread::ThreadSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The write has not been made, or has been overwritten.
    Waiting,
    /// It is the last write to this object.
    Current(u64),
    /// The read has been done as wanted.
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
            if *state == State::Done || !op.touches(c.bytes as u8) {
                continue;
            }
            let reads = op.is_memory_read() && op.site == c.read;
            if reads && c.wanted != 0 && touches(op, *state) {
                *state = State::Done;
            } else if op.is_memory_write() {
                let ours = c.write != 0 && op.site == c.write && (c.object == 0 || op.object == c.object);
                if ours {
                    *state = State::Current(op.object);
                } else if touches(op, *state) {
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

fn touches(op: &Op, state: State) -> bool {
    matches!(state, State::Current(object) if op.object == object)
}

fn held_back(op: &Op, c: &Constraint, state: State) -> bool {
    if !op.touches(c.bytes as u8) {
        return false;
    }
    let reads = op.is_memory_read() && op.site == c.read && (c.object == 0 || op.object == c.object);
    if c.wanted == 0 {
        return reads && touches(op, state);
    }
    match state {
        State::Done => false,
        // The initial value is gone for good: nothing to wait for.
        State::Waiting => reads && c.write != 0,
        State::Current(_) => op.is_memory_write() && !reads && op.site != c.write && touches(op, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OpKind;

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
}
