//! POSIX's asynchronous input and output, which a thread of the C library does.
//!
//! What a thread does before it asks for a transfer comes before what follows at the other end of
//! the descriptor, and before what a thread does that has been told that the transfer is over. Such
//! a thread has also read what was written at the other end. The buffer of a write is read when it
//! is asked for, and that of a read written when its result is fetched: a thread that touches it in
//! between is not seen.
//!
//! None of it is scheduled in an explored program, which is then not complete.

use core::ffi::c_int;

use super::access::Call;
use super::channel::{received, sending};
use super::{interpose, room};
use crate::detect::sync;
use crate::detect::thread::Current;
use crate::explore;

type Request = *mut libc::aiocb;
type List = *const Request;

/// The object of a request, beside whatever has its address.
fn key(request: *const libc::aiocb) -> usize {
    request as usize + 4
}

/// A transfer is about to be asked for. `operation`: `LIO_READ`, `LIO_WRITE` or `LIO_NOP`.
unsafe fn asks(t: Current, pc: usize, request: *const libc::aiocb, operation: c_int) {
    // SAFETY: null or the caller's request.
    let Some(r) = (unsafe { request.as_ref() }) else { return };
    let mut c = Call::new(t, pc);
    c.reads_one(request);
    match operation {
        libc::LIO_WRITE => {
            c.reads(r.aio_buf, r.aio_nbytes);
            sending(t, r.aio_fildes);
        }
        libc::LIO_READ => room::making(t, r.aio_fildes),
        _ => return,
    }
    sync::release(t, key(request));
}

/// The thread has been told that the transfer is over. The C library has stored its direction.
unsafe fn is_over(t: Current, request: *const libc::aiocb) {
    sync::acquire(t, key(request));
    // SAFETY: the caller's request.
    let request = unsafe { &*request };
    if request.aio_lio_opcode == libc::LIO_READ {
        received(t, request.aio_fildes);
    }
}

unsafe fn asks_all(t: Current, pc: usize, list: List, n: c_int) {
    for i in 0..if list.is_null() { 0 } else { n.max(0) as usize } {
        // SAFETY: the caller's list.
        unsafe {
            let request = *list.add(i);
            if !request.is_null() {
                asks(t, pc, request, (*request).aio_lio_opcode);
            }
        }
    }
}

/// The thread has waited for each request of a list.
unsafe fn are_over(t: Current, list: List, n: c_int) {
    for i in 0..if list.is_null() { 0 } else { n.max(0) as usize } {
        // SAFETY: the caller's list.
        unsafe {
            let request = *list.add(i);
            if !request.is_null() {
                is_over(t, request);
            }
        }
    }
}

/// The state of a request was asked for.
unsafe fn state(t: Current, request: *const libc::aiocb, error: c_int) -> c_int {
    if !request.is_null() && error != libc::EINPROGRESS {
        // SAFETY: the caller's request.
        unsafe { is_over(t, request) };
    }
    error
}

/// The result of a request was fetched.
unsafe fn result(t: Current, pc: usize, request: Request, got: isize) -> isize {
    // SAFETY: null or the caller's request.
    if got >= 0
        && let Some(r) = unsafe { request.as_ref() }
    {
        // SAFETY: as above.
        unsafe { is_over(t, request) };
        if r.aio_lio_opcode == libc::LIO_READ {
            Call::new(t, pc).wrote(r.aio_buf.cast_const(), got as usize);
        }
    }
    got
}

/// The thread has waited for one of some requests. If there are several, what it asks of them next
/// tells which.
unsafe fn suspended(t: Current, list: List, n: c_int, r: c_int) -> c_int {
    if r == 0 && n == 1 {
        // SAFETY: the caller's list.
        unsafe { are_over(t, list, n) };
    }
    r
}

/// `lio_listio` has waited for all, or only asked.
unsafe fn listed(t: Current, how: c_int, list: List, n: c_int, r: c_int) -> c_int {
    if r == 0 && how == libc::LIO_WAIT {
        // SAFETY: the caller's list.
        unsafe { are_over(t, list, n) };
    }
    r
}

interpose! {
    fn aio_read(request: Request) -> c_int, |t, pc, real| { asks(t, pc, request, libc::LIO_READ); real(request) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_read64(request: Request) -> c_int, |t, pc, real| { asks(t, pc, request, libc::LIO_READ); real(request) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_write(request: Request) -> c_int, |t, pc, real| { asks(t, pc, request, libc::LIO_WRITE); real(request) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_write64(request: Request) -> c_int, |t, pc, real| { asks(t, pc, request, libc::LIO_WRITE); real(request) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_error(request: Request) -> c_int, |t, pc, real| { state(t, request, real(request)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_error64(request: Request) -> c_int, |t, pc, real| { state(t, request, real(request)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_return(request: Request) -> isize, |t, pc, real| { result(t, pc, request, real(request)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_return64(request: Request) -> isize, |t, pc, real| { result(t, pc, request, real(request)) } record as detect, tsvd real, explore { explore::changes_outside(pc); real(request) }
    fn aio_suspend(list: List, n: c_int, time: *const libc::timespec) -> c_int, |t, pc, real| {
        let r = real(list, n, time);
        suspended(t, list, n, r)
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(list, n, time) }
    fn aio_suspend64(list: List, n: c_int, time: *const libc::timespec) -> c_int, |t, pc, real| {
        let r = real(list, n, time);
        suspended(t, list, n, r)
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(list, n, time) }
    fn lio_listio(how: c_int, list: List, n: c_int, event: *mut libc::sigevent) -> c_int, |t, pc, real| {
        asks_all(t, pc, list, n);
        listed(t, how, list, n, real(how, list, n, event))
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(how, list, n, event) }
    fn lio_listio64(how: c_int, list: List, n: c_int, event: *mut libc::sigevent) -> c_int, |t, pc, real| {
        asks_all(t, pc, list, n);
        listed(t, how, list, n, real(how, list, n, event))
    } record as detect, tsvd real, explore { explore::changes_outside(pc); real(how, list, n, event) }
}
