//! Reading and writing through descriptors, and the effect on the caller's buffers.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::*;

use super::access::{Call, accesses};
use super::channel::{CONNECTED, SOCKETS, received, sending, told};
use super::descriptor::opened;
use super::room::Writing;
use super::{channel, descriptor_use, interpose, room};
use crate::{explore, sys};

/// The buffers of `readv` and its kin, of which `total` bytes were filled.
pub unsafe fn scattered(c: &mut Call, v: *const libc::iovec, n: usize, total: usize) {
    let mut left = total;
    // The kernel rejects a null array.
    for i in 0..if c.is_judged() && !v.is_null() { n } else { 0 } {
        // SAFETY: the caller's array.
        let b = unsafe { &*v.add(i) };
        c.has_read(b, size_of::<libc::iovec>());
        let len = b.iov_len.min(left);
        c.wrote(b.iov_base, len);
        left -= len;
    }
}

/// The buffers of `writev` and its kin, before they are read.
pub unsafe fn gathers(c: &mut Call, v: *const libc::iovec, n: usize) {
    // The kernel rejects a null array.
    for i in 0..if c.is_judged() && !v.is_null() { n } else { 0 } {
        // SAFETY: the caller's array.
        let b = unsafe { &*v.add(i) };
        c.reads_one(b);
        c.reads(b.iov_base, b.iov_len);
    }
}

/// How many bytes the buffers of `writev` and its kin have.
pub unsafe fn total(v: *const libc::iovec, n: usize) -> usize {
    // The kernel rejects a null array.
    let n = if v.is_null() || !crate::hub::is_active() { 0 } else { n };
    // SAFETY: the caller's array.
    (0..n).fold(0, |sum, i| usize::saturating_add(sum, unsafe { (*v.add(i)).iov_len }))
}

/// The call has written the address of a peer, and its length, if there is room for them.
pub unsafe fn told_address(c: &mut Call, to: *const c_void, len: *const u32) {
    if c.is_judged() && !to.is_null() && !len.is_null() {
        // SAFETY: the call has filled it in.
        c.wrote(to, unsafe { *len } as usize);
        c.wrote_one(len);
    }
}

/// The call reads a message to send: its header, and what that points to.
pub unsafe fn sends(c: &mut Call, message: *const libc::msghdr) {
    if c.is_judged() && !message.is_null() {
        // SAFETY: the caller's message.
        unsafe {
            c.reads_one(message);
            c.reads((*message).msg_name, (*message).msg_namelen as usize);
            c.reads((*message).msg_control, (*message).msg_controllen);
            channel::passes(message);
            gathers(c, (*message).msg_iov, (*message).msg_iovlen);
        }
    }
}

fn send_now(fd: c_int, from: *const c_void, n: usize, flags: c_int) -> isize {
    let sent = sys::syscall(libc::SYS_sendto, [fd as usize, from as usize, n, flags as usize, 0, 0]);
    if sent < 0 {
        sys::set_errno(-sent as c_int);
        return -1;
    }
    sent
}

/// A message of `n` bytes was received.
pub unsafe fn receives(c: &mut Call, message: *const libc::msghdr, n: usize) {
    if c.is_judged() && !message.is_null() {
        // SAFETY: the call has filled it in.
        unsafe {
            c.wrote_one(message);
            c.wrote((*message).msg_name, (*message).msg_namelen as usize);
            c.wrote((*message).msg_control, (*message).msg_controllen);
            channel::passes(message);
            scattered(c, (*message).msg_iov, (*message).msg_iovlen, n);
        }
    }
}

interpose! {
    fn read(fd: c_int, to: *mut c_void, n: usize) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        room::making(t, fd);
        let got = real(fd, to, n);
        if got >= 0 {
            // The end of the data counts too.
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
        }
        descriptor_use::was_used(t, fd, got, pc);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        let got = real(fd, to, n);
        Call::new(t, pc).wrote(to, got.max(0) as usize);
        got
    }
    fn write(fd: c_int, from: *const c_void, n: usize) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        Call::new(t, pc).reads(from, n);
        sending(t, fd);
        let writing = Writing::new(fd, n);
        let mut added = [0; size_of::<u64>()];
        if n == added.len() && room::is_count(fd) && sys::copy_if_readable(from as usize, &mut added) {
            room::adding(fd, u64::from_ne_bytes(added));
        }
        let sent = real(fd, from, n);
        writing.done(t, sent >= 0, sent == n as isize);
        room::added(t, fd, sent >= 0);
        descriptor_use::was_used(t, fd, sent, pc);
        sent
    } record as detect, tsvd real, explore cancels {
        explore::long_writes::in_parts(fd, n, 0, pc, |done, len, further| {
            Call::new(t, pc).reads(from.byte_add(done), len);
            match further {
                0 => real(fd, from.byte_add(done), len),
                // A write to a socket is a `send` without flags.
                flags => send_now(fd, from.byte_add(done), len, flags),
            }
        })
    }
    fn readv(fd: c_int, v: *const libc::iovec, count: c_int) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        room::making(t, fd);
        let got = real(fd, v, count);
        if got >= 0 {
            // The end of the data counts too.
            received(t, fd);
            scattered(&mut Call::new(t, pc), v, count.max(0) as usize, got as usize);
        }
        descriptor_use::was_used(t, fd, got, pc);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        let got = real(fd, v, count);
        scattered(&mut Call::new(t, pc), v, count.max(0) as usize, got.max(0) as usize);
        got
    }
    fn writev(fd: c_int, v: *const libc::iovec, count: c_int) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        gathers(&mut Call::new(t, pc), v, count.max(0) as usize);
        sending(t, fd);
        let n = total(v, count.max(0) as usize);
        let writing = Writing::new(fd, n);
        let sent = real(fd, v, count);
        writing.done(t, sent >= 0, sent == n as isize);
        descriptor_use::was_used(t, fd, sent, pc);
        sent
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLOUT, pc) {
            return -1;
        }
        gathers(&mut Call::new(t, pc), v, count.max(0) as usize);
        real(fd, v, count)
    }
    fn send(fd: c_int, from: *const c_void, n: usize, flags: c_int) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        Call::new(t, pc).reads(from, n);
        sending(t, fd);
        let writing = Writing::new(fd, n);
        let sent = real(fd, from, n, flags);
        writing.done(t, sent >= 0, sent == n as isize);
        descriptor_use::was_used(t, fd, sent, pc);
        sent
    } record as detect, tsvd real, explore cancels {
        explore::long_writes::in_parts(fd, n, flags, pc, |done, len, further| {
            Call::new(t, pc).reads(from.byte_add(done), len);
            real(fd, from.byte_add(done), len, flags | further)
        })
    }
    fn sendto(fd: c_int, from: *const c_void, n: usize, flags: c_int, to: *const c_void, len: u32) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        Call::new(t, pc).reads(from, n);
        Call::new(t, pc).reads(to, len as usize);
        sending(t, fd);
        let writing = if to.is_null() { Writing::new(fd, n) } else { Writing::new(fd, usize::MAX) };
        let sent = real(fd, from, n, flags, to, len);
        writing.done(t, sent >= 0, true);
        descriptor_use::was_used(t, fd, sent, pc);
        sent
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLOUT, flags, pc) {
            return -1;
        }
        Call::new(t, pc).reads(from, n);
        real(fd, from, n, flags, to, len)
    }
    fn sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        sends(&mut Call::new(t, pc), message);
        sending(t, fd);
        let writing = Writing::new(fd, usize::MAX);
        let sent = real(fd, message, flags);
        writing.done(t, sent >= 0, true);
        descriptor_use::was_used(t, fd, sent, pc);
        sent
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLOUT, flags, pc) {
            return -1;
        }
        sends(&mut Call::new(t, pc), message);
        real(fd, message, flags)
    }
    fn recv(fd: c_int, to: *mut c_void, n: usize, flags: c_int) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        room::making(t, fd);
        let got = real(fd, to, n, flags);
        if got >= 0 {
            // The end of the data counts too.
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
        }
        descriptor_use::was_used(t, fd, got, pc);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLIN, flags, pc) {
            return -1;
        }
        let got = real(fd, to, n, flags);
        Call::new(t, pc).wrote(to, got.max(0) as usize);
        got
    }
    fn recvfrom(fd: c_int, to: *mut c_void, n: usize, flags: c_int, from: *mut c_void, len: *mut u32) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        room::making(t, fd);
        let got = real(fd, to, n, flags, from, len);
        if got >= 0 {
            // The end of the data counts too.
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
            told_address(&mut Call::new(t, pc), from, len);
        }
        descriptor_use::was_used(t, fd, got, pc);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLIN, flags, pc) {
            return -1;
        }
        let got = real(fd, to, n, flags, from, len);
        Call::new(t, pc).wrote(to, got.max(0) as usize);
        if got >= 0 {
            told_address(&mut Call::new(t, pc), from, len);
        }
        got
    }
    fn recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> isize, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        room::making(t, fd);
        let got = real(fd, message, flags);
        if got >= 0 {
            // The end of the data counts too.
            received(t, fd);
            receives(&mut Call::new(t, pc), message, got as usize);
        }
        descriptor_use::was_used(t, fd, got, pc);
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLIN, flags, pc) {
            return -1;
        }
        let got = real(fd, message, flags);
        if got >= 0 {
            receives(&mut Call::new(t, pc), message, got as usize);
        }
        got
    }
    fn eventfd_write(fd: c_int, value: u64) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        sending(t, fd);
        room::adding(fd, value);
        let r = real(fd, value);
        room::added(t, fd, r == 0);
        r
    } record as detect, tsvd real, explore {
        if !explore::sync::descriptor(fd, libc::POLLOUT, pc) {
            return -1;
        }
        real(fd, value)
    }
    fn eventfd_read(fd: c_int, value: *mut u64) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        room::making(t, fd);
        let r = real(fd, value);
        if r == 0 {
            received(t, fd);
            Call::new(t, pc).wrote_one(value);
        }
        r
    } record as detect, tsvd real, explore {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        let r = real(fd, value);
        Call::new(t, pc).wrote_if(r == 0, value);
        r
    }
    fn connect(fd: c_int, to: *const c_void, len: u32) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        CONNECTED.store(true, Relaxed);
        Call::new(t, pc).reads(to, len as usize);
        sending(t, fd);
        real(fd, to, len)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        told(fd);
        real(fd, to, len)
    }
    fn accept(fd: c_int, from: *mut c_void, len: *mut u32) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        let new = opened(real(fd, from, len), SOCKETS);
        received(t, fd);
        if new >= 0 {
            told_address(&mut Call::new(t, pc), from, len);
        }
        new
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        opened(real(fd, from, len), SOCKETS)
    }
    fn accept4(fd: c_int, from: *mut c_void, len: *mut u32, flags: c_int) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        let new = opened(real(fd, from, len, flags), SOCKETS);
        received(t, fd);
        if new >= 0 {
            told_address(&mut Call::new(t, pc), from, len);
        }
        new
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        opened(real(fd, from, len, flags), SOCKETS)
    }
    fn shutdown(fd: c_int, how: c_int) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        sending(t, fd);
        real(fd, how)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        told(fd);
        real(fd, how)
    }
}

accesses! {
    fn bind(fd: c_int, to: *const c_void, len: u32) -> c_int, |c| { c.reads(to, len as usize); c.changes_process() }
    fn listen(fd: c_int, most: c_int) -> c_int, |c| { c.changes_process() }
    fn getsockname(fd: c_int, to: *mut c_void, len: *mut u32) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { told_address(&mut c, to, len) }
    }
    fn getpeername(fd: c_int, to: *mut c_void, len: *mut u32) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { told_address(&mut c, to, len) }
    }
    fn getsockopt(fd: c_int, level: c_int, name: c_int, to: *mut c_void, len: *mut u32) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { told_address(&mut c, to, len) }
    }
    fn setsockopt(fd: c_int, level: c_int, name: c_int, from: *const c_void, len: u32) -> c_int, |c| { c.reads(from, len as usize); c.changes_process() }
}
