//! C11's mutexes, condition variables and `call_once`. Threads are in `thread`.

use core::ffi::{c_int, c_void};

use super::{condvar, interpose, mutex};
use crate::detect::sync;
use raddle_wire::record::lock_kind;

/// `thrd_success`
const SUCCESS: c_int = 0;

interpose! {
    fn mtx_init(m: *mut c_void, kind: c_int) -> c_int, |t, pc, real| {
        sync::destroyed(m as usize);
        real(m, kind)
    }
    fn mtx_lock(m: *mut c_void) -> c_int, |t, pc, real| {
        mutex::taking(t, m, lock_kind::MUTEX, pc);
        let r = real(m);
        mutex::taken(t, m, r, pc);
        r
    }
    fn mtx_trylock(m: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(m);
        mutex::taken(t, m, r, pc);
        r
    }
    fn mtx_timedlock(m: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        let r = real(m, until);
        mutex::taken(t, m, r, pc);
        r
    }
    fn mtx_unlock(m: *mut c_void) -> c_int, |t, pc, real| {
        mutex::letting_go(t, m);
        real(m)
    }
    fn mtx_destroy(m: *mut c_void), |t, pc, real| {
        real(m);
        sync::destroyed(m as usize);
    }
    fn cnd_wait(c: *mut c_void, m: *mut c_void) -> c_int, |t, pc, real| {
        condvar::wait(t, c, m, pc, || real(c, m))
    }
    fn cnd_timedwait(c: *mut c_void, m: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| {
        condvar::wait(t, c, m, pc, || real(c, m, until))
    }
    fn cnd_signal(c: *mut c_void) -> c_int, |t, pc, real| {
        condvar::signalling(t, c);
        real(c)
    }
    fn cnd_broadcast(c: *mut c_void) -> c_int, |t, pc, real| {
        condvar::signalling(t, c);
        real(c)
    }
    fn cnd_destroy(c: *mut c_void), |t, pc, real| {
        real(c);
        sync::destroyed(c as usize);
    }
    fn call_once(once: *mut c_void, routine: super::once::Routine), |t, pc, real| {
        super::once::through(once, routine, |once, routine| {
            // SAFETY: the caller's call, with a routine that runs the caller's.
            unsafe { real(once, routine) };
            SUCCESS
        });
    }
}
