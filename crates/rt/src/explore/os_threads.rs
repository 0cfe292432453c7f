//! The second back end: every logical thread is a thread of the system, and they hand over by
//! futex.
//!
//! For debuggers, which then see all threads where they are, and for machines that do not let a
//! program change its thread pointer. The choices, and so the run, are the same as on the carrier;
//! a hand-over costs a thousand times as much, and each execution is a process of its own.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering::*};

use raddle_wire::explore::flag;

use super::switch::Context;
use super::{fatal, has, state, threads};
use crate::detect::thread::current;
use crate::interpose::Real;
use crate::interpose::stack_size::with_room;
use crate::sys;

/// Whose turn it is.
static TURN: AtomicU32 = AtomicU32::new(0);

pub fn are_used() -> bool {
    has(flag::OS_THREADS)
}

/// `next` goes on; `me` waits until it is its turn again.
pub fn hand_over(me: usize, next: usize) {
    state().threads[me].context = Context::here();
    TURN.store(next as u32, SeqCst);
    sys::futex_wake(TURN.as_ptr(), i32::MAX);
    wait_for_turn(me);
}

/// `next` goes on, and the running thread never again.
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

/// Starts the system's thread for logical thread `i`; it waits for its turn. Gives its handle, or
/// an error number.
pub unsafe fn start(i: usize, attributes: *const c_void) -> Result<usize, c_int> {
    static CREATE: Real = Real::new(c"pthread_create", None);
    type Create = unsafe extern "C" fn(*mut usize, *const c_void, usize, usize) -> c_int;
    let mut handle = 0;
    let mask = sys::block_signals();
    // What the C library does to make a thread is no step of the program.
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
