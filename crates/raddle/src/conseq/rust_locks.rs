//! Rust's locks in a trace. They are inlined atomics on a word; which atomics those are the debug information tells
//! ([`Module::lock_sites`]). In the trace they become what they mean, a lock taken or given back, and whatever else is done to the
//! word is left out: it is the lock's own business.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use raddle_binary::{Effect, LockClass, Module};
use raddle_conseq::event::{Event, What};

use crate::places::Mapped;

/// The places that take or give a lock, by the low half of the program counter.
#[derive(Default)]
pub struct RustLocks(HashMap<u32, (LockClass, Effect)>);

impl RustLocks {
    /// Those of the program at `path`, where it was loaded.
    pub fn of(path: &Path, modules: &[Mapped]) -> RustLocks {
        let path = &path.canonicalize().unwrap_or_else(|_| path.into());
        let first = modules.iter().filter(|m| m.path == *path).min_by_key(|m| m.low);
        let (Some(first), Ok(module)) = (first, Module::open(path)) else { return RustLocks::default() };
        let Some(bias) = module.load_bias(first.low, first.offset) else { return RustLocks::default() };
        let sites = module.lock_sites().sites.into_iter().filter(|s| s.depth == 0);
        let low = |address: u64| bias.wrapping_add(address) as u32;
        RustLocks(sites.map(|s| (low(s.return_address), (s.class, s.effect))).collect())
    }

    /// The trace with locks in place of the operations on their words.
    pub fn recognise(&self, events: &mut Vec<Event>) {
        if self.0.is_empty() {
            return;
        }
        let words: HashSet<u64> =
            events.iter().filter(|e| self.takes(e).is_some()).filter_map(|e| address(&e.what)).collect();
        let mut held: HashSet<(u16, u64)> = HashSet::new();
        events.retain_mut(|e| {
            let Some(lock) = address(&e.what).filter(|a| words.contains(a)) else { return true };
            let thread = e.thread;
            if let Some(shared) = self.takes(e) {
                held.insert((thread, lock));
                e.what = What::Acquire { lock, shared };
                return true;
            }
            // Whoever holds it and writes to it gives it back: 0, or one reader less.
            let gives =
                matches!(e.what, What::Write { cell, before, .. } if before.is_none_or(|b| cell.value < b));
            if gives && held.remove(&(thread, lock)) {
                e.what = What::Release { lock };
                return true;
            }
            false
        });
    }

    /// Whether the event takes a lock, and then whether for reading.
    fn takes(&self, e: &Event) -> Option<bool> {
        let (class, effect) = self.0.get(&e.site)?;
        let What::Write { before, reads: true, .. } = e.what else { return None };
        let succeeds = match effect {
            Effect::Always | Effect::IfExchanged => true,
            Effect::IfReturnedZero => before == Some(0),
        };
        match class {
            LockClass::MutexAcquire | LockClass::WriteAcquire if succeeds => Some(false),
            LockClass::ReadAcquire if succeeds => Some(true),
            _ => None,
        }
    }
}

fn address(what: &What) -> Option<u64> {
    match what {
        What::Read(cell) | What::Write { cell, .. } if cell.atomic => Some(cell.address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::event::Cell;

    fn update(thread: u16, site: u32, address: u64, before: u64, value: u64) -> Event {
        let cell = Cell { address, size: 4, value, atomic: true };
        Event { thread, site, what: What::Write { cell, before: Some(before), reads: true } }
    }

    fn load(thread: u16, address: u64) -> Event {
        Event { thread, site: 9, what: What::Read(Cell { address, size: 4, value: 1, atomic: true }) }
    }

    fn locks() -> RustLocks {
        let take = (LockClass::MutexAcquire, Effect::IfExchanged);
        let contended = (LockClass::MutexAcquire, Effect::IfReturnedZero);
        RustLocks(HashMap::from([(1, take), (2, contended)]))
    }

    #[test]
    fn operations_on_a_lock_become_what_they_mean() {
        let mut events = vec![
            update(1, 1, 64, 0, 1),
            load(2, 64),
            update(2, 2, 64, 1, 2),
            update(1, 7, 64, 2, 0),
            update(2, 2, 64, 0, 2),
            update(1, 5, 128, 0, 1),
        ];
        locks().recognise(&mut events);
        let what: Vec<(u16, What)> = events[..3].iter().map(|e| (e.thread, e.what)).collect();
        let takes = What::Acquire { lock: 64, shared: false };
        assert_eq!(what, [(1, takes), (1, What::Release { lock: 64 }), (2, takes)]);
        assert_eq!(events[3..], [update(1, 5, 128, 0, 1)]);
    }

    #[test]
    fn without_rust_nothing_changes() {
        let mut events = vec![update(1, 1, 64, 0, 1)];
        RustLocks::default().recognise(&mut events);
        assert_eq!(events.len(), 1);
    }
}
