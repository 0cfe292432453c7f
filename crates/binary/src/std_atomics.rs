//! Atomic operations inside Rust's standard library whose order no other thread of the program can
//! observe.
//!
//! std counts panics, keeps a table of guard pages, numbers its threads, and hands results over to
//! `join`. Each of these is an atomic operation or a small lock of its own. Together they are most
//! of what a small Rust program does: five of six steps of three threads that take a mutex. They
//! are correct, and their order makes no difference to the program. The list does not include what
//! a program synchronises by: `Mutex`, `RwLock`, `Condvar`, `Once`, channels, `park`, scopes, its
//! own reference counts.
//!
//! Debug information identifies these operations: the files of the functions inlined at a place,
//! innermost first, up to the first file outside the library. A file of [`QUIET`] among them makes
//! the place quiet, unless it belongs to something in [`LOUD`]. A reference count is quiet if the
//! counted object belongs to std.
//!
//! A program may ask std what such operations have done: whether a thread has ended
//! (`JoinHandle::is_finished`) or a panic has poisoned a lock (`Mutex::is_poisoned`). Then their
//! order can be observed, and in a program that has such a function, or one that clears the mark of
//! a panic, they are not quiet.
//!
//! Freeing a block that belongs to std is quiet too: the block that starts a thread, and the one
//! that it leaves for `join`. The type identifies the block. If the type is not known, the block is
//! not std's.

use crate::atomic_calls::AtomicCall;
use crate::demangle::demangle;
use crate::module::Module;

/// Parts of paths.
const QUIET: [&str; 13] = [
    "/std/src/panicking.rs",
    "/std/src/sync/poison.rs",
    "/std/src/sys/pal/unix/stack_overflow",
    "/std/src/sys/pal/unix/weak",
    "/std/src/sys/pal/unix/thread.rs",
    "/std/src/sys/thread/unix.rs",
    "/std/src/sys/thread_local/",
    "/std/src/sys/exit",
    "/std/src/rt.rs",
    "/std/src/io/stdio.rs",
    "/std/src/thread/",
    "/std/src/backtrace.rs",
    "/std/src/sys/backtrace.rs",
];
const LOUD: [&str; 2] = ["/std/src/sys/sync/thread_parking", "/std/src/thread/scoped.rs"];
const CONTAINERS: [&str; 2] = ["/alloc/src/sync.rs", "/alloc/src/boxed.rs"];
const COUNTS: &str = "/alloc/src/sync.rs";
const LIBRARY: &str = "/library/";

/// A call that concerns only std.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuietSite {
    /// The virtual address after the call.
    pub return_address: u64,
    /// 0: the call of the atomic operation, or the one that frees. N: that of the enclosing
    /// function N levels out, as in [`LockSite`](crate::LockSite).
    pub depth: u8,
}

impl Module {
    /// The quiet calls: those of atomic operations, and those that free memory. Sorted.
    pub fn quiet_sites(&self) -> Vec<QuietSite> {
        let atomics = self.atomic_calls(is_atomic);
        let asked = self.asked(&atomics);
        let atomics = atomics.iter().filter(|call| is_quiet(&call.frames) && !asked.about(&call.frames));
        let mut quiet: Vec<QuietSite> = atomics
            .map(|call| QuietSite { return_address: call.site.return_address, depth: call.depth })
            .collect();
        let frees = self.call_sites(is_free);
        let frees = frees.iter().filter(|call| !call.tail && frees_own(&self.raw_names(call.address)));
        quiet.extend(frees.map(|call| QuietSite { return_address: call.return_address, depth: 0 }));
        quiet.sort_unstable();
        quiet.dedup();
        quiet
    }
}

/// What a program asks std about.
#[derive(Clone, Copy, Default)]
struct Asked {
    /// Whether threads have ended.
    ends: bool,
    /// Whether locks are poisoned.
    poison: bool,
}

impl Asked {
    /// Notes what the function with this full name asks about.
    fn note(&mut self, name: &str) {
        let of_std = |last: &str| name.contains(last) && name.contains("std::");
        self.ends |= of_std("::is_finished") || name.contains("::strong_count") && counts_own(name);
        self.poison |= of_std("::is_poisoned") || of_std("::clear_poison");
    }

    /// Whether the order of such an operation can be observed by asking.
    fn about(self, frames: &[(String, Option<String>)]) -> bool {
        let of = |part: &str| frames.iter().any(|f| f.1.as_ref().is_some_and(|file| file.contains(part)));
        self.ends && of(COUNTS) || self.poison && of("/std/src/sync/poison.rs")
    }
}

impl Module {
    fn asked(&self, atomics: &[AtomicCall]) -> Asked {
        let mut asked = Asked::default();
        for symbol in self.symbols().functions() {
            // Most names have none of these words, and demangling takes time.
            if ["is_finished", "is_poisoned", "clear_poison"].iter().any(|word| symbol.name.contains(word)) {
                asked.note(&demangle(symbol.name));
            }
        }
        atomics.iter().flat_map(|call| &call.names).for_each(|name| asked.note(name));
        asked
    }
}

/// Whether code is internal to std, judged by the functions inlined there, innermost first, with
/// their files. Quiet operations order what such code accesses.
pub fn is_std_own_affair(frames: &[(String, Option<String>)]) -> bool {
    is_quiet(frames) || frees_own(frames)
}

fn is_atomic(name: &str) -> bool {
    name.starts_with("__tsan_atomic") && !name.ends_with("_fence")
}

/// A function of the C library, or one of Rust's by their mangled names.
fn is_free(name: &str) -> bool {
    name == "free" || ["__rust_dealloc", "__rdl_dealloc"].iter().any(|end| name.ends_with(end))
}

/// Whether the block belongs to std. The innermost function of a container tells.
fn frees_own(frames: &[(String, Option<String>)]) -> bool {
    let of = |frame: &(String, Option<String>), files: &[&str]| {
        frame.1.as_ref().is_some_and(|file| files.iter().any(|part| file.contains(part)))
    };
    let library: Vec<_> = frames.iter().take_while(|f| of(f, &[LIBRARY])).collect();
    let Some(container) = library.iter().find(|f| of(f, &CONTAINERS)) else { return false };
    let name = demangle(&container.0);
    counts_own(&name)
        || name.contains("boxed::Box<std::thread::")
        || name.contains("boxed::Box<dyn core::ops::function::FnOnce<()")
            && library.iter().any(|f| of(f, &["/std/src/thread/", "/std/src/sys/thread/"]))
}

/// Functions inlined at a place, innermost first, with their files.
fn is_quiet(frames: &[(String, Option<String>)]) -> bool {
    let file = |frame: &(String, Option<String>)| frame.1.clone().unwrap_or_default();
    let library: Vec<_> = frames.iter().take_while(|f| file(f).contains(LIBRARY)).collect();
    let has = |parts: &[&str]| library.iter().any(|f| parts.iter().any(|part| file(f).contains(part)));
    let mut counts = library.iter().filter(|f| file(f).ends_with(COUNTS)).peekable();
    match counts.peek() {
        Some(_) => counts.any(|f| counts_own(&demangle(&f.0))),
        None => has(&QUIET) && !has(&LOUD),
    }
}

/// `<alloc::sync::Arc<std::thread::…> as Drop>::drop`
fn counts_own(name: &str) -> bool {
    ["sync::Arc<std::thread::", "sync::Weak<std::thread::"].iter().any(|own| name.contains(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and files as debug information has them.
    fn quiet(frames: &[(&str, &str)]) -> bool {
        let frame = |(name, file): &(&str, &str)| {
            let file =
                if file.ends_with("main.rs") { file.to_string() } else { format!("/rustc/1/library/{file}") };
            (name.to_string(), Some(file))
        };
        is_quiet(&frames.iter().map(frame).collect::<Vec<_>>())
    }

    const LOAD: (&str, &str) = ("atomic_load", "core/src/sync/atomic.rs");

    #[test]
    fn what_std_does_for_itself_is_quiet() {
        let lock = ("lock", "std/src/sync/poison/mutex.rs");
        assert!(quiet(&[LOAD, ("count_is_zero", "std/src/panicking.rs"), lock, ("main", "src/main.rs")]));
        assert!(quiet(&[LOAD, ("get", "std/src/sync/poison.rs"), lock]));
        assert!(quiet(&[LOAD, lock, ("delete", "std/src/sys/pal/unix/stack_overflow/thread_info.rs")]));
    }

    #[test]
    fn what_a_program_synchronises_by_is_not() {
        let lock =
            [LOAD, ("lock", "std/src/sys/sync/mutex/futex.rs"), ("lock", "std/src/sync/poison/mutex.rs")];
        assert!(!quiet(&lock));
        let spawned = ("call", "std/src/thread/lifecycle.rs");
        assert!(
            !quiet(&[LOAD, ("worker", "src/main.rs"), spawned]),
            "a program's own code, inlined into std's"
        );
        let unpark = [
            LOAD,
            ("unpark", "std/src/sys/sync/thread_parking/futex.rs"),
            ("unpark", "std/src/thread/mod.rs"),
        ];
        assert!(!quiet(&unpark));
        assert!(!quiet(&[LOAD]) && !quiet(&[]));
    }

    #[test]
    fn a_free_is_quiet_where_the_block_is_std_s() {
        fn frees(name: &str, file: &str, by: (&str, &str)) -> bool {
            let frames = [("dealloc", "alloc/src/alloc.rs"), (name, file), by];
            let frame =
                |(name, file): (&str, &str)| (name.to_string(), Some(format!("/rustc/1/library/{file}")));
            frees_own(&frames.map(frame))
        }
        let (boxed, sync) = ("alloc/src/boxed.rs", "alloc/src/sync.rs");
        let (start, other) = (("thread_start", "std/src/sys/thread/unix.rs"), ("call", "core/src/ops.rs"));
        let drop = |what: &str| format!("<alloc::boxed::Box<{what}> as core::ops::drop::Drop>::drop");
        let closure = drop("dyn core::ops::function::FnOnce<(), Output = ()> + core::marker::Send");
        assert!(frees(&drop("std::thread::lifecycle::ThreadInit"), boxed, other));
        assert!(frees("<alloc::sync::Weak<std::thread::thread::Inner> as Drop>::drop", sync, other));
        assert!(frees(&closure, boxed, start));
        assert!(!frees(&closure, boxed, other), "a program has closures in boxes too");
        assert!(!frees(&drop("bank::Account"), boxed, start), "what a thread returned is the program's");
        assert!(!frees("drop", boxed, start), "without names it cannot be told");
        assert!(is_free("free") && is_free("_RNvC1a_7___rustc14___rust_dealloc") && !is_free("freeaddrinfo"));
    }

    #[test]
    fn a_count_is_quiet_where_it_counts_what_is_std_s() {
        fn drop(name: &str) -> [(&str, &str); 3] {
            [LOAD, (name, "alloc/src/sync.rs"), ("drop", "std/src/thread/lifecycle.rs")]
        }
        assert!(quiet(&drop(
            "<alloc::sync::Arc<std::thread::lifecycle::Packet<()>> as core::ops::drop::Drop>::drop"
        )));
        for other in ["bank::Account", "std::sync::poison::mutex::Mutex<u8>"] {
            assert!(!quiet(&drop(&format!("<alloc::sync::Arc<{other}> as core::ops::drop::Drop>::drop"))));
        }
        assert!(!quiet(&drop("drop")), "without names it cannot be told");
    }
}
