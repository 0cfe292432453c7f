//! Cancellation, which matters only in an explored program.

use core::ffi::c_int;

use super::interpose;
use crate::explore::{self, cancel};

const ENABLE: c_int = 0;
const DISABLE: c_int = 1;
const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

interpose! {
    fn pthread_cancel(thread: usize) -> c_int, |t, pc, real| { real(thread) } record as detect, tsvd real, explore {
        if !explore::is_running() {
            return real(thread);
        }
        cancel::request(thread, pc).unwrap_or(libc::ESRCH)
    }
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int, |t, pc, real| { real(state, old) } record as detect, tsvd real, explore {
        if !(ENABLE..=DISABLE).contains(&state) {
            return libc::EINVAL;
        }
        let before = cancel::set_heeds(state == ENABLE);
        if !old.is_null() {
            *old = if before { ENABLE } else { DISABLE };
        }
        0
    }
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int, |t, pc, real| { real(kind, old) } record as detect, tsvd real, explore {
        if !(DEFERRED..=ASYNCHRONOUS).contains(&kind) {
            return libc::EINVAL;
        }
        let before = cancel::set_asynchronous(kind == ASYNCHRONOUS);
        if !old.is_null() {
            *old = if before { ASYNCHRONOUS } else { DEFERRED };
        }
        0
    }
    fn pthread_testcancel(), |t, pc, real| { real() } record as detect, tsvd real, explore cancels {
        if explore::is_running() {
            explore::sync::looks_whether_cancelled(pc);
        }
    }
}
