//! Writes of more than a pipe or a stream socket holds.
//!
//! The kernel takes what fits and lets the writer wait for a reader. A thread that waits in the
//! kernel lets no other run, so such a write is made in parts, each of which is a step that waits
//! for room and then returns at once:
//!
//! - Into a pipe, [`libc::PIPE_BUF`] bytes fit wherever `poll` says that it can be written to. What
//!   fits as a whole into an empty pipe is one part: most writes are.
//! - To a stream socket, `MSG_DONTWAIT` sends what fits.
//!
//! A part that fails or is short ends the write, with the number of bytes written before, as in the
//! kernel. Everything else (files, datagrams, descriptors that do not wait) is one part.

use core::ffi::c_int;

use super::sync::message;
use crate::sys;

/// What a descriptor takes without waiting, if it can be written to.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    All,
    /// So many bytes.
    Bytes(usize),
    /// As many as `MSG_DONTWAIT` sends.
    WhatFits,
}

/// Writes `n` bytes with `part`, which gets the number of bytes written before, the number to write,
/// and further flags for `send`.
pub fn in_parts(
    fd: c_int,
    n: usize,
    flags: c_int,
    pc: usize,
    part: impl Fn(usize, usize, c_int) -> isize,
) -> isize {
    let mut done = 0;
    loop {
        if !message(fd, libc::POLLOUT, flags, pc) {
            return if done > 0 { done as isize } else { -1 };
        }
        let left = n - done;
        let takes = if super::is_running() { takes(fd, left, flags) } else { Takes::All };
        let (len, further) = match takes {
            Takes::All => (left, 0),
            Takes::Bytes(most) => (most.min(left), 0),
            Takes::WhatFits => (left, libc::MSG_DONTWAIT),
        };
        let mut written = part(done, len, further);
        if written < 0 && takes == Takes::WhatFits && sys::errno() == libc::EAGAIN {
            // There was room, and it does not suffice for any of it.
            written = part(done, len, 0);
        }
        if written < 0 {
            return if done > 0 { done as isize } else { written };
        }
        done += written as usize;
        if done >= n || takes == Takes::All || (written as usize) < len && takes != Takes::WhatFits {
            return done as isize;
        }
    }
}

fn takes(fd: c_int, n: usize, flags: c_int) -> Takes {
    let status = sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
    if n <= libc::PIPE_BUF || flags & libc::MSG_DONTWAIT != 0 || status & libc::O_NONBLOCK as isize != 0 {
        return Takes::All;
    }
    // SAFETY: zero is a valid description.
    let mut told = unsafe { core::mem::zeroed::<libc::stat>() };
    if sys::syscall(libc::SYS_fstat, [fd as usize, &raw mut told as usize, 0, 0, 0, 0]) != 0 {
        return Takes::All;
    }
    match told.st_mode & libc::S_IFMT {
        libc::S_IFIFO if is_empty(fd) && n <= size_of_pipe(fd) => Takes::All,
        libc::S_IFIFO => Takes::Bytes(libc::PIPE_BUF),
        libc::S_IFSOCK if is_stream(fd) => Takes::WhatFits,
        _ => Takes::All,
    }
}

fn is_empty(fd: c_int) -> bool {
    let mut held: c_int = 1;
    let asked = sys::syscall(
        libc::SYS_ioctl,
        [fd as usize, libc::FIONREAD as usize, &raw mut held as usize, 0, 0, 0],
    );
    asked == 0 && held == 0
}

fn size_of_pipe(fd: c_int) -> usize {
    let size = sys::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETPIPE_SZ as usize, 0, 0, 0, 0]);
    size.max(0) as usize
}

fn is_stream(fd: c_int) -> bool {
    let (mut kind, mut len): (c_int, u32) = (0, size_of::<c_int>() as u32);
    let (level, name) = (libc::SOL_SOCKET as usize, libc::SO_TYPE as usize);
    let args = [fd as usize, level, name, &raw mut kind as usize, &raw mut len as usize, 0];
    sys::syscall(libc::SYS_getsockopt, args) == 0 && kind == libc::SOCK_STREAM
}
