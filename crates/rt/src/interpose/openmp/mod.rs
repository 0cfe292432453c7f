//! OpenMP as gcc compiles it: calls of libgomp, which waits and wakes by system calls of its own
//! that nobody can see.
//!
//! The calls themselves say what is ordered, so they are enough (OpenMP 5.2, chapters 10 to 15):
//!
//! - a region begins after all that its creator did, and the creator goes on after all that its threads did ([`team`]);
//! - a barrier, explicit or at the end of a loop, of sections, of `single`, orders as any barrier, and ends all tasks of its team;
//! - `critical`, and the locks of `omp.h`, are locks ([`locks`]); `ordered` and `doacross` hand on from iteration to iteration;
//! - a task begins after all that its creator did before, and ends before `taskwait` of its creator, the end of its group, the next
//!   barrier, and the tasks that depend on it ([`tasks`]).
//!
//! What is missed by design: a task has the clock of the thread that happens to run it, so two
//! tasks that one thread ran are ordered in that run, whatever the program promises. Depending
//! tasks are ordered by address alone, whoever created them, and tasks of a `taskloop` by their
//! code: an order too many hides a race, and does not invent one.
//!
//! A program that is explored never gets to libgomp: `explore::openmp` does what it would do.
//!
//! clang's libomp tells its order by itself, if its tool for that (Archer) is there, through the
//! annotations of `annotate`.

mod abi;
mod locks;
mod shares;
mod tasks;
mod team;

pub use abi::{Copier, Depends, Function, MOST_DEPENDS, TaskLoop, flag};

use crate::detect::thread::current;

/// Where the running thread is: its team and the task it runs, both null outside of regions that
/// were seen to begin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Place {
    team: *mut team::Team,
    task: *mut tasks::Task,
    /// Which clock of the team's barrier is next.
    odd: bool,
    /// The library is at work on a lock: mutexes that it takes meanwhile stand for that lock
    /// (Archer's do), which is known.
    pub within_lock: bool,
}

/// Takes the thread to another place for as long as `f` runs.
fn at<R>(place: Place, f: impl FnOnce() -> R) -> R {
    let before = core::mem::replace(&mut current().openmp, place);
    let r = f();
    current().openmp = before;
    r
}

/// Runs `f` as if it had been called from `pc`, for the stacks of reports: the library in between
/// has no frames there.
fn called_from<R>(pc: usize, f: impl FnOnce() -> R) -> R {
    let t = current();
    let (known, sp) = (t.known, t.sp);
    if known {
        // SAFETY: as compiled functions do on entry; the shadow stack has room.
        unsafe { *sp = pc };
        t.sp = sp.wrapping_add(1);
    }
    let r = f();
    if known {
        current().sp = sp;
    }
    r
}

/// The address of a field of the runtime's own, as a key of what is released and acquired.
macro_rules! key {
    ($at:expr, $of:ty, $field:ident) => {
        $at as usize + core::mem::offset_of!($of, $field)
    };
}
use key;
