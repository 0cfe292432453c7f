//! Clocks. An explored program reads virtual time, whichever function it asks: see
//! [`explore::time`](crate::explore::time). A read that went to the kernel would end otherwise in
//! each execution, and nobody would know that several threads have read clocks.

use core::ffi::{c_int, c_long, c_void};

use super::access::Call;
use super::interpose;
use super::scheduled::{SECOND, spec};
use crate::detect::thread::current;
use crate::explore::time;

/// What `times` counts in.
const TICK: u64 = SECOND / 100;

/// `struct timeb`.
#[repr(C)]
pub struct SecondsAndMore {
    seconds: c_long,
    milliseconds: u16,
    zone: i16,
    summer: i16,
}

interpose! {
    fn clock_gettime(clock: c_int, to: *mut libc::timespec) -> c_int, |t, pc, real| {
        let r = real(clock, to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        Call::new(t, pc).writes_one(to);
        *to = spec(time::now(clock));
        0
    }
    fn timespec_get(to: *mut libc::timespec, base: c_int) -> c_int, |t, pc, real| {
        let r = real(to, base);
        Call::new(t, pc).wrote_if(r != 0, to);
        r
    } record as detect, tsvd real, explore {
        Call::new(t, pc).writes_one(to);
        *to = spec(time::now(libc::CLOCK_REALTIME));
        base
    }
    fn gettimeofday(to: *mut libc::timeval, zone: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(to, zone);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        Call::new(t, pc).writes_one(to);
        *to = parts(time::now(libc::CLOCK_REALTIME));
        0
    }
    fn time(to: *mut c_long) -> c_long, |t, pc, real| {
        let r = real(to);
        Call::new(t, pc).wrote_one(to);
        r
    } record as detect, tsvd real, explore {
        let now = (time::now(libc::CLOCK_REALTIME) / SECOND) as c_long;
        if !to.is_null() {
            Call::new(t, pc).writes_one(to);
            *to = now;
        }
        now
    }
    fn ftime(to: *mut SecondsAndMore) -> c_int, |t, pc, real| {
        let r = real(to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        Call::new(t, pc).writes_one(to);
        let now = time::now(libc::CLOCK_REALTIME);
        let milliseconds = (now % SECOND / 1_000_000) as u16;
        *to = SecondsAndMore { seconds: (now / SECOND) as c_long, milliseconds, zone: 0, summer: 0 };
        0
    }
    fn clock() -> c_long, |t, pc, real| { real() } record as detect, tsvd real, explore {
        (time::now(libc::CLOCK_PROCESS_CPUTIME_ID) / 1000) as c_long
    }
    fn times(to: *mut libc::tms) -> c_long, |t, pc, real| {
        let r = real(to);
        Call::new(t, pc).wrote_if(r != -1 && !to.is_null(), to);
        r
    } record as detect, tsvd real, explore {
        let used = time::now(libc::CLOCK_PROCESS_CPUTIME_ID);
        if !to.is_null() {
            Call::new(t, pc).writes_one(to);
            let tms_utime = (used / TICK) as c_long;
            *to = libc::tms { tms_utime, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 };
        }
        ((time::at_start(libc::CLOCK_MONOTONIC) + used) / TICK) as c_long
    }
    fn getrusage(who: c_int, to: *mut libc::rusage) -> c_int, |t, pc, real| {
        let r = real(who, to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        Call::new(t, pc).writes_one(to);
        let r = real(who, to);
        if r == 0 && who != libc::RUSAGE_CHILDREN {
            (*to).ru_utime = parts(time::now(libc::CLOCK_PROCESS_CPUTIME_ID));
            (*to).ru_stime = parts(0);
        }
        r
    }
}

fn parts(nanoseconds: u64) -> libc::timeval {
    let (seconds, rest) = (nanoseconds / SECOND, nanoseconds % SECOND);
    libc::timeval { tv_sec: seconds as i64, tv_usec: (rest / 1000) as i64 }
}

/// The same functions as system calls in an explored program. `None` if `number` is another one.
///
/// # Safety
/// The arguments are those of the system call, and `b` and `a` point to room for its result.
pub unsafe fn by_number(number: c_long, a: usize, b: usize, pc: usize) -> Option<c_long> {
    let mut c = Call::new(current(), pc);
    // SAFETY: as the caller says; null is not written to.
    unsafe {
        match number {
            libc::SYS_clock_gettime => {
                let to = (b as *mut libc::timespec).as_mut()?;
                c.writes_one(to);
                *to = spec(time::now(a as c_int));
                Some(0)
            }
            libc::SYS_gettimeofday => {
                let to = (a as *mut libc::timeval).as_mut()?;
                c.writes_one(to);
                *to = parts(time::now(libc::CLOCK_REALTIME));
                Some(0)
            }
            libc::SYS_time => {
                let now = (time::now(libc::CLOCK_REALTIME) / SECOND) as c_long;
                if let Some(to) = (a as *mut c_long).as_mut() {
                    c.writes_one(to);
                    *to = now;
                }
                Some(now)
            }
            _ => None,
        }
    }
}
