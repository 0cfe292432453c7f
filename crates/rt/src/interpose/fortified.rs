//! The functions that the compiler calls for `read`, `recv`, `recvfrom` and `poll` if
//! `_FORTIFY_SOURCE` is set and it knows the size of the buffer. They take that size too. The C
//! library's versions do not call the plain names.

use core::ffi::{c_int, c_void};

use super::access::Call;
use super::channel::{ready, received};
use super::interpose;
use super::readiness::{Polled, full, polls};
use super::room::making;
use super::transfer::told_address;
use crate::explore::{self, Several, sync::Until};

interpose! {
    fn __read_chk(fd: c_int, to: *mut c_void, n: usize, room: usize) -> isize, |t, pc, real| {
        making(t, fd);
        let got = real(fd, to, n, room);
        if got >= 0 {
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
        }
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        let got = real(fd, to, n, room);
        Call::new(t, pc).wrote(to, got.max(0) as usize);
        got
    }
    fn __recv_chk(fd: c_int, to: *mut c_void, n: usize, room: usize, flags: c_int) -> isize, |t, pc, real| {
        making(t, fd);
        let got = real(fd, to, n, room, flags);
        if got >= 0 {
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
        }
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLIN, flags, pc) {
            return -1;
        }
        let got = real(fd, to, n, room, flags);
        Call::new(t, pc).wrote(to, got.max(0) as usize);
        got
    }
    fn __recvfrom_chk(fd: c_int, to: *mut c_void, n: usize, room: usize, flags: c_int, from: *mut c_void, len: *mut u32) -> isize, |t, pc, real| {
        making(t, fd);
        let got = real(fd, to, n, room, flags, from, len);
        if got >= 0 {
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
            told_address(&mut Call::new(t, pc), from, len);
        }
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLIN, flags, pc) {
            return -1;
        }
        let got = real(fd, to, n, room, flags, from, len);
        Call::new(t, pc).wrote(to, got.max(0) as usize);
        if got >= 0 {
            told_address(&mut Call::new(t, pc), from, len);
        }
        got
    }
    fn __poll_chk(fds: *mut Polled, n: usize, timeout: c_int, room: usize) -> c_int, |t, pc, real| {
        polls(&mut Call::new(t, pc), fds, n);
        let full = full(fds, n, timeout != 0);
        let got = ready(t, real(fds, n, timeout, room));
        full.waited(t);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(fds as usize, n), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        polls(&mut Call::new(t, pc), fds, n);
        real(fds, n, 0, room)
    }
    fn __ppoll_chk(fds: *mut Polled, n: usize, timeout: *const c_void, mask: *const c_void, room: usize) -> c_int, |t, pc, real| {
        polls(&mut Call::new(t, pc), fds, n);
        let full = full(fds, n, true);
        let got = ready(t, real(fds, n, timeout, mask, room));
        full.waited(t);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(fds as usize, n), true, Until::after(timeout), pc) {
            return -1;
        }
        polls(&mut Call::new(t, pc), fds, n);
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        real(fds, n, (&raw const now).cast(), mask, room)
    }
}
