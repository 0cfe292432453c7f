//! Signals between the threads of an explored program.
//!
//! The kernel knows one thread, the carrier, so it can not keep the threads' masks nor tell them apart. What threads send each
//! other is kept here: a signal arrives at a logical thread, and its handler runs in that thread when it is next scheduled,
//! which a waiting thread then can be. Signals from outside go to whatever runs, as the program asked for.
//!
//! Not modelled: that a call returns early with EINTR (it goes on waiting), and queued real-time signals.

use core::ffi::{c_int, c_void};

use raddle_explore::OpKind;
use raddle_wire::explore::outcome;

use super::point::point;
use super::{Wait, fatal, op, state, threads};
use crate::sys;

const SIGNALS: usize = 65;

pub type Action = libc::sigaction;

/// What the program wants done. Part of the snapshot.
static ACTIONS: sys::Shared<[Option<Action>; SIGNALS]> = sys::Shared::new([None; SIGNALS]);

fn action(signal: c_int) -> &'static mut Option<Action> {
    // SAFETY: one thread runs at a time; the number was checked.
    unsafe { &mut (*ACTIONS.get())[signal as usize] }
}

fn is_signal(signal: c_int) -> bool {
    signal > 0 && (signal as usize) < SIGNALS
}

const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Failures of the program, which are the scheduler's to see. A handler for stack overflows is of no use here.
fn is_ours(signal: c_int) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGABRT)
}

/// `sigaction`, by `real` for the signals that may come from outside.
pub unsafe fn install(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
    real: impl FnOnce(*const Action) -> c_int,
) -> c_int {
    if !is_signal(signal) {
        return real(new);
    }
    // SAFETY: the program's pointers; zero is a valid action.
    unsafe {
        let before = action(signal).unwrap_or_else(|| {
            let mut none = core::mem::zeroed::<Action>();
            if is_ours(signal) {
                none.sa_sigaction = libc::SIG_IGN;
            }
            none
        });
        let result = match new.as_ref() {
            None => 0,
            Some(_) if is_ours(signal) => 0,
            Some(_) => real(new),
        };
        if result == 0 {
            if let Some(new) = new.as_ref() {
                *action(signal) = Some(*new);
            }
            if let Some(old) = old.as_mut() {
                *old = before;
            }
        }
        result
    }
}

/// The running thread's mask. Returns the one before.
pub fn change_mask(how: c_int, set: Option<u64>) -> Option<u64> {
    let s = state();
    let t = &mut s.threads[s.current];
    let before = t.mask;
    if let Some(set) = set {
        t.mask = match how {
            libc::SIG_BLOCK => before | set,
            libc::SIG_UNBLOCK => before & !set,
            libc::SIG_SETMASK => set,
            _ => return None,
        };
        run_handlers();
    }
    Some(before)
}

/// Sends to a thread of ours. None: it is none.
pub fn send_to(handle: usize, signal: c_int, pc: usize) -> Option<c_int> {
    let to = threads::by_handle(handle)?;
    if !is_signal(signal) {
        return Some(if signal == 0 { 0 } else { libc::EINVAL });
    }
    send(to, signal, pc);
    Some(0)
}

/// Sends to whichever thread takes it: the first that does not block it.
pub fn send_to_process(signal: c_int, pc: usize) {
    let s = state();
    let takes = |i: &usize| !s.threads[*i].ended && s.threads[*i].mask & bit(signal) == 0;
    send((0..s.count).find(takes).unwrap_or(0), signal, pc);
}

pub fn send(to: usize, signal: c_int, pc: usize) {
    point(op(OpKind::Signal, to, pc), Wait::Nothing, pc);
    state().threads[to].arrived |= bit(signal);
    if to == state().current {
        run_handlers();
    }
}

/// Has something arrived that the thread does not block?
pub fn is_interrupted(thread: usize) -> bool {
    let t = &state().threads[thread];
    t.arrived & !t.mask != 0
}

/// Runs the handlers for what has arrived at the running thread. False: there was nothing.
pub fn run_handlers() -> bool {
    let mut any = false;
    loop {
        let s = state();
        let t = &mut s.threads[s.current];
        let ready = t.arrived & !t.mask;
        if ready == 0 {
            return any;
        }
        let signal = ready.trailing_zeros() as c_int + 1;
        t.arrived &= !bit(signal);
        any = true;
        handle(signal);
        state().threads[state().current].handled = true;
    }
}

fn handle(signal: c_int) {
    let Some(action) = *action(signal) else { return by_default(signal) };
    match action.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL => by_default(signal),
        handler => {
            let s = state();
            let before = s.threads[s.current].mask;
            // SAFETY: the first word of a set has all signals there are.
            let during = unsafe { *(&raw const action.sa_mask).cast::<u64>() };
            s.threads[s.current].mask = before | during | bit(signal);
            // SAFETY: the program's handler; zero is a valid description of a signal.
            unsafe {
                let mut info = core::mem::zeroed::<libc::siginfo_t>();
                info.si_signo = signal;
                type Handler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                core::mem::transmute::<usize, Handler>(handler)(signal, &mut info, core::ptr::null_mut());
            }
            let s = state();
            s.threads[s.current].mask = before;
        }
    }
}

fn by_default(signal: c_int) {
    if !matches!(signal, libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT) && state().running {
        state().serve.slot().detail = signal as u64;
        fatal::ends(outcome::SIGNAL, state().current);
    }
}

/// `sigwait`: the signal that came.
pub fn wait(set: u64, pc: usize) -> c_int {
    point(op(OpKind::Signal, state().current, pc), Wait::Signal(set), pc);
    let s = state();
    let t = &mut s.threads[s.current];
    let signal = (t.arrived & set).trailing_zeros() as c_int + 1;
    t.arrived &= !bit(signal);
    signal
}

/// `pause` and `sigsuspend`: until a handler has run, with this mask meanwhile.
pub fn pause(mask: Option<u64>, pc: usize) {
    let s = state();
    let me = s.current;
    let before = s.threads[me].mask;
    // What comes until now is handled before, and does not count.
    point(op(OpKind::Signal, me, pc), Wait::Nothing, pc);
    let s = state();
    s.threads[me].handled = false;
    s.threads[me].mask = mask.unwrap_or(before);
    point(op(OpKind::Signal, me, pc), Wait::Handler, pc);
    state().threads[me].mask = before;
}

/// What has arrived and is blocked.
pub fn pending() -> u64 {
    let s = state();
    s.threads[s.current].arrived
}
