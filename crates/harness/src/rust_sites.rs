//! What the runtime needs to know of sites in a Rust program: which atomic operations and frees
//! concern only std, and which operations lock or unlock a mutex.

use std::path::Path;

use raddle_binary::{LockClass, LockSite, Module, Patience, QuietSite};
use raddle_wire::explore::site;

/// Sorted entries for the runtime; see [`site`].
pub fn of(program: &Path) -> Vec<u64> {
    let Ok(module) = Module::open(program) else { return Vec::new() };
    merge(&module.quiet_sites(), &module.lock_sites().sites)
}

/// Quiet sites stay quiet: the program does not wait for a lock that std uses internally.
fn merge(quiet: &[QuietSite], locks: &[LockSite]) -> Vec<u64> {
    let mut quiet: Vec<u64> = quiet.iter().filter_map(|s| entry(s.return_address, s.depth)).collect();
    quiet.sort_unstable();
    let locks = locks.iter().filter_map(|s| Some((entry(s.return_address, s.depth)?, bits(s)?)));
    let loud =
        locks.filter(|(entry, _)| quiet.binary_search(entry).is_err()).map(|(entry, bits)| entry | bits);
    let mut entries: Vec<u64> = loud.collect();
    entries.extend(quiet);
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// The runtime looks one call further out, not more.
fn entry(return_address: u64, depth: u8) -> Option<u64> {
    match depth {
        0 => Some(return_address),
        1 => Some(return_address | site::WRAPPED),
        _ => None,
    }
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
            lock(0x80, MutexAcquire, Patience::Waits, 2),
        ];
        let quiet = |return_address, depth| QuietSite { return_address, depth };
        let told = merge(&[quiet(0x05, 0), quiet(0x06, 1), quiet(0x70, 0)], &locks);
        let expected = [
            0x05,
            0x70,
            0x06 | site::WRAPPED,
            0x10 | site::LOCK,
            0x60 | site::WRAPPED | site::LOCK,
            0x30 | site::UNLOCK,
            0x20 | site::TRY_LOCK,
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_quiet_place_is_quiet_at_its_own_depth_only() {
        let locks = [lock(0x10, LockClass::MutexAcquire, Patience::Waits, 0)];
        let told = merge(&[QuietSite { return_address: 0x10, depth: 1 }], &locks);
        assert_eq!(told, [0x10 | site::WRAPPED, 0x10 | site::LOCK]);
    }
}
