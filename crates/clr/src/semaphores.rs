//! Semaphores used as locks (see `order`): made by `new SemaphoreSlim(1)`, waited for without a
//! limit, released one at a time.
//!
//! A thread or a flow that has waited has a [`Hold`]. A release invalidates all holds of the
//! semaphore, whoever releases it, and so does the next one that gets it. So a hold is valid only
//! while nobody else can have got the semaphore. A semaphore that is released more often than it
//! was waited for is no longer a lock. A double release while others wait is not detected.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use crate::rewrite::lock as lock_table;

#[derive(Default)]
struct Semaphore {
    is_lock: bool,
    /// Changes whenever it is taken or released.
    generation: u32,
    /// How often somebody began to wait for it, and how often it was released.
    waits: u64,
    releases: u64,
}

static ALL: LazyLock<Mutex<HashMap<u32, Semaphore>>> = LazyLock::new(Mutex::default);

/// Held by whoever has waited for a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// This number is unique among locks, too.
    pub semaphore: u32,
    generation: u32,
}

impl Hold {
    /// Whether nobody has released it since.
    pub fn is_good(&self) -> bool {
        let all = lock_table(&ALL);
        all.get(&self.semaphore).is_some_and(|kept| kept.is_lock && kept.generation == self.generation)
    }
}

/// Records a new semaphore with a count of one.
pub fn made(semaphore: u32) {
    const MOST: usize = 1 << 12;
    let mut all = lock_table(&ALL);
    if all.len() < MOST || all.contains_key(&semaphore) {
        // A number shared by two semaphores says nothing.
        let is_lock = !all.contains_key(&semaphore);
        *all.entry(semaphore).or_default() = Semaphore { is_lock, ..Semaphore::default() };
    }
}

/// Records that somebody is about to wait for it.
pub fn waits(semaphore: u32) {
    if let Some(kept) = lock_table(&ALL).get_mut(&semaphore) {
        kept.waits += 1;
    }
}

/// Records that somebody has waited for it. None if it is not a lock.
pub fn got(semaphore: u32) -> Option<Hold> {
    let mut all = lock_table(&ALL);
    let kept = all.get_mut(&semaphore).filter(|kept| kept.is_lock)?;
    kept.generation = kept.generation.wrapping_add(1);
    Some(Hold { semaphore, generation: kept.generation })
}

/// Records that somebody is about to release it, once or several times.
pub fn releases(semaphore: u32, once: bool) {
    if let Some(kept) = lock_table(&ALL).get_mut(&semaphore) {
        kept.generation = kept.generation.wrapping_add(1);
        kept.releases += 1;
        kept.is_lock &= once && kept.releases <= kept.waits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_is_good_until_somebody_releases_or_gets_it() {
        made(1);
        waits(1);
        waits(1);
        let first = got(1).unwrap();
        assert!(first.is_good());
        releases(1, true);
        assert!(!first.is_good());
        let second = got(1).unwrap();
        assert!(second.is_good() && !first.is_good());
        assert!(got(1).is_some() && !second.is_good(), "another one has it");
    }

    #[test]
    fn what_is_no_lock_is_never_held() {
        assert!(got(2).is_none(), "it was not made as one");
        made(3);
        releases(3, true);
        assert!(got(3).is_none(), "released before anybody has waited");
        made(4);
        waits(4);
        let hold = got(4).unwrap();
        releases(4, false);
        assert!(!hold.is_good() && got(4).is_none(), "by several at once");
        made(5);
        made(5);
        assert!(got(5).is_none(), "two have this number");
    }
}
