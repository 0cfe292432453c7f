//! Calls of atomic operations in a Rust program, and whose they are.
//!
//! The compiler turns an atomic operation into a call of `__tsan_atomic*`. In optimised code that
//! call is inlined into the function that the programmer or std wrote. At `-O0` the functions of
//! `core::sync::atomic` that are too large to be inlined (`atomic_load`, `atomic_store`,
//! `atomic_compare_exchange`) contain the call, and all atomics of a type share them. What counts
//! then is the call of *that* function. Its distance from the operation is the `depth`.

use std::collections::HashMap;

use crate::calls::{CallSite, Targets};
use crate::demangle::{demangle, generic_arguments, is_mangled, rust_path};
use crate::lock_sites::closure_owner;
use crate::module::Module;

/// How deep functions of `core::sync::atomic` may wrap one another at `-O0`. The deepest seen is
/// one.
const DEEPEST: u8 = 3;

/// A call of an atomic operation, or of a function of `core::sync::atomic` that contains one.
pub(crate) struct AtomicCall {
    pub site: CallSite,
    /// 0: the call of the operation itself. N: that of a function N levels further out.
    pub depth: u8,
    /// The operation, such as `__tsan_atomic32_compare_exchange_val`.
    pub operation: String,
    /// The functions inlined at the call, innermost first, by raw name and file.
    pub frames: Vec<(String, Option<String>)>,
    /// The same functions by their full names.
    pub names: Vec<String>,
    pub owner: Owner,
}

impl Module {
    /// All calls of operations whose name is wanted, and of the functions around them, but no tail
    /// jumps. A function that contains two kinds of operations cannot be judged by its call, so its
    /// calls are left out.
    pub(crate) fn atomic_calls(&self, wanted: impl Fn(&str) -> bool) -> Vec<AtomicCall> {
        let mut found = Vec::new();
        let mut targets = self.targets(wanted);
        let mut operations: HashMap<String, String> = HashMap::new();
        for depth in 0..=DEEPEST {
            let mut wrappers: HashMap<u64, Option<String>> = HashMap::new();
            let through_registers = self.calls_through_registers(&targets);
            let calls = self.calls_of(&targets).into_iter().filter(|site| !site.tail);
            for site in calls.chain(through_registers) {
                let operation = operations.get(&site.callee).unwrap_or(&site.callee).clone();
                let frames = self.raw_names(site.address);
                let names: Vec<String> =
                    frames.iter().map(|(raw, file)| full_name(raw, file.as_deref())).collect();
                let owner = owner(&names);
                if owner == Owner::Atomics
                    && let Some(symbol) = self.symbols().function_at(site.address)
                {
                    let known = wrappers.entry(symbol.address).or_insert_with(|| Some(operation.clone()));
                    if known.as_ref() != Some(&operation) {
                        *known = None;
                    }
                }
                found.push(AtomicCall { site, depth, operation, frames, names, owner });
            }
            operations.clear();
            targets = Targets::default();
            for (start, operation) in wrappers {
                if let (Some(symbol), Some(operation)) = (self.symbols().function_at(start), operation) {
                    targets.add_entry(start, symbol.name);
                    operations.insert(symbol.name.to_string(), operation);
                }
            }
            // The function may be one of another crate, which is called through its slot.
            self.add_own_slots(&mut targets);
            if targets.is_empty() {
                break;
            }
        }
        found
    }
}

/// The demangled name of a function. With line tables only, an inlined function has just its last
/// word, but the file provides the rest.
fn full_name(raw: &str, file: Option<&str>) -> String {
    const HOMES: [(&str, &str); 4] = [
        ("library/std/src/sys/sync/condvar/futex.rs", "std::sys::sync::condvar::futex::Condvar"),
        ("library/std/src/sys/sync/mutex/futex.rs", "std::sys::sync::mutex::futex::Mutex"),
        ("library/std/src/sys/sync/rwlock/futex.rs", "std::sys::sync::rwlock::futex::RwLock"),
        ("library/core/src/sync/atomic.rs", "core::sync::atomic"),
    ];
    let home = file.and_then(|file| HOMES.iter().find(|(tail, _)| file.ends_with(tail)));
    match home {
        Some((_, home)) if !is_mangled(raw) => format!("{home}::{raw}"),
        _ => demangle(raw),
    }
}

/// The function that an operation belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The path of the first function that is not part of the atomics' own implementation.
    Method(String),
    /// The whole stack belongs to the atomics' own implementation.
    Atomics,
    Unknown,
}

/// Finds the owner in a stack of demangled names, innermost first.
fn owner(names: &[String]) -> Owner {
    let Some(last) = names.last() else { return Owner::Unknown };
    for name in names {
        let path = rust_path(name);
        if !is_atomics(&path) {
            return Owner::Method(path);
        }
    }
    // `try_update::<RwLock::try_read::{closure}>` out of line: the closure names the method.
    match generic_arguments(last).map(rust_path).and_then(|path| closure_owner(&path).map(str::to_string)) {
        Some(method) => Owner::Method(method),
        None => Owner::Atomics,
    }
}

fn is_atomics(path: &str) -> bool {
    path.starts_with("core::sync::atomic::") || path.starts_with("core::intrinsics::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(names: &[&str]) -> Owner {
        owner(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn the_owner_is_the_first_function_outside_the_atomics() {
        let lock = "<std::sys::sync::mutex::futex::Mutex>::lock";
        let atomics = ["core::sync::atomic::atomic_swap::<u32>", "<core::sync::atomic::AtomicU32>::swap"];
        let path = "std::sys::sync::mutex::futex::Mutex::lock".to_string();
        assert_eq!(stack(&[atomics[0], atomics[1], lock, "main"]), Owner::Method(path));
        assert_eq!(stack(&atomics), Owner::Atomics);
        assert_eq!(stack(&[]), Owner::Unknown);
    }

    #[test]
    fn the_file_completes_a_name_that_is_only_a_word() {
        let file = Some("/rustc/0/library/std/src/sys/sync/mutex/futex.rs");
        assert_eq!(full_name("lock", file), "std::sys::sync::mutex::futex::Mutex::lock");
        assert_eq!(full_name("lock", Some("/home/me/futex.rs")), "lock");
        assert_eq!(full_name("_ZN1a1bE", file), "a::b");
    }

    #[test]
    fn an_update_belongs_to_the_function_of_its_closure() {
        let name = "<core::sync::atomic::AtomicU32>::try_update::<\
                    <std::sys::sync::rwlock::futex::RwLock>::try_read::{closure#0}>";
        let path = "std::sys::sync::rwlock::futex::RwLock::try_read".to_string();
        assert_eq!(stack(&[name]), Owner::Method(path));
    }
}
