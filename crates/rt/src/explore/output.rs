//! `--same-output`: what the program prints on its standard output.
//!
//! The driver gives the program a file of the session as descriptor 1. At the end of an execution
//! the contents go into the slot, and the file is emptied for the next. The C library writes its
//! buffers by itself, so no printing function has to be known. What it would write at the very end
//! is flushed before.

use raddle_base::hash::Fnv64;
use raddle_wire::explore::{OUTPUT, flag};

use super::{has, state};
use crate::interpose::Real;
use crate::sys;

/// The duplicate of descriptor 1 gets at least this number, out of the way of a program that counts
/// its descriptors.
const HIGH: usize = 900;

/// At the start of the process.
pub fn prepare() {
    if has(flag::OUTPUT) {
        let copy = |least| sys::syscall(libc::SYS_fcntl, [1, libc::F_DUPFD_CLOEXEC as usize, least, 0, 0, 0]);
        let fd = match copy(HIGH) {
            // The limit may be lower.
            e if e < 0 => copy(3),
            fd => fd,
        };
        state().output = fd.max(0) as usize;
    }
}

/// An execution begins.
pub fn begin() {
    let fd = state().output;
    if fd != 0 {
        sys::syscall(libc::SYS_ftruncate, [fd, 0, 0, 0, 0, 0]);
        sys::syscall(libc::SYS_lseek, [fd, 0, libc::SEEK_SET as usize, 0, 0, 0]);
    }
}

/// The program ends by `exit`: flushes what the C library has buffered.
pub fn flush() {
    static FLUSH: Real = Real::new(c"fflush", None);
    if state().output != 0 || has(flag::FLUSH) {
        // SAFETY: the C library's function, for all files. Nobody is inside it: no thread is
        // switched away from there.
        unsafe { core::mem::transmute::<usize, extern "C" fn(usize) -> i32>(FLUSH.get())(0) };
    }
}

/// Called at the end of an execution.
pub fn note() {
    let fd = state().output;
    if fd == 0 {
        return;
    }
    let mut s = state();
    let slot = s.serve.slot();
    let mut hash = Fnv64::new();
    let mut part = [0u8; 4096];
    let mut at = 0;
    loop {
        let args = [fd, part.as_mut_ptr() as usize, part.len(), at, 0, 0];
        let n = sys::syscall(libc::SYS_pread64, args).max(0) as usize;
        if n == 0 {
            break;
        }
        hash.write(&part[..n]);
        if at < OUTPUT {
            let kept = n.min(OUTPUT - at);
            slot.output[at..at + kept].copy_from_slice(&part[..kept]);
        }
        at += n;
    }
    slot.output_len = at as u64;
    slot.output_hash = hash.finish();
}
