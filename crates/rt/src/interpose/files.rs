//! Files by name: the calls read paths, and write what they find out about a file.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::access::{Call, Text, accesses};
use super::fifo::{Ends, Opening};
use super::{channel, interpose};
use crate::detect::thread::Current;
use crate::explore;
use crate::explore::fifo::open_by_name;
use raddle_wire::explore::Outside;

type Room = *mut c_char;
type Stat = *mut libc::stat;

accesses! {
    fn stat(path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn stat64(path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn lstat(path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn lstat64(path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn fstat(fd: c_int, to: Stat) -> c_int, |c| { c.looks_outside(); c.uses(fd); c.fills(to) } then |r| { c.saw_file_of(fd, r == 0, to) }
    fn fstat64(fd: c_int, to: Stat) -> c_int, |c| { c.looks_outside(); c.uses(fd); c.fills(to) } then |r| { c.saw_file_of(fd, r == 0, to) }
    fn fstatat(at: c_int, path: Text, to: Stat, flags: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn fstatat64(at: c_int, path: Text, to: Stat, flags: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn __xstat(version: c_int, path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn __xstat64(version: c_int, path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn __lxstat(version: c_int, path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn __lxstat64(version: c_int, path: Text, to: Stat) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.saw_name(path); c.saw_file(r == 0, to) }
    fn __fxstat(version: c_int, fd: c_int, to: Stat) -> c_int, |c| { c.looks_outside(); c.uses(fd); c.fills(to) } then |r| { c.saw_file_of(fd, r == 0, to) }
    fn __fxstat64(version: c_int, fd: c_int, to: Stat) -> c_int, |c| { c.looks_outside(); c.uses(fd); c.fills(to) } then |r| { c.saw_file_of(fd, r == 0, to) }
    fn statx(at: c_int, path: Text, flags: c_int, mask: c_uint, to: *mut libc::statx) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| {
        c.saw_name(path);
        c.saw_file_by_statx(at, path, r == 0, to)
    }
    fn statfs(path: Text, to: *mut libc::statfs) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn statfs64(path: Text, to: *mut libc::statfs) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn fstatfs(fd: c_int, to: *mut libc::statfs) -> c_int, |c| { c.looks_outside(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn fstatfs64(fd: c_int, to: *mut libc::statfs) -> c_int, |c| { c.looks_outside(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn statvfs(path: Text, to: *mut libc::statvfs) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn statvfs64(path: Text, to: *mut libc::statvfs) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn fstatvfs(fd: c_int, to: *mut libc::statvfs) -> c_int, |c| { c.looks_outside(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn fstatvfs64(fd: c_int, to: *mut libc::statvfs) -> c_int, |c| { c.looks_outside(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }

    fn readlink(path: Text, to: Room, n: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |got| { c.saw_name(path); c.wrote(to, got.max(0) as usize) }
    fn __readlink_chk(path: Text, to: Room, n: usize, room: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |got| {
        c.saw_name(path);
        c.wrote(to, got.max(0) as usize)
    }
    fn readlinkat(at: c_int, path: Text, to: Room, n: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |got| {
        c.saw_name(path);
        c.wrote(to, got.max(0) as usize)
    }
    fn realpath(path: Text, to: Room) -> Room = c"GLIBC_2.3", |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { if !to.is_null() { c.wrote_text(r) } }
    fn __realpath_chk(path: Text, to: Room, room: usize) -> Room, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |r| { c.wrote_text(r) }
    fn canonicalize_file_name(path: Text) -> Room, |c| { c.looks_outside(); c.text(path); }
    fn getcwd(to: Room, n: usize) -> Room, |c| { c.looks_outside(); c.fills(to) } then |r| { if !to.is_null() { c.wrote_text(r) } }
    fn __getcwd_chk(to: Room, n: usize, room: usize) -> Room, |c| { c.looks_outside(); c.fills(to) } then |r| { if !to.is_null() { c.wrote_text(r) } }

    fn get_current_dir_name() -> Room, |c| { c.looks_outside() }
    fn access(path: Text, mode: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); } then |_r| { c.saw_name(path) }
    fn faccessat(at: c_int, path: Text, mode: c_int, flags: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); } then |_r| { c.saw_name(path) }
    fn chdir(path: Text) -> c_int, |c| { c.text(path); c.changes_outside() }
    fn mkdir(path: Text, mode: c_uint) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path) } then |_r| { c.saw_name(path) }
    fn mkdirat(at: c_int, path: Text, mode: c_uint) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path) } then |_r| { c.saw_name(path) }
    fn mkfifo(path: Text, mode: c_uint) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path); c.makes_fifo() }
    fn mkfifoat(at: c_int, path: Text, mode: c_uint) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path); c.makes_fifo() }
    fn rmdir(path: Text) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path) } then |_r| { c.saw_name(path) }
    fn unlink(path: Text) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path) } then |_r| { c.saw_name(path) }
    fn unlinkat(at: c_int, path: Text, flags: c_int) -> c_int, |c| { c.text(path); c.changes_outside(); c.changes_name(path) } then |_r| { c.saw_name(path) }
    fn renameat(at: c_int, from: Text, there: c_int, to: Text) -> c_int, |c| { c.text(from); c.text(to); c.changes_outside(); c.changes_name(from); c.changes_name(to) }
    fn symlink(from: Text, to: Text) -> c_int, |c| { c.text(from); c.text(to); c.changes_outside(); c.changes_name(to) } then |_r| { c.saw_name(to) }
    fn shm_open(name: Text, flags: c_int, mode: c_uint) -> c_int, |c| { c.looks_outside(); c.text(name); if flags & libc::O_CREAT != 0 { c.changes_name(name) } } then |_r| { c.saw_name(name) }
    fn shm_unlink(name: Text) -> c_int, |c| { c.looks_outside(); c.text(name); c.changes_name(name) } then |_r| { c.saw_name(name) }
    fn mq_open(name: Text, flags: c_int, mode: c_uint, from: *const libc::mq_attr) -> c_int, |c| {
        c.looks_outside();
        c.text(name);
        if flags & libc::O_CREAT != 0 {
            c.reads_one(from);
            c.changes_name(name)
        }
    } then |_r| { c.saw_name(name) }
    fn mq_unlink(name: Text) -> c_int, |c| { c.looks_outside(); c.text(name); c.changes_name(name) } then |_r| { c.saw_name(name) }
    fn opendir(path: Text) -> *mut c_void, |c| { c.looks_outside(); c.text(path); } then |_r| { c.saw_name(path) }
    fn scandir(path: Text, list: *mut *mut c_void, filter: usize, compare: usize) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(list) } then |n| {
        c.wrote_if(n >= 0, list)
    }
    fn scandir64(path: Text, list: *mut *mut c_void, filter: usize, compare: usize) -> c_int, |c| { c.looks_outside(); c.text(path); c.fills(list) } then |n| {
        c.wrote_if(n >= 0, list)
    }
    fn readdir_r(dir: *mut c_void, to: *mut libc::dirent, result: *mut *mut libc::dirent) -> c_int, |c| {
        c.uses_folder(dir);
        c.fills(to);
        c.writes_one(result)
    } then |r| { if r == 0 && !(*result).is_null() { c.wrote(to, usize::from((*to).d_reclen)) } }
    fn readdir64_r(dir: *mut c_void, to: *mut libc::dirent, result: *mut *mut libc::dirent) -> c_int, |c| {
        c.uses_folder(dir);
        c.fills(to);
        c.writes_one(result)
    } then |r| { if r == 0 && !(*result).is_null() { c.wrote(to, usize::from((*to).d_reclen)) } }
    fn readdir(dir: *mut c_void) -> *mut libc::dirent, |c| { c.uses_folder(dir); c.keeps_state() } then |r| {
        // Its position, which POSIX lets only one thread at a time move. Not where a use is noted.
        c.wrote_own(dir.cast::<u64>().add(1), 8);
        if !r.is_null() { c.wrote_own(r, usize::from((*r).d_reclen)) }
    }
    fn readdir64(dir: *mut c_void) -> *mut libc::dirent, |c| { c.uses_folder(dir); c.keeps_state() } then |r| {
        // Its position, which POSIX lets only one thread at a time move. Not where a use is noted.
        c.wrote_own(dir.cast::<u64>().add(1), 8);
        if !r.is_null() { c.wrote_own(r, usize::from((*r).d_reclen)) }
    }
    fn closedir(dir: *mut c_void) -> c_int, |c| { c.frees_object(dir) }
    fn mkstemp(path: Room) -> c_int, |c| { c.changes_outside(); c.text(path); c.fills(path) } then |_fd| { c.wrote_text(path) }
    fn mkstemp64(path: Room) -> c_int, |c| { c.changes_outside(); c.text(path); c.fills(path) } then |_fd| { c.wrote_text(path) }
    fn mkdtemp(path: Room) -> Room, |c| { c.changes_outside(); c.text(path); c.fills(path) } then |r| { c.wrote_text(r) }
    fn name_to_handle_at(at: c_int, path: Text, to: *mut c_uint, mount: *mut c_int, flags: c_int) -> c_int, |c| { c.looks_outside(); c.text(path); c.reads_one(to); c.fills(to) } then |r| {
        // The size of the handle comes first, and what it counts after two words.
        if r == 0 { c.wrote(to, 8 + *to as usize); c.wrote_one(mount) }
    }
    fn open_by_handle_at(mount: c_int, from: *const c_uint, flags: c_int) -> c_int, |c| { c.looks_outside(); if !from.is_null() { c.reads(from, 8 + *from as usize) } }
    fn getxattr(path: Text, name: Text, to: *mut c_void, n: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.text(name); c.fills(to) } then |got| {
        if n > 0 { c.wrote(to, got.max(0) as usize) }
    }
    fn lgetxattr(path: Text, name: Text, to: *mut c_void, n: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.text(name); c.fills(to) } then |got| {
        if n > 0 { c.wrote(to, got.max(0) as usize) }
    }
    fn fgetxattr(fd: c_int, name: Text, to: *mut c_void, n: usize) -> isize, |c| { c.looks_outside(); c.text(name); c.fills(to) } then |got| {
        if n > 0 { c.wrote(to, got.max(0) as usize) }
    }
    fn listxattr(path: Text, to: Room, n: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |got| {
        if n > 0 { c.wrote(to, got.max(0) as usize) }
    }
    fn llistxattr(path: Text, to: Room, n: usize) -> isize, |c| { c.looks_outside(); c.text(path); c.fills(to) } then |got| {
        if n > 0 { c.wrote(to, got.max(0) as usize) }
    }
    fn flistxattr(fd: c_int, to: Room, n: usize) -> isize, |c| { c.looks_outside(); c.fills(to) } then |got| {
        if n > 0 { c.wrote(to, got.max(0) as usize) }
    }
}

unsafe fn opens(t: Current, pc: usize, path: Text) {
    // SAFETY: the caller's string.
    unsafe { Call::new(t, pc).text(path) };
}

/// Opens a file with `real`, which may create it.
unsafe fn opens_named(
    t: Current,
    pc: usize,
    path: Text,
    (at, flags): (c_int, c_int),
    real: impl FnOnce() -> c_int,
) -> c_int {
    let mut c = Call::new(t, pc);
    // SAFETY: the caller's string.
    unsafe {
        c.text(path);
        channel::file_event(t);
        let fifo = Opening::new(t, at, path, flags);
        if flags & libc::O_CREAT != 0 && fifo.is_of_file() {
            c.changes_name(path);
        }
        let fd = real();
        c.saw_name(path);
        if fd >= 0 {
            fifo.done(t);
        }
        fd
    }
}

/// An explored program opens a file. A file opened only for reading concerns only this process.
unsafe fn opens_by(path: Text, flags: c_int, pc: usize) {
    // SAFETY: the caller's string.
    unsafe { explore::reads_file(path) };
    match flags & (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) {
        libc::O_RDONLY => {
            explore::retry_with_fork(Outside::File);
            explore::looks_outside(pc);
        }
        _ => explore::changes_outside(pc),
    }
}

/// The flags of `creat`.
const CREATES: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

interpose! {
    fn open(path: Text, flags: c_int, mode: u32) -> c_int, |t, pc, real| {
        opens_named(t, pc, path, (libc::AT_FDCWD, flags), || real(path, flags, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path);
        if explore::is_running() && let Some(ends) = Ends::new(libc::AT_FDCWD, path, flags) {
            return explore::fifo::open(ends, flags, pc, |flags| real(path, flags, mode));
        }
        opens_by(path, flags, pc);
        real(path, flags, mode)
    }
    fn open64(path: Text, flags: c_int, mode: u32) -> c_int, |t, pc, real| {
        opens_named(t, pc, path, (libc::AT_FDCWD, flags), || real(path, flags, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path);
        if explore::is_running() && let Some(ends) = Ends::new(libc::AT_FDCWD, path, flags) {
            return explore::fifo::open(ends, flags, pc, |flags| real(path, flags, mode));
        }
        opens_by(path, flags, pc);
        real(path, flags, mode)
    }
    fn openat(at: c_int, path: Text, flags: c_int, mode: u32) -> c_int, |t, pc, real| {
        opens_named(t, pc, path, (at, flags), || real(at, path, flags, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path);
        if explore::is_running() && let Some(ends) = Ends::new(at, path, flags) {
            return explore::fifo::open(ends, flags, pc, |flags| real(at, path, flags, mode));
        }
        opens_by(path, flags, pc);
        real(at, path, flags, mode)
    }
    fn creat(path: Text, mode: u32) -> c_int, |t, pc, real| {
        opens_named(t, pc, path, (libc::AT_FDCWD, CREATES), || real(path, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path);
        if explore::is_running() && let Some(ends) = Ends::new(libc::AT_FDCWD, path, CREATES) {
            return explore::fifo::open(ends, CREATES, pc, |flags| open_by_name(path, flags, mode));
        }
        explore::changes_outside(pc);
        real(path, mode)
    }
    fn creat64(path: Text, mode: u32) -> c_int, |t, pc, real| {
        opens_named(t, pc, path, (libc::AT_FDCWD, CREATES), || real(path, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path);
        if explore::is_running() && let Some(ends) = Ends::new(libc::AT_FDCWD, path, CREATES) {
            return explore::fifo::open(ends, CREATES, pc, |flags| open_by_name(path, flags, mode));
        }
        explore::changes_outside(pc);
        real(path, mode)
    }
}
