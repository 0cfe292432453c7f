//! The families of `printf` and `scanf`: what a format makes the call read and write.
//!
//! ```text
//! arguments   a `va_list`, and the way from a variadic function to one that takes such a list
//! directive   one `%…` of a format
//! print       printf and its kin
//! scan        scanf and its kin
//! ```
//!
//! A format with numbered arguments (`%2$s`) is read, but its arguments are not followed: that
//! takes two passes over it, and hardly anybody writes one.

mod arguments;
mod directive;
mod print;
mod scan;
