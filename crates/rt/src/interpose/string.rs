//! String functions that gcc leaves as calls. Each reads what it must look at, and no more: how far a comparison looks is
//! found by looking.

use core::ffi::{c_char, c_int, c_void};

use super::interpose;
use super::memory::{reads, writes};
use crate::detect::thread::{Thread, current};

type Text = *mut c_char;

unsafe fn length(s: *const c_char) -> usize {
    let mut n = 0;
    // SAFETY: a string ends in zero.
    while unsafe { *s.add(n) } != 0 {
        n += 1;
    }
    n
}

unsafe fn length_within(s: *const c_char, most: usize) -> usize {
    let mut n = 0;
    // SAFETY: no more than `most` bytes are looked at.
    while n < most && unsafe { *s.add(n) } != 0 {
        n += 1;
    }
    n
}

/// The string with its zero.
unsafe fn reads_text(t: &mut Thread, pc: usize, s: *const c_char) -> usize {
    // SAFETY: the caller's string.
    let n = unsafe { length(s) };
    reads(t, pc, s.cast(), n + 1);
    n
}

unsafe fn reads_within(t: &mut Thread, pc: usize, s: *const c_char, most: usize) -> usize {
    // SAFETY: the caller's string.
    let n = unsafe { length_within(s, most) };
    reads(t, pc, s.cast(), (n + 1).min(most));
    n
}

/// Two strings, as far as a comparison of at most `most` bytes must look.
unsafe fn compares(t: &mut Thread, pc: usize, a: Text, b: Text, most: usize, fold: bool) {
    let lower = |c: c_char| if fold { (c as u8).to_ascii_lowercase() } else { c as u8 };
    let mut n = 0;
    // SAFETY: neither string is looked at behind its zero, or behind `most`.
    unsafe {
        while n < most && *a.add(n) != 0 && lower(*a.add(n)) == lower(*b.add(n)) {
            n += 1;
        }
    }
    reads(t, pc, a.cast(), (n + 1).min(most));
    reads(t, pc, b.cast(), (n + 1).min(most));
}

interpose! {
    fn strlen(s: Text) -> usize, |t, pc, real| {
        let n = real(s);
        reads(t, pc, s.cast(), n + 1);
        n
    } explore {
        let n = real(s);
        reads(current(), pc, s.cast(), n + 1);
        n
    }
    fn strnlen(s: Text, most: usize) -> usize, |t, pc, real| {
        let n = real(s, most);
        reads(t, pc, s.cast(), (n + 1).min(most));
        n
    }
    fn strcpy(to: Text, from: Text) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), n + 1);
        real(to, from)
    } explore {
        let n = reads_text(current(), pc, from);
        writes(current(), pc, to.cast(), n + 1);
        real(to, from)
    }
    fn stpcpy(to: Text, from: Text) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), n + 1);
        real(to, from)
    } explore {
        let n = reads_text(current(), pc, from);
        writes(current(), pc, to.cast(), n + 1);
        real(to, from)
    }
    fn strncpy(to: Text, from: Text, n: usize) -> Text, |t, pc, real| {
        reads_within(t, pc, from, n);
        writes(t, pc, to.cast(), n);
        real(to, from, n)
    } explore {
        reads_within(current(), pc, from, n);
        writes(current(), pc, to.cast(), n);
        real(to, from, n)
    }
    fn strcat(to: Text, from: Text) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_text(t, pc, from));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from)
    } explore {
        let (at, n) = (reads_text(current(), pc, to), reads_text(current(), pc, from));
        writes(current(), pc, to.add(at).cast(), n + 1);
        real(to, from)
    }
    fn strncat(to: Text, from: Text, most: usize) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_within(t, pc, from, most));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from, most)
    } explore {
        let (at, n) = (reads_text(current(), pc, to), reads_within(current(), pc, from, most));
        writes(current(), pc, to.add(at).cast(), n + 1);
        real(to, from, most)
    }
    fn __strcpy_chk(to: Text, from: Text, room: usize) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), (n + 1).min(room));
        real(to, from, room)
    } explore {
        let n = reads_text(current(), pc, from);
        writes(current(), pc, to.cast(), (n + 1).min(room));
        real(to, from, room)
    }
    fn __stpcpy_chk(to: Text, from: Text, room: usize) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), (n + 1).min(room));
        real(to, from, room)
    } explore {
        let n = reads_text(current(), pc, from);
        writes(current(), pc, to.cast(), (n + 1).min(room));
        real(to, from, room)
    }
    fn __strncpy_chk(to: Text, from: Text, n: usize, room: usize) -> Text, |t, pc, real| {
        reads_within(t, pc, from, n);
        writes(t, pc, to.cast(), n.min(room));
        real(to, from, n, room)
    } explore {
        reads_within(current(), pc, from, n);
        writes(current(), pc, to.cast(), n.min(room));
        real(to, from, n, room)
    }
    fn __strcat_chk(to: Text, from: Text, room: usize) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_text(t, pc, from));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from, room)
    } explore {
        let (at, n) = (reads_text(current(), pc, to), reads_text(current(), pc, from));
        writes(current(), pc, to.add(at).cast(), n + 1);
        real(to, from, room)
    }
    fn __strncat_chk(to: Text, from: Text, most: usize, room: usize) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_within(t, pc, from, most));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from, most, room)
    } explore {
        let (at, n) = (reads_text(current(), pc, to), reads_within(current(), pc, from, most));
        writes(current(), pc, to.add(at).cast(), n + 1);
        real(to, from, most, room)
    }
    fn strcmp(a: Text, b: Text) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, usize::MAX, false);
        real(a, b)
    } explore {
        compares(current(), pc, a, b, usize::MAX, false);
        real(a, b)
    }
    fn strncmp(a: Text, b: Text, n: usize) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, n, false);
        real(a, b, n)
    } explore {
        compares(current(), pc, a, b, n, false);
        real(a, b, n)
    }
    fn strcasecmp(a: Text, b: Text) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, usize::MAX, true);
        real(a, b)
    }
    fn strncasecmp(a: Text, b: Text, n: usize) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, n, true);
        real(a, b, n)
    }
    fn strchr(s: Text, c: c_int) -> Text, |t, pc, real| {
        let found = real(s, c);
        let n = if found.is_null() { length(s) } else { found as usize - s as usize };
        reads(t, pc, s.cast(), n + 1);
        found
    }
    fn strchrnul(s: Text, c: c_int) -> Text, |t, pc, real| {
        let found = real(s, c);
        reads(t, pc, s.cast(), found as usize - s as usize + 1);
        found
    }
    fn strrchr(s: Text, c: c_int) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        real(s, c)
    }
    fn strstr(s: Text, what: Text) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        reads_text(t, pc, what);
        real(s, what)
    }
    fn strcasestr(s: Text, what: Text) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        reads_text(t, pc, what);
        real(s, what)
    }
    fn strspn(s: Text, set: Text) -> usize, |t, pc, real| {
        let n = real(s, set);
        reads(t, pc, s.cast(), n + 1);
        n
    }
    fn strcspn(s: Text, set: Text) -> usize, |t, pc, real| {
        let n = real(s, set);
        reads(t, pc, s.cast(), n + 1);
        n
    }
    fn strpbrk(s: Text, set: Text) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        real(s, set)
    }
    fn strdup(s: Text) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, s);
        let copy = super::alloc::malloc(n + 1, pc);
        if !copy.is_null() {
            super::memory::real_memcpy(copy as usize, s as usize, n + 1);
        }
        copy.cast()
    }
    fn strndup(s: Text, most: usize) -> Text, |t, pc, real| {
        let n = reads_within(t, pc, s, most);
        let copy = super::alloc::malloc(n + 1, pc).cast::<c_char>();
        if !copy.is_null() {
            super::memory::real_memcpy(copy as usize, s as usize, n);
            *copy.add(n) = 0;
        }
        copy
    }
    fn atoi(s: Text) -> c_int, |t, pc, real| {
        reads_text(t, pc, s);
        real(s)
    }
    fn strtol(s: Text, end: *mut Text, base: c_int) -> i64, |t, pc, real| {
        reads_text(t, pc, s);
        if !end.is_null() {
            writes(t, pc, end.cast::<c_void>(), size_of::<Text>());
        }
        real(s, end, base)
    }
}
