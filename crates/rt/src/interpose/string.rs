//! Strings. Each function reads what it must look at, and no more. How far a comparison looks is
//! found by comparing.

use core::ffi::{c_char, c_int, c_void};

use super::access::{Call, Text, accesses, length, length_within, looks};
use super::{Real, interpose};
use crate::sys;

type Room = *mut c_char;

/// Two strings, as far as a comparison of at most `most` bytes must look.
unsafe fn compares(c: &mut Call, a: Text, b: Text, most: usize, fold: bool) {
    let lower = |c: c_char| if fold { (c as u8).to_ascii_lowercase() } else { c as u8 };
    let mut n = 0;
    // SAFETY: neither string is read past its zero, or past `most`.
    unsafe {
        while n < most && *a.add(n) != 0 && lower(*a.add(n)) == lower(*b.add(n)) {
            n += 1;
        }
    }
    c.reads(a, (n + 1).min(most));
    c.reads(b, (n + 1).min(most));
}

/// Reads up to and including what was found; else all of the string.
unsafe fn looks_for(c: &mut Call, s: Text, found: Text, size: usize) {
    if found.is_null() {
        // SAFETY: the caller's string.
        unsafe { c.text(s) };
    } else {
        c.reads(s, found as usize - s as usize + size);
    }
}

/// A token was cut off the string `s`, or off the rest of an earlier one. It was read, with the
/// separators before it, and its end was set to zero if more follows.
unsafe fn cut(c: &mut Call, s: Text, token: Text, rest: Text) {
    if c.is_judged() && !token.is_null() {
        // SAFETY: the token ends in zero.
        let n = unsafe { length(token) };
        let from = if s.is_null() { token } else { s };
        c.has_read(from, token as usize - from as usize + n + 1);
        if rest == token.wrapping_add(n + 1) {
            c.wrote(token.wrapping_add(n), 1);
        }
    }
}

/// True if the first token reaches the end of the string.
unsafe fn token_is_last(s: Text, set: Text) -> bool {
    // SAFETY: the caller's strings, neither of which is read past its zero.
    unsafe {
        let separates = |at: usize| (0..length(set)).any(|i| *set.add(i) == *s.add(at));
        let start = (0..length(s)).find(|at| !separates(*at));
        start.is_none_or(|start| !(start..length(s)).any(separates))
    }
}

looks! {
    fn strlen(s: Text) -> usize, |c, n| { c.reads(s, n + 1) }
    fn strnlen(s: Text, most: usize) -> usize, |c, n| { c.reads(s, (n + 1).min(most)) }
    fn strcmp(a: Text, b: Text) -> c_int, |c, _r| { compares(&mut c, a, b, usize::MAX, false) }
    fn strncmp(a: Text, b: Text, n: usize) -> c_int, |c, _r| { compares(&mut c, a, b, n, false) }
    fn strcasecmp(a: Text, b: Text) -> c_int, |c, _r| { compares(&mut c, a, b, usize::MAX, true) }
    fn strncasecmp(a: Text, b: Text, n: usize) -> c_int, |c, _r| { compares(&mut c, a, b, n, true) }
    fn strcasecmp_l(a: Text, b: Text, locale: usize) -> c_int, |c, _r| { compares(&mut c, a, b, usize::MAX, true) }
    fn strncasecmp_l(a: Text, b: Text, n: usize, locale: usize) -> c_int, |c, _r| { compares(&mut c, a, b, n, true) }
    fn strverscmp(a: Text, b: Text) -> c_int, |c, _r| { compares(&mut c, a, b, usize::MAX, false) }
    fn strcoll(a: Text, b: Text) -> c_int, |c, _r| { c.text(a); c.text(b); }
    fn strcoll_l(a: Text, b: Text, locale: usize) -> c_int, |c, _r| { c.text(a); c.text(b); }
    fn strchr(s: Text, byte: c_int) -> Text, |c, found| { looks_for(&mut c, s, found, 1) }
    fn strchrnul(s: Text, byte: c_int) -> Text, |c, found| { looks_for(&mut c, s, found, 1) }
    fn strrchr(s: Text, byte: c_int) -> Text, |c, _r| { c.text(s); }
    fn strstr(s: Text, what: Text) -> Text, |c, found| { let n = c.text(what); looks_for(&mut c, s, found, n) }
    fn strcasestr(s: Text, what: Text) -> Text, |c, found| { let n = c.text(what); looks_for(&mut c, s, found, n) }
    fn strspn(s: Text, set: Text) -> usize, |c, n| { c.text(set); c.reads(s, n + 1) }
    fn strcspn(s: Text, set: Text) -> usize, |c, n| { c.text(set); c.reads(s, n + 1) }
    fn strpbrk(s: Text, set: Text) -> Text, |c, found| { c.text(set); looks_for(&mut c, s, found, 1) }
}

accesses! {
    fn strcpy(to: Room, from: Text) -> Room, |c| { let n = c.text(from); c.writes(to, n + 1) }
    fn stpcpy(to: Room, from: Text) -> Room, |c| { let n = c.text(from); c.writes(to, n + 1) }
    fn strncpy(to: Room, from: Text, n: usize) -> Room, |c| { c.text_within(from, n); c.writes(to, n) }
    fn stpncpy(to: Room, from: Text, n: usize) -> Room, |c| { c.text_within(from, n); c.writes(to, n) }
    fn strcat(to: Room, from: Text) -> Room, |c| {
        let (at, n) = (c.text(to), c.text(from));
        c.writes(to.wrapping_add(at), n + 1)
    }
    fn strncat(to: Room, from: Text, most: usize) -> Room, |c| {
        let (at, n) = (c.text(to), c.text_within(from, most));
        c.writes(to.wrapping_add(at), n + 1)
    }
    fn strlcpy(to: Room, from: Text, room: usize) -> usize, |c| { let n = c.text(from); c.writes(to, (n + 1).min(room)) }
    fn strlcat(to: Room, from: Text, room: usize) -> usize, |c| {
        let (at, n) = (c.text_within(to, room), c.text(from));
        c.writes(to.wrapping_add(at), (n + 1).min(room - at.min(room)))
    }
    fn __strcpy_chk(to: Room, from: Text, room: usize) -> Room, |c| { let n = c.text(from); c.writes(to, (n + 1).min(room)) }
    fn __stpcpy_chk(to: Room, from: Text, room: usize) -> Room, |c| { let n = c.text(from); c.writes(to, (n + 1).min(room)) }
    fn __strncpy_chk(to: Room, from: Text, n: usize, room: usize) -> Room, |c| {
        c.text_within(from, n);
        c.writes(to, n.min(room))
    }
    fn __stpncpy_chk(to: Room, from: Text, n: usize, room: usize) -> Room, |c| {
        c.text_within(from, n);
        c.writes(to, n.min(room))
    }
    fn __strcat_chk(to: Room, from: Text, room: usize) -> Room, |c| {
        let (at, n) = (c.text(to), c.text(from));
        c.writes(to.wrapping_add(at), n + 1)
    }
    fn __strncat_chk(to: Room, from: Text, most: usize, room: usize) -> Room, |c| {
        let (at, n) = (c.text(to), c.text_within(from, most));
        c.writes(to.wrapping_add(at), n + 1)
    }
    fn strxfrm(to: Room, from: Text, n: usize) -> usize, |c| { c.text(from); c.fills(to) } then |need| {
        c.wrote(to, if need < n { need + 1 } else { 0 })
    }
    fn strxfrm_l(to: Room, from: Text, n: usize, locale: usize) -> usize, |c| { c.text(from); c.fills(to) } then |need| {
        c.wrote(to, if need < n { need + 1 } else { 0 })
    }
    fn __strxfrm_l(to: Room, from: Text, n: usize, locale: usize) -> usize, |c| { c.text(from); c.fills(to) } then |need| {
        c.wrote(to, if need < n { need + 1 } else { 0 })
    }
    fn memfrob(at: *mut c_void, n: usize) -> *mut c_void, |c| { c.reads(at, n); c.writes(at, n) }
    fn strfry(s: Room) -> Room, |c| { c.keeps_state(); let n = c.text(s); c.writes(s, n) }
    /// They cut the path short in place, if at all.
    fn dirname(path: Room) -> Text, |c| { let n = c.text(path) } then |_r| { cut_short(&mut c, path, n) }
    fn __xpg_basename(path: Room) -> Text, |c| { let n = c.text(path) } then |_r| { cut_short(&mut c, path, n) }
    /// For a call that continues with an earlier string, it is not known whether the token was its
    /// last.
    fn strtok(s: Room, set: Text) -> Room, |c| {
        c.keeps_state();
        c.text(set);
        c.fills(s);
        let is_last = s.is_null() || !c.is_judged() || token_is_last(s, set)
    } then |token| {
        let rest = if token.is_null() || is_last { core::ptr::null() } else { token.add(length(token) + 1) };
        cut(&mut c, s, token, rest)
    }
    fn strtok_r(s: Room, set: Text, rest: *mut Room) -> Room, |c| {
        c.text(set);
        if s.is_null() { c.reads_one(rest) }
        c.fills(s);
        c.writes_one(rest)
    } then |token| { cut(&mut c, s, token, *rest) }
    fn __strtok_r(s: Room, set: Text, rest: *mut Room) -> Room, |c| {
        c.text(set);
        if s.is_null() { c.reads_one(rest) }
        c.fills(s);
        c.writes_one(rest)
    } then |token| { cut(&mut c, s, token, *rest) }
    fn strsep(s: *mut Room, set: Text) -> Room, |c| {
        c.text(set);
        c.reads_one(s);
        if !(*s).is_null() { c.writes_one(s) }
    } then |token| { cut(&mut c, core::ptr::null(), token, *s) }
    fn strerror_r(error: c_int, to: Room, n: usize) -> Room, |c| { c.fills(to) } then |text| {
        if core::ptr::eq(text, to) && n > 0 { c.wrote_text(to) }
    }
    fn __xpg_strerror_r(error: c_int, to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| {
        if r == 0 { c.wrote_text(to) }
    }
}

/// Copies the string with `malloc`, which is interposed too.
unsafe fn duplicate(c: &mut Call, s: Text, most: usize, pc: usize) -> Room {
    // SAFETY: the caller's string; the copy has room for it and its zero.
    unsafe {
        let n = if c.is_judged() { c.text_within(s, most) } else { length_within(s, most) };
        let copy = super::alloc::malloc(n + 1, pc).cast::<c_char>();
        if !copy.is_null() {
            super::memory::real_memcpy(copy as usize, s as usize, n);
            *copy.add(n) = 0;
        }
        copy
    }
}

interpose! {
    fn strdup(s: Text) -> Room, |t, pc, real| {
        duplicate(&mut Call::new(t, pc), s, usize::MAX, pc)
    } record as detect, tsvd real, explore as detect
    fn __strdup(s: Text) -> Room, |t, pc, real| {
        duplicate(&mut Call::new(t, pc), s, usize::MAX, pc)
    } record as detect, tsvd real, explore as detect
    fn strndup(s: Text, most: usize) -> Room, |t, pc, real| {
        duplicate(&mut Call::new(t, pc), s, most, pc)
    } record as detect, tsvd real, explore as detect
    fn __strndup(s: Text, most: usize) -> Room, |t, pc, real| {
        duplicate(&mut Call::new(t, pc), s, most, pc)
    } record as detect, tsvd real, explore as detect
}

/// Numbers: the call reads up to the first character that does not belong to the number.
macro_rules! numbers {
    ($($name:ident($($more:ident: $ty:ty),*) -> $r:ty)*) => {
        interpose! {$(
            fn $name(s: Text, end: *mut Text $(, $more: $ty)*) -> $r, |t, pc, real| {
                let mut c = Call::new(t, pc);
                if !c.is_judged() {
                    return real(s, end $(, $more)*);
                }
                let mut last: Text = s;
                let mut r = real(s, &raw mut last $(, $more)*);
                c.reads(s, last as usize - s as usize + 1);
                if !end.is_null() {
                    c.writes_one(end);
                }
                if crate::explore::is_on() {
                    r = real(s, &raw mut last $(, $more)*);
                }
                if !end.is_null() {
                    *end = last;
                }
                r
            } record as detect, tsvd real, explore as detect
        )*}
    };
}

numbers! {
    strtol(base: c_int) -> i64
    strtoll(base: c_int) -> i64
    strtoul(base: c_int) -> u64
    strtoull(base: c_int) -> u64
    strtoq(base: c_int) -> i64
    strtouq(base: c_int) -> u64
    strtoimax(base: c_int) -> i64
    strtoumax(base: c_int) -> u64
    __isoc23_strtol(base: c_int) -> i64
    __isoc23_strtoll(base: c_int) -> i64
    __isoc23_strtoul(base: c_int) -> u64
    __isoc23_strtoull(base: c_int) -> u64
    __isoc23_strtoimax(base: c_int) -> i64
    __isoc23_strtoumax(base: c_int) -> u64
    strtol_l(base: c_int, locale: usize) -> i64
    strtoll_l(base: c_int, locale: usize) -> i64
    strtoul_l(base: c_int, locale: usize) -> u64
    strtoull_l(base: c_int, locale: usize) -> u64
    strtod() -> f64
    strtof() -> f32
    strtod_l(locale: usize) -> f64
    strtof_l(locale: usize) -> f32
}

/// A string of `n` characters has been cut short, or not.
unsafe fn cut_short(c: &mut Call, s: Text, n: usize) {
    if c.is_judged() && !s.is_null() {
        // SAFETY: the caller's string.
        let left = unsafe { length(s) };
        c.wrote(s.wrapping_add(left), usize::from(left < n));
    }
}

/// Reads the number that `strtol` or `strtod` finds, and the character after it.
unsafe fn number(c: &mut Call, s: Text, by: &Real) {
    let mut end: Text = s;
    let errno = sys::errno();
    // SAFETY: both take these arguments, and one ignores the last; the result is not used.
    unsafe {
        let f = core::mem::transmute::<usize, unsafe extern "C" fn(Text, *mut Text, c_int)>(by.get());
        f(s, &raw mut end, 10);
    }
    sys::set_errno(errno);
    c.reads(s, end as usize - s as usize + 1);
}

/// Reads a number with a fraction, and the character after it.
pub unsafe fn number_with_fraction(c: &mut Call, s: Text) {
    // SAFETY: the caller's string.
    unsafe { number(c, s, &FRACTION) }
}

static WHOLE: Real = Real::new(c"strtol", None);
static FRACTION: Real = Real::new(c"strtod", None);

looks! {
    fn atoi(s: Text) -> c_int, |c, _r| { number(&mut c, s, &WHOLE) }
    fn atol(s: Text) -> i64, |c, _r| { number(&mut c, s, &WHOLE) }
    fn atoll(s: Text) -> i64, |c, _r| { number(&mut c, s, &WHOLE) }
    fn atof(s: Text) -> f64, |c, _r| { number(&mut c, s, &FRACTION) }
    fn getenv(name: Text) -> Text, |c, _r| { c.text(name); c.uses_environment(false); }
    fn secure_getenv(name: Text) -> Text, |c, _r| { c.text(name); c.uses_environment(false); }
}

accesses! {
    fn setenv(name: Text, value: Text, replace: c_int) -> c_int, |c| { c.text(name); c.text(value); c.uses_environment(true); }
    fn unsetenv(name: Text) -> c_int, |c| { c.text(name); c.uses_environment(true); }
    fn clearenv() -> c_int, |c| { c.uses_environment(true) }
    fn putenv(text: Text) -> c_int, |c| { c.text(text); c.uses_environment(true); }
    fn iconv(cd: *mut c_void, from: *mut Text, left: *mut usize, to: *mut Room, room: *mut usize) -> usize, |c| {
        c.reads_one(from);
        c.reads_one(left);
        c.reads_one(to);
        c.reads_one(room);
        if !from.is_null() && !left.is_null() { c.reads(*from, *left) }
        if !to.is_null() { c.fills(*to) }
        let before = if to.is_null() { core::ptr::null_mut() } else { *to };
    } then |_r| {
        if !before.is_null() { c.wrote(before, *to as usize - before as usize) }
        c.wrote_one(from);
        c.wrote_one(left);
        c.wrote_one(to);
        c.wrote_one(room)
    }
}
