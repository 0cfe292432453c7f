//! Condition variables.
//!
//! A wait releases its mutex and takes it again; in hb mode that is all the order there is. In
//! hybrid and fast mode a signal is a SIGNAL and a wait that was woken is a WAIT (section 4 of the
//! paper). A wait that never had to block is the false positive of 6.4.1; it learns as much if the
//! code is known to wait ([`hand_over`]).
//!
//! A thread that is cancelled while it waits gets the mutex back before its clean-up handlers run.
//! A handler of the runtime, pushed around the wait, tells the detector.

use core::ffi::{c_int, c_void};

use super::{interpose, mutex};
use crate::detect::thread::{Current, current};
use crate::detect::{hand_over, misuse, settings, sync};
use raddle_explore::OpKind;

use crate::explore::sync::{self as sync_explore, Until};
use crate::tsvd::sync as tsvd_sync;

#[repr(C)]
struct Cleanup {
    words: [usize; 4],
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        routine: extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

struct Waiting {
    mutex: usize,
    times: u32,
    pc: usize,
}

extern "C" fn cancelled(waiting: *mut c_void) {
    // SAFETY: the frame of `wait` still exists while handlers run.
    let w = unsafe { &*waiting.cast::<Waiting>() };
    sync::locked_after_wait(current(), w.mutex, w.times, w.pc);
}

/// Waits with `real`, with the mutex released and taken again.
pub unsafe fn wait(
    mut t: Current,
    c: *mut c_void,
    m: *mut c_void,
    pc: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    misuse::used(&mut t, c as usize, pc);
    misuse::used(&mut t, m as usize, pc);
    mutex::check_unlock(t, m, pc);
    hand_over::waits(&mut t, m as usize, pc);
    let times = sync::unlocking_for_wait(t, m as usize);
    let mut waiting = Waiting { mutex: m as usize, times, pc };
    let mut cleanup = Cleanup { words: [0; 4] };
    // SAFETY: pushed and popped in one frame, which outlives the wait.
    let r = unsafe {
        _pthread_cleanup_push(&mut cleanup, cancelled, (&raw mut waiting).cast());
        let r = real();
        _pthread_cleanup_pop(&mut cleanup, 0);
        r
    };
    // The handler and this are the two ways out of the wait.
    let mut t = current();
    sync::locked_after_wait(t, m as usize, times, pc);
    if settings().hybrid && r == 0 {
        sync::acquire(t, c as usize);
    }
    hand_over::waited(&mut t, m as usize, r == 0);
    r
}

pub fn signalling(mut t: Current, c: *mut c_void) {
    let pc = t.caller;
    misuse::used(&mut t, c as usize, pc);
    if settings().hybrid {
        if settings().condvar_mutexes_order {
            // These locks are held while the condition is made true, so they belong to the
            // variable.
            sync::order_by_held(&t);
        }
        sync::release(t, c as usize);
    }
}

interpose! {
    fn pthread_cond_wait(c: *mut c_void, m: *mut c_void) -> c_int = c"GLIBC_2.3.2", |t, pc, real| {
        wait(t, c, m, pc, || real(c, m))
    } record as detect, tsvd {
        tsvd_sync::released(m as usize);
        let r = tsvd_sync::acquired(c as usize, real(c, m));
        tsvd_sync::acquired(m as usize, 0);
        r
    } explore cancels {
        sync_explore::cond_wait(c as usize, m as usize, Until::NEVER, pc)
    }
    fn pthread_cond_timedwait(c: *mut c_void, m: *mut c_void, until: *const c_void) -> c_int = c"GLIBC_2.3.2", |t, pc, real| {
        wait(t, c, m, pc, || real(c, m, until))
    } record as detect, tsvd {
        tsvd_sync::released(m as usize);
        let r = tsvd_sync::acquired(c as usize, real(c, m, until));
        tsvd_sync::acquired(m as usize, 0);
        r
    } explore cancels {
        sync_explore::cond_wait(c as usize, m as usize, Until::new(sync_explore::clock_of(c as usize), until), pc)
    }
    fn pthread_cond_clockwait(c: *mut c_void, m: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        wait(t, c, m, pc, || real(c, m, clock, until))
    } record as detect, tsvd {
        tsvd_sync::released(m as usize);
        let r = tsvd_sync::acquired(c as usize, real(c, m, clock, until));
        tsvd_sync::acquired(m as usize, 0);
        r
    } explore cancels {
        sync_explore::cond_wait(c as usize, m as usize, Until::new(clock, until), pc)
    }
    fn pthread_cond_signal(c: *mut c_void) -> c_int = c"GLIBC_2.3.2", |t, pc, real| {
        signalling(t, c);
        real(c)
    } record as detect, tsvd {
        tsvd_sync::released(c as usize);
        real(c)
    } explore {
        sync_explore::cond_signal(c as usize, false, pc)
    }
    fn pthread_cond_broadcast(c: *mut c_void) -> c_int = c"GLIBC_2.3.2", |t, pc, real| {
        signalling(t, c);
        real(c)
    } record as detect, tsvd {
        tsvd_sync::released(c as usize);
        real(c)
    } explore {
        sync_explore::cond_signal(c as usize, true, pc)
    }
    fn pthread_cond_init(c: *mut c_void, attributes: *const c_void) -> c_int = c"GLIBC_2.3.2", |t, pc, real| {
        sync::destroyed(c as usize);
        misuse::made_or_destroyed(t, c as usize, pc);
        real(c, attributes)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, c as usize, pc, || real(c, attributes))
    }
    fn pthread_cond_destroy(c: *mut c_void) -> c_int = c"GLIBC_2.3.2", |t, pc, real| {
        misuse::made_or_destroyed(t, c as usize, pc);
        let r = real(c);
        sync::destroyed(c as usize);
        r
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, c as usize, pc, || 0)
    }
}
