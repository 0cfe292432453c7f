//! Blocks that stdio copies from and to memory. A FILE has a lock of its own; the order it makes is not used.

use core::ffi::{c_char, c_int, c_void};

use super::interpose;
use super::memory::{reads, writes};

interpose! {
    fn fread(to: *mut c_void, size: usize, n: usize, file: *mut c_void) -> usize, |t, pc, real| {
        let got = real(to, size, n, file);
        writes(t, pc, to, got * size);
        got
    }
    fn fwrite(from: *const c_void, size: usize, n: usize, file: *mut c_void) -> usize, |t, pc, real| {
        reads(t, pc, from, size.saturating_mul(n));
        real(from, size, n, file)
    }
    fn fgets(to: *mut c_char, n: c_int, file: *mut c_void) -> *mut c_char, |t, pc, real| {
        let got = real(to, n, file);
        if !got.is_null() {
            let mut len = 0;
            while *got.add(len) != 0 {
                len += 1;
            }
            writes(t, pc, to.cast(), len + 1);
        }
        got
    }
    fn puts(s: *const c_char) -> c_int, |t, pc, real| {
        let mut len = 0;
        while *s.add(len) != 0 {
            len += 1;
        }
        reads(t, pc, s.cast(), len + 1);
        real(s)
    }
}
