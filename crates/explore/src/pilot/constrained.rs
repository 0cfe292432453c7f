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
        let none = Constraint { object: 0, write: 0, read: 0, wanted: 0, reserved: 0 };
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
