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
//! Each task that may be put off, and each section, is a thread of its own to the detector
//! ([`contexts`](crate::detect::contexts)), whichever thread of the team runs it: two that nothing
//! orders race even if one thread had both. Iterations of a loop are not: those that one thread runs
//! are ordered.
//!
//! What is missed by design: sections do not race with what their thread does behind a `nowait`;
//! dependences are told apart by address and a number of eight bits for the creator, and tasks of a
//! `taskloop` by their code. An order too many hides a race, and does not invent one.
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
mod tls;

pub use abi::{Copier, Depends, Function, MOST_DEPENDS, TaskLoop, flag};

use crate::detect::contexts::{self, Context};
use crate::detect::thread::{Current, current};

pub use tasks::reset_locks;

/// Where the running thread is: its team and the task it runs, both null outside of regions that
/// were seen to begin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpenMp {
    team: *mut team::Team,
    task: *mut tasks::Task,
    /// Which clock of the team's barrier is next.
    odd: bool,
    /// The library is at work on a lock: mutexes that it takes meanwhile stand for that lock
    /// (Archer's do), which is known.
    pub within_lock: bool,
    /// The code here has asked on which thread it is: what it touches may be the thread's own.
    pub asked: bool,
    /// Tasks of the loop that is being dealt out are not put off.
    deals_at_once: bool,
    /// Frames below this are those of the region or the task.
    base: usize,
    /// What the thread has put aside while it runs a section.
    sections: *mut Context,
}

impl OpenMp {
    const NONE: OpenMp = OpenMp {
        team: core::ptr::null_mut(),
        task: core::ptr::null_mut(),
        odd: false,
        within_lock: false,
        asked: false,
        deals_at_once: false,
        base: 0,
        sections: core::ptr::null_mut(),
    };

    pub fn is_in_section(&self) -> bool {
        !self.sections.is_null()
    }

    /// Where the region was begun, as in the stacks of its threads.
    pub fn region_pc(&self) -> usize {
        // SAFETY: null, or the team of a region that has not ended.
        unsafe { self.team.as_ref() }.map_or(0, |team| team.pc)
    }

    /// Does the team have a second thread, which could run what this one does not?
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

/// The thread goes on to a section, with `is_one`, or behind the last one that it gets.
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

/// The thread runs no section any more.
fn behind_sections(mut t: Current) {
    let OpenMp { base, sections, .. } = t.openmp;
    if !sections.is_null() {
        // The frames of sections are those of the region: all below its beginning is the thread's.
        contexts::end(&mut t, sections, base, true);
        t.openmp.sections = core::ptr::null_mut();
    }
}

/// Takes the thread to another place for as long as `f` runs.
fn at<R>(place: OpenMp, f: impl FnOnce() -> R) -> R {
    let before = core::mem::replace(&mut current().openmp, place);
    let r = f();
    current().openmp = before;
    r
}

/// Runs `f` as if it had been called from `pc`, for the stacks of reports: the library in between
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

/// The address of a field of the runtime's own, as a key of what is released and acquired.
macro_rules! key {
    ($at:expr, $of:ty, $field:ident) => {
        $at as usize + core::mem::offset_of!($of, $field)
    };
}
use key;
