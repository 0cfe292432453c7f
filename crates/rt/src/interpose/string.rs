//! String functions that gcc leaves as calls. Each reads what it must look at, and no more: how far a comparison looks is
//! found by looking.

use core::ffi::{c_char, c_int, c_void};

use super::interpose;
use super::memory::{reads, writes};
use crate::detect::thread::Thread;

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
    } record as detect, tsvd real, explore real
    fn strnlen(s: Text, most: usize) -> usize, |t, pc, real| {
        let n = real(s, most);
        reads(t, pc, s.cast(), (n + 1).min(most));
        n
    } record as detect, tsvd real, explore real
    fn strcpy(to: Text, from: Text) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), n + 1);
        real(to, from)
    } record as detect, tsvd real, explore real
    fn stpcpy(to: Text, from: Text) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), n + 1);
        real(to, from)
    } record as detect, tsvd real, explore real
    fn strncpy(to: Text, from: Text, n: usize) -> Text, |t, pc, real| {
        reads_within(t, pc, from, n);
        writes(t, pc, to.cast(), n);
        real(to, from, n)
    } record as detect, tsvd real, explore real
    fn strcat(to: Text, from: Text) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_text(t, pc, from));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from)
    } record as detect, tsvd real, explore real
    fn strncat(to: Text, from: Text, most: usize) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_within(t, pc, from, most));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from, most)
    } record as detect, tsvd real, explore real
    fn __strcpy_chk(to: Text, from: Text, room: usize) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), (n + 1).min(room));
        real(to, from, room)
    } record as detect, tsvd real, explore real
    fn __stpcpy_chk(to: Text, from: Text, room: usize) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, from);
        writes(t, pc, to.cast(), (n + 1).min(room));
        real(to, from, room)
    } record as detect, tsvd real, explore real
    fn __strncpy_chk(to: Text, from: Text, n: usize, room: usize) -> Text, |t, pc, real| {
        reads_within(t, pc, from, n);
        writes(t, pc, to.cast(), n.min(room));
        real(to, from, n, room)
    } record as detect, tsvd real, explore real
    fn __strcat_chk(to: Text, from: Text, room: usize) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_text(t, pc, from));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from, room)
    } record as detect, tsvd real, explore real
    fn __strncat_chk(to: Text, from: Text, most: usize, room: usize) -> Text, |t, pc, real| {
        let (at, n) = (reads_text(t, pc, to), reads_within(t, pc, from, most));
        writes(t, pc, to.add(at).cast(), n + 1);
        real(to, from, most, room)
    } record as detect, tsvd real, explore real
    fn strcmp(a: Text, b: Text) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, usize::MAX, false);
        real(a, b)
    } record as detect, tsvd real, explore real
    fn strncmp(a: Text, b: Text, n: usize) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, n, false);
        real(a, b, n)
    } record as detect, tsvd real, explore real
    fn strcasecmp(a: Text, b: Text) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, usize::MAX, true);
        real(a, b)
    } record as detect, tsvd real, explore real
    fn strncasecmp(a: Text, b: Text, n: usize) -> c_int, |t, pc, real| {
        compares(t, pc, a, b, n, true);
        real(a, b, n)
    } record as detect, tsvd real, explore real
    fn strchr(s: Text, c: c_int) -> Text, |t, pc, real| {
        let found = real(s, c);
        let n = if found.is_null() { length(s) } else { found as usize - s as usize };
        reads(t, pc, s.cast(), n + 1);
        found
    } record as detect, tsvd real, explore real
    fn strchrnul(s: Text, c: c_int) -> Text, |t, pc, real| {
        let found = real(s, c);
        reads(t, pc, s.cast(), found as usize - s as usize + 1);
        found
    } record as detect, tsvd real, explore real
    fn strrchr(s: Text, c: c_int) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        real(s, c)
    } record as detect, tsvd real, explore real
    fn strstr(s: Text, what: Text) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        reads_text(t, pc, what);
        real(s, what)
    } record as detect, tsvd real, explore real
    fn strcasestr(s: Text, what: Text) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        reads_text(t, pc, what);
        real(s, what)
    } record as detect, tsvd real, explore real
    fn strspn(s: Text, set: Text) -> usize, |t, pc, real| {
        let n = real(s, set);
        reads(t, pc, s.cast(), n + 1);
        n
    } record as detect, tsvd real, explore real
    fn strcspn(s: Text, set: Text) -> usize, |t, pc, real| {
        let n = real(s, set);
        reads(t, pc, s.cast(), n + 1);
        n
    } record as detect, tsvd real, explore real
    fn strpbrk(s: Text, set: Text) -> Text, |t, pc, real| {
        reads_text(t, pc, s);
        real(s, set)
    } record as detect, tsvd real, explore real
    fn strdup(s: Text) -> Text, |t, pc, real| {
        let n = reads_text(t, pc, s);
        let copy = super::alloc::malloc(n + 1, pc);
        if !copy.is_null() {
            super::memory::real_memcpy(copy as usize, s as usize, n + 1);
        }
        copy.cast()
    } record as detect, tsvd real, explore real
    fn strndup(s: Text, most: usize) -> Text, |t, pc, real| {
        let n = reads_within(t, pc, s, most);
        let copy = super::alloc::malloc(n + 1, pc).cast::<c_char>();
        if !copy.is_null() {
            super::memory::real_memcpy(copy as usize, s as usize, n);
            *copy.add(n) = 0;
        }
        copy
    } record as detect, tsvd real, explore real
    fn atoi(s: Text) -> c_int, |t, pc, real| {
        reads_text(t, pc, s);
        real(s)
    } record as detect, tsvd real, explore real
    fn strtol(s: Text, end: *mut Text, base: c_int) -> i64, |t, pc, real| {
        reads_text(t, pc, s);
        if !end.is_null() {
            writes(t, pc, end.cast::<c_void>(), size_of::<Text>());
        }
        real(s, end, base)
    } record as detect, tsvd real, explore real
}
