//! Making, duplicating, locking and closing descriptors.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::Ordering::*;

use super::access::Call;
use super::channel::*;
use super::{descriptor_use, interpose, room};
use crate::detect::thread::Current;
use crate::explore;
use crate::sys;
use raddle_wire::explore::Outside;

/// A lock that belongs to an open file, not to the process, is released or taken.
fn locked(t: Current, fd: c_int, result: c_int) -> c_int {
    if result == 0 {
        received(t, fd);
    }
    result
}

/// True if a command of `fcntl` releases a lock of the open file, or weakens it.
unsafe fn unlocks(command: c_int, argument: usize) -> bool {
    // SAFETY: the argument of these commands is the caller's description of the lock.
    matches!(command, libc::F_OFD_SETLK | libc::F_OFD_SETLKW)
        && unsafe { (argument as *const libc::flock).as_ref() }
            .is_some_and(|l| l.l_type != libc::F_WRLCK as i16)
}

/// `fcntl`: commands that duplicate, and locks of open files.
unsafe fn fcntl_with(
    t: Current,
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

/// A pair of descriptors that talk to each other.
unsafe fn paired(fds: *const c_int, result: c_int) -> c_int {
    if result == 0 {
        let channel = new_channel();
        // SAFETY: the call has filled in both.
        unsafe {
            (0..2).for_each(|i| descriptor_use::forget(*fds.add(i)));
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
            (0..2).for_each(|i| descriptor_use::forget(*fds.add(i)));
            set_channel(*fds, 0);
            set_channel(*fds.add(1), 0);
        }
    }
    result
}

/// Before `fcntl`, which queries or changes something.
fn controls(command: c_int, pc: usize) {
    match command {
        libc::F_GETFD | libc::F_GETFL | libc::F_GETOWN | libc::F_GET_SEALS | libc::F_GETPIPE_SZ => {
            explore::looks_outside(pc)
        }
        _ => explore::changes_process(pc),
    }
}

/// `fcntl`: only the commands that duplicate matter here.
fn controlled(fd: c_int, command: c_int, result: c_int) -> c_int {
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { duplicated(fd, result) } else { result }
}

fn duplicated(from: c_int, to: c_int) -> c_int {
    if to >= 0 {
        let known = CHANNELS.get(from as usize).map_or(0, |c| c.load(Relaxed));
        descriptor_use::forget(to);
        set_channel(to, if is_output(to) { channel(from) } else { known });
    }
    to
}

/// `dup2` has put another descriptor under this number. Uses of the old one are not checked: some
/// programs do this to keep a number from being reused. Closing the new one is checked.
fn replaced(t: Current, to: c_int, pc: usize) -> c_int {
    if to >= 0 {
        descriptor_use::used(t, to, pc);
    }
    to
}

pub fn opened(fd: c_int, channel: u32) -> c_int {
    if fd >= 0 {
        descriptor_use::forget(fd);
        set_channel(fd, channel);
    }
    fd
}

/// Before a descriptor is closed.
fn closing(t: Current, fd: c_int, pc: usize) {
    descriptor_use::closing(t, fd, pc);
    sending_end(t, fd);
    room::closing(t, fd);
    set_channel(fd, 0);
}

fn closing_explored(fd: c_int, pc: usize) {
    explore::changes_process(pc);
    explore::timers::closed(fd, pc);
    told(fd);
    set_channel(fd, 0);
}

/// Where a descriptor stands now. That it is the end tells how long the file is, and so what was
/// written to it.
fn seeks(t: Current, fd: c_int, from: c_int, at: i64) -> i64 {
    if at >= 0 && from == libc::SEEK_END {
        end_found(t, fd);
    }
    at
}

interpose! {
    fn pipe(fds: *mut c_int) -> c_int, |t, pc, real| {
        let r = piped(fds, real(fds));
        Call::new(t, pc).wrote_if(r == 0, fds.cast::<[c_int; 2]>());
        r
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(Outside::PipeOrSocket);
        explore::makes_descriptor();
        piped(fds, real(fds))
    }
    fn pipe2(fds: *mut c_int, flags: c_int) -> c_int, |t, pc, real| {
        let r = piped(fds, real(fds, flags));
        Call::new(t, pc).wrote_if(r == 0, fds.cast::<[c_int; 2]>());
        r
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(Outside::PipeOrSocket);
        explore::makes_descriptor();
        piped(fds, real(fds, flags))
    }
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, fds: *mut c_int) -> c_int, |t, pc, real| {
        let r = paired(fds, real(domain, kind, protocol, fds));
        Call::new(t, pc).wrote_if(r == 0, fds.cast::<[c_int; 2]>());
        r
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(Outside::PipeOrSocket);
        explore::makes_descriptor();
        paired(fds, real(domain, kind, protocol, fds))
    }
    fn eventfd(value: u32, flags: c_int) -> c_int, |t, pc, real| { opened(real(value, flags), EVENTS | new_channel()) } record as detect, tsvd real, explore {
        explore::retry_with_fork(Outside::PipeOrSocket);
        explore::makes_descriptor();
        opened(real(value, flags), new_channel())
    }
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, |t, pc, real| {
        opened(real(domain, kind, protocol), SOCKETS)
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(Outside::PipeOrSocket);
        explore::makes_descriptor();
        opened(real(domain, kind, protocol), SOCKETS)
    }
    fn epoll_create(size: c_int) -> c_int, |t, pc, real| { opened(real(size), OTHERS) } record as detect, tsvd real, explore {
        explore::makes_descriptor();
        real(size)
    }
    fn epoll_create1(flags: c_int) -> c_int, |t, pc, real| { opened(real(flags), OTHERS) } record as detect, tsvd real, explore {
        explore::makes_descriptor();
        real(flags)
    }
    fn close(fd: c_int) -> c_int, |t, pc, real| { closing(t, fd, pc); real(fd) } record as detect, tsvd real, explore {
        closing_explored(fd, pc);
        real(fd)
    }
    fn __close(fd: c_int) -> c_int, |t, pc, real| { closing(t, fd, pc); real(fd) } record as detect, tsvd real, explore {
        closing_explored(fd, pc);
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
    fn dup(fd: c_int) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        duplicated(fd, real(fd))
    } record as detect, tsvd real, explore { explore::changes_process(pc); duplicated(fd, real(fd)) }
    fn dup2(fd: c_int, to: c_int) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        replaced(t, duplicated(fd, real(fd, to)), pc)
    } record as detect, tsvd real, explore { explore::changes_process(pc); duplicated(fd, real(fd, to)) }
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        replaced(t, duplicated(fd, real(fd, to, flags)), pc)
    } record as detect, tsvd real, explore { explore::changes_process(pc); duplicated(fd, real(fd, to, flags)) }
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        fcntl_with(t, fd, command, argument, || real(fd, command, argument))
    } record as detect, tsvd real, explore {
        controls(command, pc);
        controlled(fd, command, real(fd, command, argument))
    }
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int, |t, pc, real| {
        descriptor_use::used(t, fd, pc);
        fcntl_with(t, fd, command, argument, || real(fd, command, argument))
    } record as detect, tsvd real, explore {
        controls(command, pc);
        controlled(fd, command, real(fd, command, argument))
    }
    fn lseek(fd: c_int, by: i64, from: c_int) -> i64, |t, pc, real| { seeks(t, fd, from, real(fd, by, from)) } record as detect, tsvd real, explore {
        if !explore::sync::moves(fd, pc) {
            return -1;
        }
        real(fd, by, from)
    }
    fn lseek64(fd: c_int, by: i64, from: c_int) -> i64, |t, pc, real| { seeks(t, fd, from, real(fd, by, from)) } record as detect, tsvd real, explore {
        if !explore::sync::moves(fd, pc) {
            return -1;
        }
        real(fd, by, from)
    }
    fn flock(fd: c_int, operation: c_int) -> c_int, |t, pc, real| {
        // Taking it in another mode releases it in between.
        unlocking(t, fd);
        locked(t, fd, real(fd, operation))
    } record as detect, tsvd real, explore {
        // The thread that has the lock may be one of this process: nobody blocks for real.
        loop {
            explore::changes_process(pc);
            let r = real(fd, operation | if explore::is_running() { libc::LOCK_NB } else { 0 });
            if r == 0 || operation & libc::LOCK_NB != 0 || sys::errno() != libc::EWOULDBLOCK {
                return r;
            }
            explore::sync::yields(pc);
        }
    }
    fn inotify_init() -> c_int, |t, pc, real| {
        INOTIFY.store(true, Relaxed);
        opened(real(), OTHERS)
    } record as detect, tsvd real, explore { explore::changes_process(pc); opened(real(), OTHERS) }
    fn inotify_init1(flags: c_int) -> c_int, |t, pc, real| {
        INOTIFY.store(true, Relaxed);
        opened(real(flags), OTHERS)
    } record as detect, tsvd real, explore { explore::changes_process(pc); opened(real(flags), OTHERS) }
    fn signalfd(fd: c_int, mask: *const c_void, flags: c_int) -> c_int, |t, pc, real| { opened(real(fd, mask, flags), SIGNALS) } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        if !mask.is_null() {
            explore::signals::read_by_descriptor(*mask.cast());
        }
        opened(real(fd, mask, flags), SIGNALS)
    }
}
