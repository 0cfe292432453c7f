//! Files that were open before the first thread.
//!
//! Memory is restored after each execution. File offsets are not, and forked processes share them.
//! So after each execution, descriptors that existed before are checked; a changed offset or flag
//! is restored. It does not matter what moved a file: `fgets` does, and so does a library. A
//! descriptor that was closed cannot be restored, nor is a new one closed. The execution that made
//! such a change was the first to meet it, so it counts. Then the worker ends, and each schedule
//! gets its own process.

use raddle_wire::explore::Outside;

use crate::sys;

/// Descriptors that are checked: those of standard input and output are not.
const FIRST: usize = 3;
const LAST: usize = 512;
const MOST: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Open {
    fd: usize,
    flags: isize,
    stands_at: isize,
}

/// All zero: no files.
pub struct OpenFiles {
    count: usize,
    open: [Open; MOST],
    /// The number that the next descriptor would have.
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

impl OpenFiles {
    /// Called before the first execution. `output`: the descriptor that raddle has opened for
    /// itself.
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

    /// Called after an execution in this process (`in_place`) or in a fork of it. Returns what
    /// cannot be restored, if anything.
    pub fn put_back(&self, in_place: bool) -> Option<Outside> {
        for open in &self.open[..self.count] {
            let now = look(open.fd);
            if now.flags < 0 {
                return Some(Outside::File);
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
        (in_place && first_free() != self.free).then_some(Outside::File)
    }
}
