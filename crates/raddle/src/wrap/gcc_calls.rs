//! Options that keep gcc from expanding functions of the C library.
//!
//! gcc instruments first and expands `memset(p, 0, 24)` into stores later, so nobody sees them: not
//! `run`, and `explore` would call a search complete. clang calls its runtime for these.
//!
//! - A function that writes is no builtin: each call by its own name stays a call, and the runtime
//!   interposes all of them.
//! - What the compiler calls by `__builtin_memcpy`, and what `_FORTIFY_SOURCE` makes of a call, is
//!   made a call by `stdc-predef.h` in the runtime's include folder, which gcc reads first.
//! - A function that only reads stays a builtin: `static const size_t n = strlen("abc")` is C to
//!   gcc. Two options keep comparisons with short strings from being expanded.
//! - `memcpy` and `memmove` of 1, 2, 4 and 8 bytes are assignments before gcc instruments, with
//!   probes. `string.h` in the include folder keeps it so.
//! - Copies and initialisations of structures have probes of their own.

/// Functions that write to their caller's memory, and that gcc expands.
const WRITERS: [&str; 16] = [
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "bcopy",
    "bzero",
    "strcpy",
    "stpcpy",
    "strncpy",
    "stpncpy",
    "strcat",
    "strncat",
    "sprintf",
    "snprintf",
    "vsprintf",
    "vsnprintf",
];

/// The parameter is in gcc 9 and later, the first that expands these comparisons.
const COMPARISONS: [&str; 2] = ["-fno-optimize-strlen", "--param=builtin-string-cmp-inline-length=0"];

pub fn options() -> impl Iterator<Item = String> {
    let calls = WRITERS.iter().map(|name| format!("-fno-builtin-{name}"));
    calls.chain(COMPARISONS.iter().map(|&word| word.to_owned()))
}
