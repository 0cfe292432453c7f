//! Synchronisation, for the policy `tsvd-hb`. Other policies see only the creation and joining of
//! threads and pay for nothing else: their library does not interpose these functions.
//!
//! Seen: creating and joining threads, mutexes, spinlocks, read-write locks, condition variables,
//! semaphores, barriers, `pthread_once`. Not seen: atomics, and locks made of them, such as Rust's.
//! A pair that only those order is tried with delays, as the paper says of ad-hoc synchronisation;
//! nothing false is reported for it.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::*};

use super::point::{Waiting, now};
use super::state::tsvd;
use crate::detect::thread::current;
use crate::sys::{self, Shared, Spin};

static WANTED: AtomicBool = AtomicBool::new(false);

pub fn turn_on() {
    WANTED.store(true, Release);
}

#[inline(always)]
fn is_wanted() -> bool {
    WANTED.load(Relaxed)
}

pub fn released(object: usize) {
    with_core(|core, me| core.on_release(me, object as u64, &mut Waiting));
}

/// `result` is what the function returned: zero, or it acquired nothing.
pub fn acquired(object: usize, result: c_int) -> c_int {
    if result == 0 {
        with_core(|core, me| core.on_acquire(me, object as u64, &mut Waiting));
    }
    result
}

fn with_core(act: impl FnOnce(&raddle_tsvd::Tsvd, u32)) {
    if is_wanted() {
        tell(act);
    }
}

fn tell(act: impl FnOnce(&raddle_tsvd::Tsvd, u32)) {
    let own = &mut current().tsvd;
    if own.inside {
        return;
    }
    own.inside = true;
    if let Some(core) = tsvd() {
        act(core, own.number());
    }
    current().tsvd.inside = false;
}

/// What a new thread runs, and its number.
struct Start {
    function: usize,
    argument: usize,
    number: u32,
    /// Where the thread was created.
    caller: usize,
}

/// `pthread_create` or `thrd_create`. Numbers the thread before it runs. `real` makes the thread
/// run a function with an argument. Of all synchronisation, every policy sees this and joins.
pub unsafe fn create(
    real: impl Fn(usize, usize) -> c_int,
    handle: *mut usize,
    (function, argument): (usize, usize),
    caller: usize,
) -> c_int {
    super::loading::look_if_pending();
    if !super::is_on() {
        return real(function, argument);
    }
    let number = super::new_number();
    let start = sys::ARENA.take(size_of::<Start>()).cast::<Start>();
    let own = &mut current().tsvd;
    if let Some(core) = tsvd().filter(|_| !own.inside) {
        own.inside = true;
        core.on_fork(now(), own.number(), number, &mut Waiting);
        current().tsvd.inside = false;
    }
    // SAFETY: fresh memory of that size; the arguments are the caller's.
    unsafe {
        start.write(Start { function, argument, number, caller });
        let r = real(run as *const () as usize, start as usize);
        if r != 0 {
            gone(number);
        } else {
            remember(*handle, number);
        }
        r
    }
}

/// A thread has ended, or was not created after all. One that ends by `pthread_exit` or is
/// cancelled is not seen: the core believes that it is alive, and delays unnecessarily.
fn gone(number: u32) {
    let own = &mut current().tsvd;
    if let Some(core) = tsvd().filter(|_| !own.inside) {
        own.inside = true;
        core.thread_gone(number, &mut Waiting);
        current().tsvd.inside = false;
    }
}

/// The result of a function for `thrd_create` is in the lower half of the same register.
unsafe extern "C-unwind" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: what `create` made for this thread alone; the program's own start routine and
    // argument.
    unsafe {
        let Start { function, argument, number, caller } = start.cast::<Start>().read();
        let own = &mut current().tsvd;
        own.set_number(number);
        own.start = (function as u64, caller as u64);
        let result = core::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize) -> *mut c_void>(
            function,
        )(argument);
        gone(number);
        result
    }
}

/// A join; `real` does the waiting. As soon as that has returned, the handle may be another
/// thread's.
pub fn join(handle: usize, real: impl FnOnce() -> c_int) -> c_int {
    let number = forget(handle).filter(|_| super::is_on());
    let result = real();
    match number {
        Some(number) if result == 0 => tell(|core, me| core.on_join(now(), me, number, &mut Waiting)),
        Some(number) => remember(handle, number),
        None => {}
    }
    result
}

/// Threads that can be joined, by handle. The join of a thread that finds no room is not seen.
const MOST: usize = 4096;
static LOCK: Spin = Spin::new();
static THREADS: Shared<[(usize, u32); MOST]> = Shared::new([(0, 0); MOST]);

fn remember(handle: usize, number: u32) {
    replace(0, (handle, number));
}

fn forget(handle: usize) -> Option<u32> {
    replace(handle, (0, 0)).map(|(_, number)| number)
}

/// Replaces the entry with this handle by `new`.
fn replace(handle: usize, new: (usize, u32)) -> Option<(usize, u32)> {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let threads = unsafe { &mut *THREADS.get() };
    // A handle recurs if its thread was detached and has ended: then the entry is an old one.
    if new.0 != 0
        && let Some(same) = threads.iter_mut().find(|t| t.0 == new.0)
    {
        return Some(core::mem::replace(same, new));
    }
    threads.iter_mut().find(|t| t.0 == handle).map(|t| core::mem::replace(t, new))
}

pub fn reset_after_fork() {
    LOCK.reset();
}
