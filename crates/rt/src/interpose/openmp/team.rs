//! Regions, barriers, and what is passed on inside a region.
//!
//! A [`Team`] lies on the stack of the thread that begins the region, which outlives it. The
//! addresses of its fields are the keys for release and acquire. A barrier has two of them, used
//! alternately: whoever is at the next barrier has left the previous one, and nobody can be two
//! ahead of a thread that has not acquired yet.

use core::ffi::{c_int, c_long, c_uint, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::abi::OutlinedFunction;
use super::tasks::{self, Task};
use super::{OpenMp, at, behind_sections, called_from, key, stack_pointer};
use crate::detect::task_order::{acquire, release};
use crate::detect::thread::{Current, Thread, current};
use crate::detect::{objects, thread_storage};
use crate::explore::openmp::{self as explored, LoopBounds};
use crate::interpose::{Real, interpose};
use crate::mode::{Mode, mode};

#[repr(C)]
pub struct Team {
    /// Comes first, as in the data that it replaces: `GOMP_parallel_reductions` looks there for the
    /// variables that tasks reduce.
    reductions: *mut c_void,
    function: OutlinedFunction,
    data: *mut c_void,
    /// Where the region was begun, and the thread that began it, whose stack already has the place.
    pub pc: usize,
    creator: *mut Thread,
    has_company: AtomicBool,
    /// What the creator did before, and what the threads did in the region.
    begun: u64,
    ended: u64,
    barrier: [u64; 2],
    /// The ends of all tasks.
    pub tasks: u64,
    /// From iteration to iteration of an ordered loop.
    ordered: u64,
    /// `copyprivate`.
    copied: u64,
}

impl Team {
    pub fn is_in_company(&self) -> bool {
        self.has_company.load(Relaxed)
    }
}

/// The number of threads in the running thread's team, according to the library.
fn team_size() -> c_int {
    static ASK: Real = Real::new(c"omp_get_num_threads", None);
    // SAFETY: the library whose region runs has this function.
    unsafe { core::mem::transmute::<usize, extern "C" fn() -> c_int>(ASK.get())() }
}

/// What each thread of the region runs in place of the region itself.
unsafe extern "C-unwind" fn thread_of(team: *mut c_void) {
    let team = team.cast::<Team>();
    acquire(current(), key!(team, Team, begun));
    let own = Task::begin(team, core::ptr::null_mut());
    // SAFETY: the team outlives its threads, and its function is the program's own.
    unsafe {
        (*team).has_company.store(team_size() > 1, Relaxed);
        let is_creator = core::ptr::eq((*team).creator, current().as_ptr());
        let asked = is_creator && current().openmp.asked;
        at(OpenMp { team, task: own, asked, base: stack_pointer(), ..OpenMp::NONE }, || {
            let run = || ((*team).function)((*team).data);
            if is_creator {
                run()
            } else {
                called_from((*team).pc, run)
            }
            behind_sections(current());
        });
    }
    Task::done(own);
    release(current(), key!(team, Team, ended));
}

/// Calls `real` with a team in place of the program's function and its data.
fn region<R>(
    pc: usize,
    t: Current,
    function: OutlinedFunction,
    data: *mut c_void,
    real: impl FnOnce(OutlinedFunction, *mut c_void) -> R,
) -> R {
    reducing_region(pc, t, function, data, core::ptr::null_mut(), real)
}

fn reducing_region<R>(
    pc: usize,
    t: Current,
    function: OutlinedFunction,
    data: *mut c_void,
    reductions: *mut c_void,
    real: impl FnOnce(OutlinedFunction, *mut c_void) -> R,
) -> R {
    if mode() == Mode::Detect {
        thread_storage::find();
    }
    let mut team = Team {
        reductions,
        function,
        data,
        pc,
        creator: t.as_ptr(),
        has_company: AtomicBool::new(false),
        begun: 0,
        ended: 0,
        barrier: [0; 2],
        tasks: 0,
        ordered: 0,
        copied: 0,
    };
    let team = &raw mut team;
    release(t, key!(team, Team, begun));
    let r = called_from(pc, || real(thread_of, team.cast()));
    // Tasks may end after the thread that runs them.
    acquire(current(), key!(team, Team, ended));
    acquire(current(), key!(team, Team, tasks));
    tasks::loops_done(current());
    objects::remove_range(team as usize, size_of::<Team>());
    r
}

/// All threads of the team wait for each other, and for the tasks.
fn barrier<R>(t: Current, real: impl FnOnce() -> R) -> R {
    let OpenMp { team, odd, .. } = t.openmp;
    if team.is_null() {
        return real();
    }
    let here = key!(team, Team, barrier) + size_of::<u64>() * odd as usize;
    release(t, here);
    let r = real();
    let mut t = current();
    acquire(t, here);
    acquire(t, key!(team, Team, tasks));
    t.openmp.odd = !odd;
    r
}

/// The key of a field of the thread's team, if it is in one.
fn of_team(t: &Thread, field: impl FnOnce(*mut Team) -> usize) -> Option<usize> {
    (!t.openmp.team.is_null()).then(|| field(t.openmp.team))
}

fn ordered(t: &Thread) -> Option<usize> {
    of_team(t, |team| key!(team, Team, ordered))
}

fn copied(t: &Thread) -> Option<usize> {
    of_team(t, |team| key!(team, Team, copied))
}

fn before(t: Current, what: Option<usize>) {
    if let Some(key) = what {
        release(t, key);
    }
}

fn after(what: Option<usize>) {
    if let Some(key) = what {
        acquire(current(), key);
    }
}

type F = OutlinedFunction;
type Data = *mut c_void;

interpose! {
    fn GOMP_parallel(f: F, data: Data, threads: c_uint, flags: c_uint), |t, pc, real| {
        region(pc, t, f, data, |f, data| real(f, data, threads, flags))
    } record as detect, tsvd real, explore { explored::region(f, data, threads, None, pc) }
    fn GOMP_parallel_reductions(f: F, data: Data, threads: c_uint, flags: c_uint) -> c_uint, |t, pc, real| {
        // SAFETY: the compiler puts the address of what is reduced first.
        let reductions = unsafe { *data.cast::<*mut c_void>() };
        reducing_region(pc, t, f, data, reductions, |f, data| real(f, data, threads, flags))
    } record as detect, tsvd real, explore { explored::refuse() }
    fn GOMP_parallel_sections(f: F, data: Data, threads: c_uint, count: c_uint, flags: c_uint), |t, pc, real| {
        region(pc, t, f, data, |f, data| real(f, data, threads, count, flags))
    } record as detect, tsvd real, explore { explored::region(f, data, threads, Some(&LoopBounds::sections(count)), pc) }
    fn GOMP_teams_reg(f: F, data: Data, teams: c_uint, limit: c_uint, flags: c_uint), |t, pc, real| {
        region(pc, t, f, data, |f, data| real(f, data, teams, limit, flags))
    } record as detect, tsvd real, explore { explored::refuse() }
}

/// The loop that makes up a region.
fn one(name: &str, start: c_long, end: c_long, step: c_long, chunk: c_long) -> LoopBounds {
    LoopBounds::signed(start, end, step, chunk, name.ends_with("static"), false)
}

/// Regions that are one loop, by how they deal out iterations: with a chunk size, or without.
macro_rules! loops {
    (chunks: $($chunked:ident)*; without: $($plain:ident)*) => {
        interpose! {
            $(fn $chunked(f: F, data: Data, threads: c_uint, start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint),
            |t, pc, real| { region(pc, t, f, data, |f, data| real(f, data, threads, start, end, step, chunk, flags)) } record as detect, tsvd real,
            explore { explored::region(f, data, threads, Some(&one(stringify!($chunked), start, end, step, chunk)), pc) })*
            $(fn $plain(f: F, data: Data, threads: c_uint, start: c_long, end: c_long, step: c_long, flags: c_uint),
            |t, pc, real| { region(pc, t, f, data, |f, data| real(f, data, threads, start, end, step, flags)) } record as detect, tsvd real,
            explore { explored::region(f, data, threads, Some(&one(stringify!($plain), start, end, step, 1)), pc) })*
        }
    };
}

loops! {
    chunks: GOMP_parallel_loop_static GOMP_parallel_loop_dynamic GOMP_parallel_loop_guided
        GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided;
    without: GOMP_parallel_loop_runtime GOMP_parallel_loop_nonmonotonic_runtime
        GOMP_parallel_loop_maybe_nonmonotonic_runtime
}

interpose! {
    fn GOMP_barrier(), |t, pc, real| { barrier(t, || real()) } record as detect, tsvd real, explore { explored::barrier(pc) }
    fn GOMP_barrier_cancel() -> bool, |t, pc, real| { barrier(t, || real()) } record as detect, tsvd real, explore {
        explored::barrier(pc);
        false
    }
    fn GOMP_loop_end(), |t, pc, real| { barrier(t, || real()) } record as detect, tsvd real, explore {
        explored::ends();
        explored::barrier(pc)
    }
    fn GOMP_loop_end_cancel() -> bool, |t, pc, real| { barrier(t, || real()) } record as detect, tsvd real, explore {
        explored::ends();
        explored::barrier(pc);
        false
    }
    fn GOMP_sections_end(), |t, pc, real| {
        behind_sections(t);
        barrier(t, || real())
    } record as detect, tsvd real, explore {
        explored::ends();
        explored::barrier(pc)
    }
    fn GOMP_sections_end_cancel() -> bool, |t, pc, real| {
        behind_sections(t);
        barrier(t, || real())
    } record as detect, tsvd real, explore {
        explored::ends();
        explored::barrier(pc);
        false
    }
    fn GOMP_workshare_task_reduction_unregister(cancelled: bool), |t, pc, real| { barrier(t, || real(cancelled)) } record as detect, tsvd real, explore { explored::refuse() }

    fn GOMP_single_copy_start() -> *mut c_void, |t, pc, real| {
        let r = real();
        if !r.is_null() {
            after(copied(&current()));
        }
        r
    } record as detect, tsvd real, explore { explored::copy_start(pc) }
    fn GOMP_single_copy_end(data: *mut c_void), |t, pc, real| {
        let key = copied(&t);
        before(t, key);
        real(data)
    } record as detect, tsvd real, explore { explored::copy_end(data, pc) }

    fn GOMP_ordered_start(), |t, pc, real| {
        real();
        after(ordered(&current()))
    } record as detect, tsvd real, explore { explored::ordered_start(pc) }
    fn GOMP_ordered_end(), |t, pc, real| {
        let key = ordered(&t);
        before(t, key);
        real()
    } record as detect, tsvd real, explore { explored::ordered_end() }
    fn GOMP_doacross_post(counts: *mut c_long), |t, pc, real| {
        let key = ordered(&t);
        before(t, key);
        real(counts)
    } record as detect, tsvd real, explore { explored::refuse() }
    fn GOMP_doacross_ull_post(counts: *mut c_long), |t, pc, real| {
        let key = ordered(&t);
        before(t, key);
        real(counts)
    } record as detect, tsvd real, explore { explored::refuse() }
    // One argument for each loop of the nest. Only the library knows how many: surplus ones are
    // passed on, and not read.
    fn GOMP_doacross_wait(a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long, g: c_long, h: c_long), |t, pc, real| {
        real(a, b, c, d, e, f, g, h);
        after(ordered(&current()))
    } record as detect, tsvd real, explore { explored::refuse() }
    fn GOMP_doacross_ull_wait(a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long, g: c_long, h: c_long), |t, pc, real| {
        real(a, b, c, d, e, f, g, h);
        after(ordered(&current()))
    } record as detect, tsvd real, explore { explored::refuse() }
}
