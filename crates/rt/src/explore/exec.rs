//! A program that becomes another, by `exec`.
//!
//! Before its first thread that is its own affair: what it becomes is explored. Afterwards the
//! other program is none of the search's: all threads end where it begins, and the execution ends
//! as it does, in the process that was made for it.

use raddle_explore::OpKind;
use raddle_wire::explore::{Cannot, Outside, Status, outcome};

use super::serve::give_up_worker;
use super::{Wait, is_on, op, point, retry_with_fork, state};

/// What is to be handed on to the other program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Session {
    Kept,
    /// It is not explored.
    Dropped,
}

/// The running thread is about to call `exec`.
pub fn begins(pc: usize) -> Session {
    if !is_on() {
        return Session::Kept;
    }
    if !state().running {
        // The process was made for one order, which the other program knows nothing of.
        if state().serve.is_child() {
            give_up_worker(Status::Cannot, Cannot::Exec.number());
        }
        return Session::Kept;
    }
    retry_with_fork(Outside::Process);
    point(op(OpKind::Other, 0, pc), Wait::Nothing, pc);
    state().serve.slot().outcome = outcome::EXEC;
    Session::Dropped
}

/// It has returned: the program is still there.
pub fn failed() {
    if is_on() && state().running {
        state().serve.slot().outcome = outcome::NONE;
    }
}
