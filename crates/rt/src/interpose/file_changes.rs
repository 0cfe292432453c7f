//! Calls that change files, by name or descriptor. The changes outlive an explored execution.

use core::ffi::{c_int, c_uint};

use super::access::{Text, accesses};

/// How many bytes an `ioctl` writes to where its argument points, for the common ones. The sizes
/// that are part of a request's number are not all true.
fn written_by(request: usize) -> usize {
    match request as libc::c_ulong {
        libc::FIONREAD | libc::TIOCOUTQ | libc::TIOCGPGRP => size_of::<c_int>(),
        libc::TIOCGWINSZ => size_of::<libc::winsize>(),
        _ => 0,
    }
}

/// How many bytes it reads there.
fn read_by(request: usize) -> usize {
    match request as libc::c_ulong {
        libc::FIONBIO | libc::FIOASYNC | libc::TIOCSPGRP => size_of::<c_int>(),
        libc::TIOCSWINSZ => size_of::<libc::winsize>(),
        _ => 0,
    }
}

accesses! {
    fn rename(from: Text, to: Text) -> c_int, |c| { c.text(from); c.text(to); c.changes_outside(); c.changes_name(from); c.changes_name(to) } then |_r| { c.saw_name(from); c.saw_name(to) }
    fn renameat2(at: c_int, from: Text, there: c_int, to: Text, flags: c_uint) -> c_int, |c| { c.text(from); c.text(to); c.changes_outside(); c.changes_name(from); c.changes_name(to) } then |_r| { c.saw_name(from); c.saw_name(to) }
    fn link(from: Text, to: Text) -> c_int, |c| { c.text(from); c.text(to); c.changes_outside(); c.changes_name(to) } then |_r| { c.saw_name(to) }
    fn linkat(at: c_int, from: Text, there: c_int, to: Text, flags: c_int) -> c_int, |c| { c.text(from); c.text(to); c.changes_outside(); c.changes_name(to) } then |_r| { c.saw_name(to) }
    fn remove(path: Text) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path) } then |_r| { c.saw_name(path) }
    fn truncate(path: Text, n: i64) -> c_int, |c| { c.text(path); c.fills_file_named(path); c.changes_outside() }
    fn truncate64(path: Text, n: i64) -> c_int, |c| { c.text(path); c.fills_file_named(path); c.changes_outside() }
    fn ftruncate(fd: c_int, n: i64) -> c_int, |c| { c.uses(fd); c.fills_file(fd); c.changes_outside() }
    fn ftruncate64(fd: c_int, n: i64) -> c_int, |c| { c.uses(fd); c.fills_file(fd); c.changes_outside() }
    fn posix_fallocate(fd: c_int, at: i64, n: i64) -> c_int, |c| { c.uses(fd); c.fills_file(fd); c.changes_outside() }
    fn posix_fallocate64(fd: c_int, at: i64, n: i64) -> c_int, |c| { c.uses(fd); c.fills_file(fd); c.changes_outside() }
    fn fallocate(fd: c_int, mode: c_int, at: i64, n: i64) -> c_int, |c| { c.uses(fd); c.fills_file(fd); c.changes_outside() }
    fn fallocate64(fd: c_int, mode: c_int, at: i64, n: i64) -> c_int, |c| { c.uses(fd); c.fills_file(fd); c.changes_outside() }
    fn chmod(path: Text, mode: c_uint) -> c_int, |c| { c.text(path); c.changes_outside() }
    fn fchmod(fd: c_int, mode: c_uint) -> c_int, |c| { c.uses(fd); c.changes_outside() }
    fn fchdir(fd: c_int) -> c_int, |c| { c.uses(fd); c.changes_outside() }
    fn utimensat(at: c_int, path: Text, times: *const [libc::timespec; 2], flags: c_int) -> c_int, |c| { c.text(path); c.reads_one(times); c.changes_outside() }
    fn futimens(fd: c_int, times: *const [libc::timespec; 2]) -> c_int, |c| { c.uses(fd); c.reads_one(times); c.changes_outside() }
    fn utimes(path: Text, times: *const [libc::timeval; 2]) -> c_int, |c| { c.text(path); c.reads_one(times); c.changes_outside() }
    fn utime(path: Text, times: *const libc::utimbuf) -> c_int, |c| { c.text(path); c.reads_one(times); c.changes_outside() }
    fn lockf(fd: c_int, command: c_int, n: i64) -> c_int, |c| { c.uses(fd); c.changes_outside() }
    fn lockf64(fd: c_int, command: c_int, n: i64) -> c_int, |c| { c.uses(fd); c.changes_outside() }
    fn euidaccess(path: Text, mode: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); } then |_r| { c.saw_name(path) }
    fn eaccess(path: Text, mode: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); } then |_r| { c.saw_name(path) }
    fn memfd_create(name: Text, flags: c_uint) -> c_int, |c| { c.text(name); c.changes_process() }
    fn ioctl(fd: c_int, request: usize, argument: usize) -> c_int, |c| {
        c.reads(argument as *const u8, read_by(request));
        c.changes_process()
    } then |r| { if r != -1 { c.wrote(argument as *const u8, written_by(request)) } }
}
