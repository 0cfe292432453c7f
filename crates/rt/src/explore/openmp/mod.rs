//! OpenMP on the scheduler: implements with logical threads what libgomp does with its own threads.
//!
//! libgomp waits inside system calls, where nobody can take control. So while a program is
//! explored, its calls come here, and mean what OpenMP 5.2 says they mean:
//!
//! ```text
//! team    regions: a team of logical threads, which wait between regions as libgomp's do; barriers
//! share   loops, sections and `single`, dealt out among the threads of a team
//! tasks   tasks, run by threads of the team that wait, as in libgomp
//! locks   critical sections, and the locks of omp.h
//! ```
//!
//! Threads share everything here, but only one runs at a time, so there are no locks. But a
//! scheduling point with its object precedes each read and each change of what other threads see.
//! Otherwise reductions would treat dependent steps as independent. All state is in statics, which
//! the snapshot restores like any memory of the program.
//!
//! Where OpenMP leaves a choice: a region without `num_threads` has as many threads as
//! `OMP_NUM_THREADS` says, or two, whatever the machine has, so that a schedule replays elsewhere;
//! nested regions have one thread; `schedule(runtime)` is `dynamic`, `guided` is `dynamic`; waiting
//! threads take the oldest task that is ready. Loops ordered by `depend` (doacross), detached tasks
//! and task reductions are refused.

mod locks;
mod share;
mod tasks;
mod team;

pub use locks::{ATOMIC, NestLock, UNNAMED, lock, nest_lock, nest_test, nest_unlock, test, unlock};
pub use share::{LoopBounds, copy_end, copy_start, ends, next, ordered_end, ordered_start, single, start};
pub use tasks::{Spec, create, group_end, group_start, task_loop, wait_for_children, wait_for_depends};
pub use team::{barrier, level, max_threads, region, set_threads, size, thread_number};

use raddle_explore::{Op, OpKind};
use raddle_wire::explore::{Cannot, Status};

use super::op;

/// The running thread's position: part of [`Thread`](crate::detect::thread::Thread).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Own {
    /// Null outside regions.
    team: *const team::Team,
    /// The task it runs.
    task: *const tasks::Task,
    number: u32,
    /// The argument of `omp_set_num_threads`; 0: not called.
    wanted: u32,
    level: u32,
    /// How many loops, sections and singles it has reached in this region, and the current one.
    shares: u32,
    share: *const share::LoopShare,
    /// The thread's current chunk of it.
    chunk: u64,
}

impl Own {
    fn team(&self) -> Option<&'static team::Team> {
        // SAFETY: null, or one of those that live for ever, as below.
        unsafe { self.team.as_ref() }
    }

    fn task(&self) -> Option<&'static tasks::Task> {
        // SAFETY: as above.
        unsafe { self.task.as_ref() }
    }

    fn share(&self) -> Option<&'static share::LoopShare> {
        // SAFETY: as above.
        unsafe { self.share.as_ref() }
    }
}

/// A step that wakes the threads waiting for `at`, or checks for such a wake. The object is named
/// twice: unlike for the program's own futexes, a wake here comes before the wait for it in every
/// execution.
fn handing(kind: OpKind, at: usize, pc: usize) -> Op {
    op(kind, at, pc).with_other(at as u64)
}

/// Gives up on a construct that is not supported.
pub fn refuse() -> ! {
    super::serve::give_up_worker(Status::Cannot, Cannot::OpenMp.number())
}
