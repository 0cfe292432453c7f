//! POSIX semaphores: a post is a SIGNAL, a wait a WAIT.

use core::ffi::{c_int, c_void};

use super::access::{Call, Text};
use super::interpose;
use super::process::{world_acquire, world_release};
use crate::detect::thread::Current;
use crate::detect::{misuse, sync};
use crate::explore;
use crate::explore::sync::{self as sync_explore, Until};
use crate::sys;
use crate::trace::plain;
use crate::tsvd::sync as tsvd_sync;
use raddle_explore::OpKind;
use raddle_wire::explore::Outside;

fn waited(mut t: Current, s: *mut c_void, result: c_int) -> c_int {
    if result == 0 {
        if plain::is_on() {
            plain::step(&mut t, OpKind::SemWait, s as usize, 0);
        } else {
            sync::acquire(t, s as usize);
            let pc = t.caller;
            misuse::used(&mut t, s as usize, pc);
        }
        if is_shared(s) {
            world_acquire(t);
        }
    }
    result
}

/// Traced runs distinguish a count from a message: a semaphore may be used as a lock.
fn posting(mut t: Current, s: *mut c_void) {
    if plain::is_on() {
        plain::step(&mut t, OpKind::SemPost, s as usize, 0);
    } else {
        let pc = t.caller;
        misuse::used(&mut t, s as usize, pc);
        sync::release(t, s as usize);
    }
}

/// True if other processes may use the semaphore too.
fn is_shared(s: *mut c_void) -> bool {
    const PRIVATE: usize = 8;
    // SAFETY: glibc keeps 0 at this offset of a process-private semaphore.
    unsafe { *s.byte_add(PRIVATE).cast::<u32>() != 0 }
}

interpose! {
    /// Frees memory that the next execution would need: see `outside`.
    fn sem_close(s: *mut c_void) -> c_int, |t, pc, real| { real(s) } record as detect, tsvd real, explore {
        explore::retry_with_fork(Outside::SharedMemory);
        real(s)
    }
    /// Whoever finds a semaphore by its name comes after the thread that made it. A thread that is
    /// ready to make it and finds it there makes nothing.
    fn sem_open(name: Text, flags: c_int, mode: c_int, value: u32) -> *mut c_void, |t, pc, real| {
        let mut c = Call::new(t, pc);
        c.text(name);
        if flags & libc::O_CREAT != 0 && flags & libc::O_EXCL == 0 {
            let errno = sys::errno();
            let found = real(name, flags & !libc::O_CREAT, mode, value);
            if !found.is_null() {
                c.saw_name(name);
                return found;
            }
            sys::set_errno(errno);
        }
        if flags & libc::O_CREAT != 0 {
            c.changes_name(name);
        }
        let s = real(name, flags, mode, value);
        c.saw_name(name);
        s
    } record as detect, tsvd real, explore {
        explore::looks_outside(pc);
        real(name, flags, mode, value)
    }
    fn sem_unlink(name: Text) -> c_int, |t, pc, real| {
        let mut c = Call::new(t, pc);
        c.text(name);
        c.changes_name(name);
        let r = real(name);
        c.saw_name(name);
        r
    } record as detect, tsvd real, explore {
        explore::looks_outside(pc);
        real(name)
    }
    fn sem_post(s: *mut c_void) -> c_int, |t, pc, real| {
        posting(t, s);
        if is_shared(s) {
            world_release(t);
        }
        real(s)
    } record as detect, tsvd {
        tsvd_sync::released(s as usize);
        real(s)
    } explore {
        sync_explore::step(OpKind::SemPost, s as usize, pc, || real(s))
    }
    fn sem_wait(s: *mut c_void) -> c_int, |t, pc, real| { waited(t, s, real(s)) } record as detect, tsvd { tsvd_sync::acquired(s as usize, real(s)) } explore cancels {
        sync_explore::semaphore_wait(s as usize, Until::NEVER, pc)
    }
    fn sem_trywait(s: *mut c_void) -> c_int, |t, pc, real| { waited(t, s, real(s)) } record as detect, tsvd { tsvd_sync::acquired(s as usize, real(s)) } explore {
        sync_explore::step(OpKind::TryLock, s as usize, pc, || real(s))
    }
    fn sem_timedwait(s: *mut c_void, until: *const c_void) -> c_int, |t, pc, real| { waited(t, s, real(s, until)) } record as detect, tsvd { tsvd_sync::acquired(s as usize, real(s, until)) } explore cancels {
        sync_explore::semaphore_wait(s as usize, Until::new(libc::CLOCK_REALTIME, until), pc)
    }
    fn sem_clockwait(s: *mut c_void, clock: c_int, until: *const c_void) -> c_int, |t, pc, real| {
        waited(t, s, real(s, clock, until))
    } record as detect, tsvd { tsvd_sync::acquired(s as usize, real(s, clock, until)) } explore cancels {
        sync_explore::semaphore_wait(s as usize, Until::new(clock, until), pc)
    }
    fn sem_init(s: *mut c_void, shared: c_int, value: u32) -> c_int, |t, pc, real| {
        sync::destroyed(s as usize);
        misuse::made_or_destroyed(t, s as usize, pc);
        real(s, shared, value)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, s as usize, pc, || real(s, shared, value))
    }
    fn sem_destroy(s: *mut c_void) -> c_int, |t, pc, real| {
        misuse::made_or_destroyed(t, s as usize, pc);
        sync::destroyed(s as usize);
        real(s)
    } record as detect, tsvd real, explore {
        sync_explore::step(OpKind::Reset, s as usize, pc, || real(s))
    }
    /// A value that is read may be what another thread posted.
    fn sem_getvalue(s: *mut c_void, value: *mut c_int) -> c_int, |t, pc, real| {
        if plain::is_on() {
            return real(s, value);
        }
        let r = waited(t, s, real(s, value));
        Call::new(t, pc).wrote_if(r == 0, value);
        r
    } record as detect, tsvd real, explore {
        let r = sync_explore::step(OpKind::TryLock, s as usize, pc, || real(s, value));
        Call::new(t, pc).wrote_if(r == 0, value);
        r
    }
}
