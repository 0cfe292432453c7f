//! Short, readable function names, without template arguments and Rust's hashes. The full name is
//! in the tooltip.

use crate::place::stable_name;

/// A shorter name stays unchanged.
const READABLE: usize = 48;

/// `std::vector<…>::clear()` for `std::vector<std::unique_ptr<Job>, std::allocator<…>>::clear()`.
pub(super) fn short(function: &str) -> String {
    let name = stable_name(function);
    if name.chars().count() <= READABLE || name.starts_with('<') {
        return name.to_owned();
    }
    let mut out = String::new();
    let (mut depth, mut parens) = (0_u32, 0_u32);
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // `operator<`, `operator->`, `operator<<` and the arrow of a function type are not
            // brackets.
            '<' if out.ends_with("operator") || out.ends_with("operator<") => out.push(c),
            '>' if out.ends_with('-') || out.ends_with("operator") || out.ends_with("operator>") => {
                out.push(c)
            }
            '<' => {
                if depth == 0 && parens == 0 {
                    out.push_str("<…");
                }
                depth += 1;
            }
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 && parens == 0 {
                    out.push('>');
                }
            }
            '(' if depth == 0 => {
                if parens == 0 {
                    out.push_str(if chars.peek() == Some(&')') { "(" } else { "(…" });
                }
                parens += 1;
            }
            ')' if depth == 0 && parens > 0 => {
                parens -= 1;
                if parens == 0 {
                    out.push(')');
                }
            }
            c if depth == 0 && parens == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_arguments_and_hashes_are_left_out() {
        for (name, told) in [
            ("main", "main"),
            ("std::vector<int>::clear()", "std::vector<int>::clear()"),
            (
                "std::vector<std::unique_ptr<Job, std::default_delete<Job>>, std::allocator<int>>::clear()",
                "std::vector<…>::clear()",
            ),
            ("Pool::submit(std::function<void (int)>, std::chrono::milliseconds, int)", "Pool::submit(…)"),
            ("queue::worker::h0123456789abcdef", "queue::worker"),
            (
                "some::very::long::name::of::a::space::operator<<(std::ostream&, int)",
                "some::very::long::name::of::a::space::operator<<(…)",
            ),
            (
                "<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop_slow_and_more_of_it",
                "<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop_slow_and_more_of_it",
            ),
        ] {
            assert_eq!(short(name), told);
        }
    }

    #[test]
    fn brackets_that_do_not_match_do_no_harm() {
        for name in ["<<<<", ">>>>", "((((", "))))", "a<b(c>d)"] {
            short(&name.repeat(20));
        }
    }
}
