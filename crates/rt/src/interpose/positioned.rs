//! Reads and writes at a given file offset. They order like `read` and `write`: whoever reads what
//! was written comes after the writer.

use core::ffi::{c_int, c_void};

use super::access::accesses;
use super::channel::{has_read, writing};
use super::transfer::{gathers, scattered};

accesses! {
    fn pread(fd: c_int, to: *mut c_void, n: usize, at: i64) -> isize, |c| { c.uses_file(fd, false); c.uses(fd); c.fills(to) } then |got| { has_read(fd, got); c.wrote(to, got.max(0) as usize) }
    fn pread64(fd: c_int, to: *mut c_void, n: usize, at: i64) -> isize, |c| { c.uses_file(fd, false); c.uses(fd); c.fills(to) } then |got| { has_read(fd, got); c.wrote(to, got.max(0) as usize) }
    fn __pread_chk(fd: c_int, to: *mut c_void, n: usize, at: i64, room: usize) -> isize, |c| { c.uses_file(fd, false); c.uses(fd); c.fills(to) } then |got| {
        has_read(fd, got);
        c.wrote(to, got.max(0) as usize)
    }
    fn __pread64_chk(fd: c_int, to: *mut c_void, n: usize, at: i64, room: usize) -> isize, |c| { c.uses_file(fd, false); c.uses(fd); c.fills(to) } then |got| {
        has_read(fd, got);
        c.wrote(to, got.max(0) as usize)
    }
    fn pwrite(fd: c_int, from: *const c_void, n: usize, at: i64) -> isize, |c| { c.uses_file(fd, true); c.uses(fd); c.reads(from, n); writing(fd) }
    fn pwrite64(fd: c_int, from: *const c_void, n: usize, at: i64) -> isize, |c| { c.uses_file(fd, true); c.uses(fd); c.reads(from, n); writing(fd) }
    fn preadv(fd: c_int, v: *const libc::iovec, n: c_int, at: i64) -> isize, |c| { c.uses_file(fd, false); c.uses(fd) } then |got| {
        has_read(fd, got);
        scattered(&mut c, v, n.max(0) as usize, got.max(0) as usize)
    }
    fn preadv64(fd: c_int, v: *const libc::iovec, n: c_int, at: i64) -> isize, |c| { c.uses_file(fd, false); c.uses(fd) } then |got| {
        has_read(fd, got);
        scattered(&mut c, v, n.max(0) as usize, got.max(0) as usize)
    }
    fn preadv2(fd: c_int, v: *const libc::iovec, n: c_int, at: i64, flags: c_int) -> isize, |c| { c.uses_file(fd, false); c.uses(fd) } then |got| {
        has_read(fd, got);
        scattered(&mut c, v, n.max(0) as usize, got.max(0) as usize)
    }
    fn preadv64v2(fd: c_int, v: *const libc::iovec, n: c_int, at: i64, flags: c_int) -> isize, |c| { c.uses_file(fd, false); c.uses(fd) } then |got| {
        has_read(fd, got);
        scattered(&mut c, v, n.max(0) as usize, got.max(0) as usize)
    }
    fn pwritev(fd: c_int, v: *const libc::iovec, n: c_int, at: i64) -> isize, |c| {
        c.uses_file(fd, true);
        c.uses(fd);
        gathers(&mut c, v, n.max(0) as usize);
        writing(fd)
    }
    fn pwritev64(fd: c_int, v: *const libc::iovec, n: c_int, at: i64) -> isize, |c| {
        c.uses_file(fd, true);
        c.uses(fd);
        gathers(&mut c, v, n.max(0) as usize);
        writing(fd)
    }
    fn pwritev2(fd: c_int, v: *const libc::iovec, n: c_int, at: i64, flags: c_int) -> isize, |c| {
        c.uses_file(fd, true);
        c.uses(fd);
        gathers(&mut c, v, n.max(0) as usize);
        writing(fd)
    }
    fn pwritev64v2(fd: c_int, v: *const libc::iovec, n: c_int, at: i64, flags: c_int) -> isize, |c| {
        c.uses_file(fd, true);
        c.uses(fd);
        gathers(&mut c, v, n.max(0) as usize);
        writing(fd)
    }
}
