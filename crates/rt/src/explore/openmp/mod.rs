//! OpenMP on the scheduler: what libgomp does with threads of its own, done with logical threads.
//!
//! libgomp waits inside system calls where nobody can take control. So while a program is explored
//! its calls come here, and mean what OpenMP 5.2 says they mean:
//!
//! ```text
//! team    regions: a team of logical threads, which wait between regions as libgomp's do; barriers
//! share   loops, sections and `single`, dealt out among the threads of a team
//! tasks   tasks, run by threads of the team that wait, as in libgomp
//! locks   critical sections, and the locks of omp.h
//! ```
//!
//! Everything here is shared by threads of which one runs at a time, so there are no locks; but
//! each look at, and each change of, what other threads see has a scheduling point with its object
//! before it, or reductions would take dependent steps for independent. All state is in statics,
//! which the snapshot puts back like any memory of the program.
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
pub use share::{Bounds, copy_end, copy_start, ends, next, ordered_end, ordered_start, single, start};
pub use tasks::{Spec, create, group_end, group_start, task_loop, wait_for_children, wait_for_depends};
pub use team::{barrier, level, max_threads, region, set_threads, size, thread_number};

use raddle_explore::{Op, OpKind};
use raddle_wire::explore::{cannot, status};

use super::op;

/// Where the running thread is: part of [`Thread`](crate::detect::thread::Thread).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Own {
    /// Null outside of regions.
    team: *const team::Team,
    /// The task it runs.
    task: *const tasks::Task,
    number: u32,
    /// What `omp_set_num_threads` said; 0: nothing.
    wanted: u32,
    level: u32,
    /// How many loops, sections and singles it has come to in this region, and the present one.
    shares: u32,
    share: *const share::Share,
    /// The chunk of it that the thread has.
    chunk: u64,
}

impl Own {
    fn team(&self) -> Option<&'static team::Team> {
        // SAFETY: null, or one of those that are there for good, as below.
        unsafe { self.team.as_ref() }
    }

    fn task(&self) -> Option<&'static tasks::Task> {
        // SAFETY: as above.
        unsafe { self.task.as_ref() }
    }

    fn share(&self) -> Option<&'static share::Share> {
        // SAFETY: as above.
        unsafe { self.share.as_ref() }
    }
}

/// A step that tells whoever looks at `at`, or looks whether somebody has. The object is named
/// twice: in contrast to a futex of the program's own, what is told here comes before what waits
/// for it in every execution.
fn handing(kind: OpKind, at: usize, pc: usize) -> Op {
    op(kind, at, pc).with_other(at as u64)
}

/// What is not done here.
pub fn refuse() -> ! {
    super::serve::give_up_worker(status::CANNOT, cannot::OPENMP)
}
