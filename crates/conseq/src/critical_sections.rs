//! The critical sections that contain an access.
//!
//! A section is one holding of a lock: two accesses of one thread may both hold a lock although
//! another thread had it in between. Sets of sections are numbered, because a trace has few
//! different sets and many accesses.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::{TraceEvent, What};

/// One holding of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Section {
    /// The address of the lock.
    pub lock: u64,
    /// Counts all acquisitions of locks, so each holding has its own number.
    pub number: u32,
    /// Held for reading: other threads may hold it for reading, too.
    pub shared: bool,
}

impl Section {
    /// Whether two threads cannot be in these sections at the same time: they are sections of one
    /// lock, and not both for reading.
    pub fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

/// A set of sections, by number; 0 is the empty one.
pub type Sections = u32;

/// The critical sections of each thread while the trace is read.
#[derive(Default)]
pub struct OpenSections {
    by_thread: FxHashMap<u16, Vec<Section>>,
    /// Locks that a thread holds more than once, and how often beyond the first.
    again: FxHashMap<(u16, u64), u32>,
    current: FxHashMap<u16, Sections>,
    sets: Vec<Vec<Section>>,
    taken: u32,
    successes: FxHashSet<usize>,
    semaphores: FxHashSet<u64>,
}

impl OpenSections {
    /// `semaphores`: those that are locks.
    pub fn new(events: &[TraceEvent], semaphores: FxHashSet<u64>) -> OpenSections {
        OpenSections {
            successes: successes(events),
            semaphores,
            sets: vec![Vec::new()],
            ..OpenSections::default()
        }
    }

    /// The sections that the thread is in.
    pub fn now(&mut self, thread: u16) -> Sections {
        if let Some(set) = self.current.get(&thread) {
            return *set;
        }
        let held = self.by_thread.get(&thread).cloned().unwrap_or_default();
        let set = if held.is_empty() {
            0
        } else {
            self.sets.push(held);
            self.sets.len() as u32 - 1
        };
        self.current.insert(thread, set);
        set
    }

    /// The members of a set that [`OpenSections::now`] gave.
    pub fn sections(&self, set: Sections) -> &[Section] {
        self.sets.get(set as usize).map_or(&[], Vec::as_slice)
    }

    /// The common sections of two accesses of one thread.
    pub fn common(&self, a: Sections, b: Sections) -> impl Iterator<Item = Section> + '_ {
        let b = self.sections(b);
        self.sections(a).iter().filter(move |s| b.contains(s)).copied()
    }

    /// Takes in the event at `index`.
    pub fn pass(&mut self, index: usize, e: &TraceEvent) {
        match e.what {
            What::Acquire { lock, shared } => self.take(e.thread, lock, shared),
            What::Try { lock } if self.successes.contains(&index) => self.take(e.thread, lock, false),
            What::Wait { semaphore } if self.semaphores.contains(&semaphore) => {
                self.take(e.thread, semaphore, false);
            }
            What::Release { lock } => self.give(e.thread, lock),
            What::Post { semaphore } if self.semaphores.contains(&semaphore) => {
                self.give(e.thread, semaphore);
            }
            _ => {}
        }
    }

    fn take(&mut self, thread: u16, lock: u64, shared: bool) {
        let held = self.by_thread.entry(thread).or_default();
        if held.iter().any(|s| s.lock == lock) {
            *self.again.entry((thread, lock)).or_default() += 1;
            return;
        }
        self.taken += 1;
        held.push(Section { lock, number: self.taken, shared });
        self.current.remove(&thread);
    }

    fn give(&mut self, thread: u16, lock: u64) {
        if let Some(n) = self.again.get_mut(&(thread, lock)).filter(|n| **n > 0) {
            *n -= 1;
            return;
        }
        self.by_thread.entry(thread).or_default().retain(|s| s.lock != lock);
        self.current.remove(&thread);
    }
}

/// The attempts that succeeded: the thread's next operation on the lock releases it.
fn successes(events: &[TraceEvent]) -> FxHashSet<usize> {
    let mut gives_next: FxHashMap<(u16, u64), bool> = FxHashMap::default();
    let mut found = FxHashSet::default();
    for (i, e) in events.iter().enumerate().rev() {
        match e.what {
            What::Release { lock } => drop(gives_next.insert((e.thread, lock), true)),
            What::Acquire { lock, .. } => drop(gives_next.insert((e.thread, lock), false)),
            What::Try { lock } => {
                let gives = gives_next.insert((e.thread, lock), false) == Some(true);
                found.extend(gives.then_some(i));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(events: &[(u16, What)]) -> (OpenSections, Vec<Sections>) {
        let events: Vec<TraceEvent> = events
            .iter()
            .map(|(thread, what)| TraceEvent { thread: *thread, site: 0, what: *what })
            .collect();
        let mut held = OpenSections::new(&events, [99].into_iter().collect());
        let mut sets = Vec::new();
        for (i, e) in events.iter().enumerate() {
            held.pass(i, e);
            sets.push(held.now(e.thread));
        }
        (held, sets)
    }

    const TAKE: What = What::Acquire { lock: 8, shared: false };
    const GIVE: What = What::Release { lock: 8 };

    #[test]
    fn each_holding_is_a_section_of_its_own() {
        let (held, s) = run(&[(1, TAKE), (1, GIVE), (1, TAKE), (2, What::Free { from: 0, to: 0 })]);
        assert_eq!(s[1], 0);
        assert_eq!(held.common(s[0], s[2]).count(), 0);
        assert_eq!(held.common(s[0], s[0]).count(), 1);
        assert!(held.sections(s[0])[0].excludes(&held.sections(s[2])[0]));
        assert!(held.sections(s[3]).is_empty());
    }

    #[test]
    fn a_recursive_lock_is_one_section() {
        let (held, s) = run(&[(1, TAKE), (1, TAKE), (1, GIVE), (1, GIVE)]);
        assert_eq!(held.common(s[0], s[2]).count(), 1);
        assert!(held.sections(s[3]).is_empty());
    }

    #[test]
    fn an_attempt_counts_if_it_is_followed_by_a_release() {
        let attempt = What::Try { lock: 8 };
        let (held, s) = run(&[(1, attempt), (1, attempt), (1, GIVE)]);
        assert!(held.sections(s[0]).is_empty());
        assert_eq!(held.sections(s[1]).len(), 1);
    }

    #[test]
    fn readers_do_not_exclude_each_other_and_some_semaphores_are_locks() {
        let read = What::Acquire { lock: 8, shared: true };
        let (held, s) = run(&[(1, read), (2, read), (3, TAKE), (4, What::Wait { semaphore: 99 })]);
        let [one, two, writer] = [0, 1, 2].map(|i| held.sections(s[i])[0]);
        assert!(!one.excludes(&two) && one.excludes(&writer));
        assert_eq!(held.sections(s[3])[0].lock, 99);
    }
}
