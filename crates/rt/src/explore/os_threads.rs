//! The second back end: every logical thread is a system thread, and they hand over by futex.
//!
//! This is for debuggers, which then see where all threads are, and for machines that do not let a
//! program change its thread pointer. The choices, and so the run, are the same as on the carrier.
//! But a hand-over costs a thousand times as much, and each execution needs its own process.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering::*};

use raddle_wire::explore::flag;

use super::switch::Context;
use super::{fatal, has, state, threads};
use crate::detect::thread::current;
use crate::interpose::Real;
use crate::interpose::stack_size::with_room;
use crate::sys;

/// The thread whose turn it is.
static TURN: AtomicU32 = AtomicU32::new(0);

pub fn are_used() -> bool {
    has(flag::OS_THREADS)
}

/// Resumes `next`; `me` waits for its next turn.
pub fn hand_over(me: usize, next: usize) {
    state().threads[me].context = Context::here();
    TURN.store(next as u32, SeqCst);
    sys::futex_wake(TURN.as_ptr(), i32::MAX);
    wait_for_turn(me);
}

/// Resumes `next`; the running thread never runs again.
pub fn hand_over_for_good(next: usize) -> ! {
    TURN.store(next as u32, SeqCst);
    sys::futex_wake(TURN.as_ptr(), i32::MAX);
    let never = 0u32;
    loop {
        sys::futex_wait(&never, 0);
    }
}

fn wait_for_turn(me: usize) {
    loop {
        let turn = TURN.load(SeqCst);
        if turn == me as u32 {
            return;
        }
        sys::futex_wait(TURN.as_ptr(), turn);
    }
}

/// Starts the system thread for logical thread `i`, which waits for its turn. Returns its handle,
/// or an error number.
pub unsafe fn start(i: usize, attributes: *const c_void) -> Result<usize, c_int> {
    static CREATE: Real = Real::new(c"pthread_create", None);
    type Create = unsafe extern "C" fn(*mut usize, *const c_void, usize, usize) -> c_int;
    let mut handle = 0;
    let mask = sys::block_signals();
    // The C library's work to create a thread is no step of the program.
    let running = core::mem::replace(&mut state().running, false);
    // SAFETY: the C library's function; the start function takes a number.
    let result = unsafe {
        let create = core::mem::transmute::<usize, Create>(CREATE.get());
        with_room(attributes, |attributes| create(&mut handle, attributes, live as *const () as usize, i))
    };
    state().running = running;
    sys::set_blocked_signals(mask);
    if result == 0 { Ok(handle) } else { Err(result) }
}

extern "C" fn live(i: usize) -> usize {
    let mut t = current();
    t.trace.open(1 << 20);
    t.sp = t.trace.stack;
    t.always_look();
    fatal::use_signal_stack();
    wait_for_turn(i);
    state().threads[i].kernel_id = sys::thread_id();
    threads::live()
}
