//! Wide strings, and conversions between them and byte strings.

use core::ffi::{c_char, c_int, c_void};

use super::access::{Call, Text, Wide, accesses, looks};
use super::stdio::{filled, filling};

type Room = *mut u32;

const WIDE: usize = size_of::<u32>();

/// Two strings, as far as a comparison of at most `most` characters must look.
unsafe fn compares(c: &mut Call, a: Wide, b: Wide, most: usize) {
    let mut n = 0;
    // SAFETY: neither string is read past its zero, or past `most`.
    unsafe {
        while n < most && *a.add(n) != 0 && *a.add(n) == *b.add(n) {
            n += 1;
        }
    }
    c.reads(a, (n + 1).min(most) * WIDE);
    c.reads(b, (n + 1).min(most) * WIDE);
}

unsafe fn looks_for(c: &mut Call, s: Wide, found: Wide, size: usize) {
    if found.is_null() {
        // SAFETY: the caller's string.
        unsafe { c.wide(s) };
    } else {
        c.reads(s, found as usize - s as usize + size * WIDE);
    }
}

looks! {
    fn wcslen(s: Wide) -> usize, |c, n| { c.reads(s, (n + 1) * WIDE) }
    fn wcsnlen(s: Wide, most: usize) -> usize, |c, n| { c.reads(s, (n + 1).min(most) * WIDE) }
    fn wcscmp(a: Wide, b: Wide) -> c_int, |c, _r| { compares(&mut c, a, b, usize::MAX >> 2) }
    fn wcsncmp(a: Wide, b: Wide, n: usize) -> c_int, |c, _r| { compares(&mut c, a, b, n) }
    fn wcscoll(a: Wide, b: Wide) -> c_int, |c, _r| { c.wide(a); c.wide(b); }
    fn wcschr(s: Wide, what: u32) -> Wide, |c, found| { looks_for(&mut c, s, found, 1) }
    fn wcschrnul(s: Wide, what: u32) -> Wide, |c, found| { looks_for(&mut c, s, found, 1) }
    fn wcsrchr(s: Wide, what: u32) -> Wide, |c, _r| { c.wide(s); }
    fn wcsstr(s: Wide, what: Wide) -> Wide, |c, found| { let n = c.wide(what); looks_for(&mut c, s, found, n) }
    fn wcspbrk(s: Wide, set: Wide) -> Wide, |c, found| { c.wide(set); looks_for(&mut c, s, found, 1) }
    fn wcsspn(s: Wide, set: Wide) -> usize, |c, n| { c.wide(set); c.reads(s, (n + 1) * WIDE) }
    fn wcscspn(s: Wide, set: Wide) -> usize, |c, n| { c.wide(set); c.reads(s, (n + 1) * WIDE) }
    fn wmemchr(s: Wide, what: u32, n: usize) -> Wide, |c, found| {
        c.reads(s, if found.is_null() { n * WIDE } else { found as usize - s as usize + WIDE })
    }
    fn wmemcmp(a: Wide, b: Wide, n: usize) -> c_int, |c, _r| { c.reads(a, n * WIDE); c.reads(b, n * WIDE) }
}

accesses! {
    fn wcscpy(to: Room, from: Wide) -> Room, |c| { let n = c.wide(from); c.writes(to, (n + 1) * WIDE) }
    fn wcpcpy(to: Room, from: Wide) -> Room, |c| { let n = c.wide(from); c.writes(to, (n + 1) * WIDE) }
    fn wcsncpy(to: Room, from: Wide, n: usize) -> Room, |c| { c.wide_within(from, n); c.writes(to, n * WIDE) }
    fn wcpncpy(to: Room, from: Wide, n: usize) -> Room, |c| { c.wide_within(from, n); c.writes(to, n * WIDE) }
    fn wcscat(to: Room, from: Wide) -> Room, |c| {
        let (at, n) = (c.wide(to), c.wide(from));
        c.writes(to.wrapping_add(at), (n + 1) * WIDE)
    }
    fn wcsncat(to: Room, from: Wide, most: usize) -> Room, |c| {
        let (at, n) = (c.wide(to), c.wide_within(from, most));
        c.writes(to.wrapping_add(at), (n + 1) * WIDE)
    }
    fn wmemcpy(to: Room, from: Wide, n: usize) -> Room, |c| { c.reads(from, n * WIDE); c.writes(to, n * WIDE) }
    fn wmempcpy(to: Room, from: Wide, n: usize) -> Room, |c| { c.reads(from, n * WIDE); c.writes(to, n * WIDE) }
    fn wmemmove(to: Room, from: Wide, n: usize) -> Room, |c| { c.reads(from, n * WIDE); c.writes(to, n * WIDE) }
    fn wmemset(to: Room, what: u32, n: usize) -> Room, |c| { c.writes(to, n * WIDE) }
    fn __wcscpy_chk(to: Room, from: Wide, room: usize) -> Room, |c| { let n = c.wide(from); c.writes(to, (n + 1).min(room) * WIDE) }
    fn __wcscat_chk(to: Room, from: Wide, room: usize) -> Room, |c| {
        let (at, n) = (c.wide(to), c.wide(from));
        c.writes(to.wrapping_add(at), (n + 1) * WIDE)
    }
    fn __wmemcpy_chk(to: Room, from: Wide, n: usize, room: usize) -> Room, |c| {
        c.reads(from, n.min(room) * WIDE);
        c.writes(to, n.min(room) * WIDE)
    }
    fn __wmemmove_chk(to: Room, from: Wide, n: usize, room: usize) -> Room, |c| {
        c.reads(from, n.min(room) * WIDE);
        c.writes(to, n.min(room) * WIDE)
    }
    fn __wmemset_chk(to: Room, what: u32, n: usize, room: usize) -> Room, |c| { c.writes(to, n.min(room) * WIDE) }
    fn wcsdup(s: Wide) -> Room, |c| { c.wide(s); }
    fn wcsxfrm(to: Room, from: Wide, n: usize) -> usize, |c| { c.wide(from); c.fills(to) } then |need| {
        c.wrote(to, if need < n { (need + 1) * WIDE } else { 0 })
    }
    fn wcsxfrm_l(to: Room, from: Wide, n: usize, locale: *mut c_void) -> usize, |c| { c.wide(from); c.fills(to) } then |need| {
        c.wrote(to, if need < n { (need + 1) * WIDE } else { 0 })
    }
    fn __wcsxfrm_l(to: Room, from: Wide, n: usize, locale: *mut c_void) -> usize, |c| { c.wide(from); c.fills(to) } then |need| {
        c.wrote(to, if need < n { (need + 1) * WIDE } else { 0 })
    }
    fn fputws(s: Wide, file: *mut c_void) -> c_int, |c| { c.wide(s); c.locks_stream(file); let _filling = filling(file); }
    fn fgetws(to: Room, n: c_int, file: *mut c_void) -> Room, |c| { c.fills(to); c.locks_stream(file) } then |got| {
        filled(file);
        wrote_wide(&mut c, got)
    }

    fn mbstowcs(to: Room, from: Text, n: usize) -> usize, |c| { c.fills(to) } then |got| {
        // The converted characters took at least this many bytes.
        if got != usize::MAX { c.has_read(from, if to.is_null() || got < n { got + 1 } else { got }) }
        wrote_units(&mut c, to, got, n, WIDE)
    }
    fn __mbstowcs_chk(to: Room, from: Text, n: usize, room: usize) -> usize, |c| { c.fills(to) } then |got| {
        wrote_units(&mut c, to, got, n, WIDE)
    }
    fn wcstombs(to: *mut c_char, from: Wide, n: usize) -> usize, |c| { c.fills(to) } then |got| {
        // Up to the zero, which was reached if there was room left.
        if got != usize::MAX && (to.is_null() || got < n) { c.wide(from); }
        wrote_units(&mut c, to, got, n, 1)
    }
    fn __wcstombs_chk(to: *mut c_char, from: Wide, n: usize, room: usize) -> usize, |c| { c.fills(to) } then |got| {
        wrote_units(&mut c, to, got, n, 1)
    }
    fn mbsrtowcs(to: Room, from: *mut Text, n: usize, state: *mut c_void) -> usize, |c| {
        c.reads_one(from);
        if !to.is_null() { c.writes_one(from) }
        c.fills(to)
    } then |got| { wrote_units(&mut c, to, got, n, WIDE) }
    fn mbsnrtowcs(to: Room, from: *mut Text, most: usize, n: usize, state: *mut c_void) -> usize, |c| {
        c.reads_one(from);
        if !to.is_null() { c.writes_one(from) }
        c.fills(to)
    } then |got| { if got != usize::MAX { c.wrote(to, got * WIDE) } }
    fn wcsrtombs(to: *mut c_char, from: *mut Wide, n: usize, state: *mut c_void) -> usize, |c| {
        c.reads_one(from);
        if !to.is_null() { c.writes_one(from) }
        c.fills(to)
    } then |got| { wrote_units(&mut c, to, got, n, 1) }
    fn wcsnrtombs(to: *mut c_char, from: *mut Wide, most: usize, n: usize, state: *mut c_void) -> usize, |c| {
        c.reads_one(from);
        if !to.is_null() { c.writes_one(from) }
        c.fills(to)
    } then |got| { if got != usize::MAX { c.wrote(to, got) } }
    fn mbrtowc(to: Room, from: Text, n: usize, state: *mut c_void) -> usize, |c| { c.fills(to) } then |used| {
        if used <= n { c.has_read(from, used.max(1)) }
        if used <= n && !from.is_null() { c.wrote_one(to) }
    }
    fn mbtowc(to: Room, from: Text, n: usize) -> c_int, |c| { c.fills(to) } then |used| {
        if used >= 0 { c.has_read(from, (used as usize).max(1)) }
        if used >= 0 && !from.is_null() { c.wrote_one(to) }
    }
    fn wcrtomb(to: *mut c_char, what: u32, state: *mut c_void) -> usize, |c| { c.fills(to) } then |n| {
        if n != usize::MAX { c.wrote(to, n) }
    }
    fn wctomb(to: *mut c_char, what: u32) -> c_int, |c| { c.fills(to) } then |n| {
        if n > 0 { c.wrote(to, n as usize) }
    }
}

/// This many characters, and a zero if there was room.
fn wrote_units<T>(c: &mut Call, to: *const T, got: usize, room: usize, size: usize) {
    if got != usize::MAX {
        c.wrote(to, (got + 1).min(room) * size);
    }
}

unsafe fn wrote_wide(c: &mut Call, s: Wide) {
    if c.is_judged() && !s.is_null() {
        // SAFETY: the call has just written it.
        let n = unsafe { super::access::wide_length_within(s, usize::MAX >> 2) };
        c.wrote(s, (n + 1) * WIDE);
    }
}
