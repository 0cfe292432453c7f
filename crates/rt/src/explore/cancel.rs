//! Cancellation: one thread asks another to end, which it does at its next cancellation point.
//!
//! The C library's own cancellation sends a signal to a kernel thread, and the carrier is the only
//! one. So requests are kept here. A request can break off a wait at a cancellation point
//! ([`super::point::Breaks`]). The thread then leaves by the real `pthread_exit`, which runs
//! clean-up handlers and C++ destructors on its way to the bottom of the thread.
//!
//! Deviation: a thread of asynchronous type is cancelled after any interposed call, not between any
//! two instructions.

use core::ffi::c_int;

use raddle_explore::OpKind;

use super::point::point;
use super::{Wait, is_running, op, state, threads};
use crate::interpose::Real;

/// `PTHREAD_CANCELED`.
const CANCELED: usize = usize::MAX;

/// Asks a thread to end. None if raddle does not control it.
pub fn request(handle: usize, pc: usize) -> Option<c_int> {
    let to = threads::by_handle(handle)?;
    point(op(OpKind::Signal, to, pc), Wait::Nothing, pc);
    state().threads[to].cancelled = true;
    Some(0)
}

/// True if the thread was asked to end and has cancellation enabled.
pub fn is_due(thread: usize) -> bool {
    let t = &state().threads[thread];
    t.cancelled && !t.never_cancelled
}

/// Enables or disables cancellation of the running thread. Returns whether it was enabled before.
pub fn set_heeds(heeds: bool) -> bool {
    let mut s = state();
    let t = s.current_thread_mut();
    !core::mem::replace(&mut t.never_cancelled, !heeds)
}

/// Sets whether the running thread may be cancelled at any moment. Returns the previous setting.
pub fn set_asynchronous(asynchronous: bool) -> bool {
    let mut s = state();
    core::mem::replace(&mut s.current_thread_mut().asynchronous, asynchronous)
}

/// After a call that is no cancellation point.
///
/// # Safety
/// As for [`before`].
#[inline]
pub unsafe extern "C-unwind" fn behind_any() {
    if is_running() && state().current_thread().asynchronous {
        // SAFETY: by the caller's contract.
        unsafe { before() }
    }
}

/// At a cancellation point.
///
/// # Safety
/// The caller's frame, and those above it up to the program's, can be unwound.
pub unsafe extern "C-unwind" fn before() {
    if is_running() && is_due(state().current) {
        // SAFETY: by the caller's contract.
        unsafe { act() }
    }
}

/// After a cancellation point: the wait may have been broken off.
///
/// # Safety
/// As for [`before`].
pub unsafe extern "C-unwind" fn after() {
    if !is_running() {
        return;
    }
    let mut s = state();
    if core::mem::take(&mut s.current_thread_mut().cut_short) {
        // SAFETY: by the caller's contract.
        unsafe { act() }
    }
}

/// The running thread ends.
unsafe extern "C-unwind" fn act() -> ! {
    static EXIT: Real = Real::new(c"pthread_exit", None);
    type Exit = unsafe extern "C-unwind" fn(usize) -> !;
    let mut s = state();
    let t = s.current_thread_mut();
    t.never_cancelled = true;
    t.result = CANCELED;
    if s.current == 0 {
        threads::end(CANCELED)
    }
    // SAFETY: the C library's function; it unwinds to the bottom of the thread.
    unsafe { core::mem::transmute::<usize, Exit>(EXIT.get())(CANCELED) }
}
