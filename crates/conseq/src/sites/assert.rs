//! Assertions: calls that end the program, or the thread, because something does not hold.
//!
//! ```c
//! assert(runningUrl);            // __assert_fail
//! if (left < 0) abort();
//! ```
//!
//! In C++ a `throw` counts, and in Rust a panic: both say that the caller did not get what it asked
//! for. The paper's rule: a call is sliced from what decides whether it runs.
//!
//! Catch2 has no call that runs only if a check fails: `REQUIRE(n == 3)` passes an expression with
//! its operands and its result to the library, which decides. So these calls are also sliced from
//! their arguments, at distance 1 like the arguments of an output.

use raddle_binary::flow::{Query, SliceStart};

use super::Candidate;
use super::names::Called;
use crate::analysis::SiteKind;

pub(super) fn site(query: &Query, called: Called, index: u32, name: &str) -> Option<Candidate> {
    if !(called.asserts || called.checks) {
        return None;
    }
    let mut starts = vec![(SliceStart::Control(index), 0)];
    if called.checks {
        starts.extend(query.frame_behind(index, makes_expression).into_iter().map(|start| (start, 1)));
    }
    Some(Candidate::call(SiteKind::Assert, index, name, starts))
}

/// Whether a function, by its raw name, itself decides whether its argument holds: Catch2, versions
/// 2 and 3.
pub(super) fn checks(name: &str) -> bool {
    name.starts_with("_ZN5Catch16AssertionHandler10handleExprE")
}

/// Without optimisation, separate functions construct Catch2's expressions.
fn makes_expression(name: &str) -> bool {
    name.contains("5Catch")
        && ["7ExprLhs", "10Decomposer", "10BinaryExpr", "9UnaryExpr"].iter().any(|part| name.contains(part))
}

/// Whether a function, by its raw name, reports that something does not hold.
pub(super) fn reports(name: &str) -> bool {
    const C: [&str; 4] = ["__assert_fail", "__assert_perror_fail", "__assert", "abort"];
    const CXX: [&str; 4] = ["__cxa_throw", "__cxa_rethrow", "_ZSt9terminatev", "__cxa_bad_cast"];
    C.contains(&name)
        || CXX.contains(&name)
        || (name.starts_with("_ZSt") && (name.contains("__throw_") || name.contains("__glibcxx_assert_fail")))
        || panics(name)
}

/// Rust panics that are written in the program or inlined into it.
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
    // These two end a program that is already ending: no condition of the program leads there.
    let ending = name.contains("panic_cannot_unwind") || name.contains("panic_in_cleanup");
    (name.starts_with("_R") || name.starts_with("_ZN"))
        && !ending
        && PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_may_decide_by_itself() {
        assert!(checks("_ZN5Catch16AssertionHandler10handleExprERKNS_20ITransientExpressionE"));
        assert!(!checks("_ZN5Catch16AssertionHandler8completeEv"));
        assert!(makes_expression("_ZN5Catch7ExprLhsIRKiEeqIiEEKNS_10BinaryExprIS2_RKT_EES7_"));
        assert!(!makes_expression("_ZN5Catch9StringRefC1EPKc"));
    }

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
