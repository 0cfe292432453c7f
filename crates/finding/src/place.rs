//! Which frame of a stack represents it: the innermost frame of the user's code.
//!
//! An access inside `memcpy` or `std::vector::push_back` is a fact about the caller. [`place`]
//! walks outwards past
//!  - functions that raddle interposes, or that do the work of the language's runtime
//!    ([`is_interposed`]), unless they are the user's own of that name,
//!  - code in the toolchain's own headers and libraries, known by its path or its module,
//!
//! and stops at the first frame of anything else, with or without debug information: a library of
//! the user's that was built without `-g` is still the user's. If nothing is left, it takes the
//! first frame with a file, or else the first frame.

use crate::model::Frame;

/// The frame that represents `stack` (innermost first); `None` only for an empty stack.
pub fn place(stack: &[Frame]) -> Option<&Frame> {
    stack
        .iter()
        .find(|frame| is_user_code(frame))
        .or_else(|| stack.iter().find(|frame| frame.file.is_some()))
        .or_else(|| stack.first())
}

/// Whether the reader of a finding can be expected to own the frame.
pub fn is_user_code(frame: &Frame) -> bool {
    let function = frame.function.as_deref().unwrap_or_default();
    if frame.module.as_deref().is_some_and(is_system_module) {
        return false;
    }
    let interposed = is_interposed(function);
    match &frame.file {
        // A C program may well have its own `read`. An interposed name in a Rust file is raddle's
        // runtime, since Rust functions have a path in their name.
        Some(file) if interposed && file.ends_with(".rs") => false,
        Some(file) => !is_system_path(file),
        None => !interposed && !LIBRARY_NAMES.iter().any(|prefix| function.starts_with(prefix)),
    }
}

/// Whether the runtime interposes the function, or it is an internal of libc or of the language
/// below it.
pub fn is_interposed(function: &str) -> bool {
    let name = base_name_of_function(function);
    INTERPOSED.binary_search(&name).is_ok()
        || OF_LIBC.contains(&name)
        || INTERPOSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || function.starts_with("operator new")
        || function.starts_with("operator delete")
}

/// The functions that the runtime interposes.
pub fn interposed() -> &'static [&'static str] {
    INTERPOSED
}

/// The last component of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A function's name without what changes from one build to the next: the hash of Rust's legacy
/// mangling (`f::h0123456789abcdef`), gcc's and LLVM's clone suffixes (`f.isra.0`, `f [clone
/// .cold]`, `f.llvm.123`), and a symbol version (`f@@GLIBC_2.34`).
pub fn stable_name(function: &str) -> &str {
    let mut name = function.trim();
    if let Some(at) = name.find(" [clone ") {
        name = &name[..at];
    }
    if let Some((base, _)) = name.split_once("@GLIBC_").or_else(|| name.split_once("@@")) {
        name = base.trim_end_matches('@');
    }
    for suffix in
        [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".localalias", ".clone."]
    {
        if let Some(at) = name.find(suffix)
            && at > 0
        {
            name = &name[..at];
        }
    }
    match name.rsplit_once("::h") {
        Some((base, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => base,
        _ => name,
    }
}

/// `pthread_create` for `__interceptor_pthread_create@@GLIBC_2.34`.
fn base_name_of_function(function: &str) -> &str {
    let name = stable_name(function);
    let name =
        name.strip_prefix("__interceptor_").or_else(|| name.strip_prefix("___interceptor_")).unwrap_or(name);
    name.strip_prefix("__GI_").unwrap_or(name)
}

fn is_system_path(file: &str) -> bool {
    SYSTEM_PATHS.iter().any(|prefix| file.starts_with(prefix)) || file.contains("/lib/rustlib/src/rust/")
}

fn is_system_module(module: &str) -> bool {
    let name = file_name(module);
    SYSTEM_MODULES.iter().any(|prefix| name.starts_with(prefix))
}

const SYSTEM_PATHS: &[&str] =
    &["/usr/include/", "/usr/lib/", "/usr/local/lib/gcc/", "/rustc/", "../sysdeps/"];

const SYSTEM_MODULES: &[&str] = &[
    "ld-linux",
    "libc++",
    "libc.so",
    "libgcc_s",
    "libpthread",
    "libraddle_rt",
    "libstdc++",
    "libtsan",
    "linux-vdso",
    "[vdso]",
];

/// Names that belong to a language's own library if the frame has no file.
const LIBRARY_NAMES: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__gnu_cxx::",
    "__cxxabiv1::",
    "void std::",
];

const INTERPOSED_PREFIXES: &[&str] = &[
    "__cxa_",
    "__raddle_",
    "__rdl_",
    "__rust_",
    "__tsan_",
    "cnd_",
    "mtx_",
    "pthread_",
    "raddle_rt",
    "sem_",
    "thrd_",
    "__pthread_",
    "__memcpy_",
    "__memmove_",
    "__memset_",
    "__memcmp_",
    "__memchr_",
    "__strlen_",
    "__strcpy_",
    "__strcmp_",
];

/// The interposed functions, from the runtime's own tables: see `build.rs`.
const INTERPOSED: &[&str] = include!(concat!(env!("OUT_DIR"), "/interposed.rs"));

/// The same functions by names that only the C library uses.
const OF_LIBC: &[&str] = &["__libc_free", "__libc_malloc"];

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: Option<&str>, module: &str) -> Frame {
        Frame {
            function: Some(function.into()),
            file: file.map(str::to_owned),
            module: Some(module.into()),
            ..Frame::default()
        }
    }

    fn picked(stack: &[Frame]) -> &str {
        place(stack).unwrap().function.as_deref().unwrap()
    }

    #[test]
    fn pages_say_how_many_functions_are_interposed() {
        for page in ["README.md", "docs/how-it-works.md"] {
            let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let (_, rest) =
                text.split_once("interposes more than ").or(text.split_once("the more than ")).unwrap();
            let said: usize = rest.split_whitespace().next().unwrap().parse().unwrap();
            let there_are = INTERPOSED.len();
            assert!((said..said + 150).contains(&there_are), "{page}: {said}; there are {there_are}");
        }
    }

    #[test]
    fn an_interposed_function_stands_for_its_caller() {
        for top in [
            "memcpy",
            "free",
            "strlen",
            "pthread_mutex_lock",
            "operator new(unsigned long)",
            "operator delete(void*)",
        ] {
            let stack = [frame(top, None, "a.out"), frame("copy", Some("src/a.c"), "a.out")];
            assert_eq!(picked(&stack), "copy", "{top}");
        }
        for (file, module) in [
            ("../sysdeps/x86_64/multiarch/memmove.S", "a.out"),
            ("./string/memcpy.c", "libc.so.6"),
            ("crates/rt/src/interpose/memory.rs", "a.out"),
        ] {
            let top = frame("memcpy", Some(file), module);
            assert_eq!(picked(&[top, frame("copy", Some("src/a.c"), "a.out")]), "copy", "{file}");
        }
    }

    #[test]
    fn the_toolchains_own_code_stands_for_its_caller() {
        let stack = [
            frame(
                "std::vector<int>::push_back(int&&)",
                Some("/usr/include/c++/12/bits/stl_vector.h"),
                "a.out",
            ),
            frame("worker", Some("/home/me/a.cc"), "a.out"),
        ];
        assert_eq!(picked(&stack), "worker");
        let rust = [
            frame("<alloc::vec::Vec<T> as core::ops::Drop>::drop", None, "a.out"),
            frame("core::ptr::drop_in_place", Some("/rustc/abc/library/core/src/ptr/mod.rs"), "a.out"),
            frame("bank::main", Some("src/main.rs"), "bank"),
        ];
        assert_eq!(picked(&rust), "bank::main");
    }

    #[test]
    fn a_library_without_debug_information_is_still_the_users() {
        let stack = [frame("inflate_fast", None, "libmine.so"), frame("main", Some("a.c"), "a.out")];
        assert_eq!(picked(&stack), "inflate_fast");
    }

    #[test]
    fn where_nothing_is_the_users_a_file_is_better_than_none() {
        let stack = [frame("free", None, "libc.so.6"), frame("std::x", Some("/usr/include/x.h"), "a.out")];
        assert_eq!(picked(&stack), "std::x");
        assert_eq!(picked(&[frame("free", None, "libc.so.6")]), "free");
        assert!(place(&[]).is_none());
    }

    #[test]
    fn a_method_called_free_is_not_libcs() {
        assert!(!is_interposed("Pool::free(void*)"));
        assert!(!is_interposed("Foo::operator new(unsigned long)"));
        assert!(!is_interposed("reader"));
        assert!(is_user_code(&frame("read", Some("src/reader.c"), "a.out")));
    }

    #[test]
    fn names_lose_what_a_rebuild_changes() {
        for (raw, stable) in [
            ("bank::run::h0123456789abcdef", "bank::run"),
            ("bank::hello", "bank::hello"),
            ("work.isra.0", "work"),
            ("work.constprop.0.isra.3", "work"),
            ("work(int) [clone .cold]", "work(int)"),
            ("pthread_create@@GLIBC_2.34", "pthread_create"),
            ("f.llvm.1234", "f"),
        ] {
            assert_eq!(stable_name(raw), stable);
        }
    }
}
