//! Files that were open before the first thread.
//!
//! Memory is put back after each execution; where a file stands is not, and processes that are made
//! of one share it. So after each execution it is looked whether a descriptor that was there before
//! has moved or has other flags, and that is put back. What moves a file is not asked: `fgets`
//! does, and so does a library. A descriptor that was closed cannot be put back, nor is one taken
//! away that is new: that execution was the first to meet the change, so it counts; the worker
//! ends, and each schedule gets a process of its own.

use raddle_wire::explore::outside;

use crate::sys;

/// Descriptors that are looked at: those of standard input and output are not.
const FIRST: usize = 3;
const LAST: usize = 512;
const MOST: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Open {
    fd: usize,
    flags: isize,
    stands_at: isize,
}

/// All zero knows of none.
pub struct Files {
    count: usize,
    open: [Open; MOST],
    /// The next descriptor would have this number.
    free: isize,
}

fn look(fd: usize) -> Open {
    let flags = sys::syscall(libc::SYS_fcntl, [fd, libc::F_GETFL as usize, 0, 0, 0, 0]);
    let stands_at = sys::syscall(libc::SYS_lseek, [fd, 0, libc::SEEK_CUR as usize, 0, 0, 0]);
    Open { fd, flags, stands_at }
}

fn first_free() -> isize {
    let fd = sys::syscall(libc::SYS_fcntl, [0, libc::F_DUPFD_CLOEXEC as usize, FIRST, 0, 0, 0]);
    if fd >= 0 {
        sys::close(fd);
    }
    fd
}

impl Files {
    /// Before the first execution. `output`: the descriptor that raddle has opened for itself.
    pub fn note(&mut self, output: usize) {
        self.count = 0;
        for open in (FIRST..LAST).filter(|fd| *fd != output).map(look) {
            if open.flags >= 0 && self.count < MOST {
                self.open[self.count] = open;
                self.count += 1;
            }
        }
        self.free = first_free();
    }

    /// After an execution in this process, or in one made of it. What cannot be put back, if
    /// anything.
    pub fn put_back(&self, in_place: bool) -> Option<u64> {
        for open in &self.open[..self.count] {
            let now = look(open.fd);
            if now.flags < 0 {
                return Some(outside::FILE);
            }
            if now.stands_at != open.stands_at {
                let at = [open.fd, open.stands_at as usize, libc::SEEK_SET as usize, 0, 0, 0];
                sys::syscall(libc::SYS_lseek, at);
            }
            if now.flags != open.flags {
                let flags = [open.fd, libc::F_SETFL as usize, open.flags as usize, 0, 0, 0];
                sys::syscall(libc::SYS_fcntl, flags);
            }
        }
        (in_place && first_free() != self.free).then_some(outside::FILE)
    }
}
