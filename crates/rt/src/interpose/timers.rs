//! Timers. Their time is virtual in an explored program: see `explore::timers`. To the detector
//! they read and write their settings.

use core::ffi::{c_int, c_void};

use super::access::Call;
use super::channel::sending;
use super::interpose;
use super::scheduled::spec;
use crate::explore::sync::nanoseconds;
use crate::explore::timers::{self, Setting};
use crate::sys;

const SECOND: u64 = 1_000_000_000;

/// The setting that the program asks for; None if it is not a valid time.
unsafe fn setting(new: *const libc::itimerspec) -> Option<Setting> {
    // SAFETY: the program's.
    let new = unsafe { new.as_ref() }?;
    let is_time = |t: &libc::timespec| t.tv_sec >= 0 && (0..SECOND as i64).contains(&t.tv_nsec);
    (is_time(&new.it_value) && is_time(&new.it_interval))
        .then(|| Setting { first: nanoseconds(&new.it_value), interval: nanoseconds(&new.it_interval) })
}

unsafe fn tell(to: *mut libc::itimerspec, setting: Setting) {
    // SAFETY: null or the program's room.
    if let Some(to) = unsafe { to.as_mut() } {
        *to = libc::itimerspec { it_value: spec(setting.first), it_interval: spec(setting.interval) };
    }
}

fn micro(t: &libc::timeval) -> Option<u64> {
    (t.tv_sec >= 0 && (0..1_000_000).contains(&t.tv_usec))
        .then(|| t.tv_sec as u64 * SECOND + t.tv_usec as u64 * 1000)
}

/// In microseconds, and at least one if there is time left.
fn value(nanoseconds: u64) -> libc::timeval {
    let up = nanoseconds.div_ceil(1000);
    libc::timeval { tv_sec: (up / 1_000_000) as i64, tv_usec: (up % 1_000_000) as i64 }
}

unsafe fn tell_value(to: *mut libc::itimerval, setting: Setting) {
    // SAFETY: null or the program's room.
    if let Some(to) = unsafe { to.as_mut() } {
        *to = libc::itimerval { it_value: value(setting.first), it_interval: value(setting.interval) };
    }
}

fn fails(why: c_int) -> c_int {
    sys::set_errno(why);
    -1
}

interpose! {
    fn timer_create(clock: c_int, event: *mut c_void, to: *mut usize) -> c_int, |t, pc, real| { real(clock, event, to) } record as detect, tsvd real, explore {
        match timers::create(clock, event, pc) {
            Some(handle) => {
                *to = handle;
                0
            }
            None => fails(libc::EAGAIN),
        }
    }
    fn timer_settime(handle: usize, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec) -> c_int,
    |t, pc, real| {
        Call::new(t, pc).reads_one(new);
        let r = real(handle, flags, new, old);
        Call::new(t, pc).wrote_if(r == 0, old);
        r
    } record as detect, tsvd real, explore {
        match (timers::by_handle(handle), setting(new)) {
            (Some(n), Some(new)) => {
                tell(old, timers::set(n, new, flags & libc::TIMER_ABSTIME != 0, pc));
                0
            }
            _ => fails(libc::EINVAL),
        }
    }
    fn timer_gettime(handle: usize, to: *mut libc::itimerspec) -> c_int, |t, pc, real| {
        let r = real(handle, to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        let Some(n) = timers::by_handle(handle) else { return fails(libc::EINVAL) };
        tell(to, timers::get(n, pc));
        0
    }
    fn timer_getoverrun(handle: usize) -> c_int, |t, pc, real| { real(handle) } record as detect, tsvd real, explore {
        timers::by_handle(handle).map_or_else(|| fails(libc::EINVAL), |n| timers::overrun(n, pc))
    }
    fn timer_delete(handle: usize) -> c_int, |t, pc, real| { real(handle) } record as detect, tsvd real, explore {
        let Some(n) = timers::by_handle(handle) else { return fails(libc::EINVAL) };
        timers::delete(n, pc);
        0
    }
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int, |t, pc, real| { real(clock, flags) } record as detect, tsvd real, explore {
        timers::create_descriptor(clock, flags, pc).unwrap_or_else(fails)
    }
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec) -> c_int,
    |t, pc, real| {
        // Whoever reads that the time is over comes after.
        sending(t, fd);
        let r = real(fd, flags, new, old);
        Call::new(t, pc).wrote_if(r == 0, old);
        r
    } record as detect, tsvd real, explore {
        match (timers::by_descriptor(fd), setting(new)) {
            (Some(n), Some(new)) => {
                tell(old, timers::set(n, new, flags & libc::TFD_TIMER_ABSTIME != 0, pc));
                0
            }
            _ => fails(libc::EINVAL),
        }
    }
    fn timerfd_gettime(fd: c_int, to: *mut libc::itimerspec) -> c_int, |t, pc, real| {
        let r = real(fd, to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        let Some(n) = timers::by_descriptor(fd) else { return fails(libc::EINVAL) };
        tell(to, timers::get(n, pc));
        0
    }
    fn setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int,
    |t, pc, real| {
        Call::new(t, pc).reads_one(new);
        let r = real(which, new, old);
        Call::new(t, pc).wrote_if(r == 0, old);
        r
    } record as detect, tsvd real, explore {
        let new = new.as_ref().and_then(|n| Some(Setting { first: micro(&n.it_value)?, interval: micro(&n.it_interval)? }));
        match (which, new) {
            (0..=2, Some(new)) => {
                tell_value(old, timers::set_of_process(which as usize, new, pc));
                0
            }
            _ => fails(libc::EINVAL),
        }
    }
    fn getitimer(which: c_int, to: *mut libc::itimerval) -> c_int, |t, pc, real| {
        let r = real(which, to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        if !(0..=2).contains(&which) {
            return fails(libc::EINVAL);
        }
        tell_value(to, timers::get_of_process(which as usize, pc));
        0
    }
    fn alarm(seconds: u32) -> u32, |t, pc, real| { real(seconds) } record as detect, tsvd real, explore {
        let new = Setting { first: seconds as u64 * SECOND, interval: 0 };
        timers::set_of_process(0, new, pc).first.div_ceil(SECOND) as u32
    }
    fn ualarm(first: u32, interval: u32) -> u32, |t, pc, real| { real(first, interval) } record as detect, tsvd real, explore {
        let new = Setting { first: first as u64 * 1000, interval: interval as u64 * 1000 };
        timers::set_of_process(0, new, pc).first.div_ceil(1000) as u32
    }
}
