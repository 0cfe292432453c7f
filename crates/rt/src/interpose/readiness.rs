//! Waiting until descriptors are ready: `poll`, `select` and `epoll`.

use core::ffi::{c_int, c_void};

use super::access::Call;
use super::channel::{ANY_READY, READINESS, key, ready};
use super::room::{self, Full};
use super::{descriptor_use, interpose};
use crate::detect::sync;
use crate::detect::thread::Current;
use crate::explore::{self, Several, sync::Until};

pub type Polled = libc::pollfd;

/// The call reads the descriptors to wait for, and writes what each is ready for.
pub unsafe fn polls(c: &mut Call, fds: *const Polled, n: usize) {
    const ASKED: usize = core::mem::offset_of!(Polled, revents);
    for i in 0..if c.is_judged() { n } else { 0 } {
        c.reads(fds.wrapping_add(i), ASKED);
        c.writes(fds.wrapping_add(i).wrapping_byte_add(ASKED), 2);
    }
}

/// Sets of descriptors below `n`, which the call changes in place.
unsafe fn selects(c: &mut Call, n: c_int, sets: [*mut c_void; 3]) {
    const WORD: usize = 64;
    let bytes = (n.max(0) as usize).div_ceil(WORD) * (WORD / 8);
    sets.into_iter().for_each(|set| c.writes(set, bytes));
}

/// The full descriptors that a call of `poll` asks for.
pub unsafe fn full(fds: *const Polled, n: usize, waits: bool) -> Full {
    let n = if fds.is_null() || !waits { 0 } else { n };
    // SAFETY: the caller's array.
    let asked = (0..n).map(|i| unsafe { &*fds.add(i) });
    Full::among(asked.filter(|f| f.fd >= 0 && f.events & libc::POLLOUT != 0).map(|f| f.fd))
}

/// The full descriptors below `n` in a set that `select` is to wait for.
unsafe fn full_in(n: c_int, set: *const c_void) -> Full {
    let n = if set.is_null() { 0 } else { n };
    // SAFETY: the caller's set, which has a bit for each of them.
    Full::among((0..n).filter(|fd| unsafe { *set.cast::<u8>().add(*fd as usize / 8) } >> (fd % 8) & 1 != 0))
}

/// `epoll` has told of `got` descriptors.
unsafe fn writable(t: Current, events: *const c_void, got: c_int) {
    let events = events.cast::<libc::epoll_event>();
    // SAFETY: the call has filled them in.
    if (0..got.max(0) as usize).any(
        |i| unsafe { (&raw const (*events.add(i)).events).read_unaligned() } & libc::EPOLLOUT as u32 != 0,
    ) {
        room::ready(t);
    }
}

interpose! {
    fn poll(fds: *mut Polled, n: usize, timeout: c_int) -> c_int, |t, pc, real| {
        polls(&mut Call::new(t, pc), fds, n);
        let full = full(fds, n, timeout != 0);
        let got = ready(t, real(fds, n, timeout));
        full.waited(t);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(fds as usize, n), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        polls(&mut Call::new(t, pc), fds, n);
        real(fds, n, 0)
    }
    fn ppoll(fds: *mut Polled, n: usize, timeout: *const c_void, mask: *const c_void) -> c_int, |t, pc, real| {
        polls(&mut Call::new(t, pc), fds, n);
        let full = full(fds, n, true);
        let got = ready(t, real(fds, n, timeout, mask));
        full.waited(t);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(fds as usize, n), true, Until::after(timeout), pc) {
            return -1;
        }
        polls(&mut Call::new(t, pc), fds, n);
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        real(fds, n, (&raw const now).cast(), mask)
    }
    fn select(n: c_int, r: *mut c_void, w: *mut c_void, e: *mut c_void, timeout: *mut c_void) -> c_int, |t, pc, real| {
        selects(&mut Call::new(t, pc), n, [r, w, e]);
        let full = full_in(n, w);
        let got = ready(t, real(n, r, w, e, timeout));
        full.waited(t);
        got
    } record as detect, tsvd real, explore cancels {
        let sets = [r as usize, w as usize, e as usize];
        if !explore::sync::several(Several::Select(n, sets), true, Until::after_us(timeout), pc) {
            return -1;
        }
        let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
        real(n, r, w, e, (&raw mut now).cast())
    }
    fn pselect(n: c_int, r: *mut c_void, w: *mut c_void, e: *mut c_void, timeout: *const c_void, mask: *const c_void) -> c_int, |t, pc, real| {
        selects(&mut Call::new(t, pc), n, [r, w, e]);
        let full = full_in(n, w);
        let got = ready(t, real(n, r, w, e, timeout, mask));
        full.waited(t);
        got
    } record as detect, tsvd real, explore cancels {
        let sets = [r as usize, w as usize, e as usize];
        if !explore::sync::several(Several::Select(n, sets), true, Until::after(timeout), pc) {
            return -1;
        }
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        real(n, r, w, e, (&raw const now).cast(), mask)
    }
    fn epoll_ctl(ep: c_int, op: c_int, fd: c_int, event: *mut c_void) -> c_int, |t, pc, real| {
        descriptor_use::used(t, ep, pc);
        descriptor_use::used(t, fd, pc);
        Call::new(t, pc).reads_one(event.cast::<libc::epoll_event>());
        // What the event's data points to was prepared before.
        sync::release(t, key(READINESS));
        real(ep, op, fd, event)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        explore::memory::released(ANY_READY);
        real(ep, op, fd, event)
    }
    fn epoll_wait(ep: c_int, events: *mut c_void, most: c_int, timeout: c_int) -> c_int, |t, pc, real| {
        descriptor_use::used(t, ep, pc);
        let got = ready(t, real(ep, events, most, timeout));
        writable(t, events, got);
        Call::new(t, pc).wrote(events, got.max(0) as usize * size_of::<libc::epoll_event>());
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(ep as usize, 0), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        real(ep, events, most, 0)
    }
    fn epoll_pwait(ep: c_int, events: *mut c_void, most: c_int, timeout: c_int, mask: *const c_void) -> c_int, |t, pc, real| {
        descriptor_use::used(t, ep, pc);
        let got = ready(t, real(ep, events, most, timeout, mask));
        writable(t, events, got);
        Call::new(t, pc).wrote(events, got.max(0) as usize * size_of::<libc::epoll_event>());
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(ep as usize, 0), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        real(ep, events, most, 0, mask)
    }
    fn epoll_pwait2(ep: c_int, events: *mut c_void, most: c_int, timeout: *const c_void, mask: *const c_void) -> c_int, |t, pc, real| {
        descriptor_use::used(t, ep, pc);
        let got = ready(t, real(ep, events, most, timeout, mask));
        writable(t, events, got);
        Call::new(t, pc).wrote(events, got.max(0) as usize * size_of::<libc::epoll_event>());
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(ep as usize, 0), true, Until::after(timeout), pc) {
            return -1;
        }
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        real(ep, events, most, (&raw const now).cast(), mask)
    }
}
