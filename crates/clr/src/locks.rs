//! Numbers of locks (see `order`): the hash of the object, what kind of lock it is, and for a lock
//! of readers and writers how it is held.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const MONITOR: u32 = 1 << 31;
const SEMAPHORE: u32 = 1 << 30;
const READER_WRITER: u32 = 1 << 29;
/// Hashes have 26 bits.
const MODE_SHIFT: u32 = 27;
const MODES: u32 = 3 << MODE_SHIFT;

/// How a lock of readers and writers is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldAs {
    Read = 0,
    /// By one at a time, beside readers.
    Upgradeable = 1,
    Write = 2,
}

/// Not zero, which is no lock.
pub fn monitor(hash: u32) -> u32 {
    hash | MONITOR
}

pub fn semaphore(hash: u32) -> u32 {
    hash | SEMAPHORE
}

pub fn reader_writer(hash: u32, mode: HeldAs) -> u32 {
    hash | READER_WRITER | (mode as u32) << MODE_SHIFT
}

/// Kinds of which locks are released unseen.
static FORGOTTEN: AtomicU32 = AtomicU32::new(0);

/// From now on locks of the same kind as this one exclude nothing.
pub fn forget_kind(lock: u32) {
    FORGOTTEN.fetch_or(lock & (MONITOR | SEMAPHORE | READER_WRITER), Relaxed);
}

/// Whether two threads can never hold these at once.
pub fn exclude(one: u32, other: u32) -> bool {
    one & FORGOTTEN.load(Relaxed) == 0 && would_exclude(one, other)
}

fn would_exclude(one: u32, other: u32) -> bool {
    if one & READER_WRITER == 0 {
        return one != 0 && one == other;
    }
    let [mode, other_mode] = [one, other].map(|lock| (lock & MODES) >> MODE_SHIFT);
    let writes = mode.max(other_mode) == HeldAs::Write as u32;
    one & !MODES == other & !MODES && (writes || mode == other_mode && mode == HeldAs::Upgradeable as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_do_not_exclude_each_other() {
        use HeldAs::{Read, Upgradeable, Write};
        for (one, other, expected) in [
            (Read, Read, false),
            (Read, Upgradeable, false),
            (Upgradeable, Upgradeable, true),
            (Read, Write, true),
            (Upgradeable, Write, true),
            (Write, Write, true),
        ] {
            let both = [exclude(reader_writer(5, one), reader_writer(5, other))];
            let turned = [exclude(reader_writer(5, other), reader_writer(5, one))];
            assert_eq!((both, turned), ([expected], [expected]), "{one:?} {other:?}");
            assert!(!exclude(reader_writer(5, one), reader_writer(6, other)));
        }
    }

    #[test]
    fn kinds_are_apart() {
        assert!(exclude(monitor(5), monitor(5)) && exclude(semaphore(5), semaphore(5)));
        assert!(!exclude(monitor(5), semaphore(5)) && !exclude(0, 0));
        let write = reader_writer(5, HeldAs::Write);
        assert!(!exclude(monitor(5), write) && !exclude(write, monitor(5)) && !exclude(write, 0));
    }
}
