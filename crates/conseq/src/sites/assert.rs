//! Assertions: calls that end the program, or the thread, because something does not hold.

/// Whether a function, by its raw name, is one that a failed assertion calls.
pub(super) fn reports(name: &str) -> bool {
    matches!(name, "__assert_fail" | "__assert_perror_fail" | "__assert" | "abort")
}
