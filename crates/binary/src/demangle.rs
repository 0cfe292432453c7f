//! Names as they are written in the source.
//!
//! C++ names keep their parameter types, which distinguish overloads, and lose their return type.
//! The inline namespaces of the standard libraries and the spelled-out `std::string` are shortened.
//! Rust names lose the hash. Suffixes that optimisers add to clones (`.part.0`, `.constprop.1`,
//! `.cold`) are dropped, because the reader knows only the function in the source.

use cpp_demangle::{DemangleOptions, Symbol};

/// A symbol's name as it reads in the source; a name that is not mangled comes back as it is,
/// less any clone suffix.
///
/// ```
/// use raddle_binary::demangle;
/// assert_eq!(demangle("_ZN4bank7depositEi.constprop.0"), "bank::deposit(int)");
/// let rust = "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE";
/// assert_eq!(demangle(rust), "core::fmt::Write::write_fmt");
/// assert_eq!(demangle("worker.part.0"), "worker");
/// ```
pub fn demangle(raw: &str) -> String {
    let name = without_clone_suffix(raw.split('@').next().unwrap_or(raw));
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    cpp(name, DemangleOptions::new().no_return_type()).unwrap_or_else(|| name.to_string())
}

/// Like [`demangle`], without the parameter types of a C++ function. Patterns are matched against
/// this.
pub(crate) fn demangle_without_parameters(raw: &str) -> String {
    let name = without_clone_suffix(raw);
    if rustc_demangle::try_demangle(name).is_ok() {
        return demangle(name);
    }
    cpp(name, DemangleOptions::new().no_return_type().no_params()).unwrap_or_else(|| name.to_string())
}

/// The path of a function without parameters, generic arguments and inline namespaces, in one
/// spelling for C, C++ and both manglings of Rust: what lists of functions are matched against.
///
/// ```
/// use raddle_binary::plain_path;
/// assert_eq!(plain_path("_ZNSt6vectorIiSaIiEE9push_backEOi"), "std::vector::push_back");
/// assert_eq!(plain_path("_ZNSolsEi"), "std::basic_ostream::operator<<");
/// let rust = "_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE";
/// assert_eq!(plain_path(rust), "alloc::vec::Vec::push");
/// assert_eq!(plain_path("strtok"), "strtok");
/// ```
pub fn plain_path(raw: &str) -> String {
    let name = raw.split('@').next().unwrap_or(raw);
    let full = demangle_without_parameters(name);
    if rustc_demangle::try_demangle(without_clone_suffix(name)).is_ok() {
        return rust_path(&full);
    }
    if !name.starts_with("_Z") {
        return full;
    }
    cpp_path(&full)
}

/// Operators with a `<`, a `>` or a parenthesis in them, the longer ones first.
const OPERATORS: [&str; 12] = ["<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"];

fn cpp_path(full: &str) -> String {
    let mut path = String::new();
    let (mut depth, mut rest) = (0usize, full);
    while let Some(c) = rest.chars().next() {
        if depth == 0
            && let Some(operator) = rest.strip_prefix("operator")
            && let Some(symbol) = OPERATORS.iter().find(|o| operator.starts_with(**o))
        {
            path.push_str("operator");
            path.push_str(symbol);
            // The rest are its generic arguments.
            break;
        }
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => path.push(c),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    while let Some(start) = path.find("[abi:") {
        let end = path[start..].find(']').map_or(path.len(), |n| start + n + 1);
        path.replace_range(start..end, "");
    }
    let path = path.replace("std::__cxx1998::", "std::").replace("std::__debug::", "std::");
    let path = path.trim();
    // The mangling has short forms for some instances of templates.
    for name in ["string", "ostream", "istream", "iostream"] {
        if let Some(rest) = path.strip_prefix("std::").and_then(|p| p.strip_prefix(name))
            && rest.starts_with("::")
        {
            return format!("std::basic_{name}{rest}");
        }
    }
    path.to_string()
}

/// Whether a name contains its whole path, and not only the last word.
pub(crate) fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("_R")
}

fn cpp(name: &str, options: DemangleOptions) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let text = Symbol::new(name).ok()?.demangle_with_options(&options).ok()?;
    Some(
        text.replace("std::__cxx11::", "std::")
            .replace("std::__1::", "std::")
            .replace("std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"),
    )
}

fn without_clone_suffix(name: &str) -> &str {
    const MARKS: [&str; 7] =
        [".part.", ".constprop.", ".isra.", ".cold", ".lto_priv.", ".llvm.", ".localalias"];
    // A name that is only `.part.0` is not a clone.
    let cut = MARKS.iter().filter_map(|mark| name.find(mark)).filter(|&at| at > 0).min();
    &name[..cut.unwrap_or(name.len())]
}

/// The path of a Rust function without generic arguments, in one spelling for both manglings:
/// `<std::sys::sync::mutex::futex::Mutex>::lock` and `a::B<u32>::c::<D>` become
/// `std::sys::sync::mutex::futex::Mutex::lock` and `a::B::c`; of `<T as Trait>::f`, `T::f` stays.
pub(crate) fn rust_path(demangled: &str) -> String {
    let (head, rest) = match demangled.strip_prefix('<').and_then(split_at_closing) {
        Some((inside, rest)) => (rust_path(before_as(inside)), rest),
        None => (String::new(), demangled),
    };
    let mut path = head;
    let mut depth = 0usize;
    let mut previous = ' ';
    for c in rest.chars() {
        match c {
            '<' => depth += 1,
            // The arrow of `fn() -> T` is not a closing bracket.
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            _ if depth == 0 => path.push(c),
            _ => {}
        }
        previous = c;
    }
    while path.contains("::::") {
        path = path.replace("::::", "::");
    }
    path.trim_end_matches("::").to_string()
}

/// The generic arguments after the last `::<`, as in `try_update::<closure>`.
pub(crate) fn generic_arguments(demangled: &str) -> Option<&str> {
    let open = demangled.find("::<")? + "::<".len();
    split_at_closing(&demangled[open..]).map(|(inside, _)| inside)
}

/// Splits what follows a `<` at the `>` that closes it.
fn split_at_closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1usize;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
        previous = c;
    }
    None
}

fn before_as(inside: &str) -> &str {
    let mut depth = 0usize;
    for (at, c) in inside.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && inside[at..].starts_with(" as ") => return &inside[..at],
            _ => {}
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpp_names_keep_parameters_and_lose_noise() {
        assert_eq!(demangle("_Z3addii"), "add(int, int)");
        assert_eq!(demangle("_ZN1A1BC2Ev"), "A::B::B()");
        let string = "_Z4nameRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
        assert_eq!(demangle(string), "name(std::string const&)");
        assert_eq!(demangle_without_parameters("_ZN4bank7depositEi"), "bank::deposit");
    }

    #[test]
    fn rust_names_lose_the_hash_in_both_manglings() {
        assert_eq!(demangle("_ZN3foo3bar17h0123456789abcdefE"), "foo::bar");
        assert_eq!(demangle("_RNvCs1234_3foo3bar"), "foo::bar");
    }

    #[test]
    fn plain_names_lose_only_clone_suffixes_and_versions() {
        assert_eq!(demangle("pthread_create@@GLIBC_2.34"), "pthread_create");
        assert_eq!(demangle("walk.isra.0.cold"), "walk");
        assert_eq!(demangle(".part.0"), ".part.0");
        assert_eq!(demangle("_Zbroken"), "_Zbroken");
        assert_eq!(demangle(""), "");
    }

    #[test]
    fn rust_paths_have_one_spelling() {
        let expected = "std::sys::sync::mutex::futex::Mutex::lock";
        assert_eq!(rust_path("<std::sys::sync::mutex::futex::Mutex>::lock"), expected);
        assert_eq!(rust_path("std::sys::sync::mutex::futex::Mutex::lock"), expected);
        assert_eq!(rust_path("<a::Guard<'_, u32> as core::ops::Drop>::drop"), "a::Guard::drop");
        assert_eq!(rust_path("core::f::<fn() -> u8>"), "core::f");
        assert_eq!(rust_path("<broken"), "");
    }

    #[test]
    fn the_closure_of_an_update_is_found() {
        let name = "<core::sync::atomic::AtomicU32>::try_update::<<x::RwLock>::try_read::{closure#0}>";
        assert_eq!(generic_arguments(name), Some("<x::RwLock>::try_read::{closure#0}"));
        assert_eq!(rust_path("<x::RwLock>::try_read::{closure#0}"), "x::RwLock::try_read::{closure#0}");
        assert_eq!(generic_arguments("f"), None);
    }
}
