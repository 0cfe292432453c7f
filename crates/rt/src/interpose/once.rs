//! `pthread_once`, and the guards of C++ static locals: the initialiser happens before everyone who
//! passes.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::*};

use super::interpose;
use crate::detect::sync;
use crate::detect::thread::current;
use crate::explore::{self, states, sync as sync_explore};
use crate::sys;

pub type Routine = unsafe extern "C-unwind" fn();

/// The routines that `pthread_once` is about to call in this thread, innermost last. They are kept
/// here since a routine gets no argument.
#[repr(C)]
pub struct Pending {
    of: [Call; 8],
    n: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Call {
    routine: usize,
    key: usize,
    /// The stack address of the call.
    frame: usize,
}

impl Pending {
    fn push(&mut self, call: Call) -> bool {
        // Calls whose frames lie below are over: an exception ended them.
        while self.n > 0 && self.of[self.n - 1].frame <= call.frame {
            self.n -= 1;
        }
        let room = self.n < self.of.len();
        if room {
            self.of[self.n] = call;
            self.n += 1;
        }
        room
    }
}

/// The running thread throws, perhaps out of a routine. What it has done in there until now is
/// released; what destructors do on the way out is not.
pub fn throws() {
    let p = &current().once;
    let here = &raw const p as usize;
    // Frames below are those of calls that are over.
    for call in p.of[..p.n].iter().filter(|call| call.frame > here) {
        sync::release(current(), call.key);
    }
}

unsafe extern "C-unwind" fn run() {
    let p = &current().once;
    let Call { routine, key, .. } = p.of[p.n - 1];
    // An attempt that an exception has ended happened before the next.
    sync::acquire(current(), key);
    // SAFETY: the program's own routine.
    unsafe { core::mem::transmute::<usize, Routine>(routine)() };
    sync::release(current(), key);
}

/// Calls `real` so that `routine`, if called, releases what it did. Every caller acquires it.
pub fn through(
    once: *mut c_void,
    routine: Routine,
    real: impl FnOnce(*mut c_void, Routine) -> c_int,
) -> c_int {
    let frame = &raw const once as usize;
    let r = if current().once.push(Call { routine: routine as usize, key: once as usize, frame }) {
        let r = real(once, run);
        current().once.n -= 1;
        r
    } else {
        real(once, routine)
    };
    sync::acquire(current(), once as usize);
    r
}

interpose! {
    fn pthread_once(once: *mut c_void, routine: Routine) -> c_int, |t, pc, real| {
        // SAFETY: the caller's call, with a routine that runs the caller's.
        through(once, routine, |once, routine| unsafe { real(once, routine) })
    } record as detect, tsvd real, explore {
        // The lowest bit is set while the initialiser runs.
        sync_explore::initialiser(once as usize, once as usize, 1, pc);
        explore::memory::initialises(once as usize);
        let r = real(once, routine);
        explore::memory::initialised(once as usize);
        r
    }
}

// Guards of static locals, implemented completely: the C++ library's own may be linked statically,
// or not at all. The first byte belongs to the compiler (1: initialised), the second word to the
// runtime.
const FREE: u32 = 0;
const RUNNING: u32 = 1;
const AWAITED: u32 = 2;

/// `__ATOMIC_RELEASE`.
const RELEASE: c_int = 3;

fn words(guard: usize) -> (&'static AtomicU8, &'static AtomicU32) {
    // SAFETY: a guard is eight bytes, aligned, and lives for ever.
    unsafe { (&*(guard as *const AtomicU8), &*((guard + 4) as *const AtomicU32)) }
}

const _: () = {
    crate::entry::entry!("__interpose___cxa_guard_acquire", guard_acquire);
};

/// Returns 1 if the caller must initialise.
extern "C" fn guard_acquire(guard: usize) -> c_int {
    let (done, state) = words(guard);
    if explore::is_running() {
        const LISTED: states::Listed = states::steps("__cxa_guard_acquire");
        states::calls(LISTED, 1);
        sync_explore::initialiser(guard, guard + 4, RUNNING | AWAITED, current().caller);
    }
    loop {
        if done.load(Acquire) == 1 {
            sync::acquire(current(), guard);
            return 0;
        }
        match state.compare_exchange(FREE, RUNNING, Acquire, Relaxed) {
            Ok(_) if done.load(Acquire) == 0 => {
                // An initialiser that threw happens before the next.
                sync::acquire(current(), guard);
                return 1;
            }
            Ok(_) => leave(state),
            Err(_) => {
                let _ = state.compare_exchange(RUNNING, AWAITED, Relaxed, Relaxed);
                sys::futex_wait(state.as_ptr(), AWAITED);
            }
        }
    }
}

fn leave(state: &AtomicU32) {
    if state.swap(FREE, Release) == AWAITED {
        sys::futex_wake(state.as_ptr(), c_int::MAX);
    }
}

#[unsafe(export_name = "__interpose___cxa_guard_release")]
extern "C" fn guard_release(guard: usize) {
    let (done, state) = words(guard);
    sync::release(current(), guard);
    if explore::is_on() {
        // The compiler's code reads the byte itself.
        explore::memory::released(guard);
        explore::memory::store(guard, 1, RELEASE, 1u8);
    }
    done.store(1, Release);
    leave(state);
}

#[unsafe(export_name = "__interpose___cxa_guard_abort")]
extern "C" fn guard_abort(guard: usize) {
    sync::release(current(), guard);
    if explore::is_on() {
        explore::memory::released(guard);
    }
    leave(words(guard).1);
}
