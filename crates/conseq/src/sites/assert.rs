//! Assertions: calls that end the program, or the thread, because something does not hold.
//!
//! ```c
//! assert(runningUrl);            // __assert_fail
//! if (left < 0) abort();
//! ```
//!
//! In C++ a `throw` counts, and in Rust a panic: both say that the caller did not get what it asked for.
//! The paper's rule: a call is sliced from what decides whether it runs.

use raddle_binary::flow::Start;

use super::Candidate;
use super::names::Called;
use crate::analysis::SiteKind;

pub(super) fn site(called: Called, index: u32, name: &str) -> Option<Candidate> {
    called.asserts.then(|| Candidate::call(SiteKind::Assert, index, name, vec![(Start::Control(index), 0)]))
}

/// Whether a function, by its raw name, is one that says that something does not hold.
pub(super) fn reports(name: &str) -> bool {
    const C: [&str; 4] = ["__assert_fail", "__assert_perror_fail", "__assert", "abort"];
    const CXX: [&str; 4] = ["__cxa_throw", "__cxa_rethrow", "_ZSt9terminatev", "__cxa_bad_cast"];
    C.contains(&name)
        || CXX.contains(&name)
        || (name.starts_with("_ZSt") && (name.contains("__throw_") || name.contains("__glibcxx_assert_fail")))
        || panics(name)
}

/// Rust's panics that are written in, or inlined into, the program.
fn panics(name: &str) -> bool {
    const PARTS: [&str; 10] = [
        "4core9panicking",
        "13unwrap_failed",
        "13expect_failed",
        "11begin_panic",
        "16slice_index_fail",
        "26slice_start_index_len_fail",
        "24slice_end_index_len_fail",
        "22slice_index_order_fail",
        "16slice_error_fail",
        "17len_mismatch_fail",
    ];
    // These two end a program that is ending already: no condition of the program leads there.
    let ending = name.contains("panic_cannot_unwind") || name.contains("panic_in_cleanup");
    (name.starts_with("_R") || name.starts_with("_ZN"))
        && !ending
        && PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_languages_fail_in_their_own_words() {
        for name in [
            "__assert_fail",
            "abort",
            "__cxa_throw",
            "_ZSt20__throw_out_of_rangePKc",
            "_ZN4core9panicking5panic17h0123456789abcdefE",
            "_ZN4core6result13unwrap_failed17h0123456789abcdefE",
        ] {
            assert!(reports(name), "{name}");
        }
        for name in ["exit", "_Unwind_Resume", "assert_ok", "_ZN4core9panicking19panic_cannot_unwind17hE"] {
            assert!(!reports(name), "{name}");
        }
    }
}
