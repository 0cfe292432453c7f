//! The end of the process: its exit handlers run, and other threads see what they did.

use core::ffi::{c_int, c_void};

use raddle_explore::OpKind;
use raddle_wire::explore::Status;

use super::point::point;
use super::serve::{finish_exit, leave, may_be_owner, say};
use super::{Wait, is_on, is_running, memory, op, output, state};
use crate::interpose::Real;
use crate::interpose::process::AT_EXIT;

/// How far the program's exit is.
#[derive(Default)]
pub struct Exits {
    /// The status with which the program asked to exit.
    pub status: i32,
    /// How many steps had been recorded when its exit handlers began.
    begun_at: usize,
    /// A thread has run all of these, and has only to end the process.
    over: Option<Handlers>,
}

impl Exits {
    /// An execution begins.
    pub fn begin(&mut self) {
        (self.begun_at, self.over) = (0, None);
    }

    /// What decides how the process ends, for the key of a state after `steps`.
    pub fn words(&self, steps: usize) -> [u64; 2] {
        let over = self.over.map_or(0, |which| 1 + which as u64);
        [self.status as u64, 2 * over + u64::from(steps > self.begun_at)]
    }
}

/// Which handlers run before the process ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handlers {
    AtExit,
    AtQuickExit,
}

unsafe extern "C" {
    fn __cxa_atexit(f: extern "C" fn(), argument: *mut c_void, dso: *mut c_void) -> c_int;
    fn __cxa_at_quick_exit(f: extern "C" fn(), dso: *mut c_void) -> c_int;
}

/// Called at the start of the process, so that all other handlers run before these.
pub fn prepare() {
    // SAFETY: functions without arguments may be called with one.
    unsafe {
        __cxa_atexit(last_at_exit, core::ptr::null_mut(), core::ptr::null_mut());
        __cxa_at_quick_exit(last_at_quick_exit, core::ptr::null_mut());
    }
}

extern "C" fn last_at_exit() {
    if state().running {
        lets_see_exit_handlers(Handlers::AtExit);
        output::flush();
        let status = state().serve.exits.status;
        finish_exit(status);
    }
    // Neither a child that the program has forked, nor a program that such a child has become, says
    // anything.
    if is_on() && !state().serve.begun && may_be_owner() {
        say(Status::NoThreads, state().serve.exits.status as u64);
    }
}

extern "C" fn last_at_quick_exit() {
    // A child that the program has forked ends by itself, with its own status.
    if !is_on() {
        return;
    }
    if state().running {
        lets_see_exit_handlers(Handlers::AtQuickExit);
    }
    leaves_at_once();
}

/// The running thread is about to register an exit handler. What it has done comes before the
/// handlers.
pub fn registers(pc: usize) {
    super::keeps_state(pc);
    memory::released(AT_EXIT);
}

/// The program ends by `exit` or a return from main. Other threads may still go first.
pub fn exits(code: i32, pc: usize) {
    begins_to_exit(code, Handlers::AtExit, pc);
}

/// The program ends by `quick_exit`.
pub fn exits_quickly(code: i32, pc: usize) {
    begins_to_exit(code, Handlers::AtQuickExit, pc);
}

fn begins_to_exit(code: i32, which: Handlers, pc: usize) {
    state().serve.exits.status = code;
    if !state().running {
        return;
    }
    lets_others_go_first(pc);
    memory::acquired(AT_EXIT);
    let mut s = state();
    s.serve.exits.begun_at = s.serve.last_step();
    s.serve.exits.status = code;
    if s.serve.exits.over == Some(which) {
        // Another thread has run them all, so the C library would end the process now.
        if which == Handlers::AtExit {
            output::flush();
        }
        finish_exit(code);
    }
}

/// All threads have ended. The C library calls `exit` in the last one, which is the running one,
/// after everything that the others did.
pub fn exits_as_last_thread() -> ! {
    static EXIT: Real = Real::new(c"exit", None);
    let mut s = state();
    let me = s.current;
    s.threads[me].ended = false;
    (0..s.count).filter(|i| *i != me).for_each(|i| point(op(OpKind::Join, i, 0), Wait::Nothing, 0));
    s.serve.exits.begun_at = s.serve.last_step();
    s.serve.exits.status = 0;
    // SAFETY: the C library's function.
    unsafe { core::mem::transmute::<usize, extern "C" fn(c_int) -> !>(EXIT.get())(0) }
}

fn lets_others_go_first(pc: usize) {
    let mut s = state();
    let me = s.current;
    s.threads[me].ends_process = true;
    s.ending += 1;
    let last = op(OpKind::Exit, me, pc).with_global(true);
    point(last, Wait::Nothing, pc);
    state().threads[me].ends_process = false;
    state().ending -= 1;
}

/// Between the exit handlers and the end of the process other threads may see what the handlers
/// did. If they made no step, nobody can: a write of theirs that others can see becomes one.
fn lets_see_exit_handlers(which: Handlers) {
    let mut s = state();
    let code = s.serve.exits.status;
    if s.serve.last_step() > s.serve.exits.begun_at {
        s.serve.exits.over = Some(which);
        lets_others_go_first(0);
        state().serve.exits.status = code;
    }
}

/// The program ends by `_exit`: no exit handlers run.
pub fn exits_at_once(code: i32, pc: usize) -> ! {
    state().serve.exits.status = code;
    if state().running {
        lets_others_go_first(pc);
        state().serve.exits.status = code;
    }
    leaves_at_once()
}

fn leaves_at_once() -> ! {
    let code = state().serve.exits.status;
    if is_running() {
        finish_exit(code);
    }
    if !state().serve.begun && may_be_owner() {
        say(Status::NoThreads, code as u64);
    }
    leave(code as usize)
}
