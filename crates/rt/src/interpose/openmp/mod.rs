//! OpenMP as gcc compiles it: calls of libgomp, which waits and wakes with its own system calls,
//! which raddle cannot see.
//!
//! The calls themselves say what is ordered, so they suffice (OpenMP 5.2, chapters 10 to 15):
//!
//! - a region begins after everything its creator did, and the creator continues after everything
//!   its threads did ([`team`]);
//! - a barrier, explicit or at the end of a loop, of sections, of `single`, orders like any
//!   barrier, and ends all tasks of its team;
//! - `critical`, and the locks of `omp.h`, are locks ([`locks`]); `ordered` and `doacross` pass
//!   order from iteration to iteration;
//! - a task begins after everything its creator did before, and ends before `taskwait` of its
//!   creator, the end of its group, the next barrier, and the tasks that depend on it ([`tasks`]).
//!
//! To the detector, each task that may be deferred, and each section, is a thread of its own
//! ([`contexts`](crate::detect::contexts)), whichever thread of the team runs it: two of them that
//! nothing orders race even if they ran on one thread. Iterations of a loop are not: those that one
//! thread runs are ordered.
//!
//! Missed by design: sections do not race with what their thread does after a `nowait`; dependences
//! are distinguished by address and an 8-bit number of the creator, and tasks of a `taskloop` by
//! their code. An order too many hides a race, and does not invent one.
//!
//! An explored program never calls libgomp: `explore::openmp` does its work.
//!
//! clang's libomp reports its order itself, if its tool for that (Archer) is present, through the
//! annotations of `annotate`. Its tasks are logical threads too ([`libomp`]). Its sections are not:
//! clang compiles them as iterations of a loop.

mod abi;
mod libomp;
mod locks;
mod shares;
mod tasks;
mod team;

pub use libomp::{Switch, acquires, releases};

pub use abi::{Copier, Depends, MOST_DEPENDS, OutlinedFunction, TaskLoop, flag};

use crate::detect::contexts::{self, Context};
use crate::detect::thread::{Current, current};

pub use tasks::reset_locks;

/// The running thread's position: its team and its task, both null outside regions whose beginning
/// was seen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpenMp {
    team: *mut team::Team,
    task: *mut tasks::Task,
    /// Which clock of the team's barrier is next.
    odd: bool,
    /// The library operates on a lock. Mutexes that it takes meanwhile (Archer's do) stand for that
    /// lock, which is known.
    pub within_lock: bool,
    /// The code has asked on which thread it runs: what it touches may belong to the thread.
    pub asked: bool,
    /// The code has asked for the thread's id.
    pub knows_id: bool,
    /// Tasks of the current `taskloop` are not deferred.
    deals_at_once: bool,
    /// Frames below this belong to the region or the task.
    base: usize,
    /// The context that the thread has put aside while it runs a section.
    sections: *mut Context,
}

impl OpenMp {
    const NONE: OpenMp = OpenMp {
        team: core::ptr::null_mut(),
        task: core::ptr::null_mut(),
        odd: false,
        within_lock: false,
        asked: false,
        knows_id: false,
        deals_at_once: false,
        base: 0,
        sections: core::ptr::null_mut(),
    };

    pub fn is_in_region(&self) -> bool {
        !self.team.is_null()
    }

    pub fn is_in_section(&self) -> bool {
        !self.sections.is_null()
    }

    /// Where the region was begun, as it appears in the stacks of its threads.
    pub fn region_pc(&self) -> usize {
        // SAFETY: null, or the team of a region that has not ended.
        unsafe { self.team.as_ref() }.map_or(0, |team| team.pc)
    }

    /// True if the team has a second thread, which could run what this one does not.
    fn is_in_company(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.team.as_ref() }.is_some_and(|team| team.is_in_company())
    }
}

#[inline(always)]
fn stack_pointer() -> usize {
    let at: usize;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mov {0}, rsp", out(reg) at, options(nomem, nostack, preserves_flags)) };
    at
}

/// The thread moves on to a section if `is_one`, or past its last one.
fn at_section(mut t: Current, is_one: bool) {
    let OpenMp { base, sections, .. } = t.openmp;
    if !is_one {
        return behind_sections(t);
    }
    if sections.is_null() {
        if t.openmp.is_in_company() {
            t.openmp.sections = contexts::divide(t, stack_pointer());
        }
    } else {
        contexts::next(&mut t, sections, base);
    }
}

/// The thread runs no more sections.
fn behind_sections(mut t: Current) {
    let OpenMp { base, sections, .. } = t.openmp;
    if !sections.is_null() {
        // The frames of sections are those of the region: everything below its beginning belongs to
        // the thread.
        contexts::end(&mut t, sections, base, true);
        t.openmp.sections = core::ptr::null_mut();
    }
}

/// Moves the thread to another position while `f` runs.
fn at<R>(place: OpenMp, f: impl FnOnce() -> R) -> R {
    let before = core::mem::replace(&mut current().openmp, place);
    let r = f();
    current().openmp = before;
    r
}

/// Runs `f` as if it had been called from `pc`, for the stacks in reports: the library in between
/// has no frames there.
fn called_from<R>(pc: usize, f: impl FnOnce() -> R) -> R {
    let mut t = current();
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

/// The address of a field of the runtime, as a key for release and acquire.
macro_rules! key {
    ($at:expr, $of:ty, $field:ident) => {
        $at as usize + core::mem::offset_of!($of, $field)
    };
}
use key;
