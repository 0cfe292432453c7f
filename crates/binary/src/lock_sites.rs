//! Where a Rust program acquires and releases the locks of its standard library.
//!
//! A lock of C is a call that can be interposed. A lock of Rust's std is an atomic operation on a
//! futex word, inlined wherever it is used. To a race detector it looks like any other atomic. That
//! is enough for happens-before, but a lockset needs to know that it *is* a lock. The debug
//! information at the `__tsan_atomic*` call tells: its inline frames name `Mutex::lock`. So the
//! driver builds a table from return address to meaning, and the runtime looks atomic operations up
//! in it.
//!
//! # What acquires and what releases
//!
//! This table comes from `library/std/src/sys/sync/{mutex,rwlock}/futex.rs` of Rust 1.95. The lock
//! is the word that the operation works on. Both files also have operations on these words that
//! neither acquire nor release the lock (setting a waiting bit, counting wake-ups). Those have
//! weaker orders, are other operations, or are in other functions:
//!
//! | function | operation | meaning |
//! |---|---|---|
//! | `Mutex::{lock, try_lock}` | compare-exchange, acquire | mutex acquired if it exchanged |
//! | `Mutex::lock_contended` | compare-exchange, acquire | mutex acquired if it exchanged |
//! | `Mutex::lock_contended` | exchange, acquire | mutex acquired if it returned 0 |
//! | `Mutex::unlock` | exchange, release | mutex released |
//! | … inside of `Condvar::wait…` | the same | mutex released by a wait |
//! | `RwLock::{read, try_read}` | compare-exchange, acquire | read lock acquired if it exchanged |
//! | `RwLock::read_contended` | compare-exchange, acquire | read lock acquired if it exchanged |
//! | `RwLock::read_unlock` | fetch-sub, release | read lock released |
//! | `RwLock::{write, try_write}` | compare-exchange, acquire | write lock acquired if exchanged |
//! | `RwLock::write_contended` | compare-exchange, acquire | write lock acquired if exchanged |
//! | `RwLock::write_unlock` | fetch-sub, release | write lock released |
//! | `RwLock::downgrade` | fetch-add, release | write lock turned into a read lock |
//!
//! **The runtime must check the order** of the operation. The relaxed compare-exchanges of
//! `read_contended` and `write_contended` only announce a waiter, but share their function and
//! operation with those that acquire. At `-O0` they may share the call site too. An acquiring site
//! counts only with (success) order acquire or stronger, a releasing one only with release or
//! stronger. A release takes effect before its operation.
//!
//! `ReentrantLock`, the rest of `Condvar`, `mpsc`, `Barrier` and the locks of stdin and stdout are
//! built from these two and need no entries of their own. A reentrant lock acquires its inner mutex
//! at the outermost level.
//!
//! # What is recognised
//!
//! With debug information, of which line tables are enough:
//!
//! - **Optimised code** (`-Copt-level=1` to `3`, `s`, `z`): the whole table. The operation is
//!   inlined, and its call is the site (`depth` 0).
//! - **`-O0`**: the whole table. std's MIR is inlined even there, but
//!   `core::sync::atomic::atomic_compare_exchange` is too large and stays a function, which all
//!   atomics share. The site then is the *call of that function* in `Mutex::lock` (`depth` 1). The
//!   function that contains the atomic passes its return address to `__tsan_func_entry`, so the
//!   runtime finds it at the top of its shadow stack. `depth` 2 is one level further out. Crates
//!   share that function: all but one of them call it through a slot and a register.
//! - **std itself**, if it is instrumented: `lock_contended` and the others, by debug information,
//!   which rustup's std has, or by their symbols alone.
//!
//! Where the optimiser has merged two unlocks into one, the inline frames of both are lost, and
//! with `-Cdebuginfo=0` there are none. Then the code tells ([`crate::cold_paths`]): all of the
//! table except `try_lock`, `try_read`, `try_write` and `downgrade`, in optimised code only.
//!
//! Names are known in legacy and v0 mangling, and in the older locations of the two files since
//! Rust 1.62 (these by reasoning, without a test).
//!
//! # What is not recognised
//!
//! - `-O0` with `-Cdebuginfo=0`: the releases in guards are missed.
//!   [`LockSites::without_debug_info`] tells; the driver should ask for line tables. Nothing is
//!   known of stripped files either.
//! - A merged `downgrade` or `try_` site. A runtime that has once met a word at a site of this
//!   table knows what the word is, and may go by the operation's values from then on: on a mutex,
//!   exchange of 0 with release releases it; on an `RwLock`, fetch-sub of 1 or of `(1 << 30) - 1`
//!   with release does.
//! - `parking_lot`, on purpose. Its fair unlock hands a lock to a waiting thread that performs no
//!   atomic operation, so a table would miss an owner. That is worse than treating its atomics as
//!   atomics.
//! - A tail jump to an atomic, which has no return address of its own. LLVM always calls
//!   `__tsan_func_exit` after it, so there are none.

use crate::atomic_calls::{AtomicCall, Owner};
use crate::calls::CallSite;
use crate::cold_paths::ColdFunctions;
use crate::demangle::rust_path;
use crate::module::Module;

/// What std's `RwLock` adds to its word for a reader and for a writer.
const READ_LOCKED: u64 = 1;
const WRITE_LOCKED: u64 = (1 << 30) - 1;

/// What an atomic operation does to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockClass {
    MutexAcquire,
    MutexRelease,
    ReadAcquire,
    ReadRelease,
    WriteAcquire,
    WriteRelease,
    /// The owner of a write lock continues with a read lock.
    Downgrade,
    /// A wait for a condition variable releases its mutex, which it takes again at its end.
    WaitRelease,
}

/// When the operation has that effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    Always,
    /// If the compare-exchange found what it expected.
    IfExchanged,
    /// If the old value was 0, unlocked.
    IfReturnedZero,
}

/// What a thread does if it does not get the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Patience {
    /// It waits: `lock`, `read`, `write`, before anything was announced to others.
    Waits,
    /// It continues without the lock: `try_lock` and similar functions.
    Tries,
    /// It already waits, or it releases the lock.
    Other,
}

impl Patience {
    fn of(path: &str) -> Self {
        match lock_method(path).map(|(_, method)| method) {
            Some("lock" | "read" | "write") => Self::Waits,
            Some("try_lock" | "try_read" | "try_write") => Self::Tries,
            _ => Self::Other,
        }
    }
}

/// A place that acquires or releases a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockSite {
    /// The virtual address after the call.
    pub return_address: u64,
    /// 0: the return address of the atomic operation. N: the return address of the enclosing
    ///    function N levels out.
    pub depth: u8,
    pub class: LockClass,
    pub effect: Effect,
    pub patience: Patience,
    /// The operation, such as `__tsan_atomic32_compare_exchange_val`.
    pub operation: String,
}

/// The lock sites of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockSites {
    /// Sorted by return address.
    pub sites: Vec<LockSite>,
    /// The number of read-modify-write operations without debug information. If a Rust program has
    /// many, raddle does not see its locks: it needs `-Cdebuginfo=line-tables-only`.
    pub without_debug_info: usize,
}

impl Module {
    /// Finds the places that acquire or release a lock of Rust's standard library.
    pub fn lock_sites(&self) -> LockSites {
        let mut found = LockSites::default();
        let cold = ColdFunctions::of(self);
        for call in self.atomic_calls(|name| Operation::of(name).is_some()) {
            if call.depth == 0 && !self.debug().is_some_and(|debug| debug.describes(call.site.address)) {
                found.without_debug_info += 1;
            }
            found.sites.extend(self.lock_site(call, &cold));
        }
        found.sites.sort_by_key(|site| (site.return_address, site.depth));
        found
    }

    /// Classifies one call. A call inside a function of `core::sync::atomic` says nothing by
    /// itself.
    fn lock_site(&self, call: AtomicCall, cold: &ColdFunctions) -> Option<LockSite> {
        let AtomicCall { site, depth, operation, names, owner, .. } = call;
        let kind = Operation::of(&operation)?;
        let mut patience = Patience::Other;
        let waits = names.iter().any(|name| is_wait(&rust_path(name)));
        let (class, effect) = match owner {
            Owner::Atomics => return None,
            Owner::Method(path) => {
                patience = Patience::of(&path);
                classify(&path, kind).or_else(|| {
                    // The other operations of the lock functions have been examined and are not
                    // lock sites.
                    (lock_method(&path).is_none()).then(|| self.classify_by_code(&site, kind, cold)).flatten()
                })
            }
            Owner::Unknown => self.classify_by_code(&site, kind, cold),
        }?;
        let is_wait = waits && class == LockClass::MutexRelease;
        let class = if is_wait { LockClass::WaitRelease } else { class };
        Some(LockSite { return_address: site.return_address, depth, class, effect, patience, operation })
    }

    /// Classifies a call by the cold function on its slow path.
    fn classify_by_code(
        &self,
        site: &CallSite,
        operation: Operation,
        cold: &ColdFunctions,
    ) -> Option<(LockClass, Effect)> {
        let path = cold.reached_from(self, site.return_address)?;
        let (lock, method) = lock_method(&path)?;
        match (lock, method, operation) {
            ("Mutex", "wake", Operation::Exchange) => Some((LockClass::MutexRelease, Effect::Always)),
            ("RwLock", "wake_writer_or_readers", Operation::FetchSub) => {
                let class = match self.second_argument(site.address)? {
                    READ_LOCKED => LockClass::ReadRelease,
                    WRITE_LOCKED => LockClass::WriteRelease,
                    _ => return None,
                };
                Some((class, Effect::Always))
            }
            (_, "lock_contended" | "read_contended" | "write_contended", Operation::CompareExchange) => {
                classify(&path, operation)
            }
            _ => None,
        }
    }
}

/// The operations that locks are built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    CompareExchange,
    Exchange,
    FetchAdd,
    FetchSub,
}

impl Operation {
    fn of(name: &str) -> Option<Self> {
        let (width, operation) = name.strip_prefix("__tsan_atomic")?.split_once('_')?;
        if !matches!(width, "8" | "16" | "32" | "64") {
            return None;
        }
        match operation {
            "exchange" => Some(Self::Exchange),
            "fetch_add" => Some(Self::FetchAdd),
            "fetch_sub" => Some(Self::FetchSub),
            _ if operation.starts_with("compare_exchange") => Some(Self::CompareExchange),
            _ => None,
        }
    }
}

/// `a::b::{closure#0}` and, in legacy names, `a::b::{{closure}}`: `a::b`.
pub(crate) fn closure_owner(path: &str) -> Option<&str> {
    path.find("::{closure").or_else(|| path.find("::{{closure")).map(|at| &path[..at])
}

/// The lock and the method, if a path is that of one of std's futex locks.
fn lock_method(path: &str) -> Option<(&str, &str)> {
    let path = closure_owner(path).unwrap_or(path);
    let (home, method) = path.strip_prefix("std::sys::")?.rsplit_once("::")?;
    let (home, lock) = home.rsplit_once("::")?;
    (home.contains("futex") && matches!(lock, "Mutex" | "RwLock")).then_some((lock, method))
}

/// True for the functions by which std waits for a condition variable.
fn is_wait(path: &str) -> bool {
    let method = path.strip_prefix("std::sys::").and_then(|path| path.rsplit_once("::Condvar::"));
    method.is_some_and(|(home, method)| home.contains("futex") && method.starts_with("wait"))
}

/// The table in the module's documentation.
fn classify(path: &str, operation: Operation) -> Option<(LockClass, Effect)> {
    let (lock, method) = lock_method(path)?;
    use Effect::{Always, IfExchanged, IfReturnedZero};
    use LockClass::{
        Downgrade, MutexAcquire, MutexRelease, ReadAcquire, ReadRelease, WriteAcquire, WriteRelease,
    };
    use Operation::{CompareExchange, Exchange, FetchAdd, FetchSub};
    match (lock, method, operation) {
        ("Mutex", "lock" | "try_lock" | "lock_contended", CompareExchange) => {
            Some((MutexAcquire, IfExchanged))
        }
        ("Mutex", "lock_contended", Exchange) => Some((MutexAcquire, IfReturnedZero)),
        ("Mutex", "unlock", Exchange) => Some((MutexRelease, Always)),
        ("RwLock", "read" | "try_read" | "read_contended", CompareExchange) => {
            Some((ReadAcquire, IfExchanged))
        }
        ("RwLock", "read_unlock", FetchSub) => Some((ReadRelease, Always)),
        ("RwLock", "write" | "try_write" | "write_contended", CompareExchange) => {
            Some((WriteAcquire, IfExchanged))
        }
        ("RwLock", "write_unlock", FetchSub) => Some((WriteRelease, Always)),
        ("RwLock", "downgrade", FetchAdd) => Some((Downgrade, Always)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_by_name() {
        assert_eq!(Operation::of("__tsan_atomic32_compare_exchange_val"), Some(Operation::CompareExchange));
        assert_eq!(Operation::of("__tsan_atomic8_exchange"), Some(Operation::Exchange));
        for other in ["__tsan_atomic32_load", "__tsan_atomic128_exchange", "__tsan_read4", "exchange"] {
            assert_eq!(Operation::of(other), None, "{other}");
        }
    }

    #[test]
    fn waits_are_told_by_their_function() {
        let condvar = "std::sys::sync::condvar::futex::Condvar";
        assert!(is_wait(&format!("{condvar}::wait_optional_timeout")));
        assert!(!is_wait(&format!("{condvar}::notify_one")));
        assert!(!is_wait("std::sync::poison::condvar::Condvar::wait"));
    }

    #[test]
    fn the_table_knows_each_way_to_take_and_give() {
        let of = |path: &str, operation| classify(path, operation);
        let mutex = |method: &str| format!("std::sys::sync::mutex::futex::Mutex::{method}");
        let rwlock = |method: &str| format!("std::sys::sync::rwlock::futex::RwLock::{method}");
        use Operation::{CompareExchange, Exchange, FetchAdd, FetchSub};
        let exchanged = |class| Some((class, Effect::IfExchanged));
        let always = |class| Some((class, Effect::Always));
        assert_eq!(of(&mutex("lock"), CompareExchange), exchanged(LockClass::MutexAcquire));
        assert_eq!(
            of(&mutex("lock_contended"), Exchange),
            Some((LockClass::MutexAcquire, Effect::IfReturnedZero))
        );
        assert_eq!(of(&mutex("unlock"), Exchange), always(LockClass::MutexRelease));
        assert_eq!(of(&rwlock("read_contended"), CompareExchange), exchanged(LockClass::ReadAcquire));
        assert_eq!(of(&rwlock("write"), CompareExchange), exchanged(LockClass::WriteAcquire));
        assert_eq!(of(&rwlock("read_unlock"), FetchSub), always(LockClass::ReadRelease));
        assert_eq!(of(&rwlock("write_unlock"), FetchSub), always(LockClass::WriteRelease));
        assert_eq!(of(&rwlock("downgrade"), FetchAdd), always(LockClass::Downgrade));
        let older = "std::sys::unix::locks::futex_mutex::Mutex::lock";
        assert_eq!(of(older, CompareExchange), exchanged(LockClass::MutexAcquire));
    }

    #[test]
    fn what_only_looks_like_a_lock_is_none() {
        let none = [
            ("std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers", Operation::FetchAdd),
            ("std::sys::sync::rwlock::futex::RwLock::downgrade", Operation::FetchSub),
            ("std::sys::sync::once::futex::Once::call", Operation::CompareExchange),
            ("std::sys::sync::condvar::futex::Condvar::notify_one", Operation::FetchAdd),
            ("mine::futex::Mutex::lock", Operation::CompareExchange),
            ("std::sys::sync::mutex::futex::Mutex::wake", Operation::Exchange),
        ];
        for (path, operation) in none {
            assert_eq!(classify(path, operation), None, "{path}");
        }
    }
}
