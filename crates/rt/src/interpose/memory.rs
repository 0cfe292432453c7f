//! Bytes in memory: the functions that gcc does not inline, and mappings.

use core::ffi::{c_int, c_void};

use super::access::{Call, accesses, looks};
use super::{Real, interpose};
use crate::detect::thread::Current;
use crate::detect::{objects, range};
use crate::explore;
use crate::hub::modules;
use crate::trace;

type Pointer = *mut c_void;

macro_rules! real {
    ($($function:ident $name:literal),*) => {$(
        /// The C library's own function.
        #[inline]
        pub unsafe fn $function(a: usize, b: usize, n: usize) -> usize {
            static REAL: Real = Real::new($name, None);
            // SAFETY: the function of that name takes three words and returns one; the call is the
            // caller's.
            unsafe { core::mem::transmute::<usize, unsafe extern "C" fn(usize, usize, usize) -> usize>(REAL.get())(a, b, n) }
        }
    )*};
}
real!(real_memcpy c"memcpy", real_memmove c"memmove", real_memset c"memset");

/// A mapping is new: nothing in it was ever touched.
fn mapped(p: Pointer, n: usize) {
    if p as isize != -1 {
        range::clear(p as usize, n);
        objects::remove_range(p as usize, n);
    }
}

accesses! {
    fn memcpy(to: Pointer, from: Pointer, n: usize) -> Pointer, |c| { c.reads(from, n); c.writes(to, n) }
    fn mempcpy(to: Pointer, from: Pointer, n: usize) -> Pointer, |c| { c.reads(from, n); c.writes(to, n) }
    fn __mempcpy(to: Pointer, from: Pointer, n: usize) -> Pointer, |c| { c.reads(from, n); c.writes(to, n) }
    fn memmove(to: Pointer, from: Pointer, n: usize) -> Pointer, |c| { c.reads(from, n); c.writes(to, n) }
    fn memset(to: Pointer, byte: c_int, n: usize) -> Pointer, |c| { c.writes(to, n) }
    fn bcopy(from: Pointer, to: Pointer, n: usize), |c| { c.reads(from, n); c.writes(to, n) }
    fn bzero(to: Pointer, n: usize), |c| { c.writes(to, n) }
    fn __bzero(to: Pointer, n: usize), |c| { c.writes(to, n) }
    fn explicit_bzero(to: Pointer, n: usize), |c| { c.writes(to, n) }
    fn __explicit_bzero_chk(to: Pointer, n: usize, room: usize), |c| { c.writes(to, n.min(room)) }
    fn swab(from: Pointer, to: Pointer, n: isize), |c| {
        let whole = n.max(0) as usize & !1;
        c.reads(from, whole);
        c.writes(to, whole)
    }
    fn memccpy(to: Pointer, from: Pointer, until: c_int, n: usize) -> Pointer, |c| { c.fills(to) } then |end| {
        let n = if end.is_null() { n } else { end as usize - to as usize };
        c.has_read(from, n);
        c.wrote(to, n)
    }
    fn __memcpy_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |c| {
        c.reads(from, n.min(room));
        c.writes(to, n.min(room))
    }
    fn __mempcpy_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |c| {
        c.reads(from, n.min(room));
        c.writes(to, n.min(room))
    }
    fn __memmove_chk(to: Pointer, from: Pointer, n: usize, room: usize) -> Pointer, |c| {
        c.reads(from, n.min(room));
        c.writes(to, n.min(room))
    }
    fn __memset_chk(to: Pointer, byte: c_int, n: usize, room: usize) -> Pointer, |c| { c.writes(to, n.min(room)) }
    fn qsort(array: Pointer, n: usize, size: usize, compare: usize), |c| { sorts(&mut c, array, n, size) }
    fn qsort_r(array: Pointer, n: usize, size: usize, compare: usize, with: Pointer), |c| { sorts(&mut c, array, n, size) }
}

/// Whether elements move depends on the comparisons and on the C library's algorithm.
fn sorts(c: &mut Call, array: Pointer, n: usize, size: usize) {
    if n > 1 {
        c.writes(array, n.saturating_mul(size));
    }
}

looks! {
    fn memcmp(a: Pointer, b: Pointer, n: usize) -> c_int, |c, _r| { c.reads(a, n); c.reads(b, n) }
    fn bcmp(a: Pointer, b: Pointer, n: usize) -> c_int, |c, _r| { c.reads(a, n); c.reads(b, n) }
    fn memchr(p: Pointer, byte: c_int, n: usize) -> Pointer, |c, found| {
        c.reads(p, if found.is_null() { n } else { found as usize - p as usize + 1 })
    }
    fn rawmemchr(p: Pointer, byte: c_int) -> Pointer, |c, found| { c.reads(p, found as usize - p as usize + 1) }
    fn memrchr(p: Pointer, byte: c_int, n: usize) -> Pointer, |c, found| {
        let at = if found.is_null() { p } else { found };
        c.reads(at, n - (at as usize - p as usize))
    }
    fn memmem(p: Pointer, n: usize, what: Pointer, m: usize) -> Pointer, |c, found| {
        c.reads(p, if found.is_null() { n } else { found as usize - p as usize + m });
        c.reads(what, m)
    }
}

/// [`mapped`] for a mapping that the program asks for. A small one counts as written by the thread
/// that made it, like a heap block: a thread that gets its address without order may find nothing
/// there.
fn mapped_for(mut t: Current, p: Pointer, n: usize, pc: usize) {
    mapped(p, n);
    if p as isize != -1 && modules::is_instrumented(pc) {
        let _inside = t.enter();
        range::fresh(&mut t, p as usize, n, pc);
    }
}

/// True if `madvise` with this advice replaces the contents of the memory, or may.
fn empties(advice: c_int) -> bool {
    !matches!(
        advice,
        libc::MADV_NORMAL
            | libc::MADV_RANDOM
            | libc::MADV_SEQUENTIAL
            | libc::MADV_WILLNEED
            | libc::MADV_DONTFORK
            | libc::MADV_DOFORK
            | libc::MADV_MERGEABLE
            | libc::MADV_UNMERGEABLE
            | libc::MADV_HUGEPAGE
            | libc::MADV_NOHUGEPAGE
            | libc::MADV_DONTDUMP
            | libc::MADV_DODUMP
            | libc::MADV_COLD
            | libc::MADV_PAGEOUT
            | libc::MADV_POPULATE_READ
            | libc::MADV_POPULATE_WRITE
            | libc::MADV_COLLAPSE
    )
}

interpose! {
    fn mmap(at: Pointer, n: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> Pointer, |t, pc, real| {
        let p = real(at, n, prot, flags, fd, offset);
        mapped_for(t, p, n, pc);
        p
    } record as detect, tsvd real, explore {
        explore::mapping(at as usize, n, flags, pc);
        let p = real(at, n, prot, flags, fd, offset);
        explore::mapped(p as usize, n);
        p
    }
    fn mmap64(at: Pointer, n: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> Pointer, |t, pc, real| {
        let p = real(at, n, prot, flags, fd, offset);
        mapped_for(t, p, n, pc);
        p
    } record as detect, tsvd real, explore {
        explore::mapping(at as usize, n, flags, pc);
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
        explore::unmapping(at as usize, n, pc);
        real(at, n)
    }
    fn mprotect(at: Pointer, n: usize, prot: c_int) -> c_int, |t, pc, real| { real(at, n, prot) } record as detect, tsvd real, explore {
        explore::protecting(at as usize, n, pc);
        real(at, n, prot)
    }
    /// Would bring in all of the shadow memory, which is many times the size of the machine's.
    fn mlockall(flags: c_int) -> c_int, |t, pc, real| { 0 } record as detect, tsvd as detect, explore { 0 }
    fn munlockall() -> c_int, |t, pc, real| { 0 } record as detect, tsvd as detect, explore { 0 }
    /// Advice that empties pages is a write to all of them.
    fn madvise(at: Pointer, n: usize, advice: c_int) -> c_int, |t, pc, real| { real(at, n, advice) } record as detect, tsvd real, explore {
        if empties(advice) {
            explore::replacing(at as usize, n, pc);
        }
        real(at, n, advice)
    }
    fn mremap(old: Pointer, old_size: usize, size: usize, flags: c_int, at: Pointer) -> Pointer, |t, pc, real| {
        let p = real(old, old_size, size, flags, at);
        if p as isize != -1 && p != old {
            range::clear(old as usize, old_size);
            mapped(p, size);
        }
        p
    } record as detect, tsvd real, explore {
        if old_size == 0 {
            explore::mapping_again();
        } else {
            explore::unmapping(old as usize, old_size, pc);
        }
        let p = real(old, old_size, size, flags, at);
        explore::mapped(p as usize, size);
        p
    }
}
