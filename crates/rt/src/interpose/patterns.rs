//! Patterns: regular expressions, file names, shell words.

use core::ffi::{c_char, c_int};

use super::access::{Text, accesses};

type Expression = *mut libc::regex_t;

/// False if the expression was made with `REG_NOSUB`: then no match is written. The bit is part of
/// the C library's interface, in the byte after the number of groups.
unsafe fn tells_matches(expression: Expression) -> bool {
    const FLAGS: usize = 56;
    const NO_SUB: u8 = 1 << 4;
    // SAFETY: the caller's expression, which has more bytes than that.
    unsafe { *expression.byte_add(FLAGS).cast::<u8>() & NO_SUB == 0 }
}

accesses! {
    fn regcomp(to: Expression, pattern: Text, flags: c_int) -> c_int, |c| { c.text(pattern); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    fn regexec(from: Expression, s: Text, n: usize, to: *mut libc::regmatch_t, flags: c_int) -> c_int = c"GLIBC_2.3.4", |c| {
        c.reads_one(from);
        if flags & libc::REG_STARTEND == 0 { c.text(s); }
        if n > 0 { c.fills(to) }
    } then |r| {
        if r == 0 && n > 0 && tells_matches(from) { c.wrote(to, n.saturating_mul(size_of::<libc::regmatch_t>())) }
    }
    fn regerror(error: c_int, from: Expression, to: *mut c_char, n: usize) -> usize, |c| { if n > 0 { c.fills(to) } } then |need| {
        c.wrote(to, need.min(n))
    }
    fn regfree(from: Expression), |c| { c.writes(from, size_of::<usize>()) }
    fn glob(pattern: Text, flags: c_int, tell: usize, to: *mut libc::glob_t) -> c_int = c"GLIBC_2.27", |c| { c.looks_outside(); c.text(pattern); c.fills(to) } then |r| {
        if r == 0 { c.wrote(to, 2 * size_of::<usize>()) }
    }
    fn glob64(pattern: Text, flags: c_int, tell: usize, to: *mut libc::glob_t) -> c_int = c"GLIBC_2.27", |c| { c.looks_outside(); c.text(pattern); c.fills(to) } then |r| {
        if r == 0 { c.wrote(to, 2 * size_of::<usize>()) }
    }
    fn wordexp(s: Text, to: *mut [usize; 3], flags: c_int) -> c_int, |c| { c.looks_outside(); c.text(s); c.fills(to) } then |r| {
        if r == 0 { c.wrote(to, 2 * size_of::<usize>()) }
    }
}
