//! C11's mutexes, condition variables and `call_once`. Threads are in `thread`.

use core::ffi::{c_int, c_void};

use super::{condvar, interpose, mutex};
use crate::detect::{misuse, sync};
use crate::explore::sync::{self as sync_explore, Until};
use raddle_explore::OpKind;
use raddle_wire::record::LockKind;

/// `thrd_success`
const SUCCESS: c_int = 0;

/// Translates an error number into C11's result.
fn c11(error: c_int) -> c_int {
    const BUSY: c_int = 1;
    const ERROR: c_int = 2;
    const TIMED_OUT: c_int = 4;
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

interpose! {
    fn mtx_init(m: *mut c_void, kind: c_int) -> c_int, |t, pc, real| {
        sync::destroyed(m as usize);
        misuse::made_or_destroyed(t, m as usize, pc);
        real(m, kind)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, m as usize, pc, || real(m, kind))
    }
    fn mtx_lock(m: *mut c_void) -> c_int, |t, pc, real| {
        mutex::using(t, m, pc);
        mutex::taking(t, m, LockKind::Mutex, pc);
        let r = real(m);
        mutex::taken(t, m, r, pc);
        r
    } record as detect, tsvd real, explore {
        sync_explore::mutex_lock(m as usize, Until::NEVER, pc)
    }
    fn mtx_trylock(m: *mut c_void) -> c_int, |t, pc, real| {
        mutex::using(t, m, pc);
        let r = real(m);
        mutex::taken(t, m, r, pc);
        r
    } record as detect, tsvd real, explore {
        c11(sync_explore::mutex_trylock(m as usize, pc))
    }
    fn mtx_timedlock(m: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        mutex::using(t, m, pc);
        let r = real(m, until);
        mutex::taken(t, m, r, pc);
        r
    } record as detect, tsvd real, explore {
        c11(sync_explore::mutex_lock(m as usize, Until::new(libc::CLOCK_REALTIME, until), pc))
    }
    fn mtx_unlock(m: *mut c_void) -> c_int, |t, pc, real| {
        mutex::letting_go(t, m);
        real(m)
    } record as detect, tsvd real, explore {
        sync_explore::mutex_unlock(m as usize, pc)
    }
    fn mtx_destroy(m: *mut c_void), |t, pc, real| {
        mutex::destroying(t, m, pc);
        real(m);
        sync::destroyed(m as usize);
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, m as usize, pc, || { real(m); 0 });
    }
    fn cnd_wait(c: *mut c_void, m: *mut c_void) -> c_int, |t, pc, real| {
        condvar::wait(t, c, m, pc, || real(c, m))
    } record as detect, tsvd real, explore {
        sync_explore::cond_wait(c as usize, m as usize, Until::NEVER, pc)
    }
    fn cnd_timedwait(c: *mut c_void, m: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        condvar::wait(t, c, m, pc, || real(c, m, until))
    } record as detect, tsvd real, explore {
        c11(sync_explore::cond_wait(c as usize, m as usize, Until::new(libc::CLOCK_REALTIME, until), pc))
    }
    fn cnd_signal(c: *mut c_void) -> c_int, |t, pc, real| {
        condvar::signalling(t, c);
        real(c)
    } record as detect, tsvd real, explore {
        sync_explore::cond_signal(c as usize, false, pc)
    }
    fn cnd_broadcast(c: *mut c_void) -> c_int, |t, pc, real| {
        condvar::signalling(t, c);
        real(c)
    } record as detect, tsvd real, explore {
        sync_explore::cond_signal(c as usize, true, pc)
    }
    fn cnd_destroy(c: *mut c_void), |t, pc, real| {
        misuse::made_or_destroyed(t, c as usize, pc);
        real(c);
        sync::destroyed(c as usize);
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, c as usize, pc, || 0);
    }
    fn call_once(once: *mut c_void, routine: super::once::Routine), |t, pc, real| {
        super::once::through(once, routine, |once, routine| {
            // SAFETY: the caller's call, with a routine that runs the caller's.
            unsafe { real(once, routine) };
            SUCCESS
        });
    } record as detect, tsvd real, explore {
        sync_explore::initialiser(once as usize, once as usize, 1, pc);
        real(once, routine);
        crate::explore::memory::released(once as usize);
    }
}
