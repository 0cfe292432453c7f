//! A program that becomes another, by `exec`.
//!
//! Before the first thread, `exec` needs nothing special: the new program is explored. Afterwards
//! the new program is not part of the search. All threads end when it begins, and the execution
//! ends as the new program does, in the process that was made for it.

use raddle_explore::OpKind;
use raddle_wire::explore::{Cannot, ExecutionEnd, Outside, Status};

use super::serve::give_up_worker;
use super::{Wait, is_on, op, point, retry_with_fork, state};

/// Whether the new program gets the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SessionPassing {
    Kept,
    /// The new program is not explored.
    Dropped,
}

/// The running thread is about to call `exec`.
pub fn begins(pc: usize) -> SessionPassing {
    if !is_on() {
        return SessionPassing::Kept;
    }
    if !state().running {
        // The process was made for one order, which the new program does not know.
        if state().serve.is_child() {
            give_up_worker(Status::Cannot, Cannot::Exec.number());
        }
        return SessionPassing::Kept;
    }
    retry_with_fork(Outside::Process);
    point(op(OpKind::Other, 0, pc), Wait::Nothing, pc);
    state().serve.slot().set_outcome(ExecutionEnd::Exec);
    SessionPassing::Dropped
}

/// `exec` has returned: the program is still there.
pub fn failed() {
    if is_on() && state().running {
        state().serve.slot().set_outcome(ExecutionEnd::Unfinished);
    }
}
