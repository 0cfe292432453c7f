//! Tasks of clang, which calls libomp. Archer says what they are ordered by; this module gives each
//! its own context ([`contexts`]).
//!
//! Archer speaks at the moment at which a thread turns from one task to another, by annotations
//! whose file is Archer's own source:
//!
//! - before a task begins, what the suspended task has done is released, and then the thread
//!   acquires all that the new one may know: what its creator had done, and the tasks that it
//!   depends on. The keys are kept, up to [`MOST_KEYS`]. The task's context begins with them and
//!   nothing else;
//! - after the code of a task has returned, the thread releases for those who wait for it: the
//!   parent, the group, the barrier, tasks that depend on it. By then the thread has resumed the
//!   context of the suspended task. What the task has done is kept ([`EndedContext`]) and released
//!   with it, until the thread acquires something, suspends the same task again, or creates a task.
//!
//! Without Archer no keys are known, and a task runs as part of its thread. So does one
//!
//! - with more keys than are kept, or in a program whose environment sets `KMP_TASKING`;
//! - in a team of one thread, inside a final task, or of a `taskloop` with `if(0)`. (A task with
//!   `if(0)` calls its code, and not what was allocated for it.);
//! - that is untied, as Archer is not told when a part of such a task ends;
//! - whose end is not that of its code: with an event, or with C++ objects, which libomp destroys
//!   later.
//!
//! Two orders are too many, and can hide a race. The suspended task acquires what the new one may
//! know. It waits for the new task, or for all of its team, so that it would mostly learn the same
//! a little later. And whoever waits for a task learns what the thread did before it ran the task.
//! What the end of a group writes into a reduced variable is not watched.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::{OpenMp, at, stack_pointer};
use crate::annotate::ignore;
use crate::detect::contexts::{self, Context, EndedContext};
use crate::detect::range;
use crate::detect::task_order::{self, acquire};
use crate::detect::thread::{Current, current};
use crate::detect::thread_storage;
use crate::interpose::{Real, interpose};
use crate::mode::{Mode, mode};
use crate::sys;

/// A task that depends on more than this runs as part of its thread.
const MOST_KEYS: usize = 30;

/// Where a thread is between two tasks. Zero is its beginning.
#[repr(C)]
pub struct Switch {
    /// What the thread has acquired since it last released, by Archer's word.
    keys: [usize; MOST_KEYS],
    n: usize,
    /// The last key that it released into.
    released: usize,
    /// Of the task that has returned last, whose end Archer is about to announce; null before the
    /// first one.
    ended: *mut EndedContext,
    announces: bool,
    /// The key that was released into when the task suspended another.
    suspended: usize,
    /// How many functions ignore the thread's accesses in its current task ([`unwatched`]).
    unwatched: i32,
}

fn is_archer(file: *const c_char) -> bool {
    // SAFETY: null, or the string that the annotation names as its source file.
    mode() == Mode::Detect
        && !file.is_null()
        && unsafe { CStr::from_ptr(file) }.to_bytes().ends_with(b"ompt-tsan.cpp")
}

/// Before an annotation of `file` releases into `key`.
pub fn releases(file: *const c_char, key: usize) {
    let mut t = current();
    if !is_archer(file) || !t.known {
        return;
    }
    // What the locks of the library order is no order of OpenMP.
    if !t.openmp.within_lock {
        task_order::hand(t.position.before(), key);
    }
    let switch = &mut t.task_switch;
    switch.n = 0;
    switch.released = key;
    switch.announces &= key != switch.suspended;
    if switch.announces {
        let ended = switch.ended;
        // SAFETY: not null once something is announced; only this thread writes to it.
        unsafe { (*ended).release(t, key) };
    }
}

/// Before an annotation of `file` acquires `key`.
pub fn acquires(file: *const c_char, key: usize) {
    if !is_archer(file) {
        return;
    }
    let mut t = current();
    if !t.openmp.within_lock {
        task_order::take(&mut t, key);
    }
    let switch = &mut t.task_switch;
    switch.announces = false;
    if let Some(place) = switch.keys.get_mut(switch.n) {
        *place = key;
    }
    switch.n += 1;
}

/// Keeps what the running context has done, and notes that its end is about to be announced.
fn announce(mut t: Current, suspended: usize) {
    if t.task_switch.ended.is_null() {
        // Zero is valid.
        t.task_switch.ended = sys::ARENA.take(size_of::<EndedContext>()).cast();
    }
    let ended = t.task_switch.ended;
    // SAFETY: only this thread uses it.
    unsafe { (*ended).note(&mut t) };
    t.task_switch.suspended = suspended;
    t.task_switch.announces = true;
}

type Routine = unsafe extern "C-unwind" fn(c_int, *mut Task) -> c_int;

/// The beginning of libomp's `kmp_task_t`, which the compiler knows. What the task shares lies
/// right behind the compiler's part of the task.
#[repr(C)]
struct Task {
    shareds: *mut c_void,
}

type Copier = unsafe extern "C-unwind" fn(*mut Task, *mut Task, c_int);

/// Lies between the compiler's part of a task and what it shares, and is copied with them for each
/// task of a `taskloop`.
#[repr(C)]
struct Header {
    routine: Routine,
    /// Of a `taskloop`: constructs the C++ objects of a copy.
    copier: Option<Copier>,
    /// The bytes of the task, with this and with what it shares.
    size: usize,
    is_apart: bool,
}

/// SAFETY: `task` was allocated by `__kmpc_omp_task_alloc`, or is a copy of such a task.
unsafe fn header_of(task: *mut Task) -> *mut Header {
    // SAFETY: by the caller's contract.
    unsafe { (*task).shareds.cast::<Header>().sub(1) }
}

/// Tasks nest as deep as the program makes them, and clocks are large. So this function has a small
/// frame, and leaves the rest to others that are not inlined.
unsafe extern "C-unwind" fn run(thread: c_int, task: *mut Task) -> c_int {
    let floor = stack_pointer();
    // SAFETY: libomp runs what was allocated below.
    let (routine, is_apart) = unsafe { ((*header_of(task)).routine, (*header_of(task)).is_apart) };
    let unwatched = watch_again();
    let released = current().task_switch.released;
    let put_aside = if is_apart { begin(floor) } else { core::ptr::null_mut() };
    let result = if put_aside.is_null() {
        // SAFETY: the program's function.
        let result = unsafe { routine(thread, task) };
        forget(task);
        result
    } else {
        at(OpenMp { base: floor, ..OpenMp::NONE }, || {
            // SAFETY: the program's function.
            let result = unsafe { routine(thread, task) };
            forget(task);
            end(put_aside, floor, released);
            result
        })
    };
    watch_no_more(unwatched);
    result
}

#[inline(never)]
fn begin(floor: usize) -> *mut Context {
    let t = current();
    let Switch { keys, n, .. } = t.task_switch;
    if !(1..=MOST_KEYS).contains(&n) {
        return core::ptr::null_mut();
    }
    contexts::begin(t, floor, |t| keys[..n].iter().for_each(|key| acquire(t, *key)))
}

#[inline(never)]
fn end(put_aside: *mut Context, floor: usize, released: usize) {
    announce(current(), released);
    contexts::end(&mut current(), put_aside, floor, false);
}

/// libomp reuses the memory of a task without saying so.
#[inline(never)]
fn forget(task: *mut Task) {
    // SAFETY: the task has been run by `run`, and libomp frees it later.
    let size = unsafe { (*header_of(task)).size };
    range::clear(task as usize, size);
}

/// A task of a `taskloop` is a copy of `from` in memory that libomp may have used before. C++
/// objects are about to be constructed in it.
unsafe extern "C-unwind" fn copy(to: *mut Task, from: *mut Task, is_last: c_int) {
    // SAFETY: `taskloop` has put the program's function there; libomp has copied the header.
    let (copier, size) = unsafe { ((*header_of(from)).copier, (*header_of(from)).size) };
    let mut t = current();
    let pc = t.caller;
    range::fresh(&mut t, to as usize, size, pc);
    if let Some(copier) = copier {
        // SAFETY: the program's function.
        unsafe { copier(to, from, is_last) };
    }
}

/// Runs `f`, a function of libomp, while the thread's accesses are ignored.
///
/// The end of a task group combines the reductions of its tasks by functions of the program, and
/// destroys and frees the copies, before Archer says that the tasks have ended. The library
/// orders all that. Tasks that the thread runs meanwhile are watched ([`run`]).
fn unwatched<R>(f: impl FnOnce() -> R) -> R {
    let outer = current().task_switch.unwatched;
    ignore(1, 1);
    current().task_switch.unwatched = outer + 1;
    let r = f();
    ignore(-1, -1);
    current().task_switch.unwatched = outer;
    r
}

/// Ends what [`unwatched`] has begun, for a task. Returns how often.
fn watch_again() -> i32 {
    let n = core::mem::take(&mut current().task_switch.unwatched);
    if n != 0 {
        ignore(-n, -n);
    }
    n
}

/// Undoes [`watch_again`].
fn watch_no_more(n: i32) {
    if n != 0 {
        ignore(n, n);
        current().task_switch.unwatched = n;
    }
}

/// What libomp says of the task that runs.
fn asks(function: &'static Real) -> c_int {
    // SAFETY: the library whose task is created has both functions that are asked here.
    unsafe { core::mem::transmute::<usize, extern "C" fn() -> c_int>(function.get())() }
}

/// libomp's flags of a task.
mod flag {
    pub const TIED: i32 = 1;
    pub const HAS_DESTRUCTORS: i32 = 1 << 3;
    pub const HAS_EVENT: i32 = 1 << 6;
}

/// With `KMP_TASKING=0` libomp runs each task when it is created, and Archer is not told what the
/// task may know.
fn defers() -> bool {
    // 1: no; 2: yes.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    if KNOWN.load(Relaxed) == 0 {
        KNOWN.store(1 + u8::from(!has_variable(b"KMP_TASKING=")), Relaxed);
    }
    KNOWN.load(Relaxed) == 2
}

fn has_variable(name: &[u8]) -> bool {
    // SAFETY: the environment is null, or ends in a null pointer; its strings end in zero.
    unsafe {
        let mut at = sys::environ;
        while !at.is_null() && !(*at).is_null() {
            if CStr::from_ptr(*at).to_bytes().starts_with(name) {
                return true;
            }
            at = at.add(1);
        }
    }
    false
}

fn may_run_apart(flags: c_int) -> bool {
    static THREADS: Real = Real::new(c"omp_get_num_threads", None);
    static IN_FINAL: Real = Real::new(c"omp_in_final", None);
    let ends_with_its_code = flags & (flag::HAS_DESTRUCTORS | flag::HAS_EVENT) == 0;
    let is_whole = flags & flag::TIED != 0 && ends_with_its_code;
    is_whole && defers() && asks(&THREADS) > 1 && asks(&IN_FINAL) == 0
}

/// Tasks of a `taskloop` are copies of one.
///
/// SAFETY: `task` was allocated by `__kmpc_omp_task_alloc`.
unsafe fn deals(task: *mut Task, deferred: c_int, copier: Option<Copier>) {
    // SAFETY: by the caller's contract.
    let header = unsafe { &mut *header_of(task) };
    header.is_apart &= deferred != 0;
    header.copier = copier;
}

interpose! {
    fn __kmpc_omp_task_alloc(loc: *mut c_void, thread: c_int, flags: c_int, size: usize, shareds: usize, routine: Routine) -> *mut Task,
    |t, pc, real| {
        thread_storage::find();
        t.task_switch.announces = false;
        t.task_switch.n = 0;
        let ahead = size.next_multiple_of(align_of::<Header>());
        // libomp sets no address for what is shared if there is nothing.
        let shared = shareds.max(1);
        let task = real(loc, thread, flags, ahead + size_of::<Header>(), shared, run);
        let header = task.byte_add(ahead).cast::<Header>();
        let size = ahead + size_of::<Header>() + shareds;
        header.write(Header { routine, copier: None, size, is_apart: may_run_apart(flags) });
        range::fresh(&mut current(), task as usize, size, pc);
        task
    } record real, tsvd real, explore real
    fn __kmpc_taskloop(loc: *mut c_void, thread: c_int, task: *mut Task, deferred: c_int, lower: *mut u64, upper: *mut u64, step: i64, no_group: c_int, schedule: c_int, grain: u64, copier: Option<Copier>),
    |t, pc, real| {
        deals(task, deferred, copier);
        real(loc, thread, task, deferred, lower, upper, step, no_group, schedule, grain, Some(copy))
    } record real, tsvd real, explore real
    fn __kmpc_taskloop_5(loc: *mut c_void, thread: c_int, task: *mut Task, deferred: c_int, lower: *mut u64, upper: *mut u64, step: i64, no_group: c_int, schedule: c_int, grain: u64, strict: c_int, copier: Option<Copier>),
    |t, pc, real| {
        deals(task, deferred, copier);
        real(loc, thread, task, deferred, lower, upper, step, no_group, schedule, grain, strict, Some(copy))
    } record real, tsvd real, explore real
    fn __kmpc_end_taskgroup(loc: *mut c_void, thread: c_int), |t, pc, real| {
        unwatched(|| real(loc, thread))
    } record real, tsvd real, explore real
    // Reductions with the modifier `task`: the first thread initialises the copies of all, and the
    // last one ends the group. Archer does not tell either.
    fn __kmpc_taskred_modifier_init(loc: *mut c_void, thread: c_int, is_loop: c_int, n: c_int, data: *mut c_void) -> *mut c_void, |t, pc, real| {
        unwatched(|| real(loc, thread, is_loop, n, data))
    } record real, tsvd real, explore real
    fn __kmpc_task_reduction_modifier_fini(loc: *mut c_void, thread: c_int, is_loop: c_int), |t, pc, real| {
        unwatched(|| real(loc, thread, is_loop))
    } record real, tsvd real, explore real
    // Returns the thread's own copy of a reduction variable.
    fn __kmpc_task_reduction_get_th_data(thread: c_int, group: *mut c_void, variable: *mut c_void) -> *mut c_void, |t, pc, real| {
        t.openmp.asked = true;
        real(thread, group, variable)
    } record real, tsvd real, explore real
    fn __kmpc_threadprivate_cached(loc: *mut c_void, thread: c_int, data: *mut c_void, size: usize, cache: *mut c_void) -> *mut c_void, |t, pc, real| {
        t.openmp.asked = true;
        real(loc, thread, data, size, cache)
    } record real, tsvd real, explore real
}
