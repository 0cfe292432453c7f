//! Blocks that stdio copies from and to memory. A FILE has a lock of its own; the order it makes is not used. That of a pipe
//! behind it is: what is written, or flushed, happened before what is done by whoever reads it.

use core::ffi::{c_char, c_int, c_void};

use super::descriptor::{forget, received, sending};
use super::interpose;
use super::memory::{reads, writes};
use crate::detect::thread::{Thread, current};

unsafe extern "C" {
    fn fileno_unlocked(file: *mut c_void) -> c_int;
}

/// What the thread did comes before what is read at the other end.
unsafe fn filling(t: &mut Thread, file: *mut c_void) {
    // SAFETY: the caller's FILE. A null pointer means all of them.
    let fd = if file.is_null() { -1 } else { unsafe { fileno_unlocked(file) } };
    if fd >= 0 {
        sending(t, fd);
    }
}

unsafe fn filled(file: *mut c_void) {
    // SAFETY: the caller's FILE.
    let fd = unsafe { fileno_unlocked(file) };
    if fd >= 0 {
        received(current(), fd);
    }
}

interpose! {
    fn fread(to: *mut c_void, size: usize, n: usize, file: *mut c_void) -> usize, |t, pc, real| {
        let got = real(to, size, n, file);
        filled(file);
        writes(t, pc, to, got * size);
        got
    } record as detect, tsvd real, explore real
    fn fwrite(from: *const c_void, size: usize, n: usize, file: *mut c_void) -> usize, |t, pc, real| {
        reads(t, pc, from, size.saturating_mul(n));
        filling(t, file);
        real(from, size, n, file)
    } record as detect, tsvd real, explore real
    fn fgets(to: *mut c_char, n: c_int, file: *mut c_void) -> *mut c_char, |t, pc, real| {
        let got = real(to, n, file);
        filled(file);
        if !got.is_null() {
            let mut len = 0;
            while *got.add(len) != 0 {
                len += 1;
            }
            writes(t, pc, to.cast(), len + 1);
        }
        got
    } record as detect, tsvd real, explore real
    fn getline(line: *mut c_void, n: *mut c_void, file: *mut c_void) -> isize, |t, pc, real| {
        let got = real(line, n, file);
        filled(file);
        got
    } record as detect, tsvd real, explore real
    fn fputs(s: *const c_char, file: *mut c_void) -> c_int, |t, pc, real| {
        filling(t, file);
        real(s, file)
    } record as detect, tsvd real, explore real
    fn fflush(file: *mut c_void) -> c_int, |t, pc, real| {
        filling(t, file);
        real(file)
    } record as detect, tsvd real, explore real
    fn fclose(file: *mut c_void) -> c_int, |t, pc, real| {
        filling(t, file);
        forget(fileno_unlocked(file));
        real(file)
    } record as detect, tsvd real, explore real
    fn freopen(path: *const c_char, mode: *const c_char, file: *mut c_void) -> *mut c_void, |t, pc, real| {
        filling(t, file);
        forget(fileno_unlocked(file));
        real(path, mode, file)
    } record as detect, tsvd real, explore real
    fn puts(s: *const c_char) -> c_int, |t, pc, real| {
        let mut len = 0;
        while *s.add(len) != 0 {
            len += 1;
        }
        reads(t, pc, s.cast(), len + 1);
        real(s)
    } record as detect, tsvd real, explore real
}
