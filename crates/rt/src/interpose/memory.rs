//! Memory functions that gcc leaves as calls, and mappings.

use core::ffi::{c_int, c_void};

use super::{Real, interpose};
use crate::detect::thread::Thread;
use crate::detect::{objects, range};
use crate::explore;
use crate::hub::modules;
use crate::trace;

type Pointer = *mut c_void;

macro_rules! real {
    ($($function:ident $name:literal),*) => {$(
        /// The C library's own.
        #[inline]
        pub unsafe fn $function(a: usize, b: usize, n: usize) -> usize {
            static REAL: Real = Real::new($name, None);
            // SAFETY: the function of that name takes three words and returns one; the call is the caller's.
            unsafe { core::mem::transmute::<usize, unsafe extern "C" fn(usize, usize, usize) -> usize>(REAL.get())(a, b, n) }
        }
    )*};
}
real!(real_memcpy c"memcpy", real_memmove c"memmove", real_memset c"memset");

/// The call at `pc` reads memory.
#[inline]
pub fn reads(t: &mut Thread, pc: usize, p: *const c_void, n: usize) {
    if n > 0 && modules::is_judged(pc) {
        range::access::<false>(t, p as usize, n, pc);
    }
}

/// The call at `pc` writes memory.
#[inline]
pub fn writes(t: &mut Thread, pc: usize, p: *const c_void, n: usize) {
    if n > 0 && modules::is_judged(pc) {
        range::access::<true>(t, p as usize, n, pc);
    }
}

/// A mapping is new: nothing in it was ever touched.
fn mapped(p: Pointer, n: usize) {
    if p as isize != -1 {
        range::clear(p as usize, n);
        objects::remove_range(p as usize, n);
    }
}

interpose! {
    fn memcpy(to: Pointer, from: Pointer, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n);
        writes(t, pc, to, n);
        real(to, from, n)
    } record as detect, tsvd real, explore as detect
    fn mempcpy(to: Pointer, from: Pointer, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n);
        writes(t, pc, to, n);
        real(to, from, n)
    } record as detect, tsvd real, explore as detect
    fn memmove(to: Pointer, from: Pointer, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n);
        writes(t, pc, to, n);
        real(to, from, n)
    } record as detect, tsvd real, explore as detect
    fn memset(to: Pointer, byte: c_int, n: usize) -> Pointer, |t, pc, real| {
        writes(t, pc, to, n);
        real(to, byte, n)
    } record as detect, tsvd real, explore as detect
    fn __memcpy_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n.min(room));
        writes(t, pc, to, n.min(room));
        real(to, from, n, room)
    } record as detect, tsvd real, explore as detect
    fn __mempcpy_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n.min(room));
        writes(t, pc, to, n.min(room));
        real(to, from, n, room)
    } record as detect, tsvd real, explore as detect
    fn __memmove_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n.min(room));
        writes(t, pc, to, n.min(room));
        real(to, from, n, room)
    } record as detect, tsvd real, explore as detect
    fn __memset_chk(to: Pointer, byte: c_int, n: usize, room: usize) -> Pointer, |t, pc, real| {
        writes(t, pc, to, n.min(room));
        real(to, byte, n, room)
    } record as detect, tsvd real, explore as detect
    fn memcmp(a: Pointer, b: Pointer, n: usize) -> c_int, |t, pc, real| {
        reads(t, pc, a, n);
        reads(t, pc, b, n);
        real(a, b, n)
    } record as detect, tsvd real, explore as detect
    fn bcmp(a: Pointer, b: Pointer, n: usize) -> c_int, |t, pc, real| {
        reads(t, pc, a, n);
        reads(t, pc, b, n);
        real(a, b, n)
    } record as detect, tsvd real, explore as detect
    fn memchr(p: Pointer, byte: c_int, n: usize) -> Pointer, |t, pc, real| {
        let found = real(p, byte, n);
        reads(t, pc, p, if found.is_null() { n } else { found as usize - p as usize + 1 });
        found
    } record as detect, tsvd real, explore as detect
    fn memrchr(p: Pointer, byte: c_int, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, p, n);
        real(p, byte, n)
    } record as detect, tsvd real, explore as detect

    fn mmap(at: Pointer, n: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> Pointer, |t, pc, real| {
        let p = real(at, n, prot, flags, fd, offset);
        mapped(p, n);
        p
    } record as detect, tsvd real, explore {
        explore::mapping(flags);
        let p = real(at, n, prot, flags, fd, offset);
        explore::mapped(p as usize, n);
        p
    }
    fn mmap64(at: Pointer, n: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> Pointer, |t, pc, real| {
        let p = real(at, n, prot, flags, fd, offset);
        mapped(p, n);
        p
    } record as detect, tsvd real, explore {
        explore::mapping(flags);
        let p = real(at, n, prot, flags, fd, offset);
        explore::mapped(p as usize, n);
        p
    }
    fn munmap(at: Pointer, n: usize) -> c_int, |t, pc, real| {
        range::clear(at as usize, n);
        objects::remove_range(at as usize, n);
        real(at, n)
    } record as detect, tsvd real, explore {
        trace::settle();
        explore::unmapping(at as usize, n);
        real(at, n)
    }
    fn mremap(old: Pointer, old_size: usize, size: usize, flags: c_int, at: Pointer) -> Pointer, |t, pc, real| {
        let p = real(old, old_size, size, flags, at);
        if p as isize != -1 && p != old {
            range::clear(old as usize, old_size);
            mapped(p, size);
        }
        p
    } record as detect, tsvd real, explore {
        explore::retry_with_fork(raddle_wire::explore::outside::MAPPING);
        real(old, old_size, size, flags, at)
    }
}
