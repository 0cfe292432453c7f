//! Memory functions that gcc leaves as calls, and mappings.

use core::ffi::{c_int, c_void};

use super::{Real, interpose};
use crate::detect::thread::{Thread, current};
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

/// The call at `pc` copies, in an explored program. It is traced, and a scheduling point where one is wanted.
#[inline]
fn copies(to: Pointer, from: Pointer, n: usize, pc: usize) {
    reads(current(), pc, from, n);
    writes(current(), pc, to, n);
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
    } explore {
        copies(to, from, n, pc);
        real(to, from, n)
    }
    fn mempcpy(to: Pointer, from: Pointer, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n);
        writes(t, pc, to, n);
        real(to, from, n)
    } explore {
        copies(to, from, n, pc);
        real(to, from, n)
    }
    fn memmove(to: Pointer, from: Pointer, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n);
        writes(t, pc, to, n);
        real(to, from, n)
    } explore {
        copies(to, from, n, pc);
        real(to, from, n)
    }
    fn memset(to: Pointer, byte: c_int, n: usize) -> Pointer, |t, pc, real| {
        writes(t, pc, to, n);
        real(to, byte, n)
    } explore {
        writes(current(), pc, to, n);
        real(to, byte, n)
    }
    fn __memcpy_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n.min(room));
        writes(t, pc, to, n.min(room));
        real(to, from, n, room)
    } explore {
        copies(to, from, n.min(room), pc);
        real(to, from, n, room)
    }
    fn __mempcpy_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n.min(room));
        writes(t, pc, to, n.min(room));
        real(to, from, n, room)
    } explore {
        copies(to, from, n.min(room), pc);
        real(to, from, n, room)
    }
    fn __memmove_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, from, n.min(room));
        writes(t, pc, to, n.min(room));
        real(to, from, n, room)
    } explore {
        copies(to, from, n.min(room), pc);
        real(to, from, n, room)
    }
    fn __memset_chk(to: Pointer, byte: c_int, n: usize, room: usize) -> Pointer, |t, pc, real| {
        writes(t, pc, to, n.min(room));
        real(to, byte, n, room)
    } explore {
        writes(current(), pc, to, n.min(room));
        real(to, byte, n, room)
    }
    fn memcmp(a: Pointer, b: Pointer, n: usize) -> c_int, |t, pc, real| {
        reads(t, pc, a, n);
        reads(t, pc, b, n);
        real(a, b, n)
    }
    fn bcmp(a: Pointer, b: Pointer, n: usize) -> c_int, |t, pc, real| {
        reads(t, pc, a, n);
        reads(t, pc, b, n);
        real(a, b, n)
    }
    fn memchr(p: Pointer, byte: c_int, n: usize) -> Pointer, |t, pc, real| {
        let found = real(p, byte, n);
        reads(t, pc, p, if found.is_null() { n } else { found as usize - p as usize + 1 });
        found
    }
    fn memrchr(p: Pointer, byte: c_int, n: usize) -> Pointer, |t, pc, real| {
        reads(t, pc, p, n);
        real(p, byte, n)
    }

    fn mmap(at: Pointer, n: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> Pointer, |t, pc, real| {
        let p = real(at, n, prot, flags, fd, offset);
        mapped(p, n);
        p
    } explore {
        explore::mapping(flags);
        let p = real(at, n, prot, flags, fd, offset);
        explore::mapped(p as usize, n);
        p
    }
    fn mmap64(at: Pointer, n: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> Pointer, |t, pc, real| {
        let p = real(at, n, prot, flags, fd, offset);
        mapped(p, n);
        p
    } explore {
        explore::mapping(flags);
        let p = real(at, n, prot, flags, fd, offset);
        explore::mapped(p as usize, n);
        p
    }
    fn munmap(at: Pointer, n: usize) -> c_int, |t, pc, real| {
        range::clear(at as usize, n);
        objects::remove_range(at as usize, n);
        real(at, n)
    } explore {
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
    } explore {
        explore::retry_with_fork(raddle_wire::explore::outside::MAPPING);
        real(old, old_size, size, flags, at)
    }
}
