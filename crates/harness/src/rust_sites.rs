//! What the runtime needs to know of sites in a Rust program: which atomic operations and frees
//! concern only std, and which operations lock or unlock a mutex.

use std::path::Path;

use raddle_binary::{LockClass, LockSite, Module, Patience};
use raddle_wire::explore::site;

/// Sorted entries for the runtime; see [`site`].
pub fn of(program: &Path) -> Vec<u64> {
    let Ok(module) = Module::open(program) else { return Vec::new() };
    merge(module.quiet_sites(), &module.lock_sites().sites)
}

/// Quiet sites stay quiet: the program does not wait for a lock that std uses internally.
fn merge(quiet: Vec<u64>, locks: &[LockSite]) -> Vec<u64> {
    let loud = |s: &&LockSite| s.depth == 0 && quiet.binary_search(&s.return_address).is_err();
    let mut locks: Vec<u64> =
        locks.iter().filter(loud).filter_map(|s| Some(s.return_address | bits(s)?)).collect();
    locks.extend(quiet);
    locks.sort_unstable();
    locks.dedup();
    locks
}

/// Reader-writer locks are left to their own code: a reader gets in only if no writer waits, and
/// that code announces waiting writers.
fn bits(s: &LockSite) -> Option<u64> {
    match (s.class, s.patience) {
        (LockClass::MutexAcquire, Patience::Waits) => Some(site::LOCK),
        (LockClass::MutexAcquire, Patience::Tries) => Some(site::TRY_LOCK),
        (LockClass::MutexRelease | LockClass::WaitRelease, _) => Some(site::UNLOCK),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_binary::Effect;

    fn lock(return_address: u64, class: LockClass, patience: Patience, depth: u8) -> LockSite {
        let (effect, operation) = (Effect::Always, String::new());
        LockSite { return_address, depth, class, effect, patience, operation }
    }

    #[test]
    fn mutexes_are_told_and_what_is_quiet_stays_quiet() {
        use LockClass::{MutexAcquire, MutexRelease, WriteAcquire};
        let locks = [
            lock(0x10, MutexAcquire, Patience::Waits, 0),
            lock(0x20, MutexAcquire, Patience::Tries, 0),
            lock(0x30, MutexRelease, Patience::Other, 0),
            lock(0x40, MutexAcquire, Patience::Other, 0),
            lock(0x50, WriteAcquire, Patience::Waits, 0),
            lock(0x60, MutexAcquire, Patience::Waits, 1),
            lock(0x70, MutexAcquire, Patience::Waits, 0),
        ];
        let told = merge(vec![0x05, 0x70], &locks);
        assert_eq!(told, [0x05, 0x70, 0x10 | site::LOCK, 0x30 | site::UNLOCK, 0x20 | site::TRY_LOCK]);
    }
}
