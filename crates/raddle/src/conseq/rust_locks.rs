//! Rust's locks in a trace. They are inlined atomics on a word, and the debug information tells
//! which atomics these are ([`Module::lock_sites`]). In the trace they become what they mean,
//! acquiring or releasing a lock. All other operations on the word are removed, since they are
//! internal to the lock.
//!
//! Without optimisation, all compare-exchanges are one function of `core`, so a lock's fast path
//! has no place of its own. But some operation on each word has one (a guard releases the lock
//! where it is dropped), and a word that is a lock is one everywhere. The values before and after
//! each operation on it tell what the operation does.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_binary::{Effect, LockClass, Module};
use raddle_conseq::event::{TraceEvent, What};

use raddle_harness::places::Mapped;
use raddle_harness::program::content_id;

/// The places that acquire or release a lock, by the low half of the program counter.
#[derive(Default)]
pub struct RustLocks(HashMap<u32, (LockClass, Effect)>);

impl RustLocks {
    /// The places of the program at `path`, as it was loaded.
    pub fn of(path: &Path, modules: &[Mapped]) -> RustLocks {
        let path = &path.canonicalize().unwrap_or_else(|_| path.into());
        let first = modules.iter().filter(|m| m.path == *path).min_by_key(|m| m.low);
        let (Some(first), Ok(module)) = (first, Module::open(path)) else { return RustLocks::default() };
        let Some(bias) = module.load_bias(first.low, first.offset) else { return RustLocks::default() };
        let low = |address: u64| bias.wrapping_add(address) as u32;
        let sites = sites(path, &module);
        RustLocks(sites.iter().map(|(address, class, effect)| (low(*address), (*class, *effect))).collect())
    }

    /// Replaces the operations on lock words by lock events.
    pub fn recognise(&self, events: &mut Vec<TraceEvent>) {
        if self.0.is_empty() {
            return;
        }
        let words: HashMap<u64, Word> = events
            .iter()
            .filter_map(|e| Some((address(&e.what)?, Word::of(self.0.get(&e.site)?.0))))
            .collect();
        let mut held: HashSet<(u16, u64)> = HashSet::new();
        events.retain_mut(|e| {
            let Some((lock, word)) = address(&e.what).and_then(|a| Some((a, *words.get(&a)?))) else {
                return true;
            };
            let thread = e.thread;
            if let Some(shared) = self.takes(e).or_else(|| word.takes(e)) {
                held.insert((thread, lock));
                e.what = What::Acquire { lock, shared };
                return true;
            }
            // A holder that writes to the word releases the lock: it writes 0, or one reader less.
            let gives =
                matches!(e.what, What::Write { cell, before, .. } if before.is_none_or(|b| cell.value < b));
            if gives && held.remove(&(thread, lock)) {
                e.what = What::Release { lock };
                return true;
            }
            false
        });
    }

    /// Whether the event acquires a lock: `Some(true)` for reading, `Some(false)` otherwise.
    fn takes(&self, e: &TraceEvent) -> Option<bool> {
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

type LockPlaces = Arc<Vec<(u64, LockClass, Effect)>>;

/// The places of a file that are calls of the operation itself. They take a look at all of its
/// debug information, and the tests of a program ask one after the other: those of the last file
/// are kept.
fn sites(path: &Path, module: &Module) -> LockPlaces {
    static LAST: Mutex<Option<(PathBuf, String, LockPlaces)>> = Mutex::new(None);
    let content = content_id(path);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, of, sites)) = &*last
        && known == path
        && *of == content
    {
        return sites.clone();
    }
    let all = module.lock_sites().sites.into_iter().filter(|s| s.depth == 0);
    let sites = Arc::new(all.map(|s| (s.return_address, s.class, s.effect)).collect());
    *last = Some((path.into(), content, Arc::clone(&sites)));
    sites
}

/// The kind of lock that a word implements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Mutex,
    RwLock,
}

impl Word {
    fn of(class: LockClass) -> Word {
        use LockClass::*;
        match class {
            MutexAcquire | MutexRelease | WaitRelease => Word::Mutex,
            ReadAcquire | ReadRelease | WriteAcquire | WriteRelease | Downgrade => Word::RwLock,
        }
    }

    /// Whether an update acquires the lock, by the values before and after: `Some(true)` for
    /// reading, `Some(false)` otherwise.
    fn takes(self, e: &TraceEvent) -> Option<bool> {
        /// The bits of an `RwLock`'s word that say who holds it: the number of readers, or all ones
        /// for a writer.
        const HOLDERS: u64 = (1 << 30) - 1;
        let What::Write { cell, before: Some(before), reads: true } = e.what else { return None };
        match self {
            Word::Mutex => (before == 0 && cell.value != 0).then_some(false),
            Word::RwLock => match (before & HOLDERS, cell.value & HOLDERS) {
                (0, HOLDERS) => Some(false),
                (readers, now) if now == readers + 1 => Some(true),
                _ => None,
            },
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

    fn update(thread: u16, site: u32, address: u64, before: u64, value: u64) -> TraceEvent {
        let cell = Cell { address, size: 4, value, atomic: true };
        TraceEvent { thread, site, what: What::Write { cell, before: Some(before), reads: true } }
    }

    fn load(thread: u16, address: u64) -> TraceEvent {
        TraceEvent { thread, site: 9, what: What::Read(Cell { address, size: 4, value: 1, atomic: true }) }
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
    fn a_word_that_is_given_back_at_a_known_place_is_a_lock_everywhere() {
        let given = (LockClass::MutexRelease, Effect::Always);
        let read = (LockClass::ReadRelease, Effect::Always);
        let locks = RustLocks(HashMap::from([(7, given), (8, read)]));
        let mut events = vec![
            update(1, 3, 64, 0, 1),
            update(1, 7, 64, 1, 0),
            update(2, 3, 80, 0, 1),
            update(3, 3, 80, 1, 2),
            update(2, 8, 80, 2, 1),
            update(3, 8, 80, 1, 0),
            update(2, 3, 80, 0, (1 << 30) - 1),
            update(1, 3, 128, 0, 1),
        ];
        locks.recognise(&mut events);
        let what: Vec<What> = events[..7].iter().map(|e| e.what).collect();
        let takes = |lock, shared| What::Acquire { lock, shared };
        let gives = |lock| What::Release { lock };
        let mutex = [takes(64, false), gives(64)];
        let shared = [takes(80, true), takes(80, true), gives(80), gives(80), takes(80, false)];
        assert_eq!(what, [&mutex[..], &shared].concat());
        assert_eq!(events[7..], [update(1, 3, 128, 0, 1)], "any other atomic");
    }

    #[test]
    fn without_rust_nothing_changes() {
        let mut events = vec![update(1, 1, 64, 0, 1)];
        RustLocks::default().recognise(&mut events);
        assert_eq!(events.len(), 1);
    }
}
