//! Synchronisation through descriptors: what is written into a pipe, a socket or an eventfd happened before what is done
//! by whoever reads it.
//!
//! A descriptor has a **channel**: the two ends of a socket pair share one, duplicates inherit it, and all
//! sockets that were connected or accepted share a single one, since which end talks to which is not known. The ends of a pipe have one
//! inode, which is their channel. So it is told of any descriptor, however the program came by it: opened by name, duplicated,
//! closed and made anew by a FILE, received through a socket ([`found`]). Waiting for
//! readiness (`poll`, `select`, `epoll_wait`) may be all that a program does, so each write into a channel is also
//! released to everyone who waits.
//!
//! A file is a channel too, known by its inode: whoever reads what was written, through whichever descriptor, comes
//! after the writer. Writers alone are not ordered, nor are readers. `flock`, and locks of an open file (`F_OFD_SETLK`),
//! order by the same inode; those of `fcntl` and `lockf` belong to the process and keep no two threads apart.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};

use super::access::{Call, accesses};
use super::interpose;
use crate::detect::sync;
use crate::detect::thread::{Thread, current};
use crate::explore::{self, Several, sync::Until};
use crate::sys;
use crate::trace::plain;
use raddle_wire::explore::outside;

const MOST: usize = 1 << 16;
static CHANNELS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
static NEXT: AtomicU32 = AtomicU32::new(8);
const SOCKETS: u32 = 1;
const READINESS: u32 = 2;
/// Terminals, and what the kernel has no better name for.
const OTHERS: u32 = 3;
const SIGNALS: u32 = 4;
/// Channels of queues and semaphores that have ids of their own, and of inodes.
pub const BY_ID: u32 = 1 << 30;
const BY_INODE: u32 = 1 << 31;
/// Inodes of files. Noted with the descriptor until it is closed or replaced, so that the kernel is asked once, and not
/// for each line that is read.
const FILES: u32 = BY_INODE | BY_ID;

fn is_file(channel: u32) -> bool {
    channel & FILES == FILES
}

/// The object that stands for the channel of a descriptor while the program is explored; 0: it has none.
pub fn channel_of(fd: c_int) -> usize {
    let channel = channel(fd);
    if channel == 0 || is_file(channel) { 0 } else { key(channel) }
}

/// What those who wait for any of several descriptors come after.
pub const ANY_READY: usize = key(READINESS);

/// While the program is explored, a call that is no step has told the other end something.
fn told(fd: c_int) {
    let channel = channel_of(fd);
    if channel != 0 {
        explore::memory::released(channel);
        explore::memory::released(ANY_READY);
    }
}

/// Keys of channels lie where no memory of the target does.
const fn key(channel: u32) -> usize {
    0x4000_0000_0000 + channel as usize * 16
}

fn channel(fd: c_int) -> u32 {
    match CHANNELS.get(fd as usize).map_or(0, |c| c.load(Relaxed)) {
        0 => found(fd),
        known => known,
    }
}

/// The channel of a descriptor that was not seen to be made. Asked anew each time, since the number may stand for something else by now; only what
/// is a file stays one until it is closed or replaced. 0: a device that tells nobody anything.
fn found(fd: c_int) -> u32 {
    if is_output(fd) {
        return 0;
    }
    // SAFETY: zeros are a valid one, and the kernel fills it in.
    let mut file: libc::stat = unsafe { core::mem::zeroed() };
    if sys::syscall(libc::SYS_fstat, [fd as usize, &raw mut file as usize, 0, 0, 0, 0]) < 0 {
        return 0;
    }
    match file.st_mode & libc::S_IFMT {
        libc::S_IFIFO => BY_INODE | mixed(&file),
        libc::S_IFSOCK => SOCKETS,
        // Terminals, and both ends of pseudo-terminals.
        libc::S_IFCHR if matches!(libc::major(file.st_rdev), 2..=5 | 128..=143) => OTHERS,
        0 => OTHERS,
        libc::S_IFREG => {
            let channel = FILES | mixed(&file);
            set_channel(fd, channel);
            channel
        }
        _ => 0,
    }
}

/// 30 bits for an inode.
fn mixed(file: &libc::stat) -> u32 {
    ((file.st_ino ^ file.st_dev << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34) as u32
}

/// Standard output and error lead out of the process, unless it has put another descriptor in their place: a release for each line would only wear out
/// epochs.
fn is_output(fd: c_int) -> bool {
    matches!(fd, 1 | 2)
}

/// Something has been put into a queue of the kernel's, or taken out.
pub fn put(t: &mut Thread, channel: u32) {
    sync::release(t, key(channel));
}

pub fn taken(t: &mut Thread, channel: u32) {
    sync::acquire(t, key(channel));
}

/// A signal is sent, which a descriptor may tell of.
pub fn signal_sent(t: &mut Thread) {
    put(t, SIGNALS);
    put(t, READINESS);
}

fn set_channel(fd: c_int, channel: u32) {
    if let Some(c) = CHANNELS.get(fd as usize) {
        c.store(channel, Relaxed);
    }
}

/// The descriptor is closed, by whoever has it.
pub fn forget(fd: c_int) {
    set_channel(fd, 0);
}

/// Some of these are closed. Of files alone it matters that they are forgotten: what else a number may stand for later is seen to be made, or asked for.
fn forget_from(first: c_uint) {
    for channel in CHANNELS.iter().skip(first as usize) {
        let _ = channel.fetch_update(Relaxed, Relaxed, |c| is_file(c).then_some(0));
    }
}

fn new_channel() -> u32 {
    NEXT.fetch_add(1, Relaxed)
}

/// The process has connected a socket: it may be to one of its own.
static CONNECTED: AtomicBool = AtomicBool::new(false);

/// Whether order comes through the channel. What a server's clients do between two of its answers is not known; the detector takes it that
/// they pass on all they got, so that it invents no race. A trace that believed this would find nothing in a server: there, only a
/// process that has connected a socket itself is taken to talk to itself.
fn orders(channel: u32) -> bool {
    let talks_to_itself = !plain::is_on() || CONNECTED.load(Relaxed) && !is_file(channel);
    channel != 0 && (!is_file(channel) && channel != SOCKETS || talks_to_itself)
}

pub fn sending(t: &mut Thread, fd: c_int) {
    let channel = channel(fd);
    if orders(channel) {
        sync::release(t, key(channel));
        // A file is always ready, but a change of it may be what a descriptor of `inotify` tells of.
        if !is_file(channel) || INOTIFY.load(Relaxed) {
            sync::release(t, key(READINESS));
        }
        if is_file(channel) && INOTIFY.load(Relaxed) {
            sync::release(t, key(OTHERS));
        }
    }
}

/// The process watches files.
static INOTIFY: AtomicBool = AtomicBool::new(false);

/// A lock that belongs to an open file, not to the process, is let go of, or taken.
fn unlocking(t: &mut Thread, fd: c_int) {
    sending(t, fd);
}

fn locked(t: &mut Thread, fd: c_int, result: c_int) -> c_int {
    if result == 0 {
        received(t, fd);
    }
    result
}

/// A command of `fcntl` that lets go of a lock of the open file, or makes it weaker.
unsafe fn unlocks(command: c_int, argument: usize) -> bool {
    // SAFETY: the argument of these commands is the caller's description of the lock.
    matches!(command, libc::F_OFD_SETLK | libc::F_OFD_SETLKW)
        && unsafe { (argument as *const libc::flock).as_ref() }
            .is_some_and(|l| l.l_type != libc::F_WRLCK as i16)
}

/// `fcntl`: commands that duplicate, and locks of open files.
unsafe fn fcntl_with(
    t: &mut Thread,
    fd: c_int,
    command: c_int,
    argument: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller's argument.
    if unsafe { unlocks(command, argument) } {
        unlocking(t, fd);
    }
    let result = controlled(fd, command, real());
    if matches!(command, libc::F_OFD_SETLK | libc::F_OFD_SETLKW) {
        return locked(t, fd, result);
    }
    result
}

pub fn received(t: &mut Thread, fd: c_int) {
    let channel = channel(fd);
    if orders(channel) {
        sync::acquire(t, key(channel));
    }
}

pub fn ready(t: &mut Thread, result: c_int) -> c_int {
    if result > 0 {
        sync::acquire(t, key(READINESS));
    }
    result
}

/// A pair of descriptors that talk to each other.
unsafe fn paired(fds: *const c_int, result: c_int) -> c_int {
    if result == 0 {
        let channel = new_channel();
        // SAFETY: the call has filled in both.
        unsafe {
            set_channel(*fds, channel);
            set_channel(*fds.add(1), channel);
        }
    }
    result
}

/// The ends of a pipe are known by their inode; the numbers may have been something else before.
unsafe fn piped(fds: *const c_int, result: c_int) -> c_int {
    if result == 0 {
        // SAFETY: the call has filled in both.
        unsafe {
            set_channel(*fds, 0);
            set_channel(*fds.add(1), 0);
        }
    }
    result
}

/// `fcntl`, of which only the commands that duplicate matter here.
fn controlled(fd: c_int, command: c_int, result: c_int) -> c_int {
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { duplicated(fd, result) } else { result }
}

fn duplicated(from: c_int, to: c_int) -> c_int {
    if to >= 0 {
        let known = CHANNELS.get(from as usize).map_or(0, |c| c.load(Relaxed));
        set_channel(to, if is_output(to) { channel(from) } else { known });
    }
    to
}

fn opened(fd: c_int, channel: u32) -> c_int {
    if fd >= 0 {
        set_channel(fd, channel);
    }
    fd
}

/// The buffers of `readv` and its kin, of which so many bytes were filled.
pub unsafe fn scattered(c: &mut Call, v: *const libc::iovec, n: usize, total: usize) {
    let mut left = total;
    // What is no array the kernel refuses.
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
    // What is no array the kernel refuses.
    for i in 0..if c.is_judged() && !v.is_null() { n } else { 0 } {
        // SAFETY: the caller's array.
        let b = unsafe { &*v.add(i) };
        c.reads_one(b);
        c.reads(b.iov_base, b.iov_len);
    }
}

/// The address of a peer, and the length of which, for which there may be room.
pub unsafe fn told_address(c: &mut Call, to: *const c_void, len: *const u32) {
    if c.is_judged() && !to.is_null() && !len.is_null() {
        // SAFETY: the call has filled it in.
        c.wrote(to, unsafe { *len } as usize);
        c.wrote_one(len);
    }
}

/// A message that is sent: its head, and what that points to.
pub unsafe fn sends(c: &mut Call, message: *const libc::msghdr) {
    if c.is_judged() && !message.is_null() {
        // SAFETY: the caller's message.
        unsafe {
            c.reads_one(message);
            c.reads((*message).msg_name, (*message).msg_namelen as usize);
            c.reads((*message).msg_control, (*message).msg_controllen);
            gathers(c, (*message).msg_iov, (*message).msg_iovlen);
        }
    }
}

/// A message of `n` bytes was received.
pub unsafe fn receives(c: &mut Call, message: *const libc::msghdr, n: usize) {
    if c.is_judged() && !message.is_null() {
        // SAFETY: the call has filled it in.
        unsafe {
            c.wrote_one(message);
            c.wrote((*message).msg_name, (*message).msg_namelen as usize);
            c.wrote((*message).msg_control, (*message).msg_controllen);
            scattered(c, (*message).msg_iov, (*message).msg_iovlen, n);
        }
    }
}

pub type Polled = libc::pollfd;

/// The descriptors to wait for are read, and each is told what it is ready for.
pub unsafe fn polls(c: &mut Call, fds: *const Polled, n: usize) {
    const ASKED: usize = core::mem::offset_of!(Polled, revents);
    for i in 0..if c.is_judged() { n } else { 0 } {
        c.reads(fds.wrapping_add(i), ASKED);
        c.writes(fds.wrapping_add(i).wrapping_byte_add(ASKED), 2);
    }
}

/// Sets of descriptors below `n`, which are changed in place.
unsafe fn selects(c: &mut Call, n: c_int, sets: [*mut c_void; 3]) {
    const WORD: usize = 64;
    let bytes = (n.max(0) as usize).div_ceil(WORD) * (WORD / 8);
    sets.into_iter().for_each(|set| c.writes(set, bytes));
}

/// What was written to the descriptor comes before what is read at the other end.
pub fn writing(fd: c_int) {
    if crate::hub::is_active() {
        sending(current(), fd);
    }
}

/// So many bytes were read from the descriptor; their end, 0, counts too.
pub fn has_read(fd: c_int, got: isize) {
    if got >= 0 && crate::hub::is_active() {
        received(current(), fd);
    }
}

interpose! {
    fn read(fd: c_int, to: *mut c_void, n: usize) -> isize, |t, pc, real| {
        let got = real(fd, to, n);
        if got >= 0 {
            // The end of what was written counts too.
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
        }
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
        Call::new(t, pc).reads(from, n);
        sending(t, fd);
        real(fd, from, n)
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLOUT, pc) {
            return -1;
        }
        Call::new(t, pc).reads(from, n);
        real(fd, from, n)
    }
    fn readv(fd: c_int, v: *const libc::iovec, count: c_int) -> isize, |t, pc, real| {
        let got = real(fd, v, count);
        if got >= 0 {
            // The end of what was written counts too.
            received(t, fd);
            scattered(&mut Call::new(t, pc), v, count.max(0) as usize, got as usize);
        }
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
        gathers(&mut Call::new(t, pc), v, count.max(0) as usize);
        sending(t, fd);
        real(fd, v, count)
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::descriptor(fd, libc::POLLOUT, pc) {
            return -1;
        }
        gathers(&mut Call::new(t, pc), v, count.max(0) as usize);
        real(fd, v, count)
    }
    fn send(fd: c_int, from: *const c_void, n: usize, flags: c_int) -> isize, |t, pc, real| {
        Call::new(t, pc).reads(from, n);
        sending(t, fd);
        real(fd, from, n, flags)
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLOUT, flags, pc) {
            return -1;
        }
        Call::new(t, pc).reads(from, n);
        real(fd, from, n, flags)
    }
    fn sendto(fd: c_int, from: *const c_void, n: usize, flags: c_int, to: *const c_void, len: u32) -> isize, |t, pc, real| {
        Call::new(t, pc).reads(from, n);
        Call::new(t, pc).reads(to, len as usize);
        sending(t, fd);
        real(fd, from, n, flags, to, len)
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLOUT, flags, pc) {
            return -1;
        }
        Call::new(t, pc).reads(from, n);
        real(fd, from, n, flags, to, len)
    }
    fn sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> isize, |t, pc, real| {
        sends(&mut Call::new(t, pc), message);
        sending(t, fd);
        real(fd, message, flags)
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::message(fd, libc::POLLOUT, flags, pc) {
            return -1;
        }
        sends(&mut Call::new(t, pc), message);
        real(fd, message, flags)
    }
    fn recv(fd: c_int, to: *mut c_void, n: usize, flags: c_int) -> isize, |t, pc, real| {
        let got = real(fd, to, n, flags);
        if got >= 0 {
            // The end of what was written counts too.
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
        }
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
        let got = real(fd, to, n, flags, from, len);
        if got >= 0 {
            // The end of what was written counts too.
            received(t, fd);
            Call::new(t, pc).wrote(to, got as usize);
            told_address(&mut Call::new(t, pc), from, len);
        }
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
        let got = real(fd, message, flags);
        if got >= 0 {
            // The end of what was written counts too.
            received(t, fd);
            receives(&mut Call::new(t, pc), message, got as usize);
        }
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
    fn pipe(fds: *mut c_int) -> c_int, |t, pc, real| {
        let r = piped(fds, real(fds));
        Call::new(t, pc).wrote_if(r == 0, fds.cast::<[c_int; 2]>());
        r
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(outside::PIPE_OR_SOCKET);
        piped(fds, real(fds))
    }
    fn pipe2(fds: *mut c_int, flags: c_int) -> c_int, |t, pc, real| {
        let r = piped(fds, real(fds, flags));
        Call::new(t, pc).wrote_if(r == 0, fds.cast::<[c_int; 2]>());
        r
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(outside::PIPE_OR_SOCKET);
        piped(fds, real(fds, flags))
    }
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, fds: *mut c_int) -> c_int, |t, pc, real| {
        let r = paired(fds, real(domain, kind, protocol, fds));
        Call::new(t, pc).wrote_if(r == 0, fds.cast::<[c_int; 2]>());
        r
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(outside::PIPE_OR_SOCKET);
        paired(fds, real(domain, kind, protocol, fds))
    }
    fn eventfd(value: u32, flags: c_int) -> c_int, |t, pc, real| { opened(real(value, flags), new_channel()) } record as detect, tsvd real, explore {
        explore::retry_with_fork(outside::PIPE_OR_SOCKET);
        opened(real(value, flags), new_channel())
    }
    fn eventfd_write(fd: c_int, value: u64) -> c_int, |t, pc, real| {
        sending(t, fd);
        real(fd, value)
    } record as detect, tsvd real, explore {
        if !explore::sync::descriptor(fd, libc::POLLOUT, pc) {
            return -1;
        }
        real(fd, value)
    }
    fn eventfd_read(fd: c_int, value: *mut u64) -> c_int, |t, pc, real| {
        let r = real(fd, value);
        if r == 0 {
            received(t, fd);
        }
        r
    } record as detect, tsvd real, explore {
        if !explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return -1;
        }
        real(fd, value)
    }
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, |t, pc, real| {
        opened(real(domain, kind, protocol), SOCKETS)
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(outside::PIPE_OR_SOCKET);
        opened(real(domain, kind, protocol), SOCKETS)
    }
    fn connect(fd: c_int, to: *const c_void, len: u32) -> c_int, |t, pc, real| {
        CONNECTED.store(true, Relaxed);
        Call::new(t, pc).reads(to, len as usize);
        sending(t, fd);
        real(fd, to, len)
    } record as detect, tsvd real, explore {
        told(fd);
        real(fd, to, len)
    }
    fn accept(fd: c_int, from: *mut c_void, len: *mut u32) -> c_int, |t, pc, real| {
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
        sending(t, fd);
        real(fd, how)
    } record as detect, tsvd real, explore {
        told(fd);
        real(fd, how)
    }
    fn close(fd: c_int) -> c_int, |t, pc, real| {
        // The reader at the other end sees the end of what was written.
        sending(t, fd);
        set_channel(fd, 0);
        real(fd)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        explore::timers::closed(fd, pc);
        told(fd);
        set_channel(fd, 0);
        real(fd)
    }
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int, |t, pc, real| {
        forget_from(first);
        real(first, last, flags)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        forget_from(first);
        real(first, last, flags)
    }
    fn closefrom(first: c_int), |t, pc, real| {
        forget_from(first.max(0) as c_uint);
        real(first)
    } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        forget_from(first.max(0) as c_uint);
        real(first)
    }
    fn dup(fd: c_int) -> c_int, |t, pc, real| { duplicated(fd, real(fd)) } record as detect, tsvd real, explore { explore::changes_process(pc); duplicated(fd, real(fd)) }
    fn dup2(fd: c_int, to: c_int) -> c_int, |t, pc, real| { duplicated(fd, real(fd, to)) } record as detect, tsvd real, explore { explore::changes_process(pc); duplicated(fd, real(fd, to)) }
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int, |t, pc, real| { duplicated(fd, real(fd, to, flags)) } record as detect, tsvd real, explore { explore::changes_process(pc); duplicated(fd, real(fd, to, flags)) }
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int, |t, pc, real| {
        fcntl_with(t, fd, command, argument, || real(fd, command, argument))
    } record as detect, tsvd real, explore { controlled(fd, command, real(fd, command, argument)) }
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int, |t, pc, real| {
        fcntl_with(t, fd, command, argument, || real(fd, command, argument))
    } record as detect, tsvd real, explore { controlled(fd, command, real(fd, command, argument)) }
    fn lseek(fd: c_int, by: i64, from: c_int) -> i64, |t, pc, real| { real(fd, by, from) } record as detect, tsvd real, explore {
        if !explore::sync::moves(fd, pc) {
            return -1;
        }
        real(fd, by, from)
    }
    fn lseek64(fd: c_int, by: i64, from: c_int) -> i64, |t, pc, real| { real(fd, by, from) } record as detect, tsvd real, explore {
        if !explore::sync::moves(fd, pc) {
            return -1;
        }
        real(fd, by, from)
    }
    fn flock(fd: c_int, operation: c_int) -> c_int, |t, pc, real| {
        // To take it again in another way is to let go of it in between.
        unlocking(t, fd);
        locked(t, fd, real(fd, operation))
    } record as detect, tsvd real, explore real
    fn inotify_init() -> c_int, |t, pc, real| {
        INOTIFY.store(true, Relaxed);
        opened(real(), OTHERS)
    } record as detect, tsvd real, explore real
    fn inotify_init1(flags: c_int) -> c_int, |t, pc, real| {
        INOTIFY.store(true, Relaxed);
        opened(real(flags), OTHERS)
    } record as detect, tsvd real, explore real
    fn signalfd(fd: c_int, mask: *const c_void, flags: c_int) -> c_int, |t, pc, real| { opened(real(fd, mask, flags), SIGNALS) } record as detect, tsvd real, explore real
    fn poll(fds: *mut Polled, n: usize, timeout: c_int) -> c_int, |t, pc, real| {
        polls(&mut Call::new(t, pc), fds, n);
        ready(t, real(fds, n, timeout))
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(fds as usize, n), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        polls(&mut Call::new(t, pc), fds, n);
        real(fds, n, 0)
    }
    fn ppoll(fds: *mut Polled, n: usize, timeout: *const c_void, mask: *const c_void) -> c_int, |t, pc, real| {
        polls(&mut Call::new(t, pc), fds, n);
        ready(t, real(fds, n, timeout, mask))
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
        ready(t, real(n, r, w, e, timeout))
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
        ready(t, real(n, r, w, e, timeout, mask))
    } record as detect, tsvd real, explore cancels {
        let sets = [r as usize, w as usize, e as usize];
        if !explore::sync::several(Several::Select(n, sets), true, Until::after(timeout), pc) {
            return -1;
        }
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        real(n, r, w, e, (&raw const now).cast(), mask)
    }
    fn epoll_ctl(ep: c_int, op: c_int, fd: c_int, event: *mut c_void) -> c_int, |t, pc, real| {
        Call::new(t, pc).reads_one(event.cast::<libc::epoll_event>());
        // What the event's data points to was prepared before.
        sync::release(t, key(READINESS));
        real(ep, op, fd, event)
    } record as detect, tsvd real, explore {
        explore::memory::released(ANY_READY);
        real(ep, op, fd, event)
    }
    fn epoll_wait(ep: c_int, events: *mut c_void, most: c_int, timeout: c_int) -> c_int, |t, pc, real| {
        let got = ready(t, real(ep, events, most, timeout));
        Call::new(t, pc).wrote(events, got.max(0) as usize * size_of::<libc::epoll_event>());
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(ep as usize, 0), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        real(ep, events, most, 0)
    }
    fn epoll_pwait(ep: c_int, events: *mut c_void, most: c_int, timeout: c_int, mask: *const c_void) -> c_int, |t, pc, real| {
        let got = ready(t, real(ep, events, most, timeout, mask));
        Call::new(t, pc).wrote(events, got.max(0) as usize * size_of::<libc::epoll_event>());
        got
    } record as detect, tsvd real, explore cancels {
        if !explore::sync::several(Several::Poll(ep as usize, 0), timeout != 0, Until::after_ms(timeout), pc) {
            return -1;
        }
        real(ep, events, most, 0, mask)
    }
    fn epoll_pwait2(ep: c_int, events: *mut c_void, most: c_int, timeout: *const c_void, mask: *const c_void) -> c_int, |t, pc, real| {
        let got = ready(t, real(ep, events, most, timeout, mask));
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

accesses! {
    fn bind(fd: c_int, to: *const c_void, len: u32) -> c_int, |c| { c.reads(to, len as usize) }
    fn getsockname(fd: c_int, to: *mut c_void, len: *mut u32) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { told_address(&mut c, to, len) }
    }
    fn getpeername(fd: c_int, to: *mut c_void, len: *mut u32) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { told_address(&mut c, to, len) }
    }
    fn getsockopt(fd: c_int, level: c_int, name: c_int, to: *mut c_void, len: *mut u32) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { told_address(&mut c, to, len) }
    }
    fn setsockopt(fd: c_int, level: c_int, name: c_int, from: *const c_void, len: u32) -> c_int, |c| { c.reads(from, len as usize) }
}
