//! Functions that do not return, by name.
//!
//! All control dependence relies on this list. A function of the module itself needs no name:
//! `MachineProgram::returns` follows its code.

/// Whether a path ends at a call of the function with this raw name.
pub(crate) fn never_returns(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    matches!(
        name,
        "__assert_fail"
            | "__assert_perror_fail"
            | "__assert"
            | "abort"
            | "exit"
            | "_exit"
            | "_Exit"
            | "quick_exit"
            | "__stack_chk_fail"
            | "__fortify_fail"
            | "__chk_fail"
            | "longjmp"
            | "_longjmp"
            | "siglongjmp"
            | "__longjmp_chk"
            | "pthread_exit"
            | "thrd_exit"
            | "err"
            | "errx"
            | "verr"
            | "verrx"
            | "_Unwind_Resume"
            | "__cxa_throw"
            | "__cxa_rethrow"
            | "__cxa_bad_cast"
            | "__cxa_bad_typeid"
            | "__cxa_pure_virtual"
            | "__cxa_throw_bad_array_new_length"
            | "__cxa_deleted_virtual"
            | "__clang_call_terminate"
            | "_ZSt9terminatev"
            | "rust_begin_unwind"
            | "rust_panic"
    ) || (name.starts_with("_ZSt") && (name.contains("__throw_") || name.contains("__glibcxx_assert_fail")))
        || rust_failure(name)
}

/// Rust's panic functions, in both manglings: the length of each part precedes it.
fn rust_failure(name: &str) -> bool {
    if !name.starts_with("_R") && !name.starts_with("_ZN") {
        return false;
    }
    const PARTS: [&str; 14] = [
        "4core9panicking",
        "13unwrap_failed",
        "13expect_failed",
        "20rust_panic_with_hook",
        "11begin_panic",
        "19begin_panic_handler",
        "18handle_alloc_error",
        "17capacity_overflow",
        "16slice_index_fail",
        "26slice_start_index_len_fail",
        "24slice_end_index_len_fail",
        "22slice_index_order_fail",
        "16slice_error_fail",
        "17len_mismatch_fail",
    ];
    PARTS.iter().any(|part| name.contains(part))
        || name.contains("7process4exit")
        || name.contains("7process5abort")
        || (name.contains("5alloc7raw_vec") && name.contains("12handle_error"))
}

#[cfg(test)]
mod tests {
    use super::never_returns;

    #[test]
    fn names_of_c_cpp_and_rust() {
        for name in [
            "abort",
            "__assert_fail@GLIBC_2.2.5",
            "_ZSt20__throw_length_errorPKc",
            "__cxa_throw",
            "_ZN4core9panicking5panic17h0123456789abcdefE",
            "_RNvNtCs1_4core9panicking9panic_fmt",
            "_ZN4core6option13unwrap_failed17h0123456789abcdefE",
        ] {
            assert!(never_returns(name), "{name}");
        }
    }

    #[test]
    fn what_only_sounds_like_it_returns() {
        for name in
            ["aborted", "error", "_ZN3std9panicking11panic_count17is_zero_slow_path17hE", "atexit", "printf"]
        {
            assert!(!never_returns(name), "{name}");
        }
    }
}
