//! Streams whose reading and writing the program does itself (`fopencookie`). The C library calls
//! its functions with the stream locked, so they never run at the same time for one stream.
//! Functions such as `putc_unlocked` leave the lock out; their callers are ordered here too, which
//! can hide a race.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::*};

use super::interpose;
use super::loader::under;
use crate::detect::sync;
use crate::explore;

type Transfer = unsafe extern "C-unwind" fn(*mut c_void, *mut c_char, usize) -> isize;
type Seek = unsafe extern "C-unwind" fn(*mut c_void, *mut i64, c_int) -> c_int;
type Close = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// `cookie_io_functions_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Functions {
    read: Option<Transfer>,
    write: Option<Transfer>,
    seek: Option<Seek>,
    close: Option<Close>,
}

/// What the program gave for a stream.
struct Cookie {
    used: AtomicUsize,
    data: *mut c_void,
    functions: Functions,
}

// SAFETY: an entry is written by the thread that took it, before the stream exists, and read by
// functions of that stream.
unsafe impl Sync for Cookie {}

/// The most open streams whose lock is known. Others are opened as the program asked.
const MOST: usize = 256;

static mut COOKIES: [Cookie; MOST] = [const {
    Cookie {
        used: AtomicUsize::new(0),
        data: core::ptr::null_mut(),
        functions: Functions { read: None, write: None, seek: None, close: None },
    }
}; MOST];

/// A free entry, filled in.
fn kept(data: *mut c_void, functions: Functions) -> Option<*mut Cookie> {
    (0..MOST).map(|i| (&raw mut COOKIES).cast::<Cookie>().wrapping_add(i)).find(|at| {
        // SAFETY: an entry of the table; only who has taken it writes the rest.
        unsafe {
            let free = (**at).used.compare_exchange(0, 1, AcqRel, Relaxed).is_ok();
            if free {
                (&raw mut (**at).data).write(data);
                (&raw mut (**at).functions).write(functions);
            }
            free
        }
    })
}

/// Calls one of the program's functions with the stream's lock held. A search interrupts nobody
/// there, as in `flockfile`: who then used the stream would wait for the real lock.
fn locked<R>(cookie: *mut c_void, call: impl FnOnce(&Cookie) -> R) -> R {
    let is_explored = explore::is_on();
    if is_explored {
        explore::uninterrupted(1);
    }
    // SAFETY: the entry of an open stream.
    let r = under(cookie as usize, || call(unsafe { &*cookie.cast::<Cookie>() }));
    if is_explored {
        explore::uninterrupted(-1);
    }
    r
}

unsafe extern "C-unwind" fn reads(cookie: *mut c_void, to: *mut c_char, n: usize) -> isize {
    // SAFETY: the program's function, called as the C library would.
    locked(cookie, |c| c.functions.read.map_or(0, |f| unsafe { f(c.data, to, n) }))
}

unsafe extern "C-unwind" fn writes(cookie: *mut c_void, from: *mut c_char, n: usize) -> isize {
    // SAFETY: the program's function, called as the C library would.
    locked(cookie, |c| c.functions.write.map_or(0, |f| unsafe { f(c.data, from, n) }))
}

unsafe extern "C-unwind" fn seeks(cookie: *mut c_void, to: *mut i64, from: c_int) -> c_int {
    // SAFETY: the program's function, called as the C library would.
    locked(cookie, |c| c.functions.seek.map_or(-1, |f| unsafe { f(c.data, to, from) }))
}

unsafe extern "C-unwind" fn closes(cookie: *mut c_void) -> c_int {
    // SAFETY: the program's function, called as the C library would.
    let r = locked(cookie, |c| c.functions.close.map_or(0, |f| unsafe { f(c.data) }));
    free(cookie.cast());
    r
}

/// Frees the entry of a closed stream, so that its lock orders nothing of the next stream.
fn free(cookie: *mut Cookie) {
    if !explore::is_on() {
        sync::destroyed(cookie as usize);
    }
    // SAFETY: the entry of a stream that is gone now.
    unsafe { (*cookie).used.store(0, Release) };
}

/// Opens the stream with functions that report its lock.
fn opens(
    data: *mut c_void,
    functions: Functions,
    real: impl FnOnce(*mut c_void, Functions) -> *mut c_void,
) -> *mut c_void {
    let Some(cookie) = kept(data, functions) else { return real(data, functions) };
    let wrapped = Functions {
        read: functions.read.map(|_| reads as Transfer),
        write: functions.write.map(|_| writes as Transfer),
        seek: functions.seek.map(|_| seeks as Seek),
        close: Some(closes),
    };
    let stream = real(cookie.cast(), wrapped);
    if stream.is_null() {
        free(cookie);
    }
    stream
}

interpose! {
    fn fopencookie(data: *mut c_void, how: *const c_char, functions: Functions) -> *mut c_void, |t, pc, real| {
        opens(data, functions, |data, functions| real(data, how, functions))
    } record as detect, tsvd real, explore { opens(data, functions, |data, functions| real(data, how, functions)) }
}
