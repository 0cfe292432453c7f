//! Opening a FIFO, which waits for somebody to open the other end. The one system thread of an
//! explored program must not wait in the kernel, so the scheduler waits instead.
//!
//! The kernel counts an end from the moment a thread asks for it, and not only when the other end
//! has come. So does this: the descriptor is made first, without waiting. A writer that gets one at
//! once has a reader at that moment. Others wait until they have had a partner.
//!
//! Deviation: a reader does not wait if there is data, which another reader has not read yet, and
//! no writer any more.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use raddle_wire::explore::Outside;

use super::sync::partner;
use super::{changes_outside, memory, retry_with_fork};
use crate::interpose::fifo::Ends;
use crate::sys;

/// In the events of a wait: until the other end is open.
pub const PARTNER: i16 = 0x4000;

/// How often each FIFO was opened for reading, also by those that do not wait. A writer goes on if
/// a reader comes, even if that one is gone again before it runs. The last entry counts all that
/// have no room. Nobody counts writers: the kernel tells a reader that one has come and gone.
static READERS: [(AtomicU32, AtomicU32); 64] = [const { (AtomicU32::new(0), AtomicU32::new(0)) }; 64];

/// The count of a FIFO. One thread runs at a time.
fn readers(channel: u32) -> &'static AtomicU32 {
    let (last, others) = READERS.split_last().unwrap();
    for (whose, count) in others {
        if whose.load(Relaxed) == 0 {
            whose.store(channel, Relaxed);
        }
        if whose.load(Relaxed) == channel {
            return count;
        }
    }
    &last.1
}

fn call(number: i64, args: [usize; 3]) -> isize {
    sys::syscall(number, [args[0], args[1], args[2], 0, 0, 0])
}

/// Opens a FIFO with `real`, which takes the flags, and waits for the other end if the kernel
/// would.
pub fn open(ends: Ends, flags: c_int, pc: usize, real: impl Fn(c_int) -> c_int) -> c_int {
    retry_with_fork(Outside::PipeOrSocket);
    changes_outside(pc);
    ends.own(memory::released);
    let errno = sys::errno();
    let Some(fd) = opened(ends, flags, pc, real) else { return -1 };
    sys::set_errno(errno);
    if ends.has_other() {
        memory::acquired(ends.other());
    }
    fd
}

/// [`open`] without the order that comes of it. None: it has failed, and `errno` is set.
fn opened(ends: Ends, flags: c_int, pc: usize, real: impl Fn(c_int) -> c_int) -> Option<c_int> {
    let channel = ends.channel();
    let before = readers(channel).load(Relaxed);
    // Who opens it for writing without waiting fails if there is no reader.
    let at_once = real(if ends.waits() { flags | libc::O_NONBLOCK } else { flags });
    let writes = flags & libc::O_ACCMODE == libc::O_WRONLY;
    if at_once >= 0 && !writes {
        readers(channel).fetch_add(1, Relaxed);
    }
    if !ends.waits() {
        return (at_once >= 0).then_some(at_once);
    }
    let fd = match at_once {
        0.. if writes => return Some(set_to_wait(at_once)),
        0.. => at_once,
        _ if writes && sys::errno() == libc::ENXIO => match opened_to_write(flags, &real) {
            Some(fd) => fd,
            // It may not be read, or there is no other descriptor. Then the process waits.
            None => return Some(real(flags)).filter(|fd| *fd >= 0),
        },
        _ => return None,
    };
    let events = PARTNER | if writes { libc::POLLOUT } else { libc::POLLIN };
    if !partner(fd, events, (channel, before), pc) {
        call(libc::SYS_close, [fd as usize, 0, 0]);
        return None;
    }
    Some(set_to_wait(fd))
}

/// From now on, reading and writing wait.
fn set_to_wait(fd: c_int) -> c_int {
    let now = call(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0]);
    let waits = (now as c_int & !libc::O_NONBLOCK) as usize;
    call(libc::SYS_fcntl, [fd as usize, libc::F_SETFL as usize, waits]);
    fd
}

/// `openat` as the kernel has it, for functions that take no flags.
pub fn open_by_name(path: *const c_char, flags: c_int, mode: u32) -> c_int {
    let args = [libc::AT_FDCWD as usize, path as usize, flags as usize, mode as usize, 0, 0];
    let fd = sys::syscall(libc::SYS_openat, args) as c_int;
    if fd < 0 {
        sys::set_errno(-fd);
        return -1;
    }
    fd
}

/// The kernel gives a descriptor to write, without waiting, only if there is one to read. So there
/// is one for a moment, which is not counted.
fn opened_to_write(flags: c_int, real: impl Fn(c_int) -> c_int) -> Option<c_int> {
    let both = real(flags & !libc::O_ACCMODE | libc::O_RDWR | libc::O_NONBLOCK);
    if both < 0 {
        return None;
    }
    let fd = real(flags | libc::O_NONBLOCK);
    call(libc::SYS_close, [both as usize, 0, 0]);
    if fd < 0 {
        return None;
    }
    // The program gets the number that it would get otherwise.
    let command = if flags & libc::O_CLOEXEC != 0 { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
    let lowest = call(libc::SYS_fcntl, [fd as usize, command as usize, 0]);
    if lowest < 0 || lowest as c_int > fd {
        if lowest >= 0 {
            call(libc::SYS_close, [lowest as usize, 0, 0]);
        }
        return Some(fd);
    }
    call(libc::SYS_close, [fd as usize, 0, 0]);
    Some(lowest as c_int)
}

/// True if the other end of the FIFO is open, or was since the thread began to wait.
pub fn has_partner(fd: c_int, events: i16, (channel, before): (u32, u32)) -> bool {
    let mut asked = libc::pollfd { fd, events: events & !PARTNER, revents: 0 };
    call(libc::SYS_poll, [&raw mut asked as usize, 1, 0]);
    if events & libc::POLLOUT != 0 {
        return asked.revents & libc::POLLERR == 0 || readers(channel).load(Relaxed) != before;
    }
    // There is data, or a writer has come and gone. Without data, reading says whether there is a
    // writer that may still write some.
    let mut byte = 0u8;
    asked.revents != 0 || call(libc::SYS_read, [fd as usize, &raw mut byte as usize, 1]) != 0
}
