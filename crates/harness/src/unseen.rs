//! Functions that a program calls and whose memory accesses raddle does not see.
//!
//! The runtime interposes hundreds of C library functions and models what they read and write. The
//! program itself defines the interposed functions, so every symbol that an instrumented file
//! leaves undefined comes from an uninstrumented library. Most of these functions are harmless:
//! they touch no memory of the program and keep no state that another thread could see. The others
//! are reported if they were called while there were several threads, and then a search is not
//! complete.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use raddle_base::hash::fnv64;

use crate::places::Mapped;

/// C library functions that touch only the values of their arguments, thread-local state, or state
/// that has its own lock and no order; and those through which the runtime itself reaches the
/// library.
const HARMLESS: [&str; 110] = [
    "__assert",
    "__ctype_b_loc",
    "__ctype_get_mb_cur_max",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__dynamic_cast",
    "__errno_location",
    "__fdelt_chk",
    "__fork",
    "__fpclassify",
    "__gcc_personality_v0",
    "__gxx_personality_v0",
    "__h_errno_location",
    "__isinf",
    "__isnan",
    "__once_proxy",
    "__register_atfork",
    "__sched_cpucount",
    "__sigaction",
    "__stack_chk_fail",
    "__tls_get_addr",
    "_dl_find_object",
    "abs",
    "atexit",
    "backtrace",
    "backtrace_symbols_fd",
    "difftime",
    "div",
    "dl_iterate_phdr",
    "dladdr",
    "dlerror",
    "dlopen",
    "dlsym",
    "dlvsym",
    "epoll_create",
    "epoll_create1",
    "fdatasync",
    "ffs",
    "ffsl",
    "ffsll",
    "fileno",
    "fileno_unlocked",
    "fpathconf",
    "fsync",
    "ftok",
    "getauxval",
    "getegid",
    "geteuid",
    "getgid",
    "gethostid",
    "getpagesize",
    "getpgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getsid",
    "gettid",
    "getuid",
    "gnu_get_libc_version",
    "htonl",
    "htons",
    "imaxabs",
    "isalnum",
    "isalpha",
    "isatty",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "labs",
    "ldiv",
    "llabs",
    "lldiv",
    "mlock",
    "mlockall",
    "munlock",
    "ntohl",
    "ntohs",
    "pathconf",
    "pidfd_getpid",
    "pidfd_spawnp",
    "posix_fadvise",
    "posix_fadvise64",
    "posix_madvise",
    "pthread_attr_destroy",
    "pthread_attr_init",
    "pthread_equal",
    "pthread_exit",
    "pthread_getattr_np",
    "pthread_getconcurrency",
    "pthread_getspecific",
    "pthread_self",
    "pthread_setspecific",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_getaffinity",
    "sched_getscheduler",
    "sync",
    "sysconf",
    "tolower",
    "toupper",
    "tss_get",
    "tss_set",
];

/// The same by prefix: attributes, unwinding, and the parts of the C++ library for throwing,
/// threads, futures and errors.
const HARMLESS_PREFIXES: [&str; 46] = [
    "_Unwind_",
    "__atomic_",
    "__cxa_",
    "__libc_",
    "__pthread_",
    "_pthread_cleanup",
    "pthread_attr_set",
    "pthread_attr_get",
    "pthread_barrierattr_",
    "pthread_condattr_",
    "pthread_mutexattr_",
    "pthread_rwlockattr_",
    "pthread_mutex_consistent",
    "_ZNSa",
    "_ZNKSt9exception",
    "_ZNSt9exception",
    "_ZNKSt9type_info",
    "_ZNSt9type_info",
    "_ZNSt9bad_alloc",
    "_ZNSt8bad_cast",
    "_ZNSt10bad_typeid",
    "_ZNSt10error_code",
    "_ZNSt11logic_error",
    "_ZNSt12domain_error",
    "_ZNSt12future_error",
    "_ZNSt12length_error",
    "_ZNSt12out_of_range",
    "_ZNSt12system_error",
    "_ZNSt13runtime_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt16invalid_argument",
    "_ZNSt18bad_weak_ptr",
    "_ZNSt13__future_base",
    "_ZNSt15__exception_ptr",
    "_ZNSt18condition_variable",
    "_ZNSt28__atomic_futex",
    "_ZNSt3_V2",
    "_ZNSt6chrono3_V2",
    "_ZNSt6thread",
    "_ZSt15future_category",
    "_ZSt17current_exception",
    "_ZSt17rethrow_exception",
    "_ZSt18uncaught_exception",
    "_ZSt9terminate",
    "posix_spawn",
];

/// Functions with lasting or later effects, so it does not matter who called them or when. They
/// give memory a second address, make a stream stand for memory, or let the system write to memory.
const LASTING: [&str; 15] = [
    "aio_fsync",
    "aio_read",
    "aio_read64",
    "aio_write",
    "aio_write64",
    "fmemopen",
    "fopencookie",
    "getaddrinfo_a",
    "lio_listio",
    "lio_listio64",
    "mq_notify",
    "open_memstream",
    "open_wmemstream",
    "remap_file_pages",
    "shmat",
];

/// All functions of these libraries are harmless but [`WRITE_SIGN`]: the runtime interposes those
/// that write to memory.
const HARMLESS_LIBRARIES: [&str; 2] = ["libm.so", "libgcc_s.so"];

/// They write to `signgam`, which a program can read.
const WRITE_SIGN: [&str; 6] = ["gamma", "gammaf", "gammal", "lgamma", "lgammaf", "lgammal"];

/// Which imported functions were called.
pub enum CalledImports<'a> {
    /// Those whose names have these hashes.
    Known(&'a HashSet<u64>),
    /// Any of them may have been called.
    Unknown,
}

impl CalledImports<'_> {
    fn has(&self, name: &str) -> bool {
        match self {
            CalledImports::Known(hashes) => hashes.contains(&fnv64(name.as_bytes())),
            CalledImports::Unknown => true,
        }
    }
}

/// The functions that instrumented files call and that may touch memory unseen, with readable
/// names. `copied`: the program, if it executes a copy of its code that has probes.
pub fn functions(modules: &[Mapped], calls: &CalledImports<'_>, copied: Option<&Path>) -> Vec<String> {
    let files: BTreeSet<&Path> = modules.iter().map(|m| m.path.as_path()).collect();
    let mut imported = BTreeSet::new();
    let mut harmless = BTreeSet::new();
    for file in files {
        let Ok(content) = std::fs::read(file) else { continue };
        let Ok(elf) = object::File::parse(&*content) else { continue };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_runtime = name.starts_with("libraddle");
        let is_instrumented =
            !is_runtime && (copied == Some(file) || memchr::memmem::find(&content, b"__tsan_").is_some());
        // A program that was not built with raddle calls the interposed functions in the library.
        let is_harmless =
            HARMLESS_LIBRARIES.iter().any(|l| name.starts_with(l)) || is_runtime && copied.is_some();
        for symbol in elf.dynamic_symbols() {
            let (Ok(symbol_name), true) = (symbol.name(), symbol.kind() == SymbolKind::Text) else {
                continue;
            };
            if symbol.is_undefined() && is_instrumented {
                imported.insert(symbol_name.to_string());
            } else if symbol.is_definition()
                && (is_instrumented || is_harmless && !WRITE_SIGN.contains(&symbol_name))
            {
                harmless.insert(symbol_name.to_string());
            }
        }
    }
    // The stream may have been created while there was only one thread.
    let prints = !imported.iter().any(|name| is_stream_of_program(name));
    let called = imported.iter().filter(|name| calls.has(name) || LASTING.contains(&name.as_str()));
    // Compilers that add probes make calls of them of what libatomic does.
    let is_of_libatomic = |name: &str| copied.is_some() && name.starts_with("__atomic_");
    let is_harmless =
        |name: &str| harmless.contains(name) || is_harmless(name, prints) && !is_of_libatomic(name);
    let unseen = called.filter(|name| !is_harmless(name));
    unseen.map(|name| short(name)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// `only_prints`: the program uses only the standard C++ streams. No thread can see what was
/// printed.
fn is_harmless(name: &str, only_prints: bool) -> bool {
    const PRINTING: [&str; 8] = [
        "_ZNSo",
        "_ZNSt9basic_ios",
        "_ZNKSt9basic_ios",
        "_ZNSt8ios_base",
        "_ZNKSt8ios_base",
        "_ZStls",
        "_ZSt4endl",
        "_ZSt16__ostream_insert",
    ];
    HARMLESS.binary_search(&name).is_ok()
        || HARMLESS_PREFIXES.iter().any(|p| name.starts_with(p))
        || name.contains("__throw_")
        || only_prints && PRINTING.iter().any(|p| name.starts_with(p))
}

/// Whether the function belongs to a stream that the program creates itself.
fn is_stream_of_program(name: &str) -> bool {
    ["stringstream", "stringbuf", "fstream", "filebuf", "_ZNSi"].iter().any(|part| name.contains(part))
}

/// The name without argument types and result type.
fn short(name: &str) -> String {
    let full = raddle_binary::demangle(name);
    if full.contains("operator") {
        return full.chars().take(60).collect();
    }
    let mut depth = 0usize;
    let mut kept = String::new();
    for c in full.chars() {
        match c {
            '(' if depth == 0 => break,
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept.split(' ').next_back().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(short("strerror"), "strerror");
        assert_eq!(
            short("_ZNSt8__detail15_List_node_base7_M_hookEPS0_"),
            "std::__detail::_List_node_base::_M_hook"
        );
        assert_eq!(
            short("_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev"),
            "std::basic_ostringstream::basic_ostringstream"
        );
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(HARMLESS.is_sorted() && LASTING.is_sorted());
        assert!(!LASTING.iter().any(|name| is_harmless(name, true)));
    }

    #[test]
    fn what_throws_is_harmless_and_what_links_nodes_is_not() {
        assert!(is_harmless("_ZSt20__throw_length_errorPKc", false));
        assert!(is_harmless("_ZNSt6thread4joinEv", false));
        assert!(is_harmless("getpid", false));
        assert!(!is_harmless("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", true));
        assert!(!is_harmless("strerror", true));
        assert!(is_harmless("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", true));
        assert!(!is_harmless("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", false));
    }
}
